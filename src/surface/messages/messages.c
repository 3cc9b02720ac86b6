/* messages.c - Anthropic's Messages API with memory around it. */
#include <assert.h>

#include "core/tokens.h"
#include "surface/common/auth.h"
#include "surface/common/dialects.h"
#include "surface/common/error_body.h"
#include "surface/common/switches.h"
#include "surface/messages/answer.h"
#include "surface/messages/caller.h"
#include "surface/messages/fields.h"
#include "surface/messages/talk.h"
#include "surface/proxy/chat_fields.h"
#include "surface/proxy/controls.h"
#include "surface/proxy/passthrough.h"
#include "surface/proxy/splice.h"
#include "surface/proxy/upstream.h"

/*
 * As at chat completions: the headers, then the body, then a turn of the engine, whose blocks are
 * spliced into the body. A block is always a text block of its own behind what the user sent, never
 * in system or tools, since caches and signed thinking begin there. It has no cache_control: the
 * client's marks stay where they are. An automatic mark (cache_control of the request itself) comes
 * to stand on the block, which is right, because the block is there in every later request.
 */

/* Lives in the arena of the exchange, like the relay. */
struct chat {
    const struct json *root;
    const struct json *model;
    str sent; /* the body as the upstream may get it */
    struct target to;
    enum caller caller;
    enum without_memory without; /* why there is no memory, unless the request asked so */
    struct talk talk;
    struct turn_in in;
    struct turn *turn;
    struct splice body;
};

/* --- what a request says --- */

static void drop_memory(struct chat *c, enum without_memory why)
{
    if (c->in.mode != MODE_OFF)
        c->without = why;
    c->in.mode = MODE_OFF;
}

/* These belong to chat completions; a client that counts on them must learn that. */
static enum status refuse_wishes(struct ctx *ctx, const struct request *in)
{
    static const char *const headers[] = {"X-Memory-Tools", "X-Session-History", NULL};
    for (const char *const *h = headers; *h; h++) {
        str wish = str_trim(request_header(in, *h));
        if (wish.n && !str_eq_nocase(wish, S("off")))
            return fail_field(ctx, *h, "must be off at this endpoint");
    }
    return OK;
}

/* The content of the last message of the user, and how many messages there are from it on. */
static const struct json *last_content(const struct json *root, size_t *from_end)
{
    const struct json *messages = json_get(root, "messages"), *found = NULL;
    *from_end = 0;
    for (const struct json *m = messages ? messages->first : NULL; m; m = m->next) {
        ++*from_end;
        if (str_is(json_string(json_get(m, "role")), "user")) {
            found = json_get(m, "content");
            *from_end = 1;
        }
    }
    return found;
}

/* Agents and the program's own questions see what the chat sees and teach nothing. */
static enum memory_mode mode_of(enum caller caller, enum memory_mode asked)
{
    if (caller == CALLER_CHAT || asked == MODE_OFF)
        return asked;
    return asked == MODE_AFTER ? MODE_OFF : MODE_READONLY;
}

/* False when there are no messages that can be read. */
static bool read_talk(struct ctx *ctx, const struct request *in, struct chat *c)
{
    struct arena *a = &ctx->arena;
    size_t from_end, aside = talk_aside(a, c->root);
    const struct json *last = last_content(c->root, &from_end);
    c->caller = caller_of(a, in, c->root, talk_text(a, last));
    if (aside && c->caller == CALLER_CHAT)
        c->caller = CALLER_ASIDE;
    else
        aside = c->caller == CALLER_ASIDE ? from_end : 0;
    if (!talk_read(a, c->root, aside, &c->talk))
        return false;
    c->in.said = c->talk.said;
    c->in.n_said = c->talk.n;
    c->in.mode = mode_of(c->caller, c->in.mode);
    c->in.is_aside = c->caller == CALLER_ASIDE && c->in.mode == MODE_READONLY;
    return true;
}

static enum status read_chat(struct ctx *ctx, struct app *app, const struct request *in,
                             struct chat *c)
{
    struct json *root;
    c->sent = in->body;
    TRY(json_parse(ctx, c->sent, &root));
    TRY(controls_find_who(ctx, app, in, root, &c->in));
    TRY(controls_hide_space(ctx, &root, &c->sent));
    TRY(controls_name_session(ctx, root, &c->in));
    c->root = root;
    c->model = json_get(root, "model");
    if (c->model && c->model->type != JSON_STRING)
        c->model = NULL;
    TRY(target_for(ctx, app->settings, in, json_string(c->model), &c->to));
    const struct json *tools = json_get(root, "tools");
    c->in.model = c->to.model;
    c->in.stand_in = !c->to.up;
    c->in.has_tools = tools && tools->n > 0;
    c->in.replays = c->to.up;
    c->in.brings_all = !str_is(json_string(json_at(root, "thread.type")), "continue");
    if (!read_talk(ctx, in, c))
        drop_memory(c, WITHOUT_FOR_MESSAGES);
    return OK;
}

/* --- asking --- */

/* In the order of their places: the block of this turn comes behind all earlier ones. */
static void put_blocks(struct ctx *ctx, struct chat *c)
{
    const struct turn_out *t = turn_out_of(c->turn);
    struct cut *cuts = NEW_N(&ctx->arena, struct cut, t->n_earlier + 1);
    size_t n = 0;
    for (size_t i = 0; i < t->n_earlier; i++) {
        const struct earlier_block *b = &t->earlier[i];
        assert(!b->in_window && c->talk.places[b->at]);
        n += splice_part(&ctx->arena, c->talk.places[b->at], b->block, &cuts[n]);
    }
    if (t->block.n && splice_part(&ctx->arena, c->talk.places[t->block_at], t->block, &cuts[n]))
        n++;
    else if (t->block.n)
        turn_drop_block(c->turn, S("the message's content is neither text nor blocks"));
    c->body.more = cuts;
    c->body.n_more = n;
}

static struct relay *ask_model(struct ctx *ctx, struct app *app, const struct request *in,
                               struct chat *c, str path)
{
    c->body = (struct splice){.body = c->sent};
    put_blocks(ctx, c);
    if (c->model && c->to.model.n < c->model->string.n)
        splice_model(&ctx->arena, &c->body, c->model, c->to.model);
    struct relay *r = relay_to(ctx, in, c->to.up, path, splice_done(&ctx->arena, &c->body));
    if (turn_out_of(c->turn)->mode != MODE_OFF)
        answer_capture_add(ctx, app, r, c->turn, &message_reader, false);
    return r;
}

static int64_t tokens_in(const struct talk *talk)
{
    int64_t n = 0;
    for (size_t i = 0; i < talk->n; i++)
        n += tokens_of(talk->said[i].text);
    return n;
}

static enum status answer_demo(struct ctx *ctx, struct app *app, struct chat *c, struct reply *out)
{
    str question = S(""), block = turn_out_of(c->turn)->block;
    struct demo d = {.stream = json_is_true(json_get(c->root, "stream")),
                     .prompt_tokens = tokens_of(block) + tokens_in(&c->talk)};
    if (!c->talk.said)
        return fail_field(ctx, "messages", "must be an array of messages, each with a role");
    for (size_t i = 0; i < c->talk.n; i++)
        if (str_is(c->talk.said[i].role, "user"))
            question = c->talk.said[i].text;
    d.answer = engine_demo_answer(ctx, question, block, NULL, 0);
    answer_write_demo(ctx, &d, out);
    turn_keep(ctx, app, c->turn, d.answer);
    return OK;
}

/* POST /v1/messages. As at chat completions a packed body passes without memory, and so does one
 * for which memory is switched off. */
static enum status complete_message(struct ctx *ctx, struct app *app, const struct request *in,
                                    struct reply *out)
{
    struct chat *c = NEW(&ctx->arena, struct chat);
    const str path = S("/v1/messages");
    TRY(controls_read(ctx, in, &c->in));
    TRY(refuse_wishes(ctx, in));
    bool is_packed = request_header(in, "Content-Encoding").n > 0;
    if (!engine_remembers(app->engine))
        drop_memory(c, WITHOUT_FOR_SETTING);
    if (is_packed)
        drop_memory(c, WITHOUT_FOR_ENCODING);
    if (is_packed || (c->in.mode == MODE_OFF && passes_unread(app->settings, in->body))) {
        controls_add_headers(app, &c->in, NULL, c->without, out);
        return pass_body(ctx, app, in, path, out);
    }
    TRY(read_chat(ctx, app, in, c));
    c->turn = engine_begin_turn(ctx, app->engine, &c->in);
    controls_add_headers(app, &c->in, c->turn, c->without, out);
    if (!c->to.up)
        return answer_demo(ctx, app, c, out);
    out->relay = ask_model(ctx, app, in, c, path);
    return OK;
}

/* POST /v1/messages/count_tokens: of what the client sends, without blocks. A block that the next
 * message will get cannot be known before, and finding it would be a recall for each count. */
static enum status count_tokens(struct ctx *ctx, struct app *app, const struct request *in,
                                struct reply *out)
{
    struct json *root;
    struct target to;
    struct talk talk;
    const str path = S("/v1/messages/count_tokens");
    if (request_header(in, "Content-Encoding").n || passes_unread(app->settings, in->body))
        return pass_body(ctx, app, in, path, out);
    TRY(json_parse(ctx, in->body, &root));
    TRY(target_for(ctx, app->settings, in, json_string(json_get(root, "model")), &to));
    if (to.up)
        return pass_body(ctx, app, in, path, out);
    if (!talk_read(&ctx->arena, root, 0, &talk))
        return fail_field(ctx, "messages", "must be an array of messages, each with a role");
    struct json_out w = json_to(&out->body);
    json_open(&w, '{');
    json_member_int(&w, "input_tokens", tokens_in(&talk));
    json_close(&w, '}');
    return OK;
}

static bool is_quick_message(const struct app *app, const struct request *in)
{
    bool is_off = switches_mode_or_full(in) == MODE_OFF || !engine_remembers(app->engine);
    return is_off && is_quick_to_pass(app, in);
}

static const struct route routes[] = {
    {ROUTE("POST", "/v1/messages", complete_message), SENDS(message_in), HEADERS(message_header),
     SHOWS(completion_shown), ANSWERS(message_out), .words.stream = "text/event-stream",
     .quick_if = is_quick_message,
     .help = "a message of Anthropic's API with memory, streamed or whole"},
    {ROUTE("POST", "/v1/messages/count_tokens", count_tokens), SENDS(counted_in),
     ANSWERS(counted_out), .quick_if = is_quick_to_pass,
     .help = "how many tokens a message has, without memory"},
    {0},
};

const struct surface surface_anthropic = {"anthropic",          routes,
                                          word_anthropic_error, auth_agent_request,
                                          SURFACE_SETTLES,      .errors = &anthropic_errors};
