/* upstream.c - choosing an upstream, and the request that goes to it. */
#include "surface/proxy/upstream.h"

#include "surface/common/auth.h"
#include "surface/proxy/demo_answer.h"
#include "surface/proxy/splice.h"

/*
 * A model is called UPSTREAM/MODEL. The part before the slash chooses a configured upstream and is
 * cut off before the name goes there; a name without a known prefix goes to the default upstream as
 * it is.
 *
 * The request goes on with the client's headers except those that are addressed to this server and
 * any that shows one of its tokens; the relay leaves out those of one connection. Credentials are
 * never passed on by accident: Authorization is always left out and set again by credential_of.
 */

#define OR_DEMO "or ask for the built-in model " DEMO_MODEL

/* NOT_FOUND for a model that has no upstream names the field model, for which word_openai_error has
 * the code model_not_found that OpenAI's clients know. */
enum status target_of(struct ctx *ctx, const struct settings *settings, str model,
                      struct target *out)
{
    *out = (struct target){.model = model};
    if (str_is(model, DEMO_MODEL))
        return OK;
    out->up = settings_upstream(settings, &out->model);
    if (out->up)
        return OK;
    if (!model.n)
        return fail(ctx, NOT_FOUND,
                    "no model is named and there is no default upstream: start rememberd with "
                    "--upstream URL, " OR_DEMO);
    return fail_note(ctx, NOT_FOUND, 0, "model",
                     "the model '" S_FMT
                     "' has no upstream: start rememberd with --upstream URL (or NAME=URL, "
                     "and ask for NAME/MODEL), " OR_DEMO,
                     S_ARG(model));
}

static enum status refuse_ollama(struct ctx *ctx, str model)
{
    str what = model.n ? str_printf(&ctx->arena, "the model '" S_FMT "'", S_ARG(model)) : S("this");
    ctx_clear_failure(ctx);
    return fail(ctx, UNSUPPORTED,
                "no upstream with Ollama's API is set for " S_FMT ": start rememberd with "
                "--upstream URL --upstream-dialect ollama, give an upstream of the settings file "
                "\"dialect\": \"ollama\", " OR_DEMO,
                S_ARG(what));
}

enum status target_missing(struct ctx *ctx, const struct request *in)
{
    if (speaks_ollama(in))
        return refuse_ollama(ctx, S(""));
    return fail(ctx, NOT_FOUND,
                "only a model server answers this, and none is set: start rememberd with "
                "--upstream URL");
}

/* Clients such as Claude Code know Anthropic's names of models only, and those of Ollama its own.
 * Anthropic's API is spoken by many servers that nobody has named so, Ollama's by Ollama. */
enum status target_for(struct ctx *ctx, const struct settings *settings, const struct request *in,
                       str model, struct target *out)
{
    str rest = model;
    enum api_dialect dialect = speaks_ollama(in)      ? DIALECT_OLLAMA
                               : speaks_anthropic(in) ? DIALECT_ANTHROPIC
                                                      : DIALECT_OPENAI;
    const char *name = dialect_names[dialect];
    const struct upstream *up = settings_upstream(settings, &rest);
    bool is_free = (!up || !up->name.n) && !str_is(model, DEMO_MODEL);
    is_free &= dialect != DIALECT_OPENAI;
    for (size_t i = 0; is_free && i < settings->n_upstreams; i++)
        if (str_is(settings->upstreams[i].dialect, name)) {
            *out = (struct target){.up = &settings->upstreams[i], .model = model};
            return OK;
        }
    enum status s = target_of(ctx, settings, model, out);
    bool is_other = s != OK || (out->up && !str_is(out->up->dialect, name));
    return dialect == DIALECT_OLLAMA && is_other ? refuse_ollama(ctx, model) : s;
}

enum placement target_placement(const struct settings *settings, const struct target *to)
{
    str own = to->up->placement;
    return (enum placement)name_index(placement_names, own, (int)settings->placement);
}

bool target_rejects_system(struct arena *a, const struct target *to)
{
    str rest = to->model, prefix = str_cut(&rest, '/');
    return rejects_system(a, to->up->name) || rejects_system(a, to->model) ||
           (rest.n && (rejects_system(a, prefix) || rejects_system(a, rest)));
}

/* --- the headers --- */

/* Addressed to this server, or credentials: between the client and us. X-HTTP-Method and those
 * behind it ask some servers for another method or path than those which passed. The trace is set
 * again by add_trace. */
static const char *const ours[] = {
    "Cookie",
    "Authorization",
    "X-Upstream-Authorization",
    "X-OmniRoute-No-Memory",
    "X-OmniRoute-Session-Id",
    "X-OmniRoute-CLI-Token",
    "X-Memory-Mode",
    "X-Memory-Scope",
    "X-Memory-Tools",
    "X-Memory-User",
    "X-Memory-Look-As",
    "X-Memory-Space",
    "X-Session-Id",
    "X-Session-History",
    "X-Osaurus-Agent-Id",
    "X-HTTP-Method",
    "X-HTTP-Method-Override",
    "X-Method-Override",
    "X-Original-URL",
    "X-Rewrite-URL",
    "traceparent",
    "tracestate",
    NULL,
};

/* The header that shows the upstream who pays; without a value when there is none, or when the
 * client's x-api-key goes on. */
static struct header credential_of(struct arena *a, const struct request *in,
                                   const struct upstream *up)
{
    str own = auth_own_key(in);
    if (own.n)
        return (struct header){S("Authorization"), own};
    if (!up->key.n || auth_own_x_key(in))
        return (struct header){0};
    return http_key_header(a, up, speaks_anthropic(in));
}

/* The query without what is for us. */
static str query_for(struct arena *a, str query)
{
    struct buf b = buf_make(a, query.n + 1);
    bool is_whole = true;
    for (str rest = query; rest.n;) {
        str pair = str_cut(&rest, '&'), value = pair, name = str_cut(&value, '=');
        bool is_ours = str_is(name, SPACE_MEMBER) || auth_shows_token(pair);
        is_whole &= !is_ours;
        if (!is_ours)
            buf_printf(&b, "%s" S_FMT, b.n ? "&" : "", S_ARG(pair));
    }
    return is_whole ? query : buf_str(&b);
}

/* A valid trace goes on: of a chat that is recorded with our span, else as it came. */
static size_t add_trace(struct arena *a, const struct request *in, struct header *out)
{
    const struct trace *t = in->trace;
    size_t n = 0;
    bool has_span = t->is_recorded && t->chat.operation;
    char span[SPAN_ID_HEX + 1];
    if (!has_span && !t->parent[0])
        return 0;
    trace_stage_span(t, STAGE_UPSTREAM, span);
    out[n++] = (struct header){S("traceparent"), trace_parent(a, t, has_span ? span : t->parent)};
    if (t->state.n)
        out[n++] = (struct header){S("tracestate"), t->state};
    return n;
}

/* Everything is in the arena of the exchange or points into the request, so that it lives as long
 * as the relay. */
struct relay *relay_to(struct ctx *ctx, const struct request *in, const struct upstream *up,
                       str path, str body)
{
    struct relay *r = NEW(&ctx->arena, struct relay);
    struct header *headers = NEW_N(&ctx->arena, struct header, in->n_headers + 3);
    struct header key = credential_of(&ctx->arena, in, up);
    bool is_key = str_is(key.name, "x-api-key"); /* then another one is no key for this upstream */
    str query = query_for(&ctx->arena, in->query);
    *r = (struct relay){.url = upstream_url(&ctx->arena, up, path, query),
                        .method = in->method,
                        .headers = headers,
                        .body = body};
    for (size_t i = 0; i < in->n_headers; i++)
        if (!str_is_one_of(in->headers[i].name, ours) && !auth_shows_token(in->headers[i].value) &&
            !(is_key && str_eq_nocase(in->headers[i].name, key.name)))
            headers[r->n_headers++] = in->headers[i];
    if (key.value.n)
        headers[r->n_headers++] = key;
    if (up->key.n &&
        str_ends(key.value, up->key)) /* the server's own, which is not the client's to read */
        r->secret = up->key;
    r->n_headers += add_trace(&ctx->arena, in, headers + r->n_headers);
    in->trace->chat.upstream = up->url;
    in->trace->chat.provider = up->dialect.n ? up->dialect : S("openai");
    return r;
}
