/* add.c - a memory that the RAG backend is given: something new, or said once more. */
#include "base/id.h"
#include "base/utf8.h"
#include "ext/dialects/rag/rag.h"

/*
 * Adding looks for the same statement first: the same text ignoring case, then the same thing in
 * other words. A hit is merged (200, merged) instead of kept twice (201, added).
 */

/* Bytes of a source, which becomes a member of the metadata. */
enum { SOURCE_MAX = 500 };

FIELDS(
    rag_create_in, (STR, content, .required = true, .min = 1, .max = RAG_CONTENT_MAX),
    (ENUM, memory_type, .otherwise_str = "fact", .one_of = kind_names),
    (ENUM, priority, .one_of = priority_names, .otherwise = PRIORITY_COUNT,
     .help = "without it by type: fact high; preference, procedure and entity medium; context and "
             "relationship low"),
    (STR, source, .max = SOURCE_MAX, .help = "source of the memory"),
    (JSON, metadata, .help = "an object; its member entities is also shown separately"));

struct create_out {
    str memory_id, status;
    struct rag_shown memory;
};
FIELDS_OF(create_out, rag_create_out, (STR, memory_id), (STR, status, .help = "added, or merged"),
          (OBJECT, memory, struct rag_shown, .inside = rag_shown_fields));

/* Members that only the old metadata has are kept. source is a member of the metadata. */
static str merged_metadata(struct ctx *ctx, str old, const struct rag_create_in *c)
{
    struct json_out w = json_in(&ctx->arena, 2 * METADATA_MAX);
    const struct json *was = rag_object(ctx, old), *is = c->metadata;
    json_open(&w, '{');
    for (const struct json *m = is ? is->first : NULL; m; m = m->next) {
        if (c->source.n && str_is(json_name(m), "source"))
            continue;
        json_member_raw(&w, str_c(&ctx->arena, json_name(m)), m->source);
    }
    if (c->source.n)
        json_member_str(&w, "source", c->source);
    /* What is too long already is refused, and its many members are not compared. */
    for (const struct json *m = w.b->full ? NULL : was->first; m; m = m->next) {
        const char *name = str_c(&ctx->arena, json_name(m));
        if ((is && json_get(is, name)) || (c->source.n && str_is(json_name(m), "source")))
            continue;
        json_member_raw(&w, name, m->source);
    }
    json_close(&w, '}');
    return w.b->n > 2 || w.b->full ? buf_str(w.b) : S("");
}

/* The oldest memory with the same text, ignoring case and surrounding white space. */
static enum status find_text(struct ctx *ctx, struct app *app, struct pool_ref pool, str content,
                             struct memory *out)
{
    enum { LOOKED_AT = 200 };
    struct memory_filter f = {.pool = pool, .contains = content, .limit = LOOKED_AT};
    str folded = utf8_lower(&ctx->arena, content);
    struct memory *v;
    size_t n;
    bool is_there = false;
    TRY(engine_list(ctx, app->engine, &f, &v, &n, NULL));
    for (size_t i = 0; i < n; i++) {
        if ((is_there && v[i].doc > out->doc) ||
            !str_eq(utf8_lower(&ctx->arena, str_trim(v[i].content)), folded))
            continue;
        *out = v[i];
        is_there = true;
    }
    return is_there ? OK : NOT_FOUND;
}

/* First by the same text, then by what says the same in other words. Between the two, requests with
 * one text may have added it several times: only the first of these stays (keep_first). */
static enum status find_same(struct ctx *ctx, struct app *app, struct pool_ref pool, str content,
                             struct memory *out)
{
    const struct memory said = {.content = content};
    enum status s = find_text(ctx, app, pool, content, out);
    if (s == NOT_FOUND && engine_is_said(ctx, app->engine, pool, &said, out)) /* counted there */
        return find_text(ctx, app, pool, out->content, out);
    if (s == OK)
        engine_accessed(ctx, app->engine, pool, &out->doc, 1);
    return s;
}

/* A duplicate takes the new type and metadata. Without a priority the old one is kept. What another
 * request merges meanwhile is merged as well. NOT_FOUND when it is erased meanwhile. */
static enum status merge_memory(struct ctx *ctx, struct app *app, const struct request *in,
                                struct memory *m)
{
    const struct rag_create_in *c = in->in;
    struct change to = {.pool = rag_pool(in), .id = m->id, .what = CHANGE_NOTHING};
    enum status s;
    if (c->priority != PRIORITY_COUNT) {
        to.what |= CHANGE_IMPORTANCE;
        to.to.importance = rag_importance(c->priority);
    }
    if (json_get(in->json, "memory_type")) {
        to.what |= CHANGE_CATEGORY;
        to.to.category = str_of(kind_names[c->memory_type]);
    }
    if (c->metadata || c->source.n)
        to.what |= CHANGE_METADATA;
    do {
        TRY(soft_or(ctx, engine_get(ctx, app->engine, to.pool, to.id, m), NOT_FOUND));
        to.if_updated = m->updated;
        to.to.metadata = merged_metadata(ctx, m->metadata, c);
        s = engine_change(ctx, app->engine, &to, m);
    } while (soft_if(ctx, s, CONFLICT));
    return soft_if(ctx, s, NOT_FOUND) ? NOT_FOUND : s;
}

/* The kinds of the backend are kept as the category; type is the nearest of ours. */
static enum status add_memory(struct ctx *ctx, struct app *app, const struct request *in,
                              str content, struct memory *out)
{
    static const enum priority by_kind[KIND_COUNT] = {
        [KIND_FACT] = PRIORITY_HIGH,     [KIND_PREFERENCE] = PRIORITY_MEDIUM,
        [KIND_CONTEXT] = PRIORITY_LOW,   [KIND_PROCEDURE] = PRIORITY_MEDIUM,
        [KIND_ENTITY] = PRIORITY_MEDIUM, [KIND_RELATIONSHIP] = PRIORITY_LOW,
    };
    const struct rag_create_in *c = in->in;
    enum memory_kind kind = c->memory_type;
    bool is_asked = c->priority != PRIORITY_COUNT;
    *out = (struct memory){.id = id_random(&ctx->arena), /* keep_first finds what says the same */
                           .content = content,
                           .category = str_of(kind_names[kind]),
                           .type = kind == KIND_PROCEDURE ? TYPE_PROCEDURAL
                                   : kind == KIND_CONTEXT ? TYPE_EPISODIC
                                                          : TYPE_FACTUAL,
                           .importance = rag_importance(is_asked ? c->priority : by_kind[kind]),
                           .metadata = merged_metadata(ctx, S(""), c),
                           .origin = ORIGIN_API};
    const struct memory plain = {.content = content};
    double rule = is_asked ? 0 : importance_by_rule(&ctx->arena, &plain);
    /* What may hurt someone weighs more than the highest priority that a type gives. */
    if (rule > rag_importance(PRIORITY_HIGH))
        out->importance = rule;
    return engine_add(ctx, app->engine, rag_pool(in), out);
}

/* A concurrent request may have added the same text: the memory written first is kept, unless it is
 * erased meanwhile. This one may be gone by then. */
static enum status keep_first(struct ctx *ctx, struct app *app, const struct request *in,
                              struct memory *m)
{
    struct memory first;
    enum status s = find_text(ctx, app, rag_pool(in), m->content, &first);
    if (s == NOT_FOUND || (s == OK && first.doc >= m->doc))
        return NOT_FOUND;
    TRY(s);
    engine_accessed(ctx, app->engine, rag_pool(in), &first.doc, 1);
    struct forget mine = {.pool = rag_pool(in), .id = m->id, .keeps_statements = true};
    TRY(merge_memory(ctx, app, in, &first));
    *m = first;
    return soft_or(ctx, engine_forget(ctx, app->engine, &mine, NULL), NOT_FOUND);
}

/* find, add, and look again: two requests with one text at the same moment both find nothing, so
 * the later memory gives way to the one written first. */
HANDLER(rag_create)
{
    const struct rag_create_in *c = in->in;
    struct memory m;
    str content = str_trim(c->content);
    if (!content.n)
        return fail_field(ctx, "content", "must not be blank");
    if (c->metadata && c->metadata->type != JSON_OBJECT)
        return fail_field(ctx, "metadata", "must be an object");
    if (c->metadata && c->metadata->source.n > 2 * METADATA_MAX - 4096) /* else it would be cut */
        return fail_field(ctx, "metadata", "must have at most %d bytes, has %zu", METADATA_MAX,
                          c->metadata->source.n);
    enum status s = find_same(ctx, app, rag_pool(in), content, &m);
    if (s == OK)
        s = merge_memory(ctx, app, in, &m);
    if (s == NOT_FOUND) {
        TRY(add_memory(ctx, app, in, content, &m));
        s = keep_first(ctx, app, in, &m);
    }
    bool is_new = s == NOT_FOUND;
    if (!is_new)
        TRY(s);
    struct create_out shape = {m.id, is_new ? S("added") : S("merged"), rag_show(ctx, &m)};
    out->code = is_new ? 201 : 200;
    return reply_fields(out, rag_create_out_fields, &shape);
}
