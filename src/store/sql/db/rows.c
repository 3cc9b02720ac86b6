/* rows.c - rows into structs, in the order of the columns in sql.def. */
#include "store/sql/db/rows.h"

#include "core/index.h"

/*
 * One function for each kind of row. The columns are listed once in sql.def (MESSAGE_COLUMNS,
 * MEMORY_COLUMNS), so that all statements that read a kind can share its reader. All texts are
 * copied into the query's ctx.
 */

/* Enums are stored as their numbers: a new name goes to the end of its enum, and none is ever
 * removed. */
static void read_said(struct query *q, struct message *out, size_t each)
{
    *out = (struct message){0};
    out->doc = sql_get_int(q);
    out->id = sql_get_text(q);
    out->session = sql_get_text(q);
    out->role = sql_get_text(q);
    out->speaker = sql_get_text(q);
    out->text = sql_get_text_ends(q, each);
    out->ref = sql_get_text(q);
    out->origin = (enum origin)sql_get_int(q);
    out->created = sql_get_int(q);
    out->chain = (uint64_t)sql_get_int(q);
    out->tail = (uint64_t)sql_get_int(q);
    out->is_echo = sql_get_int(q) != 0;
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
    if (!text.n || json_parse(q->ctx, text, &array) != OK)
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
    struct buf b = buf_make(a, most);
    struct json_out w = json_to(&b);
    json_open(&w, '[');
    for (size_t i = 0; i < tags.n; i++)
        json_str(&w, tags.v[i]);
    json_close(&w, ']');
    assert(!b.full);
    return buf_str(&b);
}

void read_memory(struct query *q, struct memory *out)
{
    *out = (struct memory){0};
    out->doc = DOC_MEMORY | sql_get_int(q);
    out->id = sql_get_text(q);
    out->session = sql_get_text(q);
    out->layer = (enum layer)sql_get_int(q);
    out->type = (enum memory_type)sql_get_int(q);
    out->category = sql_get_text(q);
    out->key = sql_get_text(q);
    out->content = sql_get_text(q);
    out->metadata = sql_get_text(q);
    out->tags = read_tags(q);
    out->importance = sql_get_real(q);
    out->salience = sql_get_real(q);
    out->uses = sql_get_int(q);
    out->last_used = sql_get_int(q);
    out->origin = (enum origin)sql_get_int(q);
    out->source = sql_get_text(q);
    out->created = sql_get_int(q);
    out->updated = sql_get_int(q);
    out->expires = sql_get_int(q);
    out->valid_from = sql_get_int(q);
    out->valid_to = sql_get_int(q);
    out->superseded_by = sql_get_text(q);
    out->space = sql_get_text(q);
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
