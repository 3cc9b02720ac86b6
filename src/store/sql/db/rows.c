/* rows.c - rows into structs, in the order of the columns in sql_parts.h. */
#include "store/sql/db/rows.h"

#include "core/index.h"

/* Enums are stored as their numbers: a new name goes to the end of its enum, and none is ever
 * removed. */
static void read_said(struct query *q, struct message *out, size_t each)
{
    *out = (struct message){0};
    SQL_GET(q, out->doc, out->id, out->session, out->role, out->speaker);
    out->text = sql_get_text_ends(q, each);
    SQL_GET(q, out->ref, out->origin, out->created, out->chain, out->tail, out->is_echo);
    out->says = sql_get_text_ends(q, each);
}

void read_message(struct query *q, struct message *out)
{
    read_said(q, out, SIZE_MAX / 2);
}

void read_message_ends(struct query *q, struct message *out)
{
    read_said(q, out, LONG_TEXT_END);
}

/* A JSON array, as tags_text writes it. Damaged tags are left out: the memory matters more. */
static struct strs read_tags(struct query *q)
{
    struct strs out = {0};
    struct json *array;
    str text = sql_get_text(q);
    if (!text.n || !soft(q->ctx, json_parse(q->ctx, text, &array)))
        return out;
    out.v = NEW_N(&q->ctx->arena, str, array->n);
    for (const struct json *tag = array->first; tag; tag = tag->next)
        out.v[out.n++] = json_string(tag);
    return out;
}

/* "" when there are none, which most memories have. */
str tags_text(struct arena *a, struct strs tags)
{
    if (!tags.n)
        return S("");
    size_t most = 2;
    for (size_t i = 0; i < tags.n; i++)
        most += 6 * tags.v[i].n + 3; /* each byte may be escaped */
    struct json_out w = json_in(a, most);
    json_open(&w, '[');
    for (size_t i = 0; i < tags.n; i++)
        json_str(&w, tags.v[i]);
    json_close(&w, ']');
    assert(!w.b->full);
    return buf_str(w.b);
}

void read_memory(struct query *q, struct memory *out)
{
    *out = (struct memory){0};
    out->doc = DOC_MEMORY | sql_get_int(q);
    SQL_GET(q, out->id, out->session, out->layer, out->type, out->category, out->key, out->content,
            out->metadata);
    out->tags = read_tags(q);
    SQL_GET(q, out->importance, out->salience, out->uses, out->last_used, out->origin, out->source,
            out->created, out->updated, out->expires, out->valid_from, out->valid_to,
            out->superseded_by, out->space);
}

/* No memory has the id "", but most have the key "". */
enum status memory_find(struct ctx *ctx, struct db *db, enum sql which, int64_t pool, str name,
                        struct memory *out)
{
    *out = (struct memory){0};
    if (!name.n)
        return OK;
    return SQL_FIRST(ctx, db, read_memory, out, which, pool, name);
}
