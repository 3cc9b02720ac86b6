/* memories.c - memories and search over plain REST. */
#include "base/clock.h"
#include "core/index.h"
#include "surface/common/error_body.h"
#include "surface/common/list_page.h"
#include "surface/rest/change.h"
#include "surface/rest/list.h"

/* --- the history of a memory --- */

/* One thing that happened. before has the members that an edit changed, as they were. */
SHAPE(
    change_event, (TIME, at, .help = "when"),
    (STR, event,
     .help = "created, edited, superseded (a new value under its key), merged (with one that says "
             "the same), compacted (into a summary), or archived (closed)"),
    (STR, id, .help = "of the memory"),
    (STR, content, .empty = EMPTY_OUT, .help = "what it says; where it was created"),
    (JSON, before, .empty = EMPTY_OUT, .help = "members as they were; of an edit"),
    (STR, by, .empty = EMPTY_OUT, .help = "id of the memory that took its place"));

static FIELDS_OF(list_page, history_out, LIST_ITEMS(change_event_fields, "oldest first"),
                 LIST_TOTAL);

struct events {
    struct change_event *v;
    size_t n, cap;
};

static const struct memory *find_item(const struct history_item *v, size_t n, str id)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(v[i].memory.id, id))
            return &v[i].memory;
    return NULL;
}

static str why_closed(const struct memory *m, const struct memory *by)
{
    if (!m->superseded_by.n)
        return S("closed");
    if (by && by->layer == LAYER_SUMMARY && m->layer != LAYER_SUMMARY)
        return S("compacted");
    bool is_value = m->key.n && (!by || str_eq(m->key, by->key)); /* by: erased since */
    return is_value ? S("superseded") : S("merged");
}

/* The text at first is that of the first revision which has one. */
static enum status add_events(struct ctx *ctx, const struct history_item *all, size_t n, size_t at,
                              struct events *out)
{
    assert(at < n);
    const struct history_item *item = &all[at];
    const struct memory *m = &item->memory;
    struct arena *a = &ctx->arena;
    const struct change_event created = {.event = S("created"), .id = m->id, .at = m->created};
    const struct json *text = NULL;
    size_t first = out->n;
    ARENA_ADD(a, out->v, out->n, out->cap) = created;
    for (size_t i = 0; i < item->n; i++) {
        struct json *old;
        TRY(json_parse(ctx, item->v[i].old, &old));
        text = text ?: json_get(old, "content");
        ARENA_ADD(a, out->v, out->n, out->cap) = (struct change_event){.event = S("edited"),
                                                                       .id = m->id,
                                                                       .at = item->v[i].at,
                                                                       .before = old};
    }
    out->v[first].content = text ? json_string(text) : m->content;
    if (m->valid_to)
        ARENA_ADD(a, out->v, out->n, out->cap) =
            (struct change_event){.event = why_closed(m, find_item(all, n, m->superseded_by)),
                                  .id = m->id,
                                  .at = m->valid_to,
                                  .by = m->superseded_by};
    return OK;
}

/* Stable: of one time, what was noted first comes first. */
static void sort_events(struct events *e)
{
    for (size_t i = 1; i < e->n; i++) {
        struct change_event one = e->v[i];
        size_t k = i;
        for (; k && e->v[k - 1].at > one.at; k--)
            e->v[k] = e->v[k - 1];
        e->v[k] = one;
    }
}

static HANDLER(memory_history)
{
    struct history_item *v;
    struct memory m;
    struct events events = {0};
    struct list_page shape = {0};
    size_t n;
    TRY(auth_find_memory(ctx, app, &in->who, in->params[0], &m));
    TRY(engine_history(ctx, app->engine, (struct pool_ref){in->who.pool.user, m.space},
                       in->params[0], &v, &n));
    for (size_t i = 0; i < n; i++)
        TRY(add_events(ctx, v, n, i, &events));
    sort_events(&events);
    shape.total = (int64_t)events.n;
    return list_reply(ctx, history_out_fields, &shape, events.v, events.n, sizeof *events.v, out);
}

/*
 * The plain way to the memories, for programs that speak no product's dialect: /v1/memories,
 * /v1/memories/{id} and /v1/memories/search. Input is read strictly and failures
 * are problems (RFC 9457). Ids are found in every space in reach; lists and searches are of the
 * request's space. The command line uses the same writers
 * (surface_…_json), so both print the same JSON.
 */

enum search_kind { SEARCH_ALL, SEARCH_MEMORIES, SEARCH_MESSAGES };
static const char *const search_kinds[] = {"all", "memory", "message", NULL};

SHAPE(search_in,
      (STR, query, .required = true, .min = 1, .max = 65536, .help = "a question or words"),
      (INT, limit, .otherwise = 10, .min = 1, .max = 100, .help = "most results"),
      (NUM, min_score, .max = 1, .help = "only results of at least this score"),
      (ENUM_OF, kind, enum search_kind, .otherwise_str = "all", .one_of = search_kinds,
       .help = "only memories, or only messages"),
      (STR, layer, .one_of = layer_names, .help = "only memories of this layer"),
      (STR, type, .one_of = type_names, .help = "only memories of this type"),
      (STR, strategy, .one_of = strategy_names,
       .help = "hybrid: words and vectors; semantic: vectors; recent: the newest; default: the "
               "setting"),
      (TIME, as_of, .help = "what was said and true at this time; absent: now"),
      (BOOL, explain, .help = "include reasons in words and numbers"),
      (STR, session, .max = 256, .is_name = true,
       .help = "the conversation that the question belongs to: a follow-up question is completed "
               "from what was said there"));

static FIELDS_OF(recall_steps, steps,
                 (ENUM, strategy, .one_of = strategy_names,
                  .help = "the strategy that was used in the end"),
                 (STR, store, .help = "where vectors were searched: sqlite-vec, qdrant or none"),
                 (AS_BOOL, is_reranked, "reranked"),
                 (STR, reranker, .empty = EMPTY_OUT,
                  .help = "the model that reranked: upstream/model or local/model"),
                 (STR, fallback, .help = "why another strategy was used, or empty"));

/* vectors and without are left out when empty: they are there to tell a search by words alone from
 * one by meaning. */
SHAPE(search_out,
      (JSON, results, .inside = found_out_fields, .help = "memories and messages, best first"),
      (INT, took_us, .help = "duration in microseconds"),
      (STR, vectors, .empty = EMPTY_OUT, .help = "source of the vectors that were used"),
      (STR, without, .empty = EMPTY_OUT,
       .help = "why no vectors were used although a source is configured"),
      (JSON, steps, .empty = EMPTY_OUT,
       .help = "with explain: the strategy that was used, store, reranked and fallback"));

SHAPE(erased_out, (INT, erased, .help = "number of erased memories and messages"),
      (INT, barred,
       .help = "number of statements in messages that recall no longer gives; the messages stay in "
               "their conversation's history unless it is erased"),
      (STR, erasure, .empty = EMPTY_OUT, .help = "id of its certificate: GET /v1/erasures/{id}"),
      (STR, undo, .empty = EMPTY_OUT, .help = "id for POST /v1/undo/{id}"),
      (AS_TIME, until, "undo_until", .empty = EMPTY_OUT, .help = "until when it can be undone"));

void surface_memory_json(const struct memory *m, struct buf *out)
{
    struct json_out w = json_to(out);
    fields_write(&w, memory_fields, m);
}

/* explain costs text for each result and is off unless asked for. */
enum status surface_found_json(struct ctx *ctx, const struct recall_out *found, bool explain,
                               struct buf *out)
{
    struct json_out w = json_to(out);
    struct search_out shape = {NULL, found->took_us, found->vectors, found->without, NULL};
    TRY(found_list(ctx, found->v, found->n, LONG_TEXT_END, explain, &shape.results));
    if (explain)
        shape.steps = json_object_of(ctx, steps_fields, &found->steps);
    fields_write(&w, search_out_fields, &shape);
    return OK;
}

/* 201 also when the same was known already and the memory that said it was kept: the client gets
 * the one that is in force. */
static HANDLER(memory_add)
{
    struct memory m = *(const struct memory *)in->in;
    assert(in->who.pool.user.n);
    m.origin = ORIGIN_API;
    TRY(engine_add(ctx, app->engine, in->who.pool, &m));
    out->code = 201;
    return reply_fields(out, memory_fields, &m);
}

static HANDLER(memory_get)
{
    struct memory m;
    TRY(auth_find_memory(ctx, app, &in->who, in->params[0], &m));
    memory_tag(ctx, &m, out);
    return reply_fields(out, memory_fields, &m);
}

/* The id may be of a memory, a message or a conversation. erased counts what is gone; barred counts
 * statements in messages that stay but are not recalled. */
static HANDLER(memory_erase)
{
    struct erased_out shape = {0};
    struct undo_mark mark;
    struct forget what = {.id = in->params[0], .barred = &shape.barred, .erasure = &shape.erasure};
    TRY(if_match_read(ctx, in, &what.if_updated));
    what.undo = undo_asked(ctx, ((const struct undo_in *)in->in)->undo, &mark);
    TRY(auth_forget(ctx, app, &in->who, &what, &shape.erased));
    shape.undo = mark.id;
    shape.until = mark.until;
    return reply_fields(out, erased_out_fields, &shape);
}

/* What a correction or a deletion reads, and a correction shows, beside its body. */
static const struct field if_match_fields[] = {
    HEADER_ROW("If-Match", STR,
               .help = "ETag of the memory: the change is refused when it has changed since"),
    {0},
};
static const struct field undo_shown_fields[] = {
    HEADER_ROW("ETag", STR, .required = true, .help = "the memory's version"),
    HEADER_ROW(UNDO_HEADER, STR, .help = "id for POST /v1/undo/{id}"),
    HEADER_ROW(UNDO_UNTIL_HEADER, STR, .help = "until when it can be undone"),
    {0},
};

SHAPE(undone_out, (INT, restored, .help = "memories and messages that are back, or changed back"));

/* Who may erase in a space may undo there: the id is looked for in all in reach. */
static HANDLER(undo_run)
{
    struct undone_out shape = {0};
    struct pool_ref pool;
    TRY(AUTH_FIND(ctx, app, &in->who, pool,
                  engine_undo(ctx, app->engine, pool, in->params[0], &shape.restored)));
    return reply_fields(out, undone_out_fields, &shape);
}

/* First what a chat would be given, in its order, then what else is found. */
static HANDLER(memory_search)
{
    const struct search_in *q = in->in;
    bool of_memories = q->kind == SEARCH_MEMORIES || q->layer.n || q->type.n;
    struct recall_in ask = {.pool = in->who.pool,
                            .question = engine_question_in(ctx, app->engine, in->who.pool,
                                                           q->session, q->query),
                            .limit = (size_t)q->limit,
                            .only.memories = of_memories,
                            .only.turns = q->kind == SEARCH_MESSAGES,
                            .only.layer = q->layer,
                            .only.type = q->type,
                            .only.as_of = q->as_of,
                            .asked = q->as_of,
                            .by.has_strategy = q->strategy.n > 0,
                            .by.strategy =
                                (enum strategy)name_index(strategy_names, q->strategy, 0)};
    struct recall_out found;
    if (q->kind == SEARCH_MESSAGES && of_memories)
        return fail_field(ctx, "kind", "must not be message: messages have no layer and no type");
    if (q->as_of > clock_ms())
        return fail_field(ctx, "as_of", "must not be in the future");
    TRY(engine_search(ctx, app->engine, &ask, &found));
    size_t n = 0;
    for (size_t i = 0; i < found.n; i++)
        if (found.v[i].score >= q->min_score)
            found.v[n++] = found.v[i];
    found.n = n;
    return surface_found_json(ctx, &found, q->explain, &out->body);
}

static const struct route routes[] = {
    {ROUTE("POST", "/v1/memories", memory_add), .words.code = 201, READS_AS(memory_add, memory),
     ANSWERS(memory), .help = "add a memory"},
    {ROUTE("GET", "/v1/memories", memory_list), READS(list_in), ANSWERS(list_out),
     .help = "memories by a filter, in any order"},
    {ROUTE("POST", "/v1/memories/search", memory_search), .scope = MAY_READ, READS(search_in),
     ANSWERS(search_out), .help = "search memories and messages"},
    {ROUTE("GET", "/v1/memories/{id}", memory_get), ANSWERS(memory), .help = "one memory"},
    {ROUTE("PATCH", "/v1/memories/{id}", memory_change), READS_AS(change_in, memory), ASKS(undo_in),
     HEADERS(if_match), SHOWS(undo_shown), ANSWERS(memory),
     .help = "change members of a memory; null takes a value away"},
    {ROUTE("GET", "/v1/memories/{id}/history", memory_history), ANSWERS(history_out),
     .help = "what it said before, and what it replaced"},
    {ROUTE("POST", "/v1/memories/bulk", memory_bulk), READS(bulk_in), ANSWERS(bulk_out),
     .help = "erase or change many memories at once"},
    {ROUTE("DELETE", "/v1/memories/{id}", memory_erase), READS(undo_in), HEADERS(if_match),
     ANSWERS(erased_out), .help = "erase a memory, a message or a conversation by its id"},
    {ROUTE("POST", "/v1/undo/{id}", undo_run), ANSWERS(undone_out),
     .help = "put back what was erased or changed with undo"},
    {0},
};

const struct surface surface_memories = STRICT_SURFACE("memories", routes);
