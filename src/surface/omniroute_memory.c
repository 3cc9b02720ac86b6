/* omniroute_memory.c - OmniRoute's memories over REST: list, add, read, change, delete, health. */
#include "base/clock.h"
#include "base/id.h"
#include "base/time_text.h"
#include "core/tokens.h"

#include "surface/omniroute.h"

enum { CONTENT_MAX = 65536, KEY_MAX = 512, NAME_MAX_BYTES = 256, SPACE_MAX = 200 };

static const char key_help[] = "a key of yours, or a space by its name",
                  alias_help[] = "the same, as OmniRoute's command line calls it";

static str first_of(str a, str b)
{
    return a.n ? a : b;
}

/* What is written without a key's name goes into the caller's own space, so nothing is without an
 * owner. */
static enum status own_pool(struct ctx *ctx, struct app *app, const struct request *in, str key,
                            struct pool_ref *out)
{
    *out = in->who.pool;
    return space_of_key(ctx, app, &in->who, key, &out->space);
}

struct done_out {
    bool success;
};
static const struct field done_out_fields[] = {
    {BOOL(struct done_out, success), .required = true},
    {0},
};

static enum status done(struct reply *out)
{
    reply_fields(out, done_out_fields, &(struct done_out){true});
    return OK;
}

/* --- list --- */

struct list_in {
    str key, alias, type, session, contains, offset;
    int64_t page, limit, budget;
};
static const struct field list_in_fields[] = {
    {AS_STR(struct list_in, key, "apiKeyId"), .max = SPACE_MAX, .help = key_help},
    {AS_STR(struct list_in, alias, "apiKey"), .max = SPACE_MAX, .help = alias_help},
    {STR(struct list_in, type), .help = "only this type"},
    {AS_STR(struct list_in, session, "sessionId"), .help = "only of this conversation"},
    {AS_STR(struct list_in, contains, "q"), .help = "only with this text in content or key"},
    {INT(struct list_in, page), .otherwise = 1, .min = 1, .max = 1e9, .help = "from 1"},
    {INT(struct list_in, limit), .otherwise = 50, .min = 1, .max = 200, .help = "of one page"},
    {STR(struct list_in, offset), .help = "how many to leave out, instead of a page"},
    {AS_INT(struct list_in, budget, "tokenBudget"), .min = 1, .max = 1e9,
     .help = "the page ends where its contents would take more tokens; the first one stays"},
    {0},
};

struct cache_stats {
    int64_t hits, misses;
};
static const struct field cache_stats_fields[] = {
    {INT(struct cache_stats, hits)},
    {INT(struct cache_stats, misses)},
    {0},
};

struct list_stats {
    int64_t total, tokens;
    const struct json *by_type;
    double hit_rate;
    struct cache_stats cache;
};
static const struct field list_stats_fields[] = {
    {INT(struct list_stats, total), .help = "how many match, on all pages"},
    {AS_JSON(struct list_stats, by_type, "byType"), .help = "how many of each type there are"},
    {AS_INT(struct list_stats, tokens, "tokensUsed"), .help = "of all that match"},
    {AS_NUM(struct list_stats, hit_rate, "hitRate"), .help = "of the cache, 0 to 1"},
    {FIELD_(struct list_stats, cache, struct cache_stats, FIELD_OBJECT, "cacheStats"),
     .inside = cache_stats_fields},
    {0},
};

struct list_out {
    const struct json *data, *items;
    int64_t total, page, limit, pages;
    struct list_stats stats;
};
static const struct field list_out_fields[] = {
    {JSON(struct list_out, data), .inside = memory_shown_fields, .help = "newest first"},
    {INT(struct list_out, total), .help = "how many match"},
    {INT(struct list_out, page)},
    {INT(struct list_out, limit)},
    {AS_INT(struct list_out, pages, "totalPages")},
    {FIELD_(struct list_out, stats, struct list_stats, FIELD_OBJECT, "stats"),
     .inside = list_stats_fields},
    {JSON(struct list_out, items), .inside = memory_shown_fields, .empty = EMPTY_OUT,
     .help = "data again, for OmniRoute's command line alone, which reads it under this name"},
    {0},
};

static const struct json *by_type(struct ctx *ctx, const struct memory_totals *t)
{
    struct json *v = NEW(&ctx->arena, struct json);
    struct buf b = buf_make(&ctx->arena, 512);
    struct json_out w = json_to(&b);
    json_open(&w, '{');
    for (int i = 0; i < TYPE_COUNT; i++) {
        if (t->by_type[i]) {
            json_key(&w, type_names[i]);
            json_int(&w, t->by_type[i]);
        }
    }
    json_close(&w, '}');
    *v = (struct json){.type = JSON_OBJECT, .source = buf_str(&b)};
    return v;
}

/* Memories are read where they lie and no row is cached, so the counters are those of the cache
 * there is: of embedded texts. */
static void count_cache(struct ctx *ctx, struct app *app, const struct request *in,
                        struct list_stats *out)
{
    struct engine_status status;
    if (engine_status(ctx, app->engine, in->who.pool, false, &status) != OK) {
        ctx_clear_failure(ctx);
        return;
    }
    double hits = (double)status.embedding.hits, all = hits + (double)status.embedding.misses;
    out->cache =
        (struct cache_stats){(int64_t)status.embedding.hits, (int64_t)status.embedding.misses};
    out->hit_rate = all > 0 ? hits / all : 0;
}

/* As JavaScript reads a number's beginning: what is none, or below 0, is 0. */
static int64_t offset_of(str text)
{
    int64_t v = 0;
    size_t n = 0;
    text = str_trim(text);
    while (n < text.n && n < 9 && text.p[n] >= '0' && text.p[n] <= '9')
        n++;
    return str_int(str_sub(text, 0, n), &v) ? v : 0;
}

static size_t within(const struct memory *v, size_t n, int64_t budget)
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
    n = within(v, n, budget);
    TRY(show_memories(ctx, v, n, &out->data));
    out->stats.total = out->total;
    out->stats.tokens = totals.tokens;
    out->stats.by_type = by_type(ctx, &totals);
    return OK;
}

/* It says so with a header of its own, and by parameters that nobody else sends. */
static bool is_command_line(const struct request *in, const struct list_in *l)
{
    return request_header(in, "X-OmniRoute-CLI-Token").n || l->alias.n || l->budget;
}

static enum status list(struct ctx *ctx, struct app *app, const struct request *in,
                        struct reply *out)
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
    TRY(managed_pool(ctx, app, in, first_of(l->key, l->alias), &f.pool));
    if (l->type.n && name_index(type_names, l->type, -1) < 0) {
        TRY(show_memories(ctx, NULL, 0, &shape.data));
        shape.stats.by_type = by_type(ctx, &(struct memory_totals){0});
    } else {
        TRY(find_page(ctx, app, &f, l->budget, &shape));
    }
    count_cache(ctx, app, in, &shape.stats);
    shape.items = is_command_line(in, l) ? shape.data : NULL;
    shape.pages = (shape.total + l->limit - 1) / l->limit;
    reply_fields(out, list_out_fields, &shape);
    return OK;
}

/* --- add --- */

struct create_in {
    str content, key, type, session, api_key, alias;
    const struct json *metadata, *expires;
};
static const struct field create_in_fields[] = {
    {STR(struct create_in, content), .required = true, .min = 1, .max = CONTENT_MAX,
     .help = "what to remember"},
    {STR(struct create_in, key), .min = 1, .max = KEY_MAX,
     .help = "the same key is changed in place; without one it is made from the content"},
    {STR(struct create_in, type), .otherwise_str = "factual", .one_of = type_names,
     .help = "kind of knowledge"},
    {AS_STR(struct create_in, session, "sessionId"), .max = NAME_MAX_BYTES,
     .help = "the conversation it belongs to"},
    {AS_STR(struct create_in, api_key, "apiKeyId"), .max = SPACE_MAX, .help = key_help},
    {AS_STR(struct create_in, alias, "apiKey"), .max = SPACE_MAX, .help = alias_help},
    {JSON(struct create_in, metadata), .help = "an object"},
    {AS_JSON(struct create_in, expires, "expiresAt"),
     .help = "an ISO 8601 time, or unix milliseconds; null: never"},
    {0},
};

struct create_out {
    bool success;
    str id;
    struct memory_shown memory;
};
/* OmniRoute's own server puts the whole object under "id", a slip that its document does not have
 * and that neither its pages nor its command line read. The id is an id here, as everywhere else,
 * and the object stands beside it as in the answer to a GET. */
static const struct field create_out_fields[] = {
    {BOOL(struct create_out, success), .required = true},
    {STR(struct create_out, id), .required = true, .help = "UUID"},
    {FIELD_(struct create_out, memory, struct memory_shown, FIELD_OBJECT, "memory"),
     .required = true, .inside = memory_shown_fields},
    {0},
};

static enum status metadata_of(struct ctx *ctx, const struct json *metadata, str *out)
{
    if (metadata && metadata->type != JSON_OBJECT)
        return fail_field(ctx, "metadata", "must be an object");
    *out = metadata ? metadata->source : S("");
    return OK;
}

static enum status expiry_of(struct ctx *ctx, const struct json *v, int64_t *out)
{
    int64_t ms = 0;
    bool is_good = !v || v->type == JSON_NULL;
    if (v && v->type == JSON_STRING)
        is_good = time_read(v->string, &ms) && ms > 0;
    if (v && v->type == JSON_NUMBER)
        is_good = (ms = json_int_or(v, 0)) > 0 && ms <= 8640000000000000;
    if (!is_good)
        return fail_field(ctx, "expiresAt", "must be an ISO 8601 date or time, or null");
    *out = ms;
    return OK;
}

/* The rule that keys of extracted facts follow: lower case, "_" for what is neither letter nor
 * digit, 40 characters. Where that loses something a hash of the whole is added, so that two
 * contents never share a key by accident. */
static str key_of(struct arena *a, str content)
{
    char slug[40];
    size_t n = 0, i = 0;
    bool is_lost = false;
    for (; i < content.n && n < sizeof slug; i++) {
        char c = content.p[i];
        is_lost |= (c & 0x80) != 0;
        c = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            slug[n++] = c;
        else if (n && slug[n - 1] != '_')
            slug[n++] = '_';
    }
    while (n && slug[n - 1] == '_')
        n--;
    if (i == content.n && n && !is_lost)
        return str_dup(a, (str){slug, n});
    return str_printf(a, "%.*s%s%08llx", (int)n, slug, n ? "_" : "",
                      (unsigned long long)(hash64(&content, 1) >> 32));
}

static enum status create(struct ctx *ctx, struct app *app, const struct request *in,
                          struct reply *out)
{
    const struct create_in *c = in->in;
    struct pool_ref pool;
    struct memory m = {
        .content = c->content,
        .key = c->key.n ? c->key : key_of(&ctx->arena, str_trim(c->content)),
        .type = (enum memory_type)name_index(type_names, c->type, TYPE_FACTUAL),
        .session = c->session,
        .importance = 0.5,
        .origin = ORIGIN_API,
    };
    TRY(metadata_of(ctx, c->metadata, &m.metadata));
    TRY(expiry_of(ctx, c->expires, &m.expires));
    TRY(own_pool(ctx, app, in, first_of(c->api_key, c->alias), &pool));
    m.space = pool.space;
    TRY(engine_replace(ctx, app->engine, pool, &m));
    struct create_out shape = {true, m.id, show_memory(ctx, &m)};
    reply_fields(out, create_out_fields, &shape);
    return OK;
}

/* --- clear --- */

struct clear_in {
    str key, alias, type;
    int64_t older_than;
};
static const struct field clear_in_fields[] = {
    {AS_STR(struct clear_in, key, "apiKeyId"), .max = SPACE_MAX, .help = key_help},
    {AS_STR(struct clear_in, alias, "apiKey"), .max = SPACE_MAX, .help = alias_help},
    {STR(struct clear_in, type), .one_of = type_names, .help = "only this type"},
    {AS_TIME(struct clear_in, older_than, "olderThan"), .help = "only what was made before"},
    {0},
};

struct clear_out {
    bool success;
    int64_t count;
};
static const struct field clear_out_fields[] = {
    {BOOL(struct clear_out, success), .required = true},
    {AS_INT(struct clear_out, count, "deletedCount"), .required = true},
    {0},
};

static enum status clear(struct ctx *ctx, struct app *app, const struct request *in,
                         struct reply *out)
{
    const struct clear_in *c = in->in;
    struct clear_out shape = {.success = true};
    struct forget what = {.memories = true, .type = c->type, .before = c->older_than};
    /* A body is read in the place of the query, whose limits would be left out. */
    if (in->body.n && in->query.n)
        return fail(ctx, BAD_INPUT, "say what to forget in the query or in the body, not in both");
    TRY(own_pool(ctx, app, in, first_of(c->key, c->alias), &what.pool));
    enum status s = engine_forget(ctx, app->engine, &what, &shape.count);
    if (s != OK && s != NOT_FOUND)
        return s;
    if (s == NOT_FOUND) {
        ctx_clear_failure(ctx);
        shape.count = 0;
    }
    reply_fields(out, clear_out_fields, &shape);
    return OK;
}

/* --- one memory --- */

struct get_out {
    struct memory_shown memory;
};
static const struct field get_out_fields[] = {
    {FIELD_(struct get_out, memory, struct memory_shown, FIELD_OBJECT, "memory"), .required = true,
     .inside = memory_shown_fields},
    {0},
};

static enum status not_there(struct ctx *ctx, enum status s)
{
    if (s != NOT_FOUND)
        return s;
    ctx_clear_failure(ctx);
    return fail(ctx, NOT_FOUND, "Memory not found");
}

/* In whichever space of the user it is. */
static enum status find(struct ctx *ctx, struct app *app, const struct request *in,
                        struct memory *out)
{
    struct pool_ref everywhere = {in->who.pool.user, S("")};
    return not_there(ctx, engine_get(ctx, app->engine, everywhere, in->params[0], out));
}

static enum status get(struct ctx *ctx, struct app *app, const struct request *in,
                       struct reply *out)
{
    struct memory m;
    TRY(find(ctx, app, in, &m));
    struct get_out shape = {show_memory(ctx, &m)};
    reply_fields(out, get_out_fields, &shape);
    return OK;
}

struct change_in {
    str type, key, content;
    const struct json *metadata, *expires;
};
static const struct field change_in_fields[] = {
    {STR(struct change_in, type), .one_of = type_names, .help = "kind of knowledge"},
    {STR(struct change_in, key), .min = 1, .max = KEY_MAX, .help = "its new key"},
    {STR(struct change_in, content), .min = 1, .max = CONTENT_MAX,
     .help = "what is to be remembered now"},
    {JSON(struct change_in, metadata), .help = "an object, instead of the one it has"},
    {AS_JSON(struct change_in, expires, "expiresAt"),
     .help = "an ISO 8601 time, or unix milliseconds; null: never"},
    {0},
};

static unsigned named(const struct json *body)
{
    static const struct {
        const char *name;
        unsigned bit;
    } members[] = {
        {"type", CHANGE_TYPE},
        {"key", CHANGE_KEY},
        {"content", CHANGE_CONTENT},
        {"metadata", CHANGE_METADATA},
    };
    unsigned what = json_get(body, "expiresAt") ? CHANGE_EXPIRES : 0;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const struct json *v = json_get(body, members[i].name);
        if (v && v->type != JSON_NULL)
            what |= members[i].bit;
    }
    return what ? what : CHANGE_NOTHING;
}

static enum status change(struct ctx *ctx, struct app *app, const struct request *in,
                          struct reply *out)
{
    const struct change_in *c = in->in;
    struct memory m;
    struct change change = {
        .id = in->params[0],
        .what = named(in->json),
        .to = {.type = (enum memory_type)name_index(type_names, c->type, TYPE_FACTUAL),
               .key = c->key,
               .content = c->content},
    };
    TRY(metadata_of(ctx, c->metadata, &change.to.metadata));
    TRY(expiry_of(ctx, c->expires, &change.to.expires));
    TRY(find(ctx, app, in, &m));
    change.pool = (struct pool_ref){in->who.pool.user, m.space};
    TRY(not_there(ctx, engine_change(ctx, app->engine, &change, &m)));
    return done(out);
}

static enum status erase(struct ctx *ctx, struct app *app, const struct request *in,
                         struct reply *out)
{
    struct memory m;
    int64_t erased;
    TRY(find(ctx, app, in, &m));
    struct forget what = {.pool = {in->who.pool.user, m.space}, .id = m.id};
    TRY(not_there(ctx, engine_forget(ctx, app->engine, &what, &erased)));
    return done(out);
}

/* --- health --- */

struct health_out {
    bool working;
    double latency_ms;
    str error;
};
static const struct field health_out_fields[] = {
    {BOOL(struct health_out, working), .required = true},
    {AS_NUM(struct health_out, latency_ms, "latencyMs"), .required = true},
    {STR(struct health_out, error), .empty = EMPTY_OUT, .help = "what is wrong"},
    {0},
};

/* Reads only: it is asked again and again, and nobody's memories are the place for its tests. */
static enum status health(struct ctx *ctx, struct app *app, const struct request *in,
                          struct reply *out)
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
    reply_fields(out, health_out_fields, &shape);
    return OK;
}

static const struct route routes[] = {
    {"GET", "/api/memory", list, TAKES(list_in), .access = ACCESS_ADMIN, .gives = list_out_fields,
     .help = "memories, newest first, with totals"},
    {"POST", "/api/memory", create, TAKES(create_in), .access = ACCESS_ADMIN,
     .gives = create_out_fields, .help = "remember something; the same key is changed in place"},
    {"DELETE", "/api/memory", clear, TAKES(clear_in), .strict = true, .access = ACCESS_ADMIN,
     .gives = clear_out_fields, .help = "forget the memories of one space"},
    {"GET", "/api/memory/health", health, .access = ACCESS_ADMIN, .gives = health_out_fields,
     .help = "whether memory works; writes nothing"},
    {"GET", "/api/memory/{id}", get, .access = ACCESS_ADMIN, .gives = get_out_fields,
     .help = "one memory"},
    {"PUT", "/api/memory/{id}", change, TAKES(change_in), .strict = true, .access = ACCESS_ADMIN,
     .gives = done_out_fields, .help = "change what is named of it"},
    {"DELETE", "/api/memory/{id}", erase, .access = ACCESS_ADMIN, .gives = done_out_fields,
     .help = "forget it"},
    {0},
};

const struct surface surface_omniroute_memory = {"omniroute", routes, word_omniroute_error,
                                                 admit_manager};
