/* model_chat.c - a chat with memory around it, at any model API: the one handler of all of them. */
#include "surface/proxy/model_chat.h"

#include "base/id.h"
#include "core/tokens.h"
#include "surface/common/auth.h"
#include "surface/common/helper_calls.h"
#include "surface/common/said.h"
#include "surface/common/switches.h"
#include "surface/proxy/passthrough.h"

/*
 * Read the headers, and the body when memory or the choice of an upstream needs it; begin a turn,
 * which finds the block; splice the block into the body; relay it, with the capture of the answer
 * as a filter. Without an upstream the built-in model answers.
 */

void model_drop_memory(struct model_request *m, enum without_memory why)
{
    if (m->in.mode != MODE_OFF)
        m->without = why;
    m->in.mode = MODE_OFF;
}

bool model_is_packed(const struct request *in)
{
    return request_header(in, "Content-Encoding").n > 0;
}

bool model_is_quick(const struct app *app, const struct request *in)
{
    bool is_off = switches_mode_or_full(in) == MODE_OFF || !engine_remembers(app->engine);
    return is_off && is_quick_to_pass(app, in);
}

/* --- the headers --- */

/* A header without a value counts as absent; a word other than on and off is refused rather than
 * guessed at. */
static enum status read_wish(struct ctx *ctx, const struct request *in, const char *header,
                             bool is_taken, bool *out)
{
    str wish = str_trim(request_header(in, header));
    bool is_on = str_eq_nocase(wish, S("on"));
    if (wish.n && !(is_on && is_taken) && !str_eq_nocase(wish, S("off")))
        return fail_field(ctx, header,
                          is_taken ? "must be one of: on, off" : "must be off at this endpoint");
    *out = is_on;
    return OK;
}

/* An API without the two wishes refuses them: a client that counts on them must learn that. Memory
 * is dropped when it is off for everyone, or the body is packed. */
static enum status read_headers(struct ctx *ctx, struct app *app, const struct request *in,
                                bool has_wishes, struct model_request *m)
{
    static const char history[] = "X-Session-History";
    TRY(controls_read(ctx, in, &m->in));
    TRY(read_wish(ctx, in, "X-Memory-Tools", has_wishes, &m->wants_tools));
    TRY(read_wish(ctx, in, history, has_wishes, &m->wants_history));
    if (m->wants_history && !m->in.session.n)
        return fail_field(ctx, history, "needs X-Session-Id, the session's name");
    enum memory_mode asked = m->in.mode;
    if (!engine_remembers(app->engine))
        model_drop_memory(m, WITHOUT_FOR_SETTING);
    /* A session that the server keeps for the client goes on while memory is off for all. */
    if (m->wants_history)
        m->in.mode = asked;
    if (model_is_packed(in))
        model_drop_memory(m, WITHOUT_FOR_ENCODING);
    return OK;
}

/* A body that is packed (Content-Encoding) cannot be read and goes on as it is, without memory; so
 * does one that memory was switched off for, when the upstream does not depend on the model. */
static enum status choose_passing(struct ctx *ctx, struct app *app, const struct request *in,
                                  const struct model_dialect *api, const struct model_request *m,
                                  bool *passes)
{
    bool must_read = api->must_read && api->must_read(app, in);
    if (must_read && model_is_packed(in) && !auth_has(&in->who, MANAGES_PEOPLE))
        return fail_field(ctx, "Content-Encoding",
                          "must be absent here: the body has to be read, because it may name "
                          "what others have stored");
    *passes = model_is_packed(in) ||
              (!must_read && m->in.mode == MODE_OFF && passes_unread(app->settings, in->body));
    return OK;
}

/* --- the body --- */

/* The APIs refuse members that they do not know. */
static enum status hide_space(struct ctx *ctx, struct json **root, str *body)
{
    struct json_out w = json_in(&ctx->arena, body->n * 6 + 3);
    if (!json_get(*root, SPACE_MEMBER))
        return OK;
    json_open(&w, '{');
    for (const struct json *m = (*root)->first; m; m = m->next)
        if (!str_is(json_name(m), SPACE_MEMBER))
            json_member_raw(&w, str_c(&ctx->arena, json_name(m)), m->source);
    json_close(&w, '}');
    *body = buf_str(w.b);
    return json_parse(ctx, *body, root);
}

/* Whose memory, the model and its upstream. Without memory nobody needs to know who speaks, and a
 * name that may not be used harms nobody. */
static enum status read_body(struct ctx *ctx, struct app *app, const struct request *in,
                             struct model_request *m)
{
    struct json *root;
    m->sent = in->body;
    TRY(json_parse(ctx, m->sent, &root));
    m->who = in->who;
    if (m->in.mode != MODE_OFF) {
        TRY(auth_chat(ctx, app, in, root, &m->who));
        m->in.pool = m->who.pool;
    }
    TRY(hide_space(ctx, &root, &m->sent));
    m->root = root;
    m->model = json_get(root, "model");
    if (m->model && m->model->type != JSON_STRING)
        m->model = NULL;
    TRY(target_for(ctx, app->settings, in, json_string(m->model), &m->to));
    const struct json *tools = json_get(root, "tools");
    m->in.model = m->to.model;
    m->in.stand_in = !m->to.up;
    m->in.has_tools = tools && tools->n > 0;
    return OK;
}

enum placement blocks_placement(const struct app *app, const struct model_request *m)
{
    return m->in.is_planned ? PLACE_USER_PREFIX : target_placement(app->settings, &m->to);
}

enum status model_read_messages(struct ctx *ctx, struct app *app, const struct request *in,
                                struct model_request *m)
{
    struct said *said;
    const struct json *messages = json_get(m->root, "messages");
    TRY(controls_name_session(ctx, m->root, &m->in));
    m->in.replays = m->to.up && placement_is_beside(blocks_placement(app, m));
    if (!said_read(ctx, messages, &said, &m->in.n_said)) {
        m->in.n_said = 0;
        model_drop_memory(m, WITHOUT_FOR_MESSAGES);
        return OK;
    }
    size_t n = 0;
    m->places = NEW_N(&ctx->arena, const struct json *, messages->n);
    for (const struct json *message = messages->first; message; message = message->next)
        m->places[n++] = message;
    m->in.said = said;
    m->messages = messages;
    helper_call_read(&ctx->arena, in, m->root, &m->in);
    return OK;
}

/* --- blocks --- */

/* The model's server then sees the prompt that it has cached. */
void blocks_put_earlier(const struct app *app, struct model_request *m)
{
    const struct turn_out *t = turn_out_of(m->turn);
    bool is_front = blocks_placement(app, m) == PLACE_USER_PREFIX;
    for (const struct earlier_block *b = t->earlier; b < t->earlier + t->n_earlier; b++)
        if (!b->in_window)
            splice_beside(&m->body, m->places[b->at], is_front, b->block);
}

void blocks_put(struct ctx *ctx, const struct app *app, struct model_request *m, bool is_front)
{
    assert(m->turn && m->body.body.n);
    const struct turn_out *t = turn_out_of(m->turn);
    const struct json *at = t->block.n ? m->places[t->block_at] : NULL;
    const struct block block = {.text = t->block,
                                .where = blocks_placement(app, m),
                                .no_system = target_rejects_system(&ctx->arena, &m->to)};
    if (at && is_front == (block.where == PLACE_SYSTEM || block.where == PLACE_FIRST_USER))
        splice_block(&m->body, m->root, m->messages, at, &block);
}

/* --- asking and answering --- */

/* The capture is the last filter, and so sees the one answer that the client sees. */
static struct relay *ask_model(struct ctx *ctx, struct app *app, const struct request *in,
                               const struct model_dialect *api, struct model_request *m)
{
    assert(m->turn && m->to.up);
    m->body = (struct splice){.arena = &ctx->arena, .body = m->sent};
    api->put(ctx, app, m);
    if (m->model && m->to.model.n < json_string(m->model).n)
        splice_model(&m->body, m->model, m->to.model);
    struct relay *r = relay_to(ctx, in, m->to.up, in->path, splice_done(&m->body));
    if (api->add_filters)
        api->add_filters(ctx, app, r, m);
    if (turn_out_of(m->turn)->mode != MODE_OFF || m->in.notes_owner)
        answer_capture_add(ctx, app, r, m->turn, m->reader, m->in.is_durable, in->trace);
    return r;
}

/* The built-in model has no relay and thus no filters: the turn is kept here, and its failure is
 * the client's when the turn is durable. */
static enum status answer_demo(struct ctx *ctx, struct app *app, const struct model_dialect *api,
                               struct model_request *m, struct trace *trace, struct reply *out)
{
    const struct turn_in *in = &m->in;
    const struct json *stream = json_get(m->root, "stream");
    size_t n = m->messages ? m->messages->n : in->n_said; /* also those that are not the turn's */
    struct demo d = {.arena = &ctx->arena,
                     .out = out,
                     .id = id_random(&ctx->arena),
                     .message = S(""),
                     .stream =
                         stream && stream->type == JSON_BOOL ? json_is_true(stream) : api->streams,
                     .prompt_tokens =
                         tokens_of(turn_out_of(m->turn)->block) + said_tokens(in->said, n)};
    if (!in->said && !m->asks_nothing)
        return fail_field(ctx, api->member, "%s", api->rule);
    if (api->begin_demo)
        api->begin_demo(ctx, app, m, &d);
    trace_begin(trace, STAGE_KEEP);
    if (m->asks_nothing)
        turn_keep(ctx, app, m->turn, S(""));
    else
        TRY(engine_answer_demo(ctx, app->engine, m->turn, said_question(in->said, n), &d.answer));
    trace_end(trace, STAGE_KEEP);
    demo_write(&d, api->demo);
    return OK;
}

static void begin_turn(struct ctx *ctx, struct app *app, struct model_request *m,
                       struct trace *trace)
{
    bool recalls = m->in.mode != MODE_OFF;
    if (recalls)
        trace_begin(trace, STAGE_RECALL);
    m->turn = engine_begin_turn(ctx, app->engine, &m->in);
    if (recalls)
        trace_end(trace, STAGE_RECALL);
    trace->chat.model = m->to.up ? m->to.model : S(DEMO_MODEL);
    trace->chat.session = turn_out_of(m->turn)->session;
    trace->chat.receipt = turn_out_of(m->turn)->receipt;
}

enum status model_chat(struct ctx *ctx, struct app *app, const struct request *in,
                       const struct model_dialect *api, struct model_request *m, struct reply *out)
{
    bool passes = false;
    m->reader = api->reader;
    in->trace->chat.operation = "chat";
    TRY(read_headers(ctx, app, in, api->has_wishes, m));
    TRY(choose_passing(ctx, app, in, api, m, &passes));
    if (passes) {
        controls_add_headers(ctx, app, &m->in, NULL, m->without, out);
        return pass_body(ctx, app, in, in->path, out);
    }
    TRY(read_body(ctx, app, in, m));
    TRY(api->read(ctx, app, in, m));
    begin_turn(ctx, app, m, in->trace);
    controls_add_headers(ctx, app, &m->in, m->turn, m->without, out);
    if (!m->to.up)
        return answer_demo(ctx, app, api, m, in->trace, out);
    out->relay = ask_model(ctx, app, in, api, m);
    return OK;
}
