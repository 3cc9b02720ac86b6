/* memory.c - OmniRoute's memories over REST: list, add, read, change, delete, health. */
#include "base/clock.h"
#include "base/time_text.h"
#include "core/tokens.h"

#include "ext/dialects/omniroute/common.h"
#include "surface/common/memory_json.h"

/*
 * Memories as OmniRoute's dashboard and command line use them. apiKeyId, or apiKey as the command
 * line calls it, chooses the space; a list without it is of all spaces, for a caller that reaches
 * all, and a write goes to the caller's own. Adding with a key that exists changes that memory in
 * place. The list carries totals, by type and in tokens, of all that match. GET /api/memory/health
 * is polled and writes nothing.
 */

enum { CONTENT_MAX = 65536, KEY_MAX = 512, NAME_MAX_BYTES = 256 };

static const char key_help[] = "id of one of your keys, or the name of a space",
                  alias_help[] = "the same, as OmniRoute's command line calls it";

SHAPE(done_out, (BOOL, success));

/* --- list --- */

SHAPE(list_in, (AS_STR, key, "apiKeyId", .max = SPACE_NAME_MAX, .help = key_help),
      (AS_STR, alias, "apiKey", .max = SPACE_NAME_MAX, .help = alias_help),
      (STR, type, .help = "only this type"),
      (AS_STR, session, "sessionId", .help = "only of this conversation"),
      (AS_STR, contains, "q", .help = "only with this text in content or key"),
      (INT, page, .otherwise = 1, .min = 1, .max = 1e9, .help = "page number, from 1"),
      (INT, limit, .otherwise = 50, .min = 1, .max = 200, .help = "memories on one page"),
      (STR, offset, .help = "memories to skip, instead of a page"),
      (AS_INT, budget, "tokenBudget", .min = 1, .max = 1e9,
       .help = "token budget of a page; the first memory is always included"));

SHAPE(cache_stats, (INT, hits), (INT, misses));

SHAPE(list_stats, (INT, total, .help = "how many match, on all pages"),
      (AS_JSON, by_type, "byType", .help = "how many of each type there are"),
      (AS_INT, tokens, "tokensUsed", .help = "tokens of all matching memories"),
      (AS_NUM, hit_rate, "hitRate", .help = "hit rate of the embedding cache, 0 to 1"),
      (AS_OBJECT, cache, struct cache_stats, "cacheStats", .inside = cache_stats_fields));

SHAPE(list_out, (JSON, data, .inside = memory_shown_fields, .help = "newest first"),
      (INT, total, .help = "how many match"), (INT, page), (INT, limit),
      (AS_INT, pages, "totalPages"),
      (OBJECT, stats, struct list_stats, .inside = list_stats_fields),
      (JSON, items, .inside = memory_shown_fields, .empty = EMPTY_OUT,
       .help = "data again, for OmniRoute's command line alone, which reads it under this name"));

/* Memories are read from the store without a cache, so the counters are those of the embedding
 * cache. */
static void count_cache(struct ctx *ctx, struct app *app, const struct request *in,
                        struct list_stats *out)
{
    struct engine_status status;
    if (!soft(ctx, engine_status(ctx, app->engine, in->who.pool, false, &status)))
        return;
    double hits = (double)status.embedding.hits, all = hits + (double)status.embedding.misses;
    out->cache = (struct cache_stats){status.embedding.hits, status.embedding.misses};
    out->hit_rate = all > 0 ? hits / all : 0;
}

/* As JavaScript's parseInt; no number and numbers below 0 are 0. */
static int64_t offset_of(str text)
{
    int64_t v = 0;
    size_t n = 0;
    text = str_trim(text);
    while (n < text.n && n < 9 && text.p[n] >= '0' && text.p[n] <= '9')
        n++;
    return str_int(str_sub(text, 0, n), &v) ? v : 0;
}

/* At least one memory, or a page with a small budget would be empty for ever. */
static size_t fitting_count(const struct memory *v, size_t n, int64_t budget)
{
    int64_t used = 0;
    for (size_t i = 0; budget && i < n; i++) {
        used += tokens_of(v[i].content);
        if (i && used > budget)
            return i;
    }
    return n;
}

static enum status find_page(struct ctx *ctx, struct app *app, const struct memory_filter *f,
                             int64_t budget, struct list_out *out)
{
    struct memory_totals totals;
    struct memory *v;
    size_t n;
    TRY(engine_list(ctx, app->engine, f, &v, &n, &out->total));
    TRY(engine_totals(ctx, app->engine, f, &totals));
    n = fitting_count(v, n, budget);
    TRY(json_list(ctx, memory_shown_fields, v, n, sizeof *v, &out->data));
    out->stats.total = out->total;
    out->stats.tokens = totals.tokens;
    out->stats.by_type = json_counts(ctx, type_names, totals.by_type, false);
    return OK;
}

/* offset wins over page, and page is then worked out from it. An unknown type is an empty list, not
 * an error. Expired memories are listed. */
static HANDLER(list_memories)
{
    const struct list_in *l = in->in;
    bool has_offset = str_trim(l->offset).n > 0;
    int64_t offset = has_offset ? offset_of(l->offset) : (l->page - 1) * l->limit;
    struct list_out shape = {.page = offset / l->limit + 1, .limit = l->limit};
    struct memory_filter f = {.type = l->type,
                              .session = l->session,
                              .contains = l->contains,
                              .with_expired = true,
                              .offset = (size_t)offset,
                              .limit = (size_t)l->limit};
    TRY(managed_pool(ctx, app, in, l->key.n ? l->key : l->alias, &f.pool));
    if (l->type.n && name_index(type_names, l->type, -1) < 0) {
        TRY(json_list(ctx, memory_shown_fields, NULL, 0, sizeof(struct memory), &shape.data));
        shape.stats.by_type = json_counts(ctx, type_names, (int64_t[TYPE_COUNT]){0}, false);
    } else {
        TRY(find_page(ctx, app, &f, l->budget, &shape));
    }
    count_cache(ctx, app, in, &shape.stats);
    /* OmniRoute's command line is known by its header and by parameters that only it sends. */
    if (request_header(in, "X-OmniRoute-CLI-Token").n || l->alias.n || l->budget)
        shape.items = shape.data;
    shape.pages = (shape.total + l->limit - 1) / l->limit;
    return reply_fields(out, list_out_fields, &shape);
}

/* --- add --- */

/* metadata and expires are read by hand: null has a meaning of its own, and expiresAt comes in two
 * forms. */
SHAPE(create_in,
      (STR, content, .required = true, .min = 1, .max = CONTENT_MAX, .help = "what to remember"),
      (STR, key, .min = 1, .max = KEY_MAX,
       .help = "the same key is changed in place; without one it is made from the content"),
      (ENUM_OF, type, enum memory_type, .otherwise_str = "factual", .one_of = type_names,
       .help = "kind of knowledge"),
      (AS_STR, session, "sessionId", .max = NAME_MAX_BYTES, .is_name = true,
       .help = "the conversation it belongs to"),
      (AS_STR, api_key, "apiKeyId", .max = SPACE_NAME_MAX, .help = key_help),
      (AS_STR, alias, "apiKey", .max = SPACE_NAME_MAX, .help = alias_help),
      (JSON, metadata, .help = "an object"),
      (AS_JSON, expires, "expiresAt",
       .help = "an ISO 8601 time, or unix milliseconds; null: never"));

/* OmniRoute's server returns the whole object as "id". Its API reference does not, and none of its
 * clients read that member. Here id is the id, memory the object, as in the answer to a GET. */
SHAPE(create_out, (BOOL, success), (STR, id, .help = "UUID"),
      (OBJECT, memory, struct memory, .inside = memory_shown_fields));

/* An absent one and null are both "". */
static enum status metadata_of(struct ctx *ctx, const struct json *metadata, str *out)
{
    if (metadata && metadata->type != JSON_OBJECT)
        return fail_field(ctx, "metadata", "must be an object");
    *out = metadata ? metadata->source : S("");
    return OK;
}

/* The upper end is the last moment that JavaScript's Date can hold: 8.64e15 ms. */
static enum status expiry_of(struct ctx *ctx, const struct json *v, int64_t *out)
{
    int64_t ms = 0;
    bool is_good = !v || v->type == JSON_NULL;
    if (v && v->type == JSON_STRING)
        is_good = time_read(json_string(v), &ms) && ms > 0;
    if (v && v->type == JSON_NUMBER)
        is_good = (ms = json_int_or(v, 0)) > 0 && ms <= 8640000000000000;
    if (!is_good)
        return fail_field(ctx, "expiresAt", "must be an ISO 8601 date or time, or null");
    *out = ms;
    return OK;
}

static HANDLER(create_memory)
{
    const struct create_in *c = in->in;
    struct pool_ref pool;
    struct memory m = {
        .content = c->content,
        .key = c->key,
        .type = c->type,
        .session = c->session,
        .origin = ORIGIN_API,
    };
    TRY(metadata_of(ctx, c->metadata, &m.metadata));
    TRY(expiry_of(ctx, c->expires, &m.expires));
    /* Without a key in the caller's own space, so that every memory has an owner. */
    TRY(auth_key_pool(ctx, app, &in->who, c->api_key.n ? c->api_key : c->alias, &pool));
    m.space = pool.space;
    TRY(engine_replace(ctx, app->engine, pool, &m));
    return reply_fields(out, create_out_fields, &(struct create_out){true, m.id, m});
}

/* --- clear --- */

SHAPE(clear_in, (AS_STR, key, "apiKeyId", .max = SPACE_NAME_MAX, .help = key_help),
      (AS_STR, alias, "apiKey", .max = SPACE_NAME_MAX, .help = alias_help),
      (STR, type, .one_of = type_names, .help = "only this type"),
      (AS_TIME, older_than, "olderThan", .help = "only memories created before"));

SHAPE(clear_out, (BOOL, success), (AS_INT, count, "deletedCount"));

/* Memories only: conversations stay. Nothing to delete is a success with 0. */
static HANDLER(clear_memories)
{
    const struct clear_in *c = in->in;
    struct clear_out shape = {.success = true};
    struct forget what = {.memories = true, .type = c->type, .before = c->older_than};
    TRY(auth_key_pool(ctx, app, &in->who, c->key.n ? c->key : c->alias, &what.pool));
    TRY(soft_or(ctx, engine_forget(ctx, app->engine, &what, &shape.count), NOT_FOUND));
    return reply_fields(out, clear_out_fields, &shape);
}

/* --- one memory --- */

SHAPE(get_out, (OBJECT, memory, struct memory, .inside = memory_shown_fields));

static enum status find_memory(struct ctx *ctx, struct app *app, const struct request *in,
                               struct memory *out)
{
    return found_as(ctx, auth_find_memory(ctx, app, &in->who, in->params[0], out), "memory");
}

/* Closed memories are found as well: an id that a client kept must lead somewhere. */
static HANDLER(get_memory)
{
    struct memory m;
    TRY(find_memory(ctx, app, in, &m));
    return reply_fields(out, get_out_fields, &(struct get_out){m});
}

SHAPE(change_in,
      (ENUM_OF, type, enum memory_type, .one_of = type_names, .help = "kind of knowledge"),
      (STR, key, .min = 1, .max = KEY_MAX, .help = "its new key"),
      (STR, content, .min = 1, .max = CONTENT_MAX, .help = "the new text"),
      (JSON, metadata, .help = "an object that replaces the old one"),
      (AS_JSON, expires, "expiresAt",
       .help = "an ISO 8601 time, or unix milliseconds; null: never"));

/* null keeps a member, except for expiresAt, where null is a value: never. The answer is success
 * alone, as OmniRoute gives it; the memory is read again by GET. */
static HANDLER(change_memory)
{
    const struct change_in *c = in->in;
    struct memory m;
    unsigned named =
        change_members(in->json, false) | (json_get(in->json, "expiresAt") ? CHANGE_EXPIRES : 0);
    struct change change = {
        .id = in->params[0],
        .what = named ? named : CHANGE_NOTHING,
        .to = {.type = c->type, .key = c->key, .content = c->content},
    };
    TRY(metadata_of(ctx, c->metadata, &change.to.metadata));
    TRY(expiry_of(ctx, c->expires, &change.to.expires));
    TRY(find_memory(ctx, app, in, &m));
    change.pool = (struct pool_ref){in->who.pool.user, m.space};
    TRY(found_as(ctx, engine_change(ctx, app->engine, &change, &m), "memory"));
    return reply_fields(out, done_out_fields, &(struct done_out){true});
}

static HANDLER(erase_memory)
{
    struct memory m;
    TRY(find_memory(ctx, app, in, &m));
    struct forget what = {.pool = {in->who.pool.user, m.space}, .id = m.id};
    TRY(found_as(ctx, engine_forget(ctx, app->engine, &what, NULL), "memory"));
    return reply_fields(out, done_out_fields, &(struct done_out){true});
}

/* --- health --- */

SHAPE(health_out, (BOOL, working), (AS_NUM, latency_ms, "latencyMs"),
      (STR, error, .empty = EMPTY_OUT, .help = "the error"));

/* Only reads: it is polled often, and must not write test data among memories. */
static HANDLER(show_health)
{
    int64_t began = clock_mono_us();
    struct engine_status status;
    struct health_out shape = {0};
    enum status s = engine_ping(ctx, app->engine);
    if (s == OK)
        s = engine_status(ctx, app->engine, in->who.pool, false, &status);
    shape.working = s == OK && status.words_ok;
    if (!shape.working)
        shape.error = s == OK ? S("the words index does not answer") : str_of(ctx->why);
    shape.latency_ms = (double)(clock_mono_us() - began) / 1000;
    return reply_fields(out, health_out_fields, &shape);
}

static const struct route routes[] = {
    {ROUTE("GET", "/api/memory", list_memories), READS(list_in), ANSWERS(list_out),
     .help = "memories, newest first, with totals"},
    {ROUTE("POST", "/api/memory", create_memory), READS(create_in), ANSWERS(create_out),
     .help = "remember something; the same key is changed in place"},
    {ROUTE("DELETE", "/api/memory", clear_memories), READS(clear_in), .strict = true,
     ANSWERS(clear_out), .help = "erase the memories of one space"},
    {ROUTE("GET", "/api/memory/health", show_health), ANSWERS(health_out),
     .help = "whether memory works; writes nothing"},
    {ROUTE("GET", "/api/memory/{id}", get_memory), ANSWERS(get_out), .help = "one memory"},
    {ROUTE("PUT", "/api/memory/{id}", change_memory), READS(change_in), .strict = true,
     ANSWERS(done_out), .help = "change the members that are sent"},
    {ROUTE("DELETE", "/api/memory/{id}", erase_memory), ANSWERS(done_out),
     .help = "erase a memory"},
    {0},
};

const struct surface surface_omniroute_memory = OMNIROUTE_SURFACE(routes);
