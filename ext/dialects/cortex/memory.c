/* memory.c - Cortex's long-term memory: searched, listed, kept, deleted, tidied. */
#include <math.h>

#include "base/clock.h"
#include "ext/dialects/cortex/common.h"
#include "ext/duplicates/duplicates.h"
#include "surface/common/list_page.h"

/*
 * Cortex's memories are ours, seen by app: search and list, save, delete one or all, find and close
 * duplicates, consolidate. Names and default values are Cortex's (importance_score, min_similarity
 * 0.6, pages of 15), also where ours differ. Scores are rounded to four digits. DELETE erases for
 * good; deduplicating closes and keeps as history; consolidating closes unused facts and erases
 * episodes after their retention.
 */

/* TAGS_MAX and TAG_MAX bound what is stored with one memory and shown in every list. */
enum { QUERY_MAX = 65536, CONTENT_MAX = 65536, TAGS_MAX = 50, TAG_MAX = 200 };

static const char app_help[] = "the application; default: the token's own, or default",
                  apps_help[] = "the application; default: the token's own, or default; * for all "
                                "visible ones";

/* Rounds, so that floating point noise is not shown. */
static double score_rounded(double value)
{
    return round(value * 10000) / 10000;
}

/* --- search --- */

SHAPE(search_in,
      (STR, query, .required = true, .min = 1, .max = QUERY_MAX, .help = "a question or words"),
      (AS_STR, app, "app_id", .help = app_help),
      (INT, limit, .otherwise = 15, .min = 1, .max = 50, .help = "most results"),
      (INT, offset, .max = 1e9, .help = "results to skip"),
      (AS_NUM, least, "min_similarity", .otherwise = 0.6, .min = 0, .max = 1,
       .help = "how alike a memory must be: its cosine, the weight of the query's words that it "
               "holds, or how sure recall is of it, whichever is most"),
      (AS_STR, key, "switch_ai_api_key",
       .help = "accepted and ignored: the server's own embedding source and key are used"));

static FIELDS_OF(similar, hit_out, (AS_STR, memory.id, "id"), (AS_STR, memory.content, "content"),
                 (NUM, similarity), (AS_TIME, memory.created, "created_at", .required = true));

struct search_out {
    const struct json *results;
    int64_t total, limit, offset;
};
static FIELDS(search_out,
              (JSON, results, .inside = hit_out_fields, .help = "most similar first, then newest"),
              (INT, total, .help = "number of results, counted up to 1000"), (INT, limit),
              (INT, offset),
              (AS_JSON, results, "memories", .inside = hit_out_fields,
               .help = "the results again, under the name that Traylinx's command line reads"));

static HANDLER(search_memories)
{
    const struct search_in *s = in->in;
    struct similar_in ask = {.query = str_trim(s->query),
                             .least = s->least,
                             .after = clock_ms() - app->settings->memory_max_age_days * DAY_MS,
                             .offset = (size_t)s->offset,
                             .limit = (size_t)s->limit};
    struct search_out shape = {.limit = s->limit, .offset = s->offset};
    struct similar *v;
    size_t n;
    if (!ask.query.n)
        return fail_field(ctx, "query", "must not be blank");
    TRY(cortex_pool(ctx, app, in, s->app, &ask.pool));
    TRY(engine_similar(ctx, app->engine, &ask, &v, &n, &shape.total));
    for (size_t i = 0; i < n; i++)
        v[i].similarity = score_rounded(v[i].similarity);
    return list_reply(ctx, search_out_fields, &shape, v, n, sizeof *v, out);
}

/* --- list --- */

SHAPE(list_in, (AS_STR, app, "app_id", .help = "only of this application; without it, of all"),
      (INT, limit, .otherwise = 15, .min = 1, .max = 100, .help = "most results"),
      (INT, offset, .max = 1e9, .help = "results to skip"));

static FIELDS_OF(memory, shown, (STR, id), (STR, content),
                 (AS_NUM, importance, "importance_score",
                  .help = "0 to 1, decays with age (memory_decay)"),
                 (STRS, tags, .help = "its tags, or its category"),
                 (AS_TIME, created, "created_at", .required = true));

SHAPE(list_out, (JSON, memories, .inside = shown_fields, .help = "newest first"), (INT, total),
      (INT, limit), (INT, offset));

/* importance decays with age when it is shown (setting memory_decay); the stored one stays. */
static void show_memory(struct ctx *ctx, struct app *app, struct memory *m, int64_t now)
{
    int64_t days = now > m->created ? (now - m->created) / DAY_MS : 0;
    double weight = importance_after(m->importance, app->settings->memory_decay, days);
    m->importance = score_rounded(weight);
    if (!m->tags.n && m->category.n)
        m->tags = (struct strs){DUP_N(&ctx->arena, &m->category, 1, 1), 1};
}

static HANDLER(list_memories)
{
    const struct list_in *l = in->in;
    struct memory_filter f = {.offset = (size_t)l->offset, .limit = (size_t)l->limit};
    struct list_out shape = {.limit = l->limit, .offset = l->offset};
    struct memory *v;
    size_t n;
    int64_t now = clock_ms();
    TRY(l->app.n ? auth_pool(ctx, app, &in->who, l->app, "app_id", &f.pool)
                 : auth_spaces(ctx, app, &in->who, &f.pool));
    TRY(engine_list(ctx, app->engine, &f, &v, &n, &shape.total));
    for (size_t i = 0; i < n; i++)
        show_memory(ctx, app, &v[i], now);
    return list_reply(ctx, list_out_fields, &shape, v, n, sizeof *v, out);
}

/* --- save --- */

SHAPE(save_in,
      (STR, content, .required = true, .min = 1, .max = CONTENT_MAX, .help = "what to remember"),
      (AS_STR, app, "app_id", .help = app_help),
      (NUM, importance, .min = 0, .max = 1, .help = "0 to 1; default: estimated by rules"),
      (STRS, tags, .help = "free labels"));

struct save_out {
    struct memory memory;
    bool success;
};
static FIELDS(save_out, (BOOL, success), (OBJECT, memory, struct memory, .inside = shown_fields),
              (AS_STR, memory.id, "id"));

/* An importance of 0 is the same as none here: the engine estimates it by rules. */
static HANDLER(save_memory)
{
    const struct save_in *s = in->in;
    struct memory m = {.content = str_trim(s->content), .tags = s->tags, .origin = ORIGIN_API};
    struct pool_ref pool;
    if (!m.content.n)
        return fail_field(ctx, "content", "must not be blank");
    /* The table checks that tags are strings; their number and length it cannot. */
    if (s->tags.n > TAGS_MAX)
        return fail_field(ctx, "tags", "must be at most %d", TAGS_MAX);
    if (SOME(i, s->tags.n, !s->tags.v[i].n || s->tags.v[i].n > TAG_MAX))
        return fail_field(ctx, "tags", "must have 1 to %d bytes each", TAG_MAX);
    TRY(cortex_pool(ctx, app, in, s->app, &pool));
    m.importance = s->importance;
    TRY(engine_add(ctx, app->engine, pool, &m));
    show_memory(ctx, app, &m, clock_ms());
    out->code = 201;
    return reply_fields(out, save_out_fields, &(struct save_out){m, true});
}

/* --- delete --- */

SHAPE(gone_out, (BOOL, success), (STR, message));

/* Wherever the caller reaches it: the path names no app. Finding first tells the id of a memory
 * from that of a message or session, which forget would take as well. */
static HANDLER(erase_memory)
{
    struct memory m;
    TRY(found_as(ctx, auth_find_memory(ctx, app, &in->who, in->params[0], &m), "memory"));
    struct forget what = {.pool = {in->who.pool.user, m.space}, .id = m.id};
    TRY(found_as(ctx, engine_forget(ctx, app->engine, &what, NULL), "memory"));
    return reply_fields(out, gone_out_fields,
                        &(struct gone_out){true, S("Memory deleted successfully")});
}

struct app_in {
    str app;
};
static FIELDS_OF(app_in, all_in, (AS_STR, app, "app_id", .help = apps_help));

SHAPE(
    erased_out, (BOOL, success),
    (AS_INT, count, "deleted_count",
     .help = "deleted memories, including superseded ones; messages and sessions are not counted"));

/* The app of that name; for "*" all that the caller sees: one pool without a space for the whole
 * user, or only the token's own. */
static enum status named_apps(struct ctx *ctx, struct app *app, const struct request *in, str name,
                              struct pools *out)
{
    struct pool_ref *one = NEW(&ctx->arena, struct pool_ref);
    *out = (struct pools){one, 1};
    if (!str_is(str_trim(name), "*"))
        return auth_pool(ctx, app, &in->who, name, "app_id", one);
    TRY(auth_spaces(ctx, app, &in->who, one));
    if (!str_is(one->space, DEFAULT_SPACE))
        return OK;
    return auth_pools(ctx, app, &in->who, out);
}

/* Deletes transcripts as well, because they contain the same facts. Counted before erasing, since
 * Cortex counts memories only. An app that is empty is no failure: the client wants it to be
 * empty. */
static HANDLER(erase_all)
{
    const struct app_in *a = in->in;
    struct erased_out shape = {.success = true};
    struct pools pools;
    TRY(named_apps(ctx, app, in, a->app, &pools));
    for (const struct pool_ref *pool = pools.v; pool < pools.v + pools.n; pool++) {
        const struct forget what = {*pool, .everything = true, .all_spaces = !pool->space.n};
        const struct memory_filter f = {.pool = *pool, .with_closed = true};
        struct memory_totals totals;
        TRY(engine_totals(ctx, app->engine, &f, &totals));
        TRY(soft_or(ctx, engine_forget(ctx, app->engine, &what, NULL), NOT_FOUND));
        shape.count += totals.total;
    }
    return reply_fields(out, erased_out_fields, &shape);
}

/* --- duplicates --- */

static FIELDS(app_in, (AS_STR, app, "app_id", .help = app_help));

static FIELDS_OF(similar, duplicate_out, (AS_STR, memory.id, "id"),
                 (AS_STR, memory.content, "content"),
                 (AS_TIME, memory.created, "created_at", .required = true),
                 (AS_NUM, similarity, "similarity_to_canonical"));

SHAPE(group_out, (AS_STR, id, "canonical_id", .help = "id of the oldest memory"),
      (AS_STR, content, "canonical_content"),
      (JSON, duplicates, .inside = duplicate_out_fields, .help = "by age"));

SHAPE(groups_out, (JSON, groups, .inside = group_out_fields), (AS_INT, total, "total_duplicates"));

static HANDLER(list_duplicates)
{
    const struct app_in *a = in->in;
    struct groups_out shape = {0};
    struct pool_ref pool;
    struct duplicates *v;
    size_t n;
    TRY(auth_pool(ctx, app, &in->who, a->app, "app_id", &pool));
    TRY(engine_duplicates(ctx, app->engine, pool, &v, &n));
    struct group_out *groups = NEW_N(&ctx->arena, struct group_out, n + 1);
    for (const struct duplicates *d = v; d < v + n; d++) {
        for (size_t i = 0; i < d->n; i++)
            d->v[i].similarity = score_rounded(d->v[i].similarity);
        groups[d - v] = (struct group_out){d->first.id, d->first.content, NULL};
        TRY(json_list(ctx, duplicate_out_fields, d->v, d->n, sizeof *d->v,
                      &groups[d - v].duplicates));
        shape.total += (int64_t)d->n;
    }
    return list_reply(ctx, groups_out_fields, &shape, groups, n, sizeof *groups, out);
}

/* An empty name in the query must not change another app. */
static enum status app_of(struct ctx *ctx, const struct request *in, str named, str *out)
{
    str query = request_query(ctx, in, "app_id");
    TRY(cortex_app(ctx, in, named, out));
    for (str rest = in->query; rest.n && !query.n;) {
        str pair = str_cut(&rest, '&'), name = str_cut(&pair, '=');
        if (name.n && !str_is(name, "dry_run") && !str_is(name, SPACE_MEMBER))
            return fail_field(ctx, "app_id", "must not be empty in the query");
    }
    return OK;
}

SHAPE(merged_out, (BOOL, success),
      (AS_INT, closed, "deleted_count", .help = "archived duplicates; they remain as history"),
      (AS_INT, groups, "groups_merged"));

static HANDLER(remove_duplicates)
{
    const struct app_in *a = in->in;
    struct merged_out shape = {.success = true};
    struct pool_ref pool;
    str name;
    TRY(app_of(ctx, in, a->app, &name));
    TRY(auth_pool(ctx, app, &in->who, name, "app_id", &pool));
    TRY(engine_deduplicate(ctx, app->engine, pool, &shape.groups, &shape.closed));
    return reply_fields(out, merged_out_fields, &shape);
}

/* --- consolidation --- */

SHAPE(tidy_in, (AS_STR, app, "app_id", .help = apps_help),
      (BOOL, dry_run, .help = "report what would change without changing it"));

SHAPE(tidied_out, (BOOL, success), (INT, merged, .help = "duplicate episodes merged"),
      (INT, decayed, .help = "unused facts that were archived; they remain as history"),
      (INT, deleted, .help = "episodes deleted after their retention"),
      (INT, promoted, .help = "facts promoted because conversations return to them"),
      (INT, looked_at), (BOOL, dry_run));

static HANDLER(consolidate_memories)
{
    const struct tidy_in *t = in->in;
    struct pools pools;
    str name;
    struct tidy_in asked;
    /* Either place may ask for a dry run, and neither can take it back: a wish that is misread must
     * not change anything. */
    TRY(request_query_read(ctx, in, tidy_in_fields, &asked));
    struct tidied_out shape = {.success = true, .dry_run = t->dry_run || asked.dry_run};
    TRY(app_of(ctx, in, t->app, &name));
    TRY(named_apps(ctx, app, in, name, &pools));
    for (size_t i = 0; i < pools.n; i++) {
        struct consolidate_report r;
        TRY(engine_consolidate(ctx, app->engine, pools.v[i], shape.dry_run, &r));
        shape.looked_at += r.looked_at;
        shape.merged += r.merged;
        shape.promoted += r.promoted;
        shape.decayed += r.evicted;
        shape.deleted += r.pruned;
    }
    return reply_fields(out, tidied_out_fields, &shape);
}

static const struct route routes[] = {
    {ROUTE("POST", "/v1/memory/search", search_memories), .scope = MAY_READ, READS(search_in),
     ANSWERS(search_out), .help = "memories similar to a text (Cortex)"},
    {ROUTE("GET", "/v1/memory/me", list_memories), READS(list_in), ANSWERS(list_out),
     .help = "your memories, newest first, with their current importance (Cortex)"},
    {ROUTE("GET", "/v1/memory/list", list_memories), READS(list_in), ANSWERS(list_out),
     .help = "your memories, for Traylinx's command line (Cortex)"},
    {ROUTE("POST", "/v1/memory/save", save_memory), .words.code = 201, READS(save_in),
     ANSWERS(save_out), .help = "add a memory (Cortex)"},
    {ROUTE("DELETE", "/v1/memory/user/all", erase_all), READS_AS(all_in, app_in), .strict = true,
     ANSWERS(erased_out),
     .help = "erase everything of an app: memories, sessions, messages and profile (Cortex)"},
    {ROUTE("GET", "/v1/memory/duplicates", list_duplicates), READS(app_in), .strict = true,
     ANSWERS(groups_out), .help = "duplicates of older memories (Cortex)"},
    {ROUTE("POST", "/v1/memory/deduplicate", remove_duplicates), READS(app_in), .strict = true,
     ASKS(app_in), ANSWERS(merged_out),
     .help = "close duplicates, which remain as history; the oldest of each group stays (Cortex)"},
    {ROUTE("POST", "/v1/memory/consolidate", consolidate_memories), READS(tidy_in), .strict = true,
     ASKS(tidy_in), ANSWERS(tidied_out), .help = "run consolidation now (Cortex)"},
    {ROUTE("DELETE", "/v1/memory/{id}", erase_memory), ANSWERS(gone_out),
     .help = "erase a memory (Cortex)"},
    {0},
};

const struct surface surface_cortex_memory = CORTEX_SURFACE(routes);
