/* put.c - one bundle into rows: its pool, session, messages, memories and receipt. */
#include "base/clock.h"
#include "base/id.h"
#include "store/sqlite/sqlite_store.h"

struct put {
    struct ctx *ctx;
    struct db *db;
    const struct bundle *bundle;
    struct index_changes *changes;
    int64_t pool, now;
    int64_t session, position, oldest, newest;    /* the session's number, its next position */
    int64_t sessions, messages, memories, closed; /* what the pool gains */
    int64_t signals;
    bool is_untitled; /* the session, when it was there */
    size_t added, replaced;
};

struct bundle_words bundle_words_of(struct arena *a, const struct bundle *b)
{
    struct bundle_words out = {NEW_N(a, struct index_text, b->n_messages),
                               NEW_N(a, struct index_text, b->n_memories)};
    for (size_t i = 0; i < b->n_messages; i++)
        out.messages[i] = index_of_message(a, &b->messages[i]);
    for (size_t i = 0; i < b->n_memories; i++)
        out.memories[i] = index_of_memory(a, &b->memories[i]);
    return out;
}

static void note_memory(struct put *p, bool is_removal, const struct memory *m,
                        struct index_text words)
{
    index_note_memory(&p->ctx->arena, p->changes, p->pool, is_removal, m, words);
}

enum status pool_make(struct ctx *ctx, struct db *db, struct pool_ref pool, int64_t now,
                      int64_t *no)
{
    struct pool_row row;
    TRY(pool_find(ctx, db, pool, &row));
    *no = row.no;
    if (row.no)
        return OK;
    SQL_RUN(q, ctx, db, SQL_POOL_ADD);
    sql_text(&q, pool.user);
    sql_text(&q, pool.space);
    sql_int(&q, now);
    TRY(sql_do(&q));
    *no = sqlite3_last_insert_rowid(db->handle);
    return OK;
}

static enum status add_session(struct put *p)
{
    struct session session = p->bundle->session;
    session.created = session.created ? session.created : p->oldest;
    session.updated = p->newest;
    p->sessions = 1;
    return session_add(p->ctx, p->db, p->pool, &session, &p->session);
}

static enum status find_session(struct put *p)
{
    p->oldest = p->newest = p->now;
    for (size_t i = 0; i < p->bundle->n_messages; i++) {
        int64_t created = p->bundle->messages[i].created;
        p->newest = i && created <= p->newest ? p->newest : created;
        p->oldest = i && created >= p->oldest ? p->oldest : created;
    }
    SQL_RUN(q, p->ctx, p->db, SQL_SESSION_FIND);
    sql_int(&q, p->pool);
    sql_text(&q, p->bundle->session.id);
    if (sql_row(&q)) {
        p->session = sql_get_int(&q);
        p->position = sql_get_int(&q);
        p->position += sql_get_int(&q);
        p->is_untitled = sql_get_int(&q) != 0;
    }
    TRY(sql_end(&q));
    if (p->session)
        return OK;
    return p->bundle->goes_on ? NOT_FOUND : add_session(p);
}

/* --- a session in place of another --- */

/* Whether the session holds the bundle's messages, and nothing else. */
static enum status is_there(struct put *p, int64_t session, bool *out)
{
    size_t n = 0;
    struct message m;
    *out = true;
    SQL_RUN(q, p->ctx, p->db, SQL_MESSAGE_RANGE);
    sql_int(&q, p->pool);
    sql_int(&q, doc_of_message(session, 0));
    sql_int(&q, doc_of_message(session + 1, 0) - 1);
    sql_int(&q, (int64_t)p->bundle->n_messages + 1);
    while (*out && sql_row(&q)) {
        read_message(&q, &m);
        *out = n < p->bundle->n_messages && str_eq(m.id, p->bundle->messages[n].id);
        n++;
    }
    *out &= n == p->bundle->n_messages;
    return sql_end(&q);
}

static enum status forget_session(struct put *p)
{
    int64_t erased;
    struct forget what = {.pool = p->bundle->pool, .session = p->bundle->session.id};
    enum status s = erase(p->ctx, p->db, &what, &erased);
    if (s == NOT_FOUND)
        ctx_clear_failure(p->ctx);
    return s == NOT_FOUND ? OK : s;
}

/* What is being distilled for someone else is not distilled twice. */
static enum status replace_session(struct put *p, bool *in_work, bool *is_same)
{
    struct session_ref session = {.pool = p->pool};
    *in_work = *is_same = false;
    TRY(session_find(p->ctx, p->db, p->pool, p->bundle->session.id, &session.no));
    if (session.no)
        TRY(session_is_claimed(p->ctx, p->db, session, in_work));
    if (*in_work && p->bundle->distil_at)
        TRY(is_there(p, session.no, is_same));
    return *is_same ? OK : forget_session(p);
}

/* --- messages --- */

/* The user's words wait to be distilled, unless nothing in them is new. */
static enum status signal_of(struct put *p, const struct message *m)
{
    if (!str_is(m->role, "user") || !str_trim(m->is_echo ? m->says : m->text).n)
        return OK;
    p->signals++;
    return signal_add(p->ctx, p->db, p->pool, m->doc, p->now);
}

static enum status put_message(struct put *p, struct message *m, struct index_text words)
{
    doc_id there = 0;
    if (!m->id.n)
        m->id = id_random(&p->ctx->arena);
    TRY(message_find(p->ctx, p->db, p->pool, m->id, &there));
    m->doc = there;
    if (there)
        return OK;
    if (p->position >= (int64_t)1 << DOC_TURN_BITS)
        return fail(p->ctx, TOO_LARGE, "a session holds at most %d messages", 1 << DOC_TURN_BITS);
    m->doc = doc_of_message(p->session, p->position);
    SQL_RUN(q, p->ctx, p->db, SQL_MESSAGE_ADD);
    sql_int(&q, m->doc);
    sql_int(&q, p->pool);
    sql_text(&q, m->id);
    sql_text(&q, m->role);
    sql_text(&q, m->speaker);
    sql_text(&q, m->text);
    sql_text(&q, m->ref);
    sql_int(&q, m->origin);
    sql_int(&q, m->created);
    sql_int(&q, (int64_t)m->chain);
    sql_int(&q, (int64_t)m->tail);
    sql_int(&q, m->is_echo);
    sql_text(&q, m->says);
    TRY(sql_do(&q));
    index_note_message(&p->ctx->arena, p->changes, p->pool, false, m, words);
    p->position++;
    p->messages++;
    return p->bundle->distil_at ? signal_of(p, m) : OK;
}

static enum status grow_session(struct put *p)
{
    SQL_RUN(q, p->ctx, p->db, SQL_SESSION_GROW);
    sql_int(&q, p->pool);
    sql_int(&q, p->session);
    sql_int(&q, p->messages);
    sql_int(&q, p->newest);
    sql_text(&q, p->bundle->session.title);
    TRY(sql_do(&q));
    str title = p->is_untitled ? p->bundle->session.title : S("");
    return title.n ? title_put(p->ctx, p->db, p->pool, p->session, title) : OK;
}

/* --- memories --- */

static enum status one_memory(struct query *q, bool *is_there, struct memory *out)
{
    *is_there = sql_row(q);
    if (*is_there)
        read_memory(q, out);
    return sql_end(q);
}

static enum status find_memory(struct put *p, enum sql which, str name, bool *is_there,
                               struct memory *out)
{
    *is_there = false;
    if (!name.n)
        return OK;
    SQL_RUN(q, p->ctx, p->db, which);
    sql_int(&q, p->pool);
    sql_text(&q, name);
    return one_memory(&q, is_there, out);
}

static int64_t number_of(doc_id doc)
{
    return doc & ~DOC_MEMORY;
}

/* What was said before is said once more. The longer life wins. */
static enum status say_again(struct put *p, const struct memory *old, struct memory *m)
{
    SQL_RUN(q, p->ctx, p->db, SQL_MEMORY_AGAIN);
    sql_int(&q, p->pool);
    sql_int(&q, number_of(old->doc));
    sql_int(&q, m->last_used ? m->last_used : p->now);
    sql_int(&q, m->expires);
    m->id = old->id;
    m->doc = old->doc;
    return sql_do(&q);
}

static enum status close_memory(struct put *p, const struct memory *old, const struct memory *by)
{
    SQL_RUN(q, p->ctx, p->db, SQL_MEMORY_CLOSE);
    sql_int(&q, p->pool);
    sql_int(&q, number_of(old->doc));
    sql_int(&q, by->valid_from ? by->valid_from : by->created ? by->created : p->now);
    sql_text(&q, by->id);
    sql_int(&q, p->now);
    TRY(sql_do(&q));
    note_memory(p, true, old, index_of_memory(&p->ctx->arena, old));
    p->memories--;
    p->closed++;
    return OK;
}

static enum status add_memory(struct put *p, struct memory *m, struct index_text words)
{
    SQL_RUN(q, p->ctx, p->db, SQL_MEMORY_ADD);
    sql_int(&q, p->pool);
    sql_text(&q, m->id);
    sql_text(&q, m->session);
    sql_int(&q, m->layer);
    sql_int(&q, m->type);
    sql_text(&q, m->category);
    sql_text(&q, m->key);
    sql_text(&q, m->content);
    sql_text(&q, m->metadata);
    sql_text(&q, tags_text(&p->ctx->arena, m->tags));
    sql_real(&q, m->importance);
    sql_real(&q, m->salience);
    sql_int(&q, m->uses);
    sql_int(&q, m->last_used);
    sql_int(&q, m->origin);
    sql_text(&q, m->source);
    sql_int(&q, m->created);
    sql_int(&q, m->updated);
    sql_int(&q, m->expires);
    sql_int(&q, m->valid_from);
    sql_int(&q, m->valid_to);
    sql_text(&q, m->superseded_by);
    TRY(sql_do(&q));
    m->doc = DOC_MEMORY | sqlite3_last_insert_rowid(p->db->handle);
    p->added++;
    if (m->valid_to) {
        p->closed++;
        return OK;
    }
    note_memory(p, false, m, words);
    p->memories++;
    return OK;
}

/* The members of both objects; the newer one's value where both have one. */
static enum status merge_metadata(struct put *p, str old, str new, str *out)
{
    struct json *was, *is;
    *out = new.n ? new : old;
    if (!old.n || !new.n || json_parse(p->ctx, old, &was) != OK)
        return OK;
    TRY(json_parse(p->ctx, new, &is));
    struct buf b = buf_make(&p->ctx->arena, old.n + new.n + 2);
    struct json_out w = json_to(&b);
    json_open(&w, '{');
    for (const struct json *m = was->first; m; m = m->next) {
        const char *name = str_c(&p->ctx->arena, m->key);
        if (!json_get(is, name)) {
            json_key(&w, name);
            json_raw(&w, m->source);
        }
    }
    for (const struct json *m = is->first; m; m = m->next) {
        json_key(&w, str_c(&p->ctx->arena, m->key));
        json_raw(&w, m->source);
    }
    json_close(&w, '}');
    if (!b.full && (b.n <= METADATA_MAX || b.n <= old.n))
        *out = buf_str(&b);
    else if (p->bundle->n_messages)
        *out = old; /* no turn is lost for it */
    else
        return fail_field(p->ctx, "metadata", "would have %zu bytes with what it has; at most %d",
                          b.n, METADATA_MAX);
    return OK;
}

static enum status replace_memory(struct put *p, const struct memory *old, struct memory *m,
                                  struct index_text words)
{
    str metadata;
    TRY(merge_metadata(p, old->metadata, m->metadata, &metadata));
    SQL_RUN(q, p->ctx, p->db, SQL_MEMORY_REPLACE);
    sql_int(&q, p->pool);
    sql_int(&q, number_of(old->doc));
    sql_text(&q, m->content);
    sql_int(&q, m->type);
    sql_text(&q, m->session);
    sql_int(&q, m->expires);
    sql_text(&q, metadata);
    sql_int(&q, m->updated);
    sql_text(&q, m->source);
    /* What was distilled again weighs what it weighs now. */
    bool anew = m->origin == ORIGIN_DISTILLED;
    sql_text(&q, tags_text(&p->ctx->arena, anew ? m->tags : old->tags));
    sql_real(&q, anew ? m->salience : old->salience);
    sql_int(&q, anew && m->last_used > old->last_used ? m->last_used : old->last_used);
    TRY(sql_do(&q));
    note_memory(p, true, old, index_of_memory(&p->ctx->arena, old));
    /* The label holds the day it was made, which stays. */
    struct memory now = *m;
    now.created = old->created;
    if (now.created != m->created)
        words = index_of_memory(&p->ctx->arena, &now);
    m->id = old->id;
    m->doc = old->doc;
    m->created = old->created;
    m->metadata = metadata;
    note_memory(p, false, m, words);
    p->replaced++;
    return OK;
}

/* What is there already, by its id. */
static enum status import_again(struct put *p, const struct memory *old, struct memory *m)
{
    m->doc = old->doc;
    if (old->valid_to || m->updated <= old->updated)
        return OK;
    m->key = old->key;
    return replace_memory(p, old, m, index_of_memory(&p->ctx->arena, m));
}

/* Its time decides which of two with one key is true, so the order of an import does not matter. */
static enum status import_memory(struct put *p, struct memory *m, struct index_text words)
{
    struct memory old;
    bool is_there;
    TRY(find_memory(p, SQL_MEMORY_BY_ID, m->id, &is_there, &old));
    if (is_there)
        return import_again(p, &old, m);
    TRY(find_memory(p, SQL_MEMORY_BY_KEY, m->key, &is_there, &old));
    if (is_there && old.created > m->created) {
        m->valid_to = old.created;
        m->superseded_by = old.id;
    } else if (is_there) {
        TRY(close_memory(p, &old, m));
    }
    return add_memory(p, m, words);
}

static bool replaces(const struct put *p, const struct memory *m)
{
    enum put_rule rule = p->bundle->rule;
    return rule == PUT_REPLACE || (rule == PUT_DISTILLED && m->layer == LAYER_EPISODE);
}

/* The same thing by id and key, with other content. */
static bool is_replaced(const struct put *p, const struct memory *old, const struct memory *m)
{
    return replaces(p, m) && str_eq(old->key, m->key) && !str_eq(old->content, m->content);
}

/*
 * By id first: a retry is the same id. An id that follows from content can come back after the
 * memory was closed ("tea", "coffee", "tea"): from another message it is a new one, from the same
 * message a retry. An id that follows from a key comes with other content.
 */
static enum status put_memory(struct put *p, struct memory *m, struct index_text words)
{
    struct memory old;
    bool is_there;
    m->created = m->created ? m->created : p->now;
    m->updated = m->updated ? m->updated : m->created;
    m->space = p->bundle->pool.space;
    if (p->bundle->rule == PUT_IMPORT && m->id.n)
        return import_memory(p, m, words);
    TRY(find_memory(p, SQL_MEMORY_BY_ID, m->id, &is_there, &old));
    bool other = is_there && is_replaced(p, &old, m);
    if (other && !old.valid_to)
        return replace_memory(p, &old, m, words);
    if (is_there && !other && (!old.valid_to || !m->source.n || str_eq(old.source, m->source)))
        return say_again(p, &old, m);
    if (is_there || !m->id.n)
        m->id = id_random(&p->ctx->arena);
    TRY(find_memory(p, SQL_MEMORY_BY_KEY, m->key, &is_there, &old));
    if (!is_there || m->valid_to)
        return add_memory(p, m, words);
    if (replaces(p, m))
        return replace_memory(p, &old, m, words);
    if (str_eq(old.content, m->content))
        return say_again(p, &old, m);
    if (p->bundle->rule == PUT_DISTILLED && old.created > m->created) {
        m->valid_to = old.created;
        m->superseded_by = old.id;
        return add_memory(p, m, words);
    }
    TRY(close_memory(p, &old, m));
    return add_memory(p, m, words);
}

/* --- the bundle --- */

static enum status count_pool(struct put *p)
{
    if (!p->sessions && !p->messages && !p->memories && !p->closed)
        return OK;
    SQL_RUN(q, p->ctx, p->db, SQL_POOL_COUNT);
    sql_int(&q, p->pool);
    sql_int(&q, p->sessions);
    sql_int(&q, p->messages);
    sql_int(&q, p->memories);
    sql_int(&q, p->closed);
    return sql_do(&q);
}

enum status bundle_put(struct ctx *ctx, struct db *db, struct bundle *b,
                       const struct bundle_words *words, struct index_changes *changes)
{
    int64_t erased = 0;
    struct put p = {.ctx = ctx, .db = db, .bundle = b, .changes = changes, .now = clock_ms()};
    bool in_work = false, is_same = false;
    TRY(pool_make(ctx, db, p.bundle->pool, p.now, &p.pool));
    if (b->replaces)
        TRY(replace_session(&p, &in_work, &is_same));
    b->in_work = in_work;
    if (is_same)
        return OK;
    if (b->session.id.n)
        TRY(find_session(&p));
    for (size_t i = 0; i < b->n_messages; i++)
        TRY(put_message(&p, &b->messages[i], words->messages[i]));
    if (p.messages || (p.session && b->session.title.n))
        TRY(grow_session(&p));
    struct session_ref session = {p.pool, p.session};
    if (p.signals)
        TRY(session_waits(ctx, db, session, b->distil_at, p.now));
    if (p.signals && b->claim_ms && !in_work)
        TRY(session_claim(ctx, db, session, p.now + b->claim_ms));
    if (b->n_distilled)
        TRY(signals_distilled(ctx, db, session, b->distilled, b->n_distilled));
    if (b->n_erase)
        TRY(erase_each(ctx, db, p.pool, b->erase, b->n_erase, &erased));
    for (size_t i = 0; i < b->n_memories; i++)
        TRY(put_memory(&p, &b->memories[i], words->memories[i]));
    if (b->work)
        TRY(work_add(ctx, db, b->work));
    if (b->receipt)
        TRY(receipt_put(ctx, db, p.pool, b->receipt));
    b->added = p.added;
    b->replaced = p.replaced;
    return count_pool(&p);
}

/* --- many into one --- */

static enum status close_for(struct put *p, str id, const struct memory *summary)
{
    struct memory old;
    bool is_there;
    TRY(find_memory(p, SQL_MEMORY_BY_ID, id, &is_there, &old));
    if (!is_there || old.valid_to)
        return fail(p->ctx, CONFLICT, "the memory '" S_FMT "' is %s", S_ARG(id),
                    is_there ? "closed already" : "gone");
    return close_memory(p, &old, summary);
}

enum status memories_condense(struct ctx *ctx, struct db *db, const void *what)
{
    const struct condense *c = what;
    struct memory *m = c->summary, other;
    struct index_changes changes = {0};
    bool is_there;
    struct bundle b = {.pool = c->pool};
    struct put p = {.ctx = ctx, .db = db, .bundle = &b, .changes = &changes, .now = clock_ms()};
    TRY(pool_make(ctx, db, p.bundle->pool, p.now, &p.pool));
    m->id = id_random(&ctx->arena);
    m->layer = LAYER_SUMMARY;
    m->type = TYPE_SEMANTIC;
    m->valid_to = 0;
    m->created = m->created ? m->created : p.now;
    for (size_t i = 0; i < c->n; i++)
        TRY(close_for(&p, c->ids[i], m));
    TRY(find_memory(&p, SQL_MEMORY_BY_KEY, m->key, &is_there, &other));
    if (is_there)
        return fail(ctx, CONFLICT, "there is a memory with the key '" S_FMT "' already",
                    S_ARG(m->key));
    TRY(put_memory(&p, m, index_of_memory(&ctx->arena, m)));
    TRY(count_pool(&p));
    return index_apply(ctx, db, &changes);
}
