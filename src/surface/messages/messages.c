/* messages.c - Anthropic's Messages API with memory around it. */
#include <assert.h>

#include "core/tokens.h"
#include "surface/common/auth.h"
#include "surface/common/dialects.h"
#include "surface/common/error_body.h"
#include "surface/common/helper_calls.h"
#include "surface/common/said.h"
#include "surface/messages/answer.h"
#include "surface/messages/fields.h"
#include "surface/messages/talk.h"
#include "surface/proxy/chat_fields.h"
#include "surface/proxy/model_request.h"
#include "surface/proxy/passthrough.h"

/*
 * As at chat completions: the headers, then the body, then a turn of the engine, whose blocks are
 * spliced into the body. A block is always a text block of its own behind what the user sent, never
 * in system or tools, since caches and signed thinking begin there. It has no cache_control: the
 * client's marks stay where they are. An automatic mark (cache_control of the request itself) comes
 * to stand on the block, which is right, because the block is there in every later request.
 */

struct chat {
    struct model_request ask;
    struct talk talk;
};

/* --- what a request says --- */

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

/* Each block of the system text by itself: clients put a line of their own before the others. */
static struct helper_facts facts_of(struct arena *a, const struct request *in,
                                    const struct json *root, const struct json *last)
{
    const struct json *system = json_get(root, "system"), *messages = json_get(root, "messages");
    bool has_blocks = system && system->type == JSON_ARRAY;
    str *texts = NEW_N(a, str, has_blocks ? system->n + 1 : 1);
    struct helper_facts f = {.in = in,
                             .root = root,
                             .system = texts,
                             .last = talk_text(a, last),
                             .messages = messages ? messages->n : 0};
    for (const struct json *b = has_blocks ? system->first : NULL; b; b = b->next)
        texts[f.n_system++] = json_string(json_get(b, "text"));
    if (!has_blocks)
        texts[f.n_system++] = json_string(system);
    return f;
}

/* False when there are no messages that can be read. */
static bool read_talk(struct ctx *ctx, const struct request *in, struct chat *c)
{
    struct arena *a = &ctx->arena;
    size_t from_end, aside = talk_aside(a, c->ask.root);
    const struct json *last = last_content(c->ask.root, &from_end);
    const struct helper_facts facts = facts_of(a, in, c->ask.root, last);
    const struct helper_call *call = helper_call_find(&facts);
    helper_call_apply(a, aside && !call ? &helper_note : call, &c->ask.in);
    if (!c->ask.in.is_aside)
        aside = 0;
    else if (call)
        aside = from_end;
    if (!talk_read(a, c->ask.root, aside, &c->talk))
        return false;
    c->ask.in.said = c->talk.said;
    c->ask.in.n_said = c->talk.n;
    return true;
}

static enum status read_chat(struct ctx *ctx, struct app *app, const struct request *in,
                             struct chat *c)
{
    TRY(model_read(ctx, app, in, &c->ask));
    TRY(controls_name_session(ctx, c->ask.root, &c->ask.in));
    c->ask.in.replays = c->ask.to.up;
    c->ask.in.brings_all = !str_is(json_string(json_at(c->ask.root, "thread.type")), "continue");
    if (!read_talk(ctx, in, c))
        model_drop_memory(&c->ask, WITHOUT_FOR_MESSAGES);
    return OK;
}

/* --- asking --- */

/* In the order of their places: the block of this turn comes behind all earlier ones. */
static void put_blocks(struct ctx *ctx, struct chat *c)
{
    const struct turn_out *t = turn_out_of(c->ask.turn);
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
        turn_drop_block(c->ask.turn, S("the message's content is neither text nor blocks"));
    c->ask.body.more = cuts;
    c->ask.body.n_more = n;
}

static struct relay *ask_model(struct ctx *ctx, struct app *app, const struct request *in,
                               struct chat *c, str path)
{
    c->ask.body = (struct splice){.body = c->ask.sent};
    put_blocks(ctx, c);
    struct relay *r = model_relay(ctx, in, &c->ask, path);
    if (turn_out_of(c->ask.turn)->mode != MODE_OFF)
        answer_capture_add(ctx, app, r, c->ask.turn, &message_reader, false);
    return r;
}

static enum status answer_demo(struct ctx *ctx, struct app *app, struct chat *c, struct reply *out)
{
    const struct talk *talk = &c->talk;
    str block = turn_out_of(c->ask.turn)->block, question = said_question(talk->said, talk->n);
    struct demo d = {.stream = json_is_true(json_get(c->ask.root, "stream")),
                     .prompt_tokens = tokens_of(block) + said_tokens(talk->said, talk->n)};
    if (!talk->said)
        return fail_field(ctx, "messages", "must be an array of messages, each with a role");
    TRY(engine_answer_demo(ctx, app->engine, c->ask.turn, question, &d.answer));
    answer_write_demo(ctx, &d, out);
    return OK;
}

/* POST /v1/messages. As at chat completions a packed body passes without memory, and so does one
 * for which memory is switched off. */
static enum status complete_message(struct ctx *ctx, struct app *app, const struct request *in,
                                    struct reply *out)
{
    struct chat *c = NEW(&ctx->arena, struct chat);
    const str path = S("/v1/messages");
    TRY(model_begin(ctx, app, in, &c->ask));
    if (model_passes(app, in, &c->ask)) {
        controls_add_headers(ctx, app, &c->ask.in, NULL, c->ask.without, out);
        return pass_body(ctx, app, in, path, out);
    }
    TRY(read_chat(ctx, app, in, c));
    c->ask.turn = engine_begin_turn(ctx, app->engine, &c->ask.in);
    controls_add_headers(ctx, app, &c->ask.in, c->ask.turn, c->ask.without, out);
    if (!c->ask.to.up)
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
    if (model_is_packed(in) || passes_unread(app->settings, in->body))
        return pass_body(ctx, app, in, path, out);
    TRY(json_parse(ctx, in->body, &root));
    TRY(target_for(ctx, app->settings, in, json_string(json_get(root, "model")), &to));
    if (to.up)
        return pass_body(ctx, app, in, path, out);
    if (!talk_read(&ctx->arena, root, 0, &talk))
        return fail_field(ctx, "messages", "must be an array of messages, each with a role");
    struct json_out w = json_to(&out->body);
    json_open(&w, '{');
    json_member_int(&w, "input_tokens", said_tokens(talk.said, talk.n));
    json_close(&w, '}');
    return OK;
}

static const struct route routes[] = {
    {ROUTE("POST", "/v1/messages", complete_message), SENDS(message_in), HEADERS(message_header),
     SHOWS(completion_shown), ANSWERS(message_out), .words.stream = "text/event-stream",
     .quick_if = model_is_quick,
     .help = "a message of Anthropic's API with memory, streamed or whole"},
    {ROUTE("POST", "/v1/messages/count_tokens", count_tokens), SENDS(counted_in),
     ANSWERS(counted_out), .quick_if = is_quick_to_pass,
     .help = "how many tokens a message has, without memory"},
    {0},
};

const struct surface surface_anthropic = {"anthropic",          routes,
                                          word_anthropic_error, auth_agent_request,
                                          SURFACE_SETTLES,      .errors = &anthropic_errors};
