/* chat.c - the command chat: a conversation at the terminal through the running server. */
#include <time.h>
#include <unistd.h>

#include "base/id.h"
#include "base/sse.h"

#include "app/print.h"
#include "ext/shell/call.h"
#include "ext/shell/command.h"

/*
 * The server sees what it sees of any application: all messages of the conversation, and a header
 * that names the session. So what /why shows is what a client of OpenAI's API would get.
 */
enum { LINE_MAX_BYTES = 1 << 20, TALK_MAX = 8 << 20, EVENT_MAX = 1 << 20, WHY_MAX = 300 };

struct chat {
    struct called_server server;
    str model, session;
    struct buf messages; /* JSON, with commas between them */
    int64_t turns;       /* of this session */
    bool is_at_terminal;
};

/* --- one answer --- */

/* Takes the stream piece by piece and prints the words at once. */
struct printer {
    struct intake intake;
    struct sse events;
    struct buf said, why; /* the words; of a failure after some of them */
};

static void take_event(void *arg, UNUSED str event, str data)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    struct printer *p = arg;
    struct json *chunk;
    if (!soft(&own, json_parse(&own, data, &chunk)))
        return;
    str words = json_string(json_at(chunk, "choices.0.delta.content"));
    print_safely(words, "\n\t"); /* a model could drive the terminal by others */
    fflush(stdout);
    buf_add(&p->said, words);
    if (json_get(chunk, "error"))
        buf_add(&p->why, http_complaint(&own.arena, data, WHY_MAX, S(""), NULL, 0));
}

static bool take_bytes(struct intake *intake, str bytes)
{
    struct printer *p = (struct printer *)intake;
    sse_feed(&p->events, bytes, take_event, p);
    return true;
}

SHAPE(chat_line, (STR, role), (STR, content));
SHAPE(chat_body, (STR, model), (BOOL, stream), (RAW, messages));

static void add_message(struct chat *c, const char *role, str content)
{
    struct json_out w = json_to(&c->messages);
    if (c->messages.n)
        buf_byte(&c->messages, ',');
    fields_write(&w, chat_line_fields, &(struct chat_line){str_of(role), content});
}

static str request_body(struct ctx *ctx, const struct chat *c)
{
    struct json_out w = json_in(&ctx->arena, TALK_MAX + LINE_MAX_BYTES);
    str messages = str_printf(&ctx->arena, "[" S_FMT "]", S_ARG(buf_str(&c->messages)));
    fields_write(&w, chat_body_fields, &(struct chat_body){c->model, true, messages});
    return buf_str(w.b);
}

/* A question that got no answer is taken back, so that the next one is asked without it. */
static enum status ask_model(struct ctx *ctx, struct chat *c, str question)
{
    struct printer p = {.intake = {take_bytes},
                        .events = sse_reader(EVENT_MAX),
                        .said = buf_make(&ctx->arena, TALK_MAX),
                        .why = buf_make(&ctx->arena, EVENT_MAX)};
    struct answer answer;
    size_t before = c->messages.n;
    add_message(c, "user", question);
    enum status s = shell_call(ctx, &c->server, "POST", S("/v1/chat/completions"),
                               request_body(ctx, c), &p.intake, &answer);
    sse_free(&p.events);
    if (s == OK)
        s = shell_check(ctx, &answer);
    if (p.why.n || (s != OK && p.said.n)) {
        str why = p.why.n ? buf_str(&p.why) : S("the connection ended");
        ctx_clear_failure(ctx);
        putchar('\n');
        s = fail(ctx, UPSTREAM, "the answer broke off: " S_FMT, S_ARG(why));
    }
    if (s != OK) {
        c->messages.n = before;
        return s;
    }
    putchar('\n');
    c->turns++;
    add_message(c, "assistant", buf_str(&p.said));
    if (c->messages.full)
        return fail(ctx, TOO_LARGE, "the conversation is too long; begin another with /new");
    return OK;
}

/* --- the receipt of an answer --- */

enum { LOOKS = 40, LOOK_MS = 50 };

/* The id of the newest receipt. It can be read once it is on disk: NOT_FOUND when that takes too
 * long. */
static enum status find_receipt(struct ctx *ctx, const struct chat *c, str *id)
{
    static const struct timespec a_moment = {.tv_nsec = LOOK_MS * 1000000L};
    str path = str_printf(&ctx->arena, "/v1/sessions/" S_FMT "/receipts", S_ARG(c->session));
    for (int look = 0; look < LOOKS; look++) {
        struct json *list;
        enum status found = shell_get(ctx, &c->server, path, &list);
        if (found == OK && json_int_or(json_get(list, "total"), 0) >= c->turns) {
            *id = json_string(json_at(list, "items.0.id"));
            return OK;
        }
        TRY(soft_or(ctx, found, NOT_FOUND)); /* before the first turn is on disk */
        nanosleep(&a_moment, NULL);
    }
    return fail(ctx, NOT_FOUND, "the receipt of the last answer is not on disk yet");
}

static void print_reasons(const struct json *lines)
{
    const char *faint = style_code(STYLE_FAINT), *end = style_code(STYLE_END);
    for (const struct json *one = lines ? lines->first : NULL; one; one = one->next) {
        bool is_added = json_is_true(json_get(one, "injected"));
        str why = json_string(json_get(one, "why"));
        if (!why.n && !is_added) /* looked at, and nothing spoke for it */
            continue;
        printf("  %s%s %.2f%s  ", is_added ? style_code(STYLE_GOOD) : faint, is_added ? "+" : "-",
               json_num_or(json_get(one, "score"), 0), end);
        print_line(why);
    }
}

/* What memory the newest chat of the session got, and why. */
static enum status print_why(struct ctx *ctx, const struct chat *c)
{
    str id;
    struct json *receipt;
    TRY(find_receipt(ctx, c, &id));
    TRY(shell_get(ctx, &c->server, str_printf(&ctx->arena, "/v1/receipts/" S_FMT, S_ARG(id)),
                  &receipt));
    str block = json_string(json_get(receipt, "block"));
    printf("%s%s%s: %lld tokens in %.1f ms, receipt " S_FMT "\n", style_code(STYLE_STRONG),
           block.n ? "memory was added" : "no memory was added", style_code(STYLE_END),
           (long long)json_int_or(json_get(receipt, "tokens"), 0),
           (double)json_int_or(json_get(receipt, "took_us"), 0) / 1000, S_ARG(id));
    print_line(json_string(json_get(receipt, "reason")));
    while (block.n) {
        fputs("  ", stdout);
        print_line(str_cut(&block, '\n'));
    }
    print_reasons(json_get(receipt, "lines"));
    return OK;
}

/* --- commands of the chat --- */

static void begin_session(struct ctx *ctx, struct chat *c)
{
    c->session = id_random(&ctx->arena);
    c->turns = 0;
    buf_clear(&c->messages);
    c->server.headers[c->server.n_headers - 1] = (struct header){S("X-Session-Id"), c->session};
}

static enum status choose_model(struct ctx *ctx, struct chat *c, str name)
{
    struct json *models;
    c->model = name;
    if (name.n)
        return OK;
    TRY(shell_get(ctx, &c->server, S("/v1/models"), &models));
    c->model = json_string(json_at(models, "data.0.id"));
    return c->model.n ? OK
                      : fail(ctx, NOT_FOUND, "the server lists no model; name one with --model");
}

/* False ends the chat. */
static enum status run_line(struct ctx *ctx, struct chat *c, str line, bool *goes_on)
{
    str rest = line, word = str_cut(&rest, ' ');
    *goes_on = !str_is(word, "/quit");
    if (!line.n || !*goes_on)
        return OK;
    if (*line.p != '/')
        return ask_model(ctx, c, line);
    if (str_is(word, "/why"))
        return c->turns ? print_why(ctx, c) : fail(ctx, BAD_INPUT, "there is no answer yet");
    if (str_is(word, "/model") && str_trim(rest).n)
        return choose_model(ctx, c, str_dup(&ctx->arena, str_trim(rest)));
    if (str_is(word, "/new"))
        begin_session(ctx, c);
    else
        puts("/why          what memory the last answer got, and why\n"
             "/new          begin another conversation; what is remembered stays\n"
             "/model NAME   let another model answer\n"
             "/quit         end; so does Ctrl-D");
    return OK;
}

/* A failure of one line is printed, and the chat goes on; of a script it is the end. */
static enum status run_lines(struct ctx *ctx, struct chat *c)
{
    char *line = NULL;
    size_t size = 0;
    bool goes_on = true;
    enum status s = OK;
    while (goes_on && s == OK) {
        if (c->is_at_terminal)
            printf("%s>%s ", style_code(STYLE_STRONG), style_code(STYLE_END));
        fflush(stdout);
        ssize_t n = getline(&line, &size, stdin);
        if (n < 0)
            break;
        str text = str_dup(&ctx->arena, str_trim((str){line, (size_t)n}));
        s = text.n > LINE_MAX_BYTES ? fail(ctx, TOO_LARGE, "the line is over 1 MiB")
                                    : run_line(ctx, c, text, &goes_on);
        if (c->is_at_terminal && s != OK) {
            fprintf(stderr, "rememberd chat: %s\n", ctx->why);
            ctx_clear_failure(ctx);
            s = OK;
        }
    }
    free(line);
    return s;
}

/* With words on the command line these are the only question. */
enum status command_chat(struct ctx *ctx, const struct options *o)
{
    struct chat c = {.messages = buf_make(&ctx->arena, TALK_MAX),
                     .is_at_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)};
    TRY(server_find(ctx, o, shell_credential(), &c.server));
    c.server.n_headers++; /* begin_session fills it */
    begin_session(ctx, &c);
    TRY(choose_model(ctx, &c, o->model));
    if (o->words.n > 1)
        return ask_model(ctx, &c, options_text(ctx, o, 1));
    if (c.is_at_terminal)
        printf("%s" S_FMT " through " S_FMT "; /help lists the commands%s\n",
               style_code(STYLE_FAINT), S_ARG(c.model), S_ARG(c.server.url), style_code(STYLE_END));
    return run_lines(ctx, &c);
}
