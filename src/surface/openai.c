/* openai.c - chat completions with memory around them; everything else of /v1 passes through. */
#include "core/tokens.h"

#include "surface/demo.h"
#include "surface/dialect.h"
#include "surface/history.h"
#include "surface/rounds.h"
#include "surface/splice.h"
#include "surface/tap.h"
#include "surface/upstream.h"

enum { SESSION_NAME_MAX = 256, QUICK_BODY_MAX = 64 << 10 };

/* --- what a chat request says --- */

struct chat {
    const struct json *root, *messages; /* messages is NULL when there is nothing to work with */
    const struct json *model;
    struct target to;
    struct turn turn;
    bool wants_tools; /* our tool shall be offered to the model */
    bool wants_history;
    struct window window; /* the session's earlier messages, where the request lacks them */
    struct splice body;
};

static bool is_yes(str value)
{
    value = str_trim(value);
    return str_eq_nocase(value, S("true")) || str_is(value, "1") || str_eq_nocase(value, S("yes"));
}

/* False when the header names no mode. What switches memory off wins over what asks for it. */
static bool mode_of(const struct app *app, const struct request *in, enum memory_mode *out)
{
    str wish = str_trim(request_header(in, "X-Memory-Mode"));
    int mode = MODE_FULL;
    if (wish.n)
        for (mode = 0; memory_mode_names[mode]; mode++)
            if (str_eq_nocase(wish, str_of(memory_mode_names[mode])))
                break;
    bool is_off =
        !engine_remembers(app->engine) || is_yes(request_header(in, "X-OmniRoute-No-Memory"));
    *out = is_off || !memory_mode_names[mode] ? MODE_OFF : (enum memory_mode)mode;
    return memory_mode_names[mode] != NULL;
}

static enum status read_wish(struct ctx *ctx, const struct request *in, const char *header,
                             bool *out)
{
    str wish = str_trim(request_header(in, header));
    bool is_on = str_eq_nocase(wish, S("on"));
    if (wish.n && !is_on && !str_eq_nocase(wish, S("off")))
        return fail_field(ctx, header, "must be one of: on, off");
    *out = is_on;
    return OK;
}

static enum status read_wishes(struct ctx *ctx, const struct request *in, struct chat *c)
{
    TRY(read_wish(ctx, in, "X-Memory-Tools", &c->wants_tools));
    TRY(read_wish(ctx, in, "X-Session-History", &c->wants_history));
    if (c->wants_history && !c->turn.session.n)
        return fail_field(ctx, "X-Session-History", "needs X-Session-Id, the session's name");
    return OK;
}

/* True when no byte of the body matters here: one upstream for every model, and no wish for the
 * built-in one (a solidus may be escaped, so half of its name is looked for). */
static bool passes_unread(const struct settings *s, str body)
{
    return s->n_upstreams == 1 && !s->upstreams[0].name.n &&
           str_find(body, S("rememberd")) == body.n;
}

/* What the loop does itself: it neither waits for the store nor reads a long body. */
static bool is_quick_to_pass(const struct app *app, const struct request *in)
{
    return in->body.n <= QUICK_BODY_MAX || passes_unread(app->settings, in->body);
}

static bool is_quick_chat(const struct app *app, const struct request *in)
{
    enum memory_mode mode;
    mode_of(app, in, &mode);
    return mode == MODE_OFF && is_quick_to_pass(app, in);
}

static enum status read_controls(struct ctx *ctx, struct app *app, const struct request *in,
                                 struct turn *out)
{
    str session = str_trim(request_header(in, "X-Session-Id"));
    if (!session.n)
        session = str_trim(request_header(in, "X-OmniRoute-Session-Id"));
    if (session.n > SESSION_NAME_MAX)
        return fail_field(ctx, "X-Session-Id", "must have at most %d bytes", SESSION_NAME_MAX);
    *out = (struct turn){.pool = in->who.pool,
                         .session = session,
                         .is_planned = str_trim(request_header(in, AGENT_HEADER)).n > 0};
    if (!mode_of(app, in, &out->mode))
        return fail_field(ctx, "X-Memory-Mode", "must be one of: full, readonly, after, off");
    return OK;
}

/* The messages in plain words. False, and nothing read, when a message has no role. */
static bool read_messages(struct ctx *ctx, struct chat *c)
{
    const struct json *messages = json_get(c->root, "messages");
    if (!messages || messages->type != JSON_ARRAY || !messages->n)
        return false;
    struct said *said = NEW_N(&ctx->arena, struct said, messages->n);
    size_t n = 0;
    for (const struct json *m = messages->first; m; m = m->next, n++) {
        said[n].role = json_string(json_get(m, "role"));
        said[n].text = text_of_content(&ctx->arena, json_get(m, "content"));
        said[n].name = json_string(json_get(m, "name"));
        if (!said[n].role.n)
            return false;
    }
    c->messages = messages;
    c->turn.said = said;
    c->turn.n_said = n;
    return true;
}

static enum status read_chat(struct ctx *ctx, const struct app *app, str body, struct chat *c)
{
    struct json *root;
    TRY(json_parse(ctx, body, &root));
    c->root = root;
    c->model = json_get(root, "model");
    if (c->model && c->model->type != JSON_STRING)
        c->model = NULL;
    TRY(target_of(ctx, app->settings, json_string(c->model), &c->to));
    c->turn.model = c->to.model;
    c->turn.has_tools = json_get(root, "tools") || json_get(root, "functions");
    if (!read_messages(ctx, c))
        c->turn.mode = MODE_OFF;
    return OK;
}

/* The client has sent new messages only: those before them come from the session, and the next
 * request must find these. */
static enum status read_history(struct ctx *ctx, struct app *app, struct chat *c)
{
    struct turn *t = &c->turn;
    int64_t system_tokens = 0;
    str asked = S("");
    t->is_durable = true;
    if (!history_is_wanted(t->said, t->n_said))
        return OK;
    for (size_t i = t->n_said; i-- > 0;) {
        if (str_is(t->said[i].role, "user"))
            asked = t->said[i].text;
        else
            system_tokens += tokens_of(t->said[i].text);
    }
    return history_of(ctx, app, t, system_tokens, asked, &c->window);
}

/* --- where the block goes --- */

static const struct json *element(const struct json *array, size_t i)
{
    const struct json *v = array->first;
    while (v && i--)
        v = v->next;
    return v;
}

/* Of two things at one place the one that is put first stands first: a block that belongs to the
 * front goes before the session's messages, one beside the message behind them. */
static void put_block(struct ctx *ctx, const struct app *app, struct chat *c, bool is_front)
{
    const struct turn *t = &c->turn;
    const struct json *at = t->block.n ? element(c->messages, t->block_at) : NULL;
    const struct block block = {
        .text = t->block,
        .where = t->is_planned ? PLACE_USER_PREFIX : target_placement(app->settings, &c->to),
        .no_system = target_rejects_system(&ctx->arena, &c->to),
    };
    if (at && is_front == (block.where == PLACE_SYSTEM || block.where == PLACE_FIRST_USER))
        splice_block(&ctx->arena, &c->body, c->root, c->messages, at, &block);
}

static void put_into(struct ctx *ctx, const struct app *app, struct chat *c)
{
    if (c->model && c->to.model.n < c->model->string.n)
        splice_model(&ctx->arena, &c->body, c->model, c->to.model);
    put_block(ctx, app, c, true);
    if (c->window.n)
        history_splice(&ctx->arena, &c->body, c->messages, &c->window);
    put_block(ctx, app, c, false);
}

static struct relay *ask_model(struct ctx *ctx, struct app *app, const struct request *in,
                               struct chat *c, str path)
{
    c->body = (struct splice){.body = in->body};
    put_into(ctx, app, c);
    bool has_tool =
        c->wants_tools && c->turn.mode != MODE_OFF && rounds_offer(ctx, &c->body, c->root);
    struct relay *r = relay_to(ctx, in, c->to.up, path, splice_done(&ctx->arena, &c->body));
    if (c->turn.mode != MODE_OFF)
        tap_on(ctx, r, &c->turn);
    const struct rounds_in rounds = {.body = &c->body,
                                     .root = c->root,
                                     .messages = c->messages,
                                     .turn = &c->turn,
                                     .max = app->settings->tool_rounds};
    if (has_tool)
        rounds_on(ctx, r, &rounds);
    if (c->turn.is_durable && r->tap)
        tap_before_end(r);
    return r;
}

/* --- answering --- */

/* A body that names a model goes to that model's upstream, without the prefix. */
static enum status pass_body(struct ctx *ctx, struct app *app, const struct request *in, str path,
                             struct reply *out)
{
    struct json *root = NULL;
    struct target to = {0};
    struct splice s = {.body = in->body};
    bool is_read = !passes_unread(app->settings, in->body) && in->body.n &&
                   json_parse(ctx, in->body, &root) == OK;
    ctx_clear_failure(ctx);
    const struct json *model = is_read ? json_get(root, "model") : NULL;
    TRY(target_of(ctx, app->settings, json_string(model), &to));
    if (!to.up)
        return fail(ctx, NOT_FOUND,
                    "only a model server answers this, and none is set: start rememberd with "
                    "--upstream URL");
    if (model && to.model.n < model->string.n)
        splice_model(&ctx->arena, &s, model, to.model);
    out->relay = relay_to(ctx, in, to.up, path, splice_done(&ctx->arena, &s));
    return OK;
}

static enum status answer_demo(struct ctx *ctx, struct app *app, struct chat *c, struct reply *out)
{
    struct turn *t = &c->turn;
    str question = S("");
    struct demo d = {
        .stream = json_is_true(json_get(c->root, "stream")),
        .with_usage = json_is_true(json_at(c->root, "stream_options.include_usage")),
        .prompt_tokens = tokens_of(t->block) + c->window.tokens,
    };
    if (!t->n_said)
        return fail_field(ctx, "messages", "must be an array of messages, each with a role");
    for (size_t i = 0; i < t->n_said; i++) {
        d.prompt_tokens += tokens_of(t->said[i].text);
        if (str_is(t->said[i].role, "user"))
            question = t->said[i].text;
    }
    d.answer = engine_demo_answer(ctx, question, t);
    demo_write(ctx, &d, out);
    t->stand_in = true;
    if (t->is_durable)
        return engine_end_turn(ctx, app->engine, t, d.answer);
    if (t->mode != MODE_OFF)
        turn_keep(ctx, app, t, d.answer);
    return OK;
}

/* The receipt's id and the session, for whoever wants to ask later. */
static void tell(const struct turn *t, struct reply *out)
{
    str session = t->record.session.n ? t->record.session : t->session;
    if (t->receipt.n)
        reply_header(out, "X-Rememberd-Receipt", t->receipt);
    if (session.n)
        reply_header(out, "X-OmniRoute-Session-Id", session);
}

static enum status complete(struct ctx *ctx, struct app *app, const struct request *in,
                            struct reply *out)
{
    struct chat *c = NEW(&ctx->arena, struct chat);
    const str path = S("/v1/chat/completions");
    TRY(read_controls(ctx, app, in, &c->turn));
    TRY(read_wishes(ctx, in, c));
    bool is_packed = request_header(in, "Content-Encoding").n > 0;
    if (is_packed || (c->turn.mode == MODE_OFF && passes_unread(app->settings, in->body))) {
        tell(&c->turn, out);
        return pass_body(ctx, app, in, path, out);
    }
    TRY(read_chat(ctx, app, in->body, c));
    if (c->wants_history && c->turn.mode != MODE_OFF)
        TRY(read_history(ctx, app, c));
    if (c->turn.mode != MODE_OFF)
        engine_begin_turn(ctx, app->engine, &c->turn);
    tell(&c->turn, out);
    if (!c->to.up)
        return answer_demo(ctx, app, c, out);
    out->relay = ask_model(ctx, app, in, c, path);
    return OK;
}

/* --- everything else --- */

static bool serves(const struct surface *s, str first)
{
    for (const struct route *r = s->routes; r->method; r++) {
        str rest = str_of(r->path);
        str_cut(&rest, '/');
        if (str_is(str_cut(&rest, '/'), "v1") && str_eq(str_cut(&rest, '/'), first))
            return true;
    }
    return false;
}

/* Whether only others serve this first part of a path: then a slip behind it is not the upstream's
 * business. One that is served here, too ("chat"), is the upstream's but for the others' paths. */
static bool is_served_elsewhere(str first)
{
    for (const struct surface *const *s = surfaces; *s; s++)
        if (*s != &surface_openai && serves(*s, first))
            return !serves(&surface_openai, first);
    return false;
}

static str path_of(struct arena *a, const struct request *in, size_t n, str last)
{
    str path = S("/v1");
    for (size_t i = 0; i < n; i++)
        path = str_printf(a, S_FMT "/" S_FMT, S_ARG(path),
                          S_ARG(url_segment(a, i + 1 == n ? last : in->params[i])));
    return path;
}

static enum status pass(struct ctx *ctx, struct app *app, const struct request *in,
                        struct reply *out)
{
    size_t n = 0;
    while (n < ROUTE_PARAMS_MAX && in->params[n].n)
        n++;
    if (n && is_served_elsewhere(in->params[0]))
        return fail(ctx, NOT_FOUND, "nothing is served at " S_FMT " " S_FMT, S_ARG(in->method),
                    S_ARG(in->path));
    str last = n ? in->params[n - 1] : S("");
    return pass_body(ctx, app, in, path_of(&ctx->arena, in, n, last), out);
}

static void write_demo_model(struct json_out *w)
{
    json_raw(w, S("{\"id\":\"" DEMO_MODEL "\",\"object\":\"model\",\"created\":0,"
                  "\"owned_by\":\"rememberd\"}"));
}

static enum status list_models(struct ctx *ctx, struct app *app, const struct request *in,
                               struct reply *out)
{
    str none = S("");
    const struct upstream *up = settings_upstream(app->settings, &none);
    if (up) {
        out->relay = relay_to(ctx, in, up, S("/v1/models"), in->body);
        return OK;
    }
    struct json_out w = json_to(&out->body);
    json_open(&w, '{');
    json_key(&w, "object");
    json_str(&w, S("list"));
    json_key(&w, "data");
    json_open(&w, '[');
    write_demo_model(&w);
    json_close(&w, ']');
    json_close(&w, '}');
    return OK;
}

/* The name of the model chooses the upstream here, too: openai%2Fgpt-5. */
static enum status get_model(struct ctx *ctx, struct app *app, const struct request *in,
                             struct reply *out)
{
    struct target to;
    str id = in->params[0];
    TRY(target_of(ctx, app->settings, id, &to));
    if (to.up) {
        str path =
            str_printf(&ctx->arena, "/v1/models/" S_FMT, S_ARG(url_segment(&ctx->arena, to.model)));
        out->relay = relay_to(ctx, in, to.up, path, in->body);
        return OK;
    }
    if (!str_is(id, DEMO_MODEL)) {
        fail(ctx, NOT_FOUND, "there is no model '" S_FMT "'; " DEMO_MODEL " is built in",
             S_ARG(id));
        snprintf(ctx->field, sizeof ctx->field, "model");
        return NOT_FOUND;
    }
    struct json_out w = json_to(&out->body);
    write_demo_model(&w);
    return OK;
}

#define PASSES                                                                                     \
    .run = pass, .quick_if = is_quick_to_pass, .help = "passed on to the upstream as it is"
#define PASSES_AT(PATH)                                                                            \
    {"GET", PATH, PASSES}, {"POST", PATH, PASSES},                                                 \
    {                                                                                              \
        "DELETE", PATH, PASSES                                                                     \
    }

static const struct route routes[] = {
    {"POST", "/v1/chat/completions", complete, .quick_if = is_quick_chat,
     .help = "a chat completion with memory around it, streamed or whole"},
    {"GET", "/v1/models", list_models, .is_quick = true,
     .help = "the upstream's models, or the built-in one"},
    {"GET", "/v1/models/{id}", get_model, .is_quick = true, .help = "one model"},
    PASSES_AT("/v1/{a}"),
    PASSES_AT("/v1/{a}/{b}"),
    PASSES_AT("/v1/{a}/{b}/{c}"),
    PASSES_AT("/v1/{a}/{b}/{c}/{d}"),
    {0},
};

const struct surface surface_openai = {"openai", routes, word_openai_error, admit};
