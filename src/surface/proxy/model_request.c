/* model_request.c - the parts of a chat's request to any model API besides its messages. */
#include "surface/proxy/model_request.h"

#include "surface/common/helper_calls.h"
#include "surface/common/said.h"
#include "surface/common/switches.h"
#include "surface/proxy/passthrough.h"

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

enum status model_begin(struct ctx *ctx, struct app *app, const struct request *in, bool has_wishes,
                        struct model_request *m)
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

bool model_passes(const struct app *app, const struct request *in, const struct model_request *m)
{
    return model_is_packed(in) ||
           (m->in.mode == MODE_OFF && passes_unread(app->settings, in->body));
}

bool model_is_quick(const struct app *app, const struct request *in)
{
    bool is_off = switches_mode_or_full(in) == MODE_OFF || !engine_remembers(app->engine);
    return is_off && is_quick_to_pass(app, in);
}

enum status model_read(struct ctx *ctx, struct app *app, const struct request *in,
                       struct model_request *m)
{
    struct json *root;
    m->sent = in->body;
    TRY(json_parse(ctx, m->sent, &root));
    m->who = in->who;
    TRY(controls_find_who(ctx, app, in, root, &m->who, &m->in));
    TRY(controls_hide_space(ctx, &root, &m->sent));
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

void model_read_messages(struct ctx *ctx, const struct request *in, struct model_request *m)
{
    struct said *said;
    const struct json *messages = json_get(m->root, "messages");
    if (!said_read(ctx, messages, &said, &m->in.n_said)) {
        m->in.n_said = 0;
        model_drop_memory(m, WITHOUT_FOR_MESSAGES);
        return;
    }
    m->in.said = said;
    m->messages = messages;
    helper_call_read(&ctx->arena, in, m->root, &m->in);
}

void model_set_caller(struct model_request *m, enum caller caller)
{
    if (caller == CALLER_CHAT || m->in.mode == MODE_OFF)
        return;
    m->in.helper =
        caller == CALLER_AGENT ? S("sub-agent of the client") : S("own call of the client");
    m->in.mode = m->in.mode == MODE_AFTER ? MODE_OFF : MODE_READONLY;
    m->in.is_aside = caller == CALLER_ASIDE && m->in.mode == MODE_READONLY;
}

struct relay *model_relay(struct ctx *ctx, const struct request *in, struct model_request *m,
                          str path)
{
    if (m->model && m->to.model.n < json_string(m->model).n)
        splice_model(&ctx->arena, &m->body, m->model, m->to.model);
    return relay_to(ctx, in, m->to.up, path, splice_done(&ctx->arena, &m->body));
}
