/* erasure.c - rows about what was erased: keyed hashes, written by who erases, asked by copies. */
#include "store/sql/records/erasure.h"

#include <sodium.h>

#include "base/clock.h"
#include "base/id.h"
#include "store/sql/db/lookup.h"
#include "store/sql/db/rows.h"
#include "store/sql/records/checks.h"
#include "store/sql/state/reader.h"
#include "store/sql/state/writer.h"

/*
 * A row of erasure is one call, or a piece of a long one; its hashes are in erasure_hash. The last
 * row that has a hash decides: "again" takes back what an earlier one says. Nothing is deleted from
 * either table, so that the file beside the database can follow by the numbers of the rows.
 *
 * Names and their hashes: a memory and a message by id; a memory by what it states; a message by
 * who said what in which second; a session by its id ("talk": its memories stayed); a summary by
 * its id ("reopened": its members stayed, so only imports ask); a space, a user and an account by
 * name, which cover all rows that are older.
 */

static const str key_name = {"erasure_key", 11};

enum status erasure_key_put(struct ctx *ctx, struct db *db, const struct erasure_key *key)
{
    return SQL_DO(ctx, db, SQL_FACT_PUT, key_name,
                  hex_of(&ctx->arena, key->bytes, ERASURE_KEY_BYTES));
}

enum status erasure_key_find(struct ctx *ctx, struct db *db, bool makes, struct erasure_key *out)
{
    str hex;
    TRY(SQL_WORD(ctx, db, &hex, SQL_FACT_GET, key_name));
    *out = (struct erasure_key){0};
    out->is_there = hex_read(hex, out->bytes, ERASURE_KEY_BYTES);
    if (out->is_there || !makes)
        return OK;
    randombytes_buf(out->bytes, ERASURE_KEY_BYTES);
    out->is_there = true;
    return erasure_key_put(ctx, db, out);
}

/* --- names --- */

str erasure_owner(struct arena *a, const struct erasure_key *key, struct pool_ref pool)
{
    struct erasure_names owner = {0};
    if (!pool.user.n)
        return S("");
    ERASURE_NAME(&owner, key, "owner", pool.user);
    ERASURE_NAME(&owner, key, "owner", pool.user, pool.space);
    return str_dup(a, (str){(const char *)owner.v, owner.n * ERASURE_HASH_BYTES});
}

static void name_memory(struct arena *a, const struct erasure_key *key, struct pool_ref pool,
                        const struct memory *m, struct erasure_names *out)
{
    ERASURE_NAME(out, key, "id", pool.user, pool.space, m->id);
    if (m->layer == LAYER_SUMMARY)
        ERASURE_NAME(out, key, "reopened", pool.user, pool.space, m->id);
    ERASURE_NAME(out, key, "text", pool.user, pool.space, erasure_text(a, m));
}

/* A short answer is said often, so the second is a part of its name. */
static void name_message(struct arena *a, const struct erasure_key *key, struct pool_ref pool,
                         const struct message *m, struct erasure_names *out)
{
    str second = str_printf(a, "%lld", (long long)(m->created / 1000));
    ERASURE_NAME(out, key, "id", pool.user, pool.space, m->id);
    ERASURE_NAME(out, key, "said", pool.user, pool.space, m->role, erasure_words(a, m->text),
                 second);
}

/* The row itself; of a session its id. */
static void name_row(struct arena *a, const struct erasure_key *key, struct pool_ref pool,
                     const struct erased_ask *ask, struct erasure_names *out)
{
    if (ask->memory)
        name_memory(a, key, pool, ask->memory, out);
    else if (ask->message)
        name_message(a, key, pool, ask->message, out);
    else
        ERASURE_NAME(out, key, "id", pool.user, pool.space, ask->session->id);
}

/* All that may name it, and what it is in. */
static void name_ask(struct arena *a, const struct erasure_key *key, struct pool_ref pool,
                     const struct erased_ask *ask, struct erasure_names *out)
{
    str session = ask->memory    ? ask->memory->session
                  : ask->message ? ask->message->session
                                 : ask->session->id;
    *out = (struct erasure_names){0};
    ERASURE_NAME(out, key, "user", pool.user);
    ERASURE_NAME(out, key, "space", pool.user, pool.space);
    if (session.n)
        ERASURE_NAME(out, key, "session", pool.user, pool.space, session);
    if (session.n && !ask->memory)
        ERASURE_NAME(out, key, "talk", pool.user, pool.space, session);
    name_row(a, key, pool, ask, out);
}

enum status erasure_last(struct ctx *ctx, struct db *db, int64_t behind,
                         const struct erasure_names *names, struct erasure_word *out)
{
    *out = (struct erasure_word){0};
    SQL_RUN(q, ctx, db, SQL_ERASURE_LAST, behind);
    for (size_t i = 0; i < ERASURE_NAMES; i++)
        sql_blob(&q, blob_at(names->v[i], i < names->n ? ERASURE_HASH_BYTES : 0));
    if (sql_row(&q)) {
        out->is_erased = !sql_get_int(&q);
        out->at = sql_get_int(&q);
    }
    return sql_end(&q);
}

/* --- writing --- */

void erasing_leave(struct erasing *e)
{
    if (e->db)
        e->db->erasing = NULL;
}

enum status erasing_begin(struct ctx *ctx, struct db *db, const struct erasing_in *in,
                          struct erasing *out)
{
    str id = id_random(&ctx->arena);
    bool any;
    assert(!db->erasing && db_in_transaction(db));
    *out = (struct erasing){.pool = in->pool};
    if (is_postgres(db)) /* until the end no other server writes rows of erasure */
        TRY(SQL_ANY(ctx, db, &any, SQL_ERASURE_LOCK));
    TRY(erasure_key_find(ctx, db, true, &out->key));
    TRY(SQL_DO(ctx, db, SQL_ERASURE_ADD, id, in->call.n ? in->call : id, clock_ms(),
               str_of(in->what), in->undo ? in->undo->id : S(""), blob_of(in->bar),
               blob_of(erasure_owner(&ctx->arena, &out->key, in->pool))));
    out->no = db_last_row(db);
    out->db = db;
    db->erasing = out;
    if (!in->bar.n)
        return OK;
    struct erasure_names names = {0};
    ERASURE_NAME(&names, &out->key, "bars", in->pool.user, in->pool.space);
    ERASURE_NAME(&names, &out->key, "bar", id);
    return erasing_names(ctx, out, &names);
}

void erasing_count(struct db *db, struct erasing *out)
{
    assert(!db->erasing);
    *out = (struct erasing){.db = db, .is_whole = true};
    db->erasing = out;
}

enum status erasing_names(struct ctx *ctx, struct erasing *e, const struct erasure_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        TRY(SQL_LATER(ctx, e->db, SQL_ERASURE_HASH_ADD, e->no,
                      blob_at(names->v[i], ERASURE_HASH_BYTES)));
    e->hashes += (int64_t)names->n;
    return OK;
}

/* The id of a call may be a session's, too: of a memory or a message it says nothing more. */
enum status erasing_scope(struct ctx *ctx, struct erasing *e, const struct forget *what)
{
    struct erasure_names names = {0};
    struct pool_ref pool = what->pool;
    str session = what->session.n ? what->session : what->id;
    e->is_whole = what->everything;
    if (what->all_spaces)
        ERASURE_NAME(&names, &e->key, "user", pool.user);
    else if (what->everything)
        ERASURE_NAME(&names, &e->key, "space", pool.user, pool.space);
    else if (session.n && what->keeps_memories)
        ERASURE_NAME(&names, &e->key, "talk", pool.user, pool.space, session);
    else if (session.n)
        ERASURE_NAME(&names, &e->key, "session", pool.user, pool.space, session);
    return erasing_names(ctx, e, &names);
}

static enum status note_row(struct ctx *ctx, struct erasing *e, const struct erasure_names *names,
                            int64_t created)
{
    e->newest = created > e->newest ? created : e->newest;
    return erasing_names(ctx, e, names);
}

enum status erasing_memory(struct ctx *ctx, struct db *db, const struct memory *m)
{
    struct erasing *e = db->erasing;
    struct erasure_names names = {0};
    if (!e)
        return OK;
    e->memories++;
    if (!e->is_whole)
        name_memory(&ctx->arena, &e->key, e->pool, m, &names);
    return note_row(ctx, e, &names, m->created);
}

enum status erasing_message(struct ctx *ctx, struct db *db, const struct message *m)
{
    struct erasing *e = db->erasing;
    struct erasure_names names = {0};
    if (!e)
        return OK;
    e->messages++;
    if (!e->is_whole) {
        name_message(&ctx->arena, &e->key, e->pool, m, &names);
        /* For certificates: whoever said it, and whenever. */
        ERASURE_NAME(&names, &e->key, "words", e->pool.user, e->pool.space,
                     erasure_words(&ctx->arena, m->text));
    }
    return note_row(ctx, e, &names, m->created);
}

/* What has a time to come is covered by it as well. */
enum status erasing_end(struct ctx *ctx, struct erasing *e)
{
    if (!e->no)
        return OK;
    e->db->erasing = NULL;
    return e->hashes || e->memories + e->messages
               ? SQL_LATER(ctx, e->db, SQL_ERASURE_END, e->no, e->newest, e->memories, e->messages)
               : SQL_LATER(ctx, e->db, SQL_ERASURE_DELETE, e->no);
}

enum status erasure_taken_back(struct ctx *ctx, struct db *db, str undo, int64_t behind)
{
    ERASING_BEGUN(e, ctx, db, .what = "again");
    TRY(undo.n ? SQL_DO(ctx, db, SQL_ERASURE_HASHES_AGAIN, e.no, undo)
               : SQL_DO(ctx, db, SQL_ERASURE_HASHES_SINCE, e.no, behind));
    e.hashes = db_changes(db);
    return erasing_end(ctx, &e);
}

/* --- the operations of the face --- */

static enum status is_there(struct ctx *ctx, struct db *db, int64_t pool,
                            const struct erased_ask *ask, bool *out)
{
    int64_t no;
    if (ask->memory)
        return SQL_ANY(ctx, db, out, SQL_MEMORY_BY_ID, pool, ask->memory->id);
    TRY(ask->message ? message_find(ctx, db, pool, ask->message->id, &no)
                     : session_find(ctx, db, pool, ask->session->id, &no));
    *out = no != 0;
    return OK;
}

static enum status ask_one(struct ctx *ctx, struct db *db, const struct erasure_key *key,
                           struct pool_ref pool, int64_t no, const struct erased_ask *ask,
                           bool *out)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    struct erasure_names names;
    struct erasure_word word;
    bool is_kept;
    enum status s = is_there(&own, db, no, ask, &is_kept);
    name_ask(&own.arena, key, pool, ask, &names);
    s = s == OK ? erasure_last(&own, db, 0, &names, &word) : s;
    TRY(ctx_pass(ctx, &own, s));
    *out = !is_kept && word.is_erased && ask->created <= word.at;
    return OK;
}

enum status erasure_asked(struct ctx *ctx, struct db *db, struct pool_ref pool, int64_t no,
                          const struct erased_ask *v, size_t n, bool *out)
{
    struct erasure_key key;
    TRY(erasure_key_find(ctx, db, false, &key));
    for (size_t i = 0; i < n; i++) {
        out[i] = false;
        if (key.is_there)
            TRY(ask_one(ctx, db, &key, pool, no, &v[i], &out[i]));
    }
    return OK;
}

enum status store_was_erased(struct ctx *ctx, struct store *s, struct pool_ref pool,
                             const struct erased_ask *v, size_t n, bool *out)
{
    CHECKED_READER(r, row, ctx, s, pool);
    return erasure_asked(ctx, r.db, pool, row.no, v, n, out);
}

struct again_call {
    struct pool_ref pool;
    const struct erased_ask *v;
    size_t n;
};

static enum status bring_again(struct ctx *ctx, struct db *db, const void *what)
{
    const struct again_call *c = what;
    ERASING_BEGUN(e, ctx, db, .pool = c->pool, .what = "again");
    for (size_t i = 0; i < c->n; i++) {
        struct erasure_names names = {0};
        name_row(&ctx->arena, &e.key, c->pool, &c->v[i], &names);
        TRY(erasing_names(ctx, &e, &names));
    }
    return erasing_end(ctx, &e);
}

enum status store_bring_again(struct ctx *ctx, struct store *s, struct pool_ref pool,
                              const struct erased_ask *v, size_t n)
{
    TRY(pool_check(ctx, pool));
    const struct again_call c = {pool, v, n};
    struct task t = {.ctx = ctx, .call = bring_again, .what = &c, .erases = true};
    return n ? writer_run(s->writer, &t) : OK;
}
