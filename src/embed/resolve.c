/* resolve.c - chooses the embedding source from settings alone, without any call. */
#include "embed/embed.h"

#include "core/memory.h"
#include "core/url.h"
#include "embed/encoder.h"

/*
 * Nothing here opens a file or a connection: the same settings always give the same plan, which
 * makes the choice testable and cheap enough to repeat for each call. A plan may still fail when it
 * is used, for example because the model is not installed.
 */

const char *const embed_source_names[] = {"none",         "remote",  "static",
                                          "transformers", "encoder", NULL};

/* --- providers --- */

/* The lists of models are suggestions for user interfaces and tell dimensions in advance; other
 * models work, and their dimensions are learnt from the first vector. */
enum { MODELS_MAX = 4 };

/* Servers with OpenAI's /embeddings API. The host identifies one that is the default upstream. */
static const struct {
    const char *name, *host;
    struct embed_provider_model models[MODELS_MAX];
} known[] = {
    {"openai",
     "//api.openai.com",
     {{S("text-embedding-3-small"), 1536},
      {S("text-embedding-3-large"), 3072},
      {S("text-embedding-ada-002"), 1536}}},
    {"mistral", "//api.mistral.ai", {{S("mistral-embed"), 1024}}},
    {"gemini", "//generativelanguage.googleapis.com", {{S("gemini-embedding-001"), 3072}}},
    {"voyage", "//api.voyageai.com", {{S("voyage-3.5"), 1024}, {S("voyage-3.5-lite"), 1024}}},
    {"jina", "//api.jina.ai", {{S("jina-embeddings-v3"), 1024}}},
};
enum { KNOWN = sizeof known / sizeof *known };

/* This only decides whether a key is needed and does not control access. */
static bool is_local(struct ctx *ctx, str text)
{
    struct url url;
    return soft(ctx, url_read(ctx, "upstream", text, true, &url)) && host_is_loopback(url.host);
}

/* By name first; a default upstream without a name is recognised by its host. */
static const struct upstream *upstream_for(const struct settings *s, size_t which)
{
    const struct upstream *by_host = NULL;
    for (const struct upstream *u = s->upstreams; u < s->upstreams + s->n_upstreams; u++) {
        if (str_is(u->name, known[which].name))
            return u;
        if (!u->name.n && str_find(u->url, str_of(known[which].host)) < u->url.n)
            by_host = u;
    }
    return by_host;
}

/* A server on this machine needs no key, so each named local upstream counts as a provider. */
struct embed_providers embed_providers(struct ctx *ctx, const struct settings *s)
{
    struct embed_providers p = {
        .v = NEW_N(&ctx->arena, struct embed_provider, KNOWN + UPSTREAMS_MAX)};
    for (size_t i = 0; i < KNOWN; i++) {
        const struct upstream *up = upstream_for(s, i);
        struct embed_provider *one = &p.v[p.n++];
        *one = (struct embed_provider){.name = str_of(known[i].name),
                                       .models = known[i].models,
                                       .up = up,
                                       .has_key = up && (up->key.n || is_local(ctx, up->url))};
        while (one->n_models < MODELS_MAX && one->models[one->n_models].name.n)
            one->n_models++;
    }
    for (const struct upstream *u = s->upstreams; u < s->upstreams + s->n_upstreams; u++)
        if (u->name.n && is_local(ctx, u->url) && !SOME(i, p.n, p.v[i].up == u))
            p.v[p.n++] = (struct embed_provider){.name = u->name, .up = u, .has_key = true};
    return p;
}

/* --- sources --- */

static struct embed_plan no_plan(str reason)
{
    return (struct embed_plan){.reason = reason};
}

static size_t dimensions_of(const struct embed_provider *p, str model)
{
    for (size_t i = 0; i < p->n_models; i++)
        if (str_eq(model, p->models[i].name))
            return (size_t)p->models[i].dimensions;
    return 0;
}

/* The provider in the model's name: a known one or an upstream; otherwise the default upstream. A
 * key alone does not enable a remote source: memories must not be sent to a server, or cost money,
 * only because a key for chats is configured. With auto, a default upstream that has no key and is
 * not on this machine is passed over, so that a local model can be chosen instead. */
static struct embed_plan plan_remote(struct ctx *ctx, const struct settings *s,
                                     const struct embed_choice *choice)
{
    struct arena *a = &ctx->arena;
    struct embed_providers all = embed_providers(ctx, s);
    str model = choice->provider_model, rest = model, prefix = str_cut(&rest, '/');
    if (!model.n)
        return no_plan(S("no_key: no remote model is set (setting embedding_model)"));
    for (size_t i = 0; i < all.n; i++) {
        const struct embed_provider *p = &all.v[i];
        if (!str_eq(p->name, prefix) || !rest.n || !p->up)
            continue;
        if (!p->has_key)
            return no_plan(
                str_printf(a, "no_key: the upstream '" S_FMT "' has no key", S_ARG(prefix)));
        return (struct embed_plan){.source = EMBED_REMOTE,
                                   .model = rest,
                                   .dimensions = dimensions_of(p, rest),
                                   .up = p->up};
    }
    const struct upstream *up = settings_upstream(s, &model);
    if (!up || (choice->source == EMBED_AUTO && !up->key.n && !is_local(ctx, up->url)))
        return no_plan(str_printf(a, "no_key: no upstream with a key is configured for '" S_FMT "'",
                                  S_ARG(choice->provider_model)));
    return (struct embed_plan){.source = EMBED_REMOTE, .model = model, .up = up};
}

/* Local models are off by default, since they change what chats are given. */
static struct embed_plan plan_local(enum embed_source source, str model, bool enabled)
{
    const struct model_card *card = model_card(model);
    if (!enabled)
        return no_plan(source == EMBED_STATIC ? S("the static table is not enabled")
                                              : S("the transformer is not enabled"));
    return (struct embed_plan){.source = source,
                               .model = model_bare_name(model),
                               .dimensions = card ? (size_t)card->dimensions : 0};
}

/* The encoder sends nothing anywhere and needs no files, so it is on unless it is switched off. */
static struct embed_plan plan_of(struct ctx *ctx, const struct settings *s,
                                 const struct embed_choice *choice, enum embed_source source)
{
    if (source == EMBED_REMOTE)
        return plan_remote(ctx, s, choice);
    if (source == EMBED_STATIC)
        return plan_local(source, s->static_model, choice->static_enabled);
    if (source == EMBED_TRANSFORMERS)
        return plan_local(source, s->transformers_model, choice->transformers_enabled);
    assert(source == EMBED_ENCODER);
    if (!s->encoder)
        return no_plan(S("the encoder is switched off"));
    return (struct embed_plan){source, .model = S(ENCODER_NAME), .dimensions = ENCODER_SPACE};
}

struct embed_choice embed_choice_of(const struct settings *s)
{
    return (struct embed_choice){.source = s->embedding_source,
                                 .provider_model = s->embedding_model,
                                 .static_enabled = s->embedding_static,
                                 .transformers_enabled = s->embedding_transformers};
}

/* auto tries the sources in the order of enum embed_source. The reasons of all are joined: the
 * status then shows what could be configured. */
struct embed_plan embed_resolve(struct ctx *ctx, const struct settings *s,
                                const struct embed_choice *choice)
{
    if (choice->source != EMBED_AUTO)
        return plan_of(ctx, s, choice, choice->source);
    struct buf why = buf_make(&ctx->arena, 1000);
    for (enum embed_source source = EMBED_REMOTE; source <= EMBED_ENCODER; source++) {
        struct embed_plan plan = plan_of(ctx, s, choice, source);
        if (plan.source != EMBED_NONE)
            return plan;
        buf_printf(&why, "%s" S_FMT, why.n ? "; " : "", S_ARG(plan.reason));
    }
    return no_plan(buf_str(&why));
}
