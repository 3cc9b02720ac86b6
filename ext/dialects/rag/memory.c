/* memory.c - a user's memories as the RAG backend shows, finds, counts, changes and clears them. */
#include <math.h>

#include "base/clock.h"
#include "base/time_text.h"
#include "base/utf8.h"
#include "ext/dialects/rag/rag.h"
#include "surface/common/json_form.h"
#include "surface/common/list_page.h"

/*
 * A user's memories with type, priority and how often they were read. The backend that these
 * clients were written for is a FastAPI program, so wrong input is 422 with a list of {loc, msg,
 * type}, and other failures are {detail: sentence}. Priorities are stored as importance
 * (rag_importance) and read back by ranges (priority_of), so that memories made elsewhere have one
 * as well. Search ranks by relevance, which mixes similarity with priority, age and use.
 */

/* HALF_LIFE_DAYS is that of decay_score, which is only shown; ranking has its own. */
enum { SEARCH_MAX = 200, HALF_LIFE_DAYS = 30 };

/* The backend knows users and no applications, so that all of a user's memories are in one space:
 * `default`, or that of a token which is bound to others. */
struct pool_ref rag_pool(const struct request *in)
{
    const struct identity *who = &in->who;
    bool is_bound = who->spaces.n && !names_have(who->spaces, S(DEFAULT_SPACE));
    return who->space_from || is_bound ? who->pool
                                       : (struct pool_ref){who->pool.user, S(DEFAULT_SPACE)};
}

double rag_importance(enum priority priority)
{
    static const double importances[PRIORITY_COUNT] = {0.95, 0.8, 0.5, 0.2};
    assert(priority < PRIORITY_COUNT);
    return importances[priority];
}

/* --- failures, as FastAPI words them --- */

SHAPE(invalid, (JSON, loc), (STR, msg), (STR, type));

static FIELDS_OF(
    error_body, error,
    (AS_JSON, details, "detail",
     .help = "a sentence, or for input that breaks a rule a list of {loc, msg, type}"));
static const struct error_shape rag_errors = {"RagError", "application/json", error_fields};
static const struct error_rule rules[] = {{BAD_INPUT, .code = 422}, {0}};

/* [{"loc": ["query", "page"], "msg": "…", "type": "…"}]: FastAPI tells body and query apart. */
static const struct json *invalid_list(struct ctx *ctx, const struct request *in)
{
    bool is_asking =
        str_is(in->method, "GET") || str_is(in->method, "HEAD") || str_is(in->method, "DELETE");
    str field = str_of(ctx->field);
    const struct json *loc =
        json_of(ctx, JSON_FORM(&ctx->arena, field.n ? "['%',%]" : "['%']",
                               is_asking ? S("query") : S("body"), quote_json(&ctx->arena, field)));
    struct invalid one = {loc, str_of(ctx->why), field.n ? S("value_error") : S("json_invalid")};
    if (ctx->is_missing)
        one = (struct invalid){loc, S("Field required"), S("missing")};
    str text = json_object_of(ctx, invalid_fields, &one)->source;
    return json_of(ctx, str_printf(&ctx->arena, "[" S_FMT "]", S_ARG(text)));
}

static void word_rag_error(struct ctx *ctx, enum status s, const struct request *in,
                           struct reply *out)
{
    struct error_body body = error_body_of(ctx, s, in, rules, "", out);
    if (s == STORAGE)
        body.message = str_is(in->method, "GET") ? S("Failed to read memories")
                                                 : S("Failed to change memories");
    body.details = s == BAD_INPUT ? invalid_list(ctx, in)
                                  : json_of(ctx, quote_json(&ctx->arena, body.message));
    error_body_write(out, error_fields, &body);
}

/* --- a memory --- */

FIELDS(rag_shown, (AS_STR, of.id, "id", .help = "UUID"),
       (AS_STR, user, "user_id", .empty = EMPTY_OUT, .help = "of an export"),
       (AS_STR, of.content, "content"), (ENUM, memory_type, .one_of = kind_names),
       (ENUM, priority, .one_of = priority_names),
       (AS_TIME, of.created, "created_at", .required = true),
       (TIME, last_accessed, .required = true, .help = "last recall or read"),
       (AS_INT, of.uses, "access_count"),
       (STR, source, .empty = EMPTY_NULL,
        .help = "the given source, or id of the message it came from"),
       (STRS, entities, .help = "entities of its metadata"),
       (NUM, decay_score, .help = "1 right after an access, halved every 30 days"),
       (JSON, metadata, .help = "an object"));

/* An array of names, or of objects that have one. */
static struct strs names_of(struct ctx *ctx, const struct json *array)
{
    struct strs out = {0};
    if (!array || array->type != JSON_ARRAY)
        return out;
    out.v = NEW_N(&ctx->arena, str, array->n);
    for (const struct json *v = array->first; v; v = v->next) {
        str name = json_string(v->type == JSON_OBJECT ? json_get(v, "name") : v);
        if (name.n)
            out.v[out.n++] = name;
    }
    return out;
}

const struct json *rag_object(struct ctx *ctx, str text)
{
    const struct json *v = json_of_text(ctx, text);
    return v && v->type == JSON_OBJECT ? v : json_of(ctx, S("{}"));
}

/* decay_score is computed at read; the stored memory does not change. */
struct rag_shown rag_show(struct ctx *ctx, const struct memory *m)
{
    int64_t accessed = m->last_used ? m->last_used : m->created;
    double days = (double)(clock_ms() - accessed) / (double)DAY_MS;
    double decay = days > 0 ? round(pow(0.5, days / HALF_LIFE_DAYS) * 10000) / 10000 : 1;
    const struct json *metadata = rag_object(ctx, m->metadata);
    str said = json_string(json_get(metadata, "source"));
    return (struct rag_shown){.of = *m,
                              .memory_type = kind_of(m),
                              .priority = priority_of(m->importance),
                              .last_accessed = accessed,
                              .source = said.n ? said : m->source,
                              .entities = names_of(ctx, json_get(metadata, "entities")),
                              .decay_score = decay,
                              .metadata = metadata};
}

/* In the space that is listed here first, then in the others in reach. */
static enum status find_any(struct ctx *ctx, struct app *app, const struct request *in,
                            struct memory *out)
{
    struct identity who = in->who;
    who.pool = rag_pool(in);
    return auth_find_memory(ctx, app, &who, in->params[0], out);
}

/* Closed and expired memories are not listed or searched, so they are not found here. */
static enum status find_memory(struct ctx *ctx, struct app *app, const struct request *in,
                               struct memory *out)
{
    enum status s = find_any(ctx, app, in, out);
    bool is_gone = s == OK && (out->valid_to || (out->expires && out->expires <= clock_ms()));
    return found_as(ctx, is_gone ? NOT_FOUND : s, "memory");
}

/* --- list --- */

SHAPE(list_in, (INT, page, .otherwise = 1, .min = 1, .max = 1e7, .help = "page number, from 1"),
      (INT, page_size, .otherwise = 50, .min = 1, .max = 200),
      (STR, memory_type, .one_of = kind_names, .help = "only of this type"),
      (STR, priority, .one_of = priority_names, .help = "only of this priority"),
      (STR, search, .help = "only with this text, letters of any case; at most 200 characters"));

SHAPE(list_out, (JSON, memories, .inside = rag_shown_fields, .help = "last accessed first"),
      (INT, total), (INT, page), (INT, page_size));

static struct rag_shown *show_all(struct ctx *ctx, const struct memory *v, size_t n, str user)
{
    struct rag_shown *items = NEW_N(&ctx->arena, struct rag_shown, n + 1);
    for (size_t i = 0; i < n; i++) {
        items[i] = rag_show(ctx, &v[i]);
        items[i].user = user;
    }
    return items;
}

/* SEARCH_MAX counts characters, which the limit of a table's row does not: hence the check here. */
static HANDLER(list_memories)
{
    const struct list_in *l = in->in;
    struct memory_filter f = {.pool = rag_pool(in),
                              .kind = l->memory_type,
                              .priority = l->priority,
                              .contains = l->search,
                              .by_use = true,
                              .offset = (size_t)((l->page - 1) * l->page_size),
                              .limit = (size_t)l->page_size};
    struct list_out shape = {.page = l->page, .page_size = l->page_size};
    struct memory *v;
    size_t n;
    if (utf8_length(l->search) > SEARCH_MAX)
        return fail_field(ctx, "search", "must have at most %d characters", SEARCH_MAX);
    TRY(engine_list(ctx, app->engine, &f, &v, &n, &shape.total));
    const struct rag_shown *items = show_all(ctx, v, n, S(""));
    return list_reply(ctx, list_out_fields, &shape, items, n, sizeof *items, out);
}

/* --- statistics --- */

SHAPE(stats_out, (INT, total_memories), (JSON, memories_by_type, .help = "memories by type"),
      (JSON, memories_by_priority, .help = "memories by priority"), (NUM, avg_access_count),
      (TIME, oldest_memory, .empty = EMPTY_NULL, .help = "null: no memories"),
      (TIME, newest_memory, .empty = EMPTY_NULL, .help = "null: no memories"));

/* Of memories that are in force; counts of 0 are written as well, so every type and priority is a
 * member. */
static HANDLER(show_stats)
{
    struct memory_filter f = {.pool = rag_pool(in)};
    struct memory_totals t;
    TRY(engine_totals(ctx, app->engine, &f, &t));
    struct stats_out shape = {.total_memories = t.total,
                              .memories_by_type = json_counts(ctx, kind_names, t.by_kind, true),
                              .memories_by_priority =
                                  json_counts(ctx, priority_names, t.by_priority, true),
                              .avg_access_count =
                                  t.total ? round((double)t.uses / (double)t.total * 100) / 100 : 0,
                              .oldest_memory = t.oldest,
                              .newest_memory = t.newest};
    return reply_fields(out, stats_out_fields, &shape);
}

/* --- export --- */

SHAPE(export_out, (TIME, exported_at, .required = true), (STR, user_id), (INT, total_memories),
      (JSON, memories, .inside = rag_shown_fields, .help = "all of them, oldest first"));

/* memories_<user>_<day>.json, only with characters that are safe in file names and headers. */
static str file_name(struct ctx *ctx, str user, int64_t now)
{
    char name[9] = "";
    for (size_t i = 0; i < user.n && i < 8; i++) {
        char c = user.p[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '-' || c == '_';
        name[i] = is_plain ? c : '_';
    }
    str day = time_utc(&ctx->arena, now, "%Y%m%d");
    return str_printf(&ctx->arena, "attachment; filename=\"memories_%s_" S_FMT ".json\"", name,
                      S_ARG(day));
}

/* Written piece by piece, as an export of the size of an answer must not be in memory twice. */
static HANDLER(export_all)
{
    struct memory_filter f = {.pool = rag_pool(in), .oldest_first = true, .limit = SIZE_MAX};
    struct memory *v;
    size_t n;
    int64_t now = clock_ms();
    TRY(engine_list(ctx, app->engine, &f, &v, &n, NULL));
    const struct rag_shown *items = show_all(ctx, v, n, f.pool.user);
    struct json_out w = json_to(&out->body);
    json_open(&w, '{');
    json_key(&w, "exported_at");
    json_time(&w, now);
    json_member_str(&w, "user_id", f.pool.user);
    json_member_int(&w, "total_memories", (int64_t)n);
    json_member_open(&w, "memories", '[');
    for (size_t i = 0; i < n; i++)
        fields_write(&w, rag_shown_fields, &items[i]);
    json_close(&w, ']');
    json_close(&w, '}');
    if (out->body.full)
        return fail(ctx, TOO_LARGE, "too many memories for one answer");
    reply_header(out, "Content-Disposition", file_name(ctx, f.pool.user, now));
    return OK;
}

/* --- one memory --- */

static HANDLER(get_memory)
{
    struct memory m;
    TRY(find_memory(ctx, app, in, &m));
    engine_accessed(ctx, app->engine, (struct pool_ref){in->who.pool.user, m.space}, &m.doc, 1);
    m.uses++;
    m.last_used = clock_ms();
    struct rag_shown shape = rag_show(ctx, &m);
    return reply_fields(out, rag_shown_fields, &shape);
}

SHAPE(change_in, (STR, content, .min = 1, .max = RAG_CONTENT_MAX),
      (ENUM_OF, priority, enum priority, .one_of = priority_names, .otherwise = PRIORITY_COUNT));

static HANDLER(change_memory)
{
    const struct change_in *c = in->in;
    struct memory m;
    struct change to = {.id = in->params[0], .to = {.content = c->content}};
    TRY(find_memory(ctx, app, in, &m));
    to.pool = (struct pool_ref){in->who.pool.user, m.space};
    if (c->content.n)
        to.what |= CHANGE_CONTENT;
    if (c->priority != PRIORITY_COUNT) {
        to.what |= CHANGE_IMPORTANCE;
        to.to.importance = rag_importance(c->priority);
    }
    if (!to.what)
        return fail_field(ctx, "content", "content, priority or both are required");
    TRY(found_as(ctx, engine_change(ctx, app->engine, &to, &m), "memory"));
    struct rag_shown shape = rag_show(ctx, &m);
    return reply_fields(out, rag_shown_fields, &shape);
}

SHAPE(gone_out, (BOOL, deleted), (STR, memory_id));

/* Also a closed memory. Looks for a memory first, as forget takes messages and sessions, too. */
static HANDLER(erase_memory)
{
    struct memory m;
    TRY(found_as(ctx, find_any(ctx, app, in, &m), "memory"));
    const struct forget what = {.pool = {in->who.pool.user, m.space}, .id = m.id};
    TRY(found_as(ctx, engine_forget(ctx, app->engine, &what, NULL), "memory"));
    return reply_fields(out, gone_out_fields, &(struct gone_out){true, m.id});
}

/* --- search --- */

SHAPE(search_in, (STR, query, .required = true, .min = 1, .max = RAG_CONTENT_MAX),
      (INT, top_k, .otherwise = 10, .min = 1, .max = 100, .help = "most results"),
      (ENUM_OF, memory_type, enum memory_kind, .one_of = kind_names, .otherwise = KIND_COUNT,
       .help = "only of this type"),
      (AS_NUM, least, "min_similarity", .otherwise = 0.7, .min = 0, .max = 1,
       .help = "how alike a memory must be: its cosine, the weight of the query's words that it "
               "holds, or how sure recall is of it, whichever is most"),
      (AS_BOOL, graph, "include_graph", .otherwise = 1,
       .help = "accepted and ignored: this server has no graph"));

struct hit {
    struct similar of;
    enum memory_kind type;
    str source;
    double relevance;
};
static FIELDS(hit, (AS_STR, of.memory.id, "id"), (AS_STR, of.memory.content, "content"),
              (ENUM, type, .one_of = kind_names), (AS_NUM, of.similarity, "similarity"),
              (NUM, relevance, .help = "of similarity, priority, age and use"),
              (STR, source, .help = "vector: by similarity"));

/* total is the length of this list: there are no pages. */
static FIELDS_OF(list_page, search_out,
                 LIST_ITEMS_AS("memories", hit_fields, "the most relevant first"),
                 (INT, total, .help = "number of results"));

static double score_rounded(double value)
{
    assert(isfinite(value));
    return round(value * 1000000) / 1000000;
}

static struct hit hit_of(const struct similar *s, int64_t now)
{
    const struct memory *m = &s->memory;
    int64_t days = now > m->created ? (now - m->created) / DAY_MS : 0;
    double relevance = relevance_of(s->similarity, priority_of(m->importance), days, m->uses);
    return (struct hit){{*m, score_rounded(s->similarity)},
                        kind_of(m),
                        S("vector"),
                        score_rounded(relevance)};
}

/* Of two alike the newer one first, so that the order is the same each time. */
ORDER(most_relevant, struct hit, DOWN(relevance) ?: DOWN(of.memory.created) ?: DOWN(of.memory.doc));

/* Ranks twice as many memories as wanted, or all similar ones when the type is restricted. Memories
 * that are returned count as accessed. */
static HANDLER(rag_search)
{
    enum { MOST = 1000 };
    const struct search_in *q = in->in;
    struct similar_in ask = {.pool = rag_pool(in),
                             .query = str_trim(q->query),
                             .least = q->least,
                             .limit = q->memory_type != KIND_COUNT ? MOST : 2 * (size_t)q->top_k};
    struct similar *v;
    size_t n, kept = 0, most = (size_t)q->top_k;
    int64_t total, now = clock_ms();
    if (!ask.query.n)
        return fail_field(ctx, "query", "must not be blank");
    TRY(engine_similar(ctx, app->engine, &ask, &v, &n, &total));
    struct hit *hits = NEW_N(&ctx->arena, struct hit, n + 1);
    doc_id *docs = NEW_N(&ctx->arena, doc_id, most);
    for (size_t i = 0; i < n; i++)
        if (q->memory_type == KIND_COUNT || q->memory_type == kind_of(&v[i].memory))
            hits[kept++] = hit_of(&v[i], now);
    qsort(hits, kept, sizeof *hits, most_relevant);
    kept = kept < most ? kept : most;
    for (size_t i = 0; i < kept; i++)
        docs[i] = hits[i].of.memory.doc;
    engine_accessed(ctx, app->engine, ask.pool, docs, kept);
    struct list_page page = {.total = (int64_t)kept};
    return list_reply(ctx, search_out_fields, &page, hits, kept, sizeof *hits, out);
}

/* --- clear --- */

SHAPE(clear_in, (BOOL, confirm, .help = "must be true"));

SHAPE(clear_out, (BOOL, cleared),
      (INT, count, .help = "deleted memories, including superseded and expired ones"));

/* Without confirm=true it is 400 with a sentence, not the 422 of wrong input: that is sound. */
static HANDLER(clear_memories)
{
    const struct clear_in *c = in->in;
    struct forget what = {.pool = rag_pool(in), .memories = true};
    struct clear_out shape = {.cleared = true};
    if (!c->confirm) {
        out->code = 400;
        buf_printf(&out->body, "{\"detail\":\"Must confirm deletion with confirm=true\"}");
        return OK;
    }
    TRY(soft_or(ctx, engine_forget(ctx, app->engine, &what, &shape.count), NOT_FOUND));
    return reply_fields(out, clear_out_fields, &shape);
}

static const struct route routes[] = {
    {ROUTE("GET", "/api/v1/memory", list_memories), READS(list_in), ANSWERS(list_out),
     .help = "a page of your memories, last accessed first"},
    {ROUTE("POST", "/api/v1/memory", rag_create), .words.code = 201, .words.code_too = 200,
     READS(rag_create_in), ANSWERS(rag_create_out), .help = "add a memory; a duplicate is merged"},
    {ROUTE("DELETE", "/api/v1/memory", clear_memories), READS(clear_in), ANSWERS(clear_out),
     .help = "erase all memories, with confirm=true"},
    {ROUTE("GET", "/api/v1/memory/stats", show_stats), ANSWERS(stats_out),
     .help = "how many memories there are, by type and priority"},
    {ROUTE("GET", "/api/v1/memory/export", export_all), .scope = MAY_EXPORT, ANSWERS(export_out),
     .help = "all memories as a file"},
    {ROUTE("POST", "/api/v1/memory/search", rag_search), .scope = MAY_READ, READS(search_in),
     ANSWERS(search_out), .help = "search memories by meaning, most relevant first"},
    {ROUTE("GET", "/api/v1/memory/{id}", get_memory), ANSWERS(rag_shown),
     .help = "one memory, which counts as access"},
    {ROUTE("PATCH", "/api/v1/memory/{id}", change_memory), READS(change_in), ANSWERS(rag_shown),
     .help = "change content or priority"},
    {ROUTE("DELETE", "/api/v1/memory/{id}", erase_memory), ANSWERS(gone_out),
     .help = "erase one memory"},
    {0},
};

const struct surface surface_rag = {"rag",        routes,          word_rag_error,
                                    auth_request, SURFACE_SETTLES, .errors = &rag_errors};
