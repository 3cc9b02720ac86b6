/* rag.c - the memory of a user as the RAG backend shows, counts, changes and clears it. */
#include <math.h>

#include "base/clock.h"
#include "base/words.h"
#include "surface/rag.h"
#include "surface/shapes.h"

enum { SEARCH_MAX = 200, HALF_LIFE_DAYS = 30 };

struct pool_ref rag_pool(const struct request *in)
{
    return (struct pool_ref){in->who.pool.user, S(DEFAULT_SPACE)};
}

double rag_importance(str priority)
{
    static const double importances[PRIORITY_COUNT] = {0.95, 0.8, 0.5, 0.2};
    return importances[name_index(priority_names, priority, PRIORITY_MEDIUM)];
}

/* --- failures, as FastAPI words them --- */

static bool has_body(const struct request *in)
{
    return str_is(in->method, "POST") || str_is(in->method, "PATCH") || str_is(in->method, "PUT");
}

/* [{"loc": ["query", "page"], "msg": "…", "type": "…"}] */
static void write_invalid(struct json_out *w, const struct ctx *ctx, const struct request *in)
{
    bool is_missing = !strcmp(ctx->why, "is required");
    json_open(w, '[');
    json_open(w, '{');
    json_key(w, "loc");
    json_open(w, '[');
    json_str(w, has_body(in) ? S("body") : S("query"));
    if (ctx->field[0])
        json_str(w, str_of(ctx->field));
    json_close(w, ']');
    json_key(w, "msg");
    json_str(w, is_missing ? S("Field required") : str_of(ctx->why));
    json_key(w, "type");
    json_str(w, is_missing ? S("missing") : ctx->field[0] ? S("value_error") : S("json_invalid"));
    json_close(w, '}');
    json_close(w, ']');
}

static str detail_of(const struct ctx *ctx, enum status s, const struct request *in)
{
    if (s == NOT_FOUND && !ctx->why[0])
        return S("Not Found");
    if (s == STORAGE)
        return str_is(in->method, "GET") ? S("Failed to read memories")
                                         : S("Failed to change memories");
    return str_of(ctx->why[0] ? ctx->why : status_name(s));
}

static void word_rag_error(struct ctx *ctx, enum status s, const struct request *in,
                           struct reply *out)
{
    buf_clear(&out->body);
    struct json_out w = json_to(&out->body);
    json_open(&w, '{');
    json_key(&w, "detail");
    if (s == BAD_INPUT) {
        out->code = 422;
        write_invalid(&w, ctx, in);
    } else {
        json_str(&w, detail_of(ctx, s, in));
    }
    json_close(&w, '}');
}

/* There is none, or it is someone else's: the same answer, so that an id tells nothing. */
static enum status missing(struct ctx *ctx)
{
    ctx_clear_failure(ctx);
    return fail(ctx, NOT_FOUND, "Memory not found");
}

/* --- a memory --- */

const struct field rag_shown_fields[] = {
    {STR(struct rag_shown, id), .required = true, .help = "UUID"},
    {AS_STR(struct rag_shown, user, "user_id"), .empty = EMPTY_OUT, .help = "of an export"},
    {STR(struct rag_shown, content), .required = true},
    {STR(struct rag_shown, memory_type), .required = true, .one_of = kind_names},
    {STR(struct rag_shown, priority), .required = true, .one_of = priority_names},
    {TIME(struct rag_shown, created_at), .required = true},
    {TIME(struct rag_shown, last_accessed), .required = true,
     .help = "when it was recalled or read"},
    {INT(struct rag_shown, access_count), .required = true},
    {STR(struct rag_shown, source), .required = true, .empty = EMPTY_NULL,
     .help = "as it was given, or the message it came from"},
    {STRS(struct rag_shown, entities), .required = true, .help = "those of its metadata"},
    {NUM(struct rag_shown, decay_score), .required = true,
     .help = "1 when it was just accessed, half of that after each 30 days"},
    {JSON(struct rag_shown, metadata), .required = true, .help = "an object"},
    {0},
};

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

struct json *rag_object(struct ctx *ctx, str text)
{
    struct json *v;
    if (text.n && json_parse(ctx, text, &v) == OK && v->type == JSON_OBJECT)
        return v;
    ctx_clear_failure(ctx);
    v = NEW(&ctx->arena, struct json);
    *v = (struct json){.type = JSON_OBJECT, .source = S("{}")};
    return v;
}

static int64_t accessed(const struct memory *m)
{
    return m->last_used ? m->last_used : m->created;
}

/* Read, never written back. */
static double decay_of(const struct memory *m, int64_t now)
{
    double days = (double)(now - accessed(m)) / (double)DAY_MS;
    return days > 0 ? round(pow(0.5, days / HALF_LIFE_DAYS) * 10000) / 10000 : 1;
}

struct rag_shown rag_show(struct ctx *ctx, const struct memory *m, int64_t now)
{
    const struct json *metadata = rag_object(ctx, m->metadata);
    str said = json_string(json_get(metadata, "source"));
    return (struct rag_shown){.id = m->id,
                              .content = m->content,
                              .memory_type = str_of(kind_names[kind_of(m)]),
                              .priority = str_of(priority_names[priority_of(m->importance)]),
                              .created_at = m->created,
                              .last_accessed = accessed(m),
                              .access_count = m->uses,
                              .source = said.n ? said : m->source,
                              .entities = names_of(ctx, json_get(metadata, "entities")),
                              .decay_score = decay_of(m, now),
                              .metadata = metadata};
}

/* What is closed or has expired is in no list and no search, and so not here either. */
static enum status find(struct ctx *ctx, struct app *app, const struct request *in,
                        struct memory *out)
{
    enum status s = engine_get(ctx, app->engine, rag_pool(in), in->params[0], out);
    bool is_gone = s == OK && (out->valid_to || (out->expires && out->expires <= clock_ms()));
    return is_gone || s == NOT_FOUND ? missing(ctx) : s;
}

/* --- list --- */

struct list_in {
    int64_t page, page_size;
    str memory_type, priority, search;
};
static const struct field list_in_fields[] = {
    {INT(struct list_in, page), .otherwise = 1, .min = 1, .max = 1e7, .help = "from 1"},
    {INT(struct list_in, page_size), .otherwise = 50, .min = 1, .max = 200},
    {STR(struct list_in, memory_type), .one_of = kind_names, .help = "only of this type"},
    {STR(struct list_in, priority), .one_of = priority_names, .help = "only of this priority"},
    {STR(struct list_in, search), .help = "only with this text, letters of any case; at most 200 "
                                          "characters"},
    {0},
};

struct list_out {
    const struct json *memories;
    int64_t total, page, page_size;
};
static const struct field list_out_fields[] = {
    {JSON(struct list_out, memories), .required = true, .inside = rag_shown_fields,
     .help = "last accessed first"},
    {INT(struct list_out, total), .required = true},
    {INT(struct list_out, page), .required = true},
    {INT(struct list_out, page_size), .required = true},
    {0},
};

static enum status show_all(struct ctx *ctx, const struct memory *v, size_t n, str user,
                            struct rag_shown **out)
{
    int64_t now = clock_ms();
    struct rag_shown *items = NEW_N(&ctx->arena, struct rag_shown, n + 1);
    for (size_t i = 0; i < n; i++) {
        items[i] = rag_show(ctx, &v[i], now);
        items[i].user = user;
    }
    *out = items;
    return OK;
}

static enum status list(struct ctx *ctx, struct app *app, const struct request *in,
                        struct reply *out)
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
    struct rag_shown *items;
    size_t n;
    if (utf8_length(l->search) > SEARCH_MAX)
        return fail_field(ctx, "search", "must have at most %d characters", SEARCH_MAX);
    TRY(engine_list(ctx, app->engine, &f, &v, &n, &shape.total));
    TRY(show_all(ctx, v, n, S(""), &items));
    TRY(json_list(ctx, rag_shown_fields, items, n, sizeof *items, &shape.memories));
    reply_fields(out, list_out_fields, &shape);
    return OK;
}

/* --- statistics --- */

struct stats_out {
    int64_t total_memories, oldest_memory, newest_memory;
    const struct json *memories_by_type, *memories_by_priority;
    double avg_access_count;
};
static const struct field stats_out_fields[] = {
    {INT(struct stats_out, total_memories), .required = true},
    {JSON(struct stats_out, memories_by_type), .required = true, .help = "a number for each type"},
    {JSON(struct stats_out, memories_by_priority), .required = true,
     .help = "a number for each priority"},
    {NUM(struct stats_out, avg_access_count), .required = true},
    {TIME(struct stats_out, oldest_memory), .required = true, .help = "null: there is none"},
    {TIME(struct stats_out, newest_memory), .required = true, .help = "null: there is none"},
    {0},
};

static const struct json *counts(struct ctx *ctx, const char *const *names, const int64_t *n)
{
    struct json *v = NEW(&ctx->arena, struct json);
    struct buf b = buf_make(&ctx->arena, 1024);
    struct json_out w = json_to(&b);
    json_open(&w, '{');
    for (size_t i = 0; names[i]; i++) {
        json_key(&w, names[i]);
        json_int(&w, n[i]);
    }
    json_close(&w, '}');
    *v = (struct json){.type = JSON_OBJECT, .source = buf_str(&b)};
    return v;
}

static enum status stats(struct ctx *ctx, struct app *app, const struct request *in,
                         struct reply *out)
{
    struct memory_filter f = {.pool = rag_pool(in)};
    struct memory_totals t;
    TRY(engine_totals(ctx, app->engine, &f, &t));
    struct stats_out shape = {.total_memories = t.total,
                              .memories_by_type = counts(ctx, kind_names, t.by_kind),
                              .memories_by_priority = counts(ctx, priority_names, t.by_priority),
                              .avg_access_count =
                                  t.total ? round((double)t.uses / (double)t.total * 100) / 100 : 0,
                              .oldest_memory = t.oldest,
                              .newest_memory = t.newest};
    reply_fields(out, stats_out_fields, &shape);
    return OK;
}

/* --- export --- */

static const struct field export_out_fields[] = {
    {.name = "exported_at", .type = FIELD_TIME, .required = true},
    {.name = "user_id", .type = FIELD_STR, .required = true},
    {.name = "total_memories", .type = FIELD_INT, .required = true},
    {.name = "memories",
     .type = FIELD_JSON,
     .required = true,
     .inside = rag_shown_fields,
     .help = "all of them, oldest first"},
    {0},
};

/* memories_<user>_<day>.json, of letters that no file system and no header minds. */
static str file_name(struct ctx *ctx, str user, int64_t now)
{
    struct buf b = buf_make(&ctx->arena, 200);
    char name[9] = "", day[16] = "";
    struct json_out w = json_to(&b);
    for (size_t i = 0; i < user.n && i < 8; i++) {
        char c = user.p[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '-' || c == '_';
        name[i] = is_plain ? c : '_';
    }
    json_time(&w, now); /* "2026-11-20T… */
    snprintf(day, sizeof day, "%.4s%.2s%.2s", b.p + 1, b.p + 6, b.p + 9);
    return str_printf(&ctx->arena, "attachment; filename=\"memories_%s_%s.json\"", name, day);
}

static enum status export_all(struct ctx *ctx, struct app *app, const struct request *in,
                              struct reply *out)
{
    struct memory_filter f = {.pool = rag_pool(in), .oldest_first = true, .limit = SIZE_MAX};
    struct memory *v;
    struct rag_shown *items;
    size_t n;
    int64_t now = clock_ms();
    TRY(engine_list(ctx, app->engine, &f, &v, &n, NULL));
    TRY(show_all(ctx, v, n, f.pool.user, &items));
    struct json_out w = json_to(&out->body);
    json_open(&w, '{');
    json_key(&w, "exported_at");
    json_time(&w, now);
    json_key(&w, "user_id");
    json_str(&w, f.pool.user);
    json_key(&w, "total_memories");
    json_int(&w, (int64_t)n);
    json_key(&w, "memories");
    json_open(&w, '[');
    for (size_t i = 0; i < n; i++)
        fields_write(&w, rag_shown_fields, &items[i]);
    json_close(&w, ']');
    json_close(&w, '}');
    if (out->body.full)
        return fail(ctx, TOO_LARGE, "these are more memories than one answer holds");
    reply_header(out, "Content-Disposition", file_name(ctx, f.pool.user, now));
    return OK;
}

/* --- one memory --- */

/* Reading it counts as access. */
static enum status get(struct ctx *ctx, struct app *app, const struct request *in,
                       struct reply *out)
{
    struct memory m;
    TRY(find(ctx, app, in, &m));
    engine_accessed(ctx, app->engine, rag_pool(in), &m.doc, 1);
    m.uses++;
    m.last_used = clock_ms();
    struct rag_shown shape = rag_show(ctx, &m, m.last_used);
    reply_fields(out, rag_shown_fields, &shape);
    return OK;
}

struct change_in {
    str content, priority;
};
static const struct field change_in_fields[] = {
    {STR(struct change_in, content), .min = 1, .max = RAG_CONTENT_MAX},
    {STR(struct change_in, priority), .one_of = priority_names},
    {0},
};

static enum status change(struct ctx *ctx, struct app *app, const struct request *in,
                          struct reply *out)
{
    const struct change_in *c = in->in;
    struct memory m;
    struct change to = {.pool = rag_pool(in), .id = in->params[0], .to = {.content = c->content}};
    TRY(find(ctx, app, in, &m));
    if (c->content.n)
        to.what |= CHANGE_CONTENT;
    if (c->priority.n) {
        to.what |= CHANGE_IMPORTANCE;
        to.to.importance = rag_importance(c->priority);
    }
    if (!to.what)
        return fail_field(ctx, "content", "say a content, a priority, or both");
    enum status s = engine_change(ctx, app->engine, &to, &m);
    if (s == NOT_FOUND)
        return missing(ctx);
    TRY(s);
    struct rag_shown shape = rag_show(ctx, &m, clock_ms());
    reply_fields(out, rag_shown_fields, &shape);
    return OK;
}

struct gone_out {
    bool deleted;
    str memory_id;
};
static const struct field gone_out_fields[] = {
    {BOOL(struct gone_out, deleted), .required = true},
    {STR(struct gone_out, memory_id), .required = true},
    {0},
};

/* Closed ones, too. That it is a memory's id is asked first: forgetting takes others as well. */
static enum status erase(struct ctx *ctx, struct app *app, const struct request *in,
                         struct reply *out)
{
    struct memory m;
    int64_t erased;
    struct forget what = {.pool = rag_pool(in), .id = in->params[0]};
    enum status s = engine_get(ctx, app->engine, what.pool, what.id, &m);
    if (s == OK)
        s = engine_forget(ctx, app->engine, &what, &erased);
    if (s == NOT_FOUND)
        return missing(ctx);
    TRY(s);
    reply_fields(out, gone_out_fields, &(struct gone_out){true, m.id});
    return OK;
}

/* --- clear --- */

struct clear_in {
    bool confirm;
};
static const struct field clear_in_fields[] = {
    {BOOL(struct clear_in, confirm), .help = "must be true"},
    {0},
};

struct clear_out {
    bool cleared;
    int64_t count;
};
static const struct field clear_out_fields[] = {
    {BOOL(struct clear_out, cleared), .required = true},
    {INT(struct clear_out, count), .required = true, .help = "superseded and expired ones, too"},
    {0},
};

static enum status clear(struct ctx *ctx, struct app *app, const struct request *in,
                         struct reply *out)
{
    const struct clear_in *c = in->in;
    struct forget what = {.pool = rag_pool(in), .memories = true};
    struct clear_out shape = {.cleared = true};
    if (!c->confirm) {
        out->code = 400;
        buf_printf(&out->body, "{\"detail\":\"Must confirm deletion with confirm=true\"}");
        return OK;
    }
    enum status s = engine_forget(ctx, app->engine, &what, &shape.count);
    if (s == NOT_FOUND)
        ctx_clear_failure(ctx);
    else
        TRY(s);
    reply_fields(out, clear_out_fields, &shape);
    return OK;
}

static const struct route routes[] = {
    {"GET", "/api/v1/memory", list, TAKES(list_in), .gives = list_out_fields,
     .help = "a page of your memories, last accessed first"},
    {"POST", "/api/v1/memory", rag_create, .takes = rag_create_in_fields,
     .takes_size = sizeof(struct rag_create_in), .gives = rag_create_out_fields,
     .help = "remember something; what is known already is merged"},
    {"DELETE", "/api/v1/memory", clear, TAKES(clear_in), .gives = clear_out_fields,
     .help = "forget all memories, with confirm=true"},
    {"GET", "/api/v1/memory/stats", stats, .gives = stats_out_fields,
     .help = "how many memories there are, by type and priority"},
    {"GET", "/api/v1/memory/export", export_all, .gives = export_out_fields,
     .help = "all memories as a file"},
    {"POST", "/api/v1/memory/search", rag_search, .takes = rag_search_in_fields,
     .takes_size = sizeof(struct rag_search_in), .gives = rag_search_out_fields,
     .help = "memories that have to do with a text, the most relevant first"},
    {"GET", "/api/v1/memory/{id}", get, .gives = rag_shown_fields,
     .help = "one memory, which counts as access"},
    {"PATCH", "/api/v1/memory/{id}", change, TAKES(change_in), .gives = rag_shown_fields,
     .help = "change content or priority"},
    {"DELETE", "/api/v1/memory/{id}", erase, .gives = gone_out_fields, .help = "forget one memory"},
    {0},
};

const struct surface surface_rag = {"rag", routes, word_rag_error, admit_own};
