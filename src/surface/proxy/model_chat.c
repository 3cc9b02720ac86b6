/* model_chat.c - a chat with memory around it, at any model API: the one handler of all of them. */
#include "surface/proxy/model_chat.h"

#include "core/tokens.h"
#include "surface/common/auth.h"
#include "surface/common/said.h"
#include "surface/proxy/passthrough.h"

/*
 * Read the headers, and the body when memory or the choice of an upstream needs it; begin a turn,
 * which finds the block; splice the block into the body; relay it, with the capture of the answer
 * as a filter. Without an upstream the built-in model answers.
 */

/* A body that is packed (Content-Encoding) cannot be read and goes on as it is, without memory; so
 * does one that memory was switched off for, when the upstream does not depend on the model. */
static enum status choose_passing(struct ctx *ctx, struct app *app, const struct request *in,
                                  const struct model_dialect *api, const struct model_request *m,
                                  bool *passes)
{
    bool must_read = api->must_read && api->must_read(app, in);
    if (must_read && model_is_packed(in) && !auth_has(&in->who, MANAGES_PEOPLE))
        return fail_field(ctx, "Content-Encoding",
                          "must be absent here: the body has to be read, because it may name a "
                          "stored response");
    *passes = model_is_packed(in) || (!must_read && model_passes(app, in, m));
    return OK;
}

/* The capture is the last filter, and so sees the one answer that the client sees. */
static struct relay *ask_model(struct ctx *ctx, struct app *app, const struct request *in,
                               const struct model_dialect *api, struct model_request *m)
{
    assert(m->turn && m->to.up);
    m->body = (struct splice){.body = m->sent};
    api->put(ctx, app, m);
    struct relay *r = model_relay(ctx, in, m, in->path);
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
    struct demo d = {
        .stream = stream && stream->type == JSON_BOOL ? json_is_true(stream) : api->streams,
        .prompt_tokens = tokens_of(turn_out_of(m->turn)->block) + said_tokens(in->said, n),
    };
    if (!in->said && !m->asks_nothing)
        return fail_field(ctx, api->member, "%s", api->rule);
    if (api->name_demo)
        api->name_demo(ctx, app, m);
    trace_begin(trace, STAGE_KEEP);
    if (m->asks_nothing)
        turn_keep(ctx, app, m->turn, S(""));
    else
        TRY(engine_answer_demo(ctx, app->engine, m->turn, said_question(in->said, n), &d.answer));
    trace_end(trace, STAGE_KEEP);
    api->write_demo(ctx, m, &d, out);
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
    TRY(model_begin(ctx, app, in, api->has_wishes, m));
    TRY(choose_passing(ctx, app, in, api, m, &passes));
    if (passes) {
        controls_add_headers(ctx, app, &m->in, NULL, m->without, out);
        return pass_body(ctx, app, in, in->path, out);
    }
    TRY(model_read(ctx, app, in, m));
    TRY(api->read(ctx, app, in, m));
    begin_turn(ctx, app, m, in->trace);
    controls_add_headers(ctx, app, &m->in, m->turn, m->without, out);
    if (!m->to.up)
        return answer_demo(ctx, app, api, m, in->trace, out);
    out->relay = ask_model(ctx, app, in, api, m);
    return OK;
}
