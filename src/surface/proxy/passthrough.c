/* passthrough.c - requests that go to the upstream unchanged, and the list of models. */
#include "surface/proxy/passthrough.h"

#include "surface/common/error_body.h"
#include "surface/common/without_memory.h"
#include "surface/proxy/demo_answer.h"
#include "surface/proxy/splice.h"
#include "surface/proxy/upstream.h"

enum { QUICK_BODY_MAX = 64 << 10 }; /* bytes that the loop's thread may parse */

/* --- bodies --- */

/* With one upstream for every model no byte of the body matters here, unless it may name the
 * built-in model or a space. JSON may escape the solidus of that model: half of it is looked for.
 */
bool passes_unread(const struct settings *s, str body)
{
    return s->n_upstreams == 1 && !s->upstreams[0].name.n &&
           str_find(body, S("rememberd")) == body.n &&
           str_find(body, S("\"" SPACE_MEMBER "\"")) == body.n;
}

bool is_quick_to_pass(const struct app *app, const struct request *in)
{
    return in->body.n <= QUICK_BODY_MAX || passes_unread(app->settings, in->body);
}

/* The prefix of the model's name has chosen the upstream, which does not know the prefix. */
enum status pass_body(struct ctx *ctx, struct app *app, const struct request *in, str path,
                      struct reply *out)
{
    struct json *root = NULL;
    struct target to = {0};
    struct splice s = {.arena = &ctx->arena, .body = in->body};
    bool is_read = !passes_unread(app->settings, in->body) && in->body.n &&
                   soft(ctx, json_parse(ctx, in->body, &root));
    const struct json *model = is_read ? json_get(root, "model") : NULL;
    TRY(target_for(ctx, app->settings, in, json_string(model), &to));
    if (!to.up)
        return target_missing(ctx, in);
    if (model && to.model.n < json_string(model).n)
        splice_model(&s, model, to.model);
    out->relay = relay_to(ctx, in, to.up, path, splice_done(&s));
    return OK;
}

/* --- paths --- */

static bool serves_part(const struct surface *s, str first)
{
    for (const struct route *r = s->routes; r->method; r++) {
        str rest = str_of(r->path);
        str_cut(&rest, '/');
        if (str_is(str_cut(&rest, '/'), "v1") && str_eq(str_cut(&rest, '/'), first))
            return true;
    }
    return false;
}

/* The model server's own below a name that is served here as well: stored completions, batches of
 * Anthropic's, and stored responses, whatever their ids. */
static const struct {
    const char *first, *second;
} upstreams[] = {{"chat", "completions"}, {"messages", "batches"}, {"responses", NULL}};

/* The surface whose path begins like this one, or NULL: then it is misspelt, and what the client
 * meant for us is not shown to the upstream. */
static const struct surface *meant_for(const struct app *app, const str *parts)
{
    if (SOME(i, sizeof upstreams / sizeof *upstreams,
             str_is(parts[0], upstreams[i].first) &&
                 (!upstreams[i].second || str_is(parts[1], upstreams[i].second))))
        return NULL;
    for (const struct surface *const *s = app->surfaces; *s; s++)
        if (strcmp((*s)->name, "openai") != 0 && serves_part(*s, parts[0]))
            return *s;
    return NULL;
}

/* The path is encoded again from its decoded parts, so that only sound escapes reach the upstream.
 * One that a row names word for word needs none. */
static str path_of(struct arena *a, const struct request *in)
{
    str path = in->params[0].n ? S("/v1") : in->path;
    for (size_t i = 0; i < ROUTE_PARAMS_MAX && in->params[i].n; i++)
        path = str_printf(a, S_FMT "/" S_FMT, S_ARG(path), S_ARG(percent_encode(a, in->params[i])));
    return path;
}

/* The route has no parts that vary, so the path is as it is in the table. */
HANDLER(pass_request)
{
    assert(!in->params[0].n);
    return pass_body(ctx, app, in, in->path, out);
}

HANDLER(pass_conversation)
{
    without_memory_note(app, speaks_ollama(in) ? WITHOUT_AT_GENERATE : WITHOUT_AT_COMPLETIONS, out);
    return pass_request(ctx, app, in, out);
}

HANDLER(pass_guarded)
{
    const struct surface *own = meant_for(app, in->params);
    if (own) {
        fail(ctx, NOT_FOUND, "nothing is served at " S_FMT " " S_FMT, S_ARG(in->method),
             S_ARG(in->path));
        own->word_error(ctx, NOT_FOUND, in, out);
        out->code = http_code(NOT_FOUND);
        ctx_clear_failure(ctx);
        return OK;
    }
    TRY(auth_model_server(ctx, in));
    return pass_body(ctx, app, in, path_of(&ctx->arena, in), out);
}

/* --- models --- */

/* With the members of OpenAI's shape and those of Anthropic's, as this is the same path in both. */
#define DEMO_ROW                                                                                   \
    "{'id':'" DEMO_MODEL "','object':'model','created':0,'owned_by':'rememberd','type':'model',"   \
    "'display_name':'rememberd','created_at':'1970-01-01T00:00:00Z'}"

/* The list is the default upstream's, as it gives it; models of named upstreams are used by their
 * prefix and are not listed. */
HANDLER(list_models)
{
    struct target to = {0};
    if (soft(ctx, target_for(ctx, app->settings, in, S(""), &to)) && to.up)
        out->relay = relay_to(ctx, in, to.up, S("/v1/models"), in->body);
    else
        buf_add(&out->body, json_by_form(&ctx->arena,
                                         "{'object':'list','data':[" DEMO_ROW
                                         "],'has_more':false,'first_id':'" DEMO_MODEL
                                         "','last_id':'" DEMO_MODEL "'}",
                                         NULL));
    return OK;
}

/* The prefix of the model's name chooses the upstream: openai%2Fgpt-5. */
HANDLER(get_model)
{
    struct target to;
    TRY(target_for(ctx, app->settings, in, in->params[0], &to));
    str segment = percent_encode(&ctx->arena, to.model);
    str path = str_printf(&ctx->arena, "/v1/models/" S_FMT, S_ARG(segment));
    if (to.up)
        out->relay = relay_to(ctx, in, to.up, path, in->body);
    else
        buf_add(&out->body, json_by_form(&ctx->arena, DEMO_ROW, NULL));
    return OK;
}
