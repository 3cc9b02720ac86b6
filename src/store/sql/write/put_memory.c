/* put_memory.c - one memory into its row: new, said again, replaced or superseding another. */
#include "store/sql/write/put_memory.h"

#include "base/clock.h"
#include "base/id.h"
#include "store/sql/db/rows.h"
#include "store/sql/index/index.h"

/*
 * One memory meets at most two others: the one with its id and the true one with its key.
 * Invariant: of the memories of a pool with one key (other than ""), at most one is open (valid_to
 * 0). The rule of the bundle decides: chats and distilling keep history by closing, PUT_REPLACE
 * writes over, PUT_IMPORT goes by times.
 */

static void note_memory(struct put *p, bool is_removal, const struct memory *m,
                        const struct index_text *words)
{
    index_note_memory(&p->ctx->arena, p->changes, p->pool, is_removal, m, words);
}

/* What was said in a chat, and not by a program. */
static bool is_stated(const struct memory *m)
{
    return m->origin == ORIGIN_USER || m->origin == ORIGIN_ASSISTANT ||
           m->origin == ORIGIN_DISTILLED;
}

/* A memory is as old as when it was said last. Since when it is true stays. */
static enum status move_created(struct put *p, const struct memory *old, int64_t said)
{
    struct memory now = *old;
    now.created = said;
    if (old->created / (DAY_MS / 96) != said / (DAY_MS / 96)) { /* the index holds the local day */
        note_memory(p, true, old, NULL);
        note_memory(p, false, &now, NULL);
    }
    return SQL_LATER(p->ctx, p->db, SQL_MEMORY_RESTATE, p->pool, memory_no(old->doc), said);
}

/* Counts the memory as said once more. The later expiry wins. m gets the id and document of the
 * memory that stays, for the caller to report. */
static enum status say_again(struct put *p, const struct memory *old, struct memory *m)
{
    m->id = old->id;
    m->doc = old->doc;
    if (is_stated(m) && !old->valid_to && m->created > old->created)
        TRY(move_created(p, old, m->created));
    return SQL_LATER(p->ctx, p->db, SQL_MEMORY_AGAIN, p->pool, memory_no(old->doc),
                     m->last_used ? m->last_used : p->now, m->expires);
}

enum status memory_close(struct put *p, const struct memory *old, const struct memory *by)
{
    assert(!old->valid_to);
    TRY(SQL_LATER(p->ctx, p->db, SQL_MEMORY_CLOSE, p->pool, memory_no(old->doc),
                  by->valid_from ? by->valid_from
                  : by->created  ? by->created
                                 : p->now,
                  by->id, p->now));
    note_memory(p, true, old, NULL);
    p->gain.memories--;
    p->gain.closed++;
    return OK;
}

enum status memory_check_key(struct ctx *ctx, struct db *db, int64_t pool, const struct memory *m)
{
    struct memory other;
    TRY(memory_find(ctx, db, SQL_MEMORY_BY_KEY, pool, m->key, &other));
    if (!other.id.n || other.doc == m->doc)
        return OK;
    return fail(ctx, CONFLICT, "the memory " S_FMT " has this key", S_ARG(other.id));
}

static enum status add_memory(struct put *p, struct memory *m, struct index_text words)
{
    TRY(SQL_DO(p->ctx, p->db, SQL_MEMORY_ADD, p->pool, m->id, m->session, m->layer, m->type,
               m->category, m->key, m->content, m->metadata, tags_text(&p->ctx->arena, m->tags),
               m->importance, m->salience, m->uses, m->last_used, m->origin, m->source, m->created,
               m->updated, m->expires, m->valid_from, m->valid_to, m->superseded_by));
    m->doc = DOC_MEMORY | db_last_row(p->db);
    p->added++;
    p->gain.added[m->type < TYPE_COUNT ? m->type : TYPE_FACTUAL]++;
    if (m->valid_to) {
        p->gain.closed++;
        return OK;
    }
    note_memory(p, false, m, &words);
    p->gain.memories++;
    return OK;
}

/* Beside the true memory with its key, which it closes; by_time: unless that one is later. */
static enum status add_beside(struct put *p, const struct memory *old, struct memory *m,
                              struct index_text words, bool by_time)
{
    if (by_time && old->created > m->created) {
        m->valid_to = old->created;
        m->superseded_by = old->id;
    } else {
        TRY(memory_close(p, old, m));
    }
    return add_memory(p, m, words);
}

/* The members of both objects; the new value where both have one. Old metadata that is not JSON is
 * replaced, not merged. */
static enum status merge_metadata(struct put *p, str old, str new, str *out)
{
    struct json *was, *is;
    *out = new.n ? new : old;
    if (!old.n || !new.n || !soft(p->ctx, json_parse(p->ctx, old, &was)))
        return OK;
    TRY(json_parse(p->ctx, new, &is));
    struct json_out w = json_in(&p->ctx->arena, old.n + new.n + 2);
    json_open(&w, '{');
    for (const struct json *m = was->first; m; m = m->next) {
        const char *name = str_c(&p->ctx->arena, json_name(m));
        if (!json_get(is, name))
            json_member_raw(&w, name, m->source);
    }
    for (const struct json *m = is->first; m; m = m->next)
        json_member_raw(&w, str_c(&p->ctx->arena, json_name(m)), m->source);
    json_close(&w, '}');
    if (!w.b->full && (w.b->n <= METADATA_MAX || w.b->n <= old.n))
        *out = buf_str(w.b);
    else if (p->keeps_metadata)
        *out = old; /* a chat must not fail for it */
    else
        return fail_field(p->ctx, "metadata", "would have %zu bytes with what it has; at most %d",
                          w.b->n, METADATA_MAX);
    return OK;
}

static enum status replace_memory(struct put *p, const struct memory *old, struct memory *m)
{
    str metadata;
    TRY(merge_metadata(p, old->metadata, m->metadata, &metadata));
    /* A memory that was distilled again gets the new tags and weight, one that is imported the new
     * tags, category and importance; else these stay. */
    const struct memory *weighs = m->origin == ORIGIN_DISTILLED ? m : old;
    const struct memory *has = p->rule == PUT_IMPORT ? m : old;
    int64_t last_used = weighs->last_used > old->last_used ? weighs->last_used : old->last_used;
    TRY(SQL_LATER(p->ctx, p->db, SQL_MEMORY_REPLACE, p->pool, memory_no(old->doc), m->content,
                  m->type, m->session, m->expires, metadata, m->updated, m->source,
                  tags_text(&p->ctx->arena, has == m ? m->tags : weighs->tags), weighs->salience,
                  last_used, m->key, has->category, has->importance));
    bool is_later = p->rule == PUT_DISTILLED && m->created > old->created;
    if (is_later)
        TRY(SQL_LATER(p->ctx, p->db, SQL_MEMORY_RESTATE, p->pool, memory_no(old->doc), m->created));
    note_memory(p, true, old, NULL);
    /* What is indexed is what the row holds now: its layer stays, and its day unless the
     * conversation went on. */
    struct memory now = *m;
    now.created = is_later ? m->created : old->created;
    now.layer = old->layer;
    now.metadata = metadata;
    m->id = old->id;
    now.doc = m->doc = old->doc;
    m->created = now.created;
    m->metadata = metadata;
    note_memory(p, false, &now, NULL);
    p->replaced++;
    return OK;
}

/* The id exists: the later update wins, and a closed memory stays closed. A key that is
 * another's is left out. */
static enum status import_again(struct put *p, const struct memory *old, struct memory *m)
{
    const struct memory by = {.id = m->superseded_by, .valid_from = m->valid_to};
    m->doc = old->doc;
    if (old->valid_to || m->updated <= old->updated)
        return OK;
    enum status s = memory_check_key(p->ctx, p->db, p->pool, m);
    if (soft_if(p->ctx, s, CONFLICT) || !m->key.n)
        m->key = old->key;
    else
        TRY(s);
    m->layer = old->layer;
    m->valid_to = 0;
    TRY(replace_memory(p, old, m));
    return by.valid_from ? memory_close(p, m, &by) : OK;
}

/* Of two memories with one key the later one is true, so the order of an import does not matter. */
static enum status import_memory(struct put *p, struct memory *m, struct index_text words)
{
    struct memory old;
    TRY(memory_find(p->ctx, p->db, SQL_MEMORY_BY_ID, p->pool, m->id, &old));
    if (old.id.n)
        return import_again(p, &old, m);
    if (m->valid_to)
        return add_memory(p, m, words); /* history closes nothing */
    TRY(memory_find(p->ctx, p->db, SQL_MEMORY_BY_KEY, p->pool, m->key, &old));
    return old.id.n ? add_beside(p, &old, m, words, true) : add_memory(p, m, words);
}

static bool replaces_old(const struct put *p, const struct memory *m)
{
    return p->rule == PUT_REPLACE || (p->rule == PUT_DISTILLED && m->layer == LAYER_EPISODE);
}

/* The same id and key with other content; of a distilled fact other metadata is enough. */
static bool is_replaced(const struct put *p, const struct memory *old, const struct memory *m)
{
    bool is_other = !str_eq(old->content, m->content);
    bool is_fact = p->rule == PUT_DISTILLED && m->layer != LAYER_EPISODE;
    if (is_fact)
        is_other |= m->metadata.n && !str_eq(old->metadata, m->metadata);
    return (is_fact || replaces_old(p, m)) && str_eq(old->key, m->key) && is_other;
}

/* By id first: a retry has the same id. An id made of the content can come back after the memory
 * was closed ("tea", "coffee", "tea"): from another message it is new, from the same message a
 * retry. An id made of the key comes with other content. */
enum status memory_put(struct put *p, struct memory *m, struct index_text words)
{
    struct memory old;
    assert(p->pool && p->changes && db_in_transaction(p->db));
    m->created = m->created ? m->created : p->now;
    m->updated = m->updated ? m->updated : m->created;
    m->space = p->space;
    if (p->rule == PUT_IMPORT && m->id.n)
        return import_memory(p, m, words);
    TRY(memory_find(p->ctx, p->db, SQL_MEMORY_BY_ID, p->pool, m->id, &old));
    bool is_there = old.id.n > 0, other = is_there && is_replaced(p, &old, m);
    if (other && !old.valid_to)
        return replace_memory(p, &old, m);
    if (is_there && !other && (!old.valid_to || !m->source.n || str_eq(old.source, m->source)))
        return say_again(p, &old, m);
    if (p->rule == PUT_ONCE)
        TRY(SQL_FIRST(p->ctx, p->db, read_memory, &old, SQL_MEMORY_SAID, p->pool, m->content,
                      m->session, m->layer, m->created, p->now));
    if (p->rule == PUT_ONCE && old.id.n && !memory_is_unconfirmed(&old)) {
        m->expires = m->expires ? m->expires : old.expires; /* not named, it stays */
        return say_again(p, &old, m);
    }
    if (is_there || !m->id.n)
        m->id = id_random(&p->ctx->arena);
    TRY(memory_find(p->ctx, p->db, SQL_MEMORY_BY_KEY, p->pool, m->key, &old));
    if (!old.id.n || m->valid_to)
        return add_memory(p, m, words);
    if (p->rule == PUT_NEW)
        return fail(p->ctx, CONFLICT, "the memory " S_FMT " has this key", S_ARG(old.id));
    if (replaces_old(p, m))
        return replace_memory(p, &old, m);
    if (str_eq(old.content, m->content))
        return say_again(p, &old, m);
    /* As old as what was said: it may be kept after a newer one, and closes none. */
    bool is_of_message = p->rule == PUT_DISTILLED || m->source.n > 0;
    return add_beside(p, &old, m, words, is_of_message);
}
