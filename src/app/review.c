/* review.c - what is held back from chats, listed and decided on the command line. */
#include "app/command.h"
#include "app/instance.h"
#include "app/print.h"
#include "surface/surface.h"

enum { PRINT_MAX = 64 << 20, LISTED = 500 };

enum status command_review_check(struct ctx *ctx, const struct options *o)
{
    if (o->words.n == 1)
        return OK;
    if (o->words.n == 2 || name_index(review_decisions, o->words.v[1], -1) < 0)
        return fail(ctx, BAD_INPUT,
                    "must be one of: review, review allow ID, review forget ID, "
                    "review hold ID");
    return OK;
}

static enum status decide(struct ctx *ctx, const struct options *o, struct engine *e)
{
    int to = name_index(review_decisions, o->words.v[1], -1);
    int64_t barred;
    TRY(engine_decide(ctx, e, pool_of(o), o->words.v[2], (enum review_state)to, &barred));
    if (o->json)
        printf("{\"id\":\"" S_FMT "\",\"decision\":\"%s\",\"barred\":%lld}\n", S_ARG(o->words.v[2]),
               review_decisions[to], (long long)barred);
    else
        printf("%s: " S_FMT "\n", review_decisions[to], S_ARG(o->words.v[2]));
    return OK;
}

static void print_list(struct ctx *ctx, const struct review *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        printf(S_FMT "  " S_FMT "  " S_FMT ", " S_FMT "\n", S_ARG(v[i].id),
               S_ARG(date_of(&ctx->arena, v[i].last)), S_ARG(v[i].kind), S_ARG(v[i].origin));
        print_line(str_printf(&ctx->arena, "      " S_FMT, S_ARG(v[i].text)));
    }
    if (!n)
        puts("nothing is held back");
}

/* --allowed lists those that were allowed. */
enum status command_review(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    struct review *v;
    size_t n;
    int64_t total;
    TRY(instance_open(ctx, o, &instance));
    if (o->words.n > 1)
        return decide(ctx, o, instance.engine);
    TRY(engine_review(ctx, instance.engine, pool_of(o), o->allowed ? REVIEW_ALLOWED : REVIEW_HELD,
                      0, LISTED, &v, &n, &total));
    if (!o->json) {
        print_list(ctx, v, n);
        return OK;
    }
    struct buf b = buf_make(&ctx->arena, PRINT_MAX);
    TRY(surface_review_json(ctx, v, n, total, &b));
    print_buf(&b);
    return OK;
}
