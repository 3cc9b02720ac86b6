/* why.c - the receipt of a chat, for people. */
#include "ext/shell/why.h"

#include <time.h>

#include "app/print.h"

enum { LOOKS = 40, LOOK_MS = 50 };

/* The id of the newest receipt, or NOT_FOUND when it is not on disk in time. */
static enum status find_receipt(struct ctx *ctx, const struct shell_server *s, str session,
                                int64_t chats, str *id)
{
    static const struct timespec a_moment = {.tv_nsec = LOOK_MS * 1000000L};
    str path = str_printf(&ctx->arena, "/v1/sessions/" S_FMT "/receipts", S_ARG(session));
    for (int look = 0; look < LOOKS; look++) {
        struct json *list;
        enum status found = shell_get(ctx, s, path, &list);
        if (found == OK && json_int_or(json_get(list, "total"), 0) >= chats) {
            *id = json_string(json_at(list, "items.0.id"));
            return OK;
        }
        if (!soft_if(ctx, found, UPSTREAM)) /* 404 before the first turn is on disk */
            TRY(found);
        nanosleep(&a_moment, NULL);
    }
    return fail(ctx, NOT_FOUND, "the receipt of the last answer is not on disk yet");
}

static void print_block(str block)
{
    while (block.n) {
        fputs("  ", stdout);
        print_line(str_cut(&block, '\n'));
    }
}

static void print_reasons(const struct json *lines)
{
    const char *faint = style_code(STYLE_FAINT), *end = style_code(STYLE_END);
    for (const struct json *one = lines ? lines->first : NULL; one; one = one->next) {
        bool is_added = json_is_true(json_get(one, "injected"));
        printf("  %s%s %.2f%s  ", is_added ? style_code(STYLE_GOOD) : faint, is_added ? "+" : "-",
               json_num_or(json_get(one, "score"), 0), end);
        print_line(json_string(json_get(one, "why")));
    }
}

enum status why_print(struct ctx *ctx, const struct shell_server *s, str session, int64_t chats)
{
    str id;
    struct json *receipt;
    TRY(find_receipt(ctx, s, session, chats, &id));
    TRY(shell_get(ctx, s, str_printf(&ctx->arena, "/v1/receipts/" S_FMT, S_ARG(id)), &receipt));
    str block = json_string(json_get(receipt, "block"));
    printf("%s%s%s: %lld tokens in %.1f ms, receipt " S_FMT "\n", style_code(STYLE_STRONG),
           block.n ? "memory was added" : "no memory was added", style_code(STYLE_END),
           (long long)json_int_or(json_get(receipt, "tokens"), 0),
           (double)json_int_or(json_get(receipt, "took_us"), 0) / 1000, S_ARG(id));
    print_line(json_string(json_get(receipt, "reason")));
    print_block(block);
    print_reasons(json_get(receipt, "lines"));
    return OK;
}
