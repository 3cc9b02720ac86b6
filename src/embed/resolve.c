/* resolve.c - from settings to the source of vectors, with reasons in words; nothing is asked. */
#include "embed/embed.h"

#include "core/memory.h"

const char *const embed_source_names[] = {"none", "remote", "static", "transformers", NULL};

/* --- providers --- */

enum { MODELS_MAX = 4 };

/* Servers that speak OpenAI's /embeddings; the host tells one that serves as nameless upstream. */
static const struct {
    const char *name, *host;
    struct embed_provider_model models[MODELS_MAX];
} known[] = {
    {"openai",
     "//api.openai.com",
     {{"text-embedding-3-small", 1536},
      {"text-embedding-3-large", 3072},
      {"text-embedding-ada-002", 1536}}},
    {"mistral", "//api.mistral.ai", {{"mistral-embed", 1024}}},
    {"gemini", "//generativelanguage.googleapis.com", {{"gemini-embedding-001", 3072}}},
    {"voyage", "//api.voyageai.com", {{"voyage-3.5", 1024}, {"voyage-3.5-lite", 1024}}},
    {"jina", "//api.jina.ai", {{"jina-embeddings-v3", 1024}}},
};
enum { KNOWN = sizeof known / sizeof *known };

static bool is_local(str url)
{
    return str_starts(url, S("http://127.")) || str_starts(url, S("http://localhost")) ||
           str_starts(url, S("http://[::1]"));
}

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

static bool is_known(const struct embed_providers *p, const struct upstream *up)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->v[i].up == up)
            return true;
    return false;
}

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
                                       .has_key = up && (up->key.n || is_local(up->url))};
        while (one->n_models < MODELS_MAX && one->models[one->n_models].name)
            one->n_models++;
    }
    for (const struct upstream *u = s->upstreams; u < s->upstreams + s->n_upstreams; u++)
        if (u->name.n && is_local(u->url) && !is_known(&p, u))
            p.v[p.n++] = (struct embed_provider){.name = u->name, .up = u, .has_key = true};
    return p;
}

/* --- sources --- */

struct question {
    struct ctx *ctx;
    const struct settings *s;
    const struct embed_choice *choice;
    bool is_auto;
};

static struct embed_plan none(str reason)
{
    return (struct embed_plan){.reason = reason};
}

static size_t dimensions_of(const struct embed_provider *p, str model)
{
    for (size_t i = 0; i < p->n_models; i++)
        if (str_is(model, p->models[i].name))
            return (size_t)p->models[i].dimensions;
    return 0;
}

/* The named provider: a listed one, or any upstream of that name; else the nameless upstream. */
static struct embed_plan named(const struct question *q)
{
    struct arena *a = &q->ctx->arena;
    struct embed_providers all = embed_providers(q->ctx, q->s);
    str model = q->choice->provider_model, rest = model, prefix = str_cut(&rest, '/');
    for (size_t i = 0; i < all.n; i++) {
        const struct embed_provider *p = &all.v[i];
        if (!str_eq(p->name, prefix) || !rest.n || !p->up)
            continue;
        if (!p->has_key)
            return none(
                str_printf(a, "no_key: the upstream '" S_FMT "' has no key", S_ARG(prefix)));
        return (struct embed_plan){.source = EMBED_REMOTE,
                                   .provider = prefix,
                                   .model = rest,
                                   .dimensions = dimensions_of(p, rest),
                                   .up = p->up};
    }
    const struct upstream *up = settings_upstream(q->s, &model);
    if (!up || (q->is_auto && !up->key.n && !is_local(up->url)))
        return none(str_printf(a, "no_key: no upstream with a key is configured for '" S_FMT "'",
                               S_ARG(q->choice->provider_model)));
    return (
        struct embed_plan){.source = EMBED_REMOTE, .provider = up->name, .model = model, .up = up};
}

/* A key alone chooses no model: nothing that was remembered goes to a server, and nothing is paid
 * for, because a key for chats lies there. */
static struct embed_plan remote(const struct question *q)
{
    if (q->choice->provider_model.n)
        return named(q);
    return none(S("no_key: remote needs a model: set embedding_model to PROVIDER/MODEL"));
}

/* The last part of "owner/name": the folder of a model has no owner. */
static str bare(str name)
{
    while (str_find(name, S("/")) < name.n)
        str_cut(&name, '/');
    return name;
}

static struct embed_plan local(enum embed_source source, str model, bool enabled)
{
    const struct model_card *card = model_card(model);
    if (!enabled)
        return none(source == EMBED_STATIC ? S("the static table is not enabled")
                                           : S("the transformer is not enabled"));
    return (struct embed_plan){.source = source,
                               .model = bare(model),
                               .dimensions = card ? (size_t)card->dimensions : 0};
}

static struct embed_plan table(const struct question *q)
{
    return local(EMBED_STATIC, q->s->static_model, q->choice->static_enabled);
}

static struct embed_plan transformer(const struct question *q)
{
    return local(EMBED_TRANSFORMERS, q->s->transformers_model, q->choice->transformers_enabled);
}

struct embed_choice embed_choice_of(const struct settings *s)
{
    return (struct embed_choice){.source = s->embedding_source,
                                 .provider_model = s->embedding_model,
                                 .static_enabled = str_is(s->embedding_static, "on"),
                                 .transformers_enabled = str_is(s->embedding_transformers, "on")};
}

/* In the order of enum embed_source, which is also the order in which auto tries them. */
static struct embed_plan (*const sources[])(const struct question *q) = {NULL, remote, table,
                                                                         transformer};

struct embed_plan embed_resolve(struct ctx *ctx, const struct settings *s,
                                const struct embed_choice *choice)
{
    struct question q = {ctx, s, choice, str_is(choice->source, "auto")};
    if (!q.is_auto) {
        int which = name_index(embed_source_names, choice->source, EMBED_NONE);
        return which == EMBED_NONE ? none(str_printf(&ctx->arena, "there is no source '" S_FMT "'",
                                                     S_ARG(choice->source)))
                                   : sources[which](&q);
    }
    struct buf why = buf_make(&ctx->arena, 1000);
    for (int which = EMBED_REMOTE; which <= EMBED_TRANSFORMERS; which++) {
        struct embed_plan plan = sources[which](&q);
        if (plan.source != EMBED_NONE)
            return plan;
        buf_printf(&why, "%s" S_FMT, why.n ? "; " : "", S_ARG(plan.reason));
    }
    return none(buf_str(&why));
}
