/* erase_again.c - rows that the log of erasures names, erased from an older database. */
#include "store/sql/write/erase_again.h"

#include "store/sql/db/rows.h"
#include "store/sql/records/accounts.h"
#include "store/sql/write/bars.h"
#include "store/sql/write/forget.h"

/*
 * The hashes cannot be turned round, so every row of the database is asked for its own: about 5 us
 * each. Erasing then goes the way of every other erasure, with all that came from the rows. The
 * database is older than the rows of the log that it lacks, so no times are compared.
 */

struct again {
    struct ctx *ctx;
    struct db *db;
    const struct erasure_key *key;
    int64_t behind;
    int64_t *erased;
    struct pool_ref pool;
    int64_t no; /* of the pool */
};

static enum status was_erased(struct again *a, const struct erasure_names *names, bool *out)
{
    struct erasure_word word;
    TRY(erasure_last(a->ctx, a->db, a->behind, names, &word));
    *out = word.is_erased;
    return OK;
}

#define WAS_ERASED(a, out, kind, ...)                                                              \
    ({                                                                                             \
        struct erasure_names names_ = {0};                                                         \
        ERASURE_NAME(&names_, (a)->key, kind, __VA_ARGS__);                                        \
        was_erased((a), &names_, (out));                                                           \
    })

/* What is gone already went with something else. */
static enum status forget_again(struct again *a, const struct forget *what)
{
    int64_t erased = 0;
    TRY(soft_or(a->ctx, pool_forget(a->ctx, a->db, what, &erased), NOT_FOUND));
    *a->erased += erased;
    return OK;
}

/* --- sessions, messages and memories of a pool --- */

static enum status erase_sessions(struct again *a)
{
    SQL_ALL(str, v, n, a->ctx, a->db, sql_read_text, SQL_ERASURE_SESSIONS, a->no);
    for (size_t i = 0; i < n; i++) {
        bool all, talk;
        TRY(WAS_ERASED(a, &all, "session", a->pool.user, a->pool.space, v[i]));
        TRY(WAS_ERASED(a, &talk, "talk", a->pool.user, a->pool.space, v[i]));
        const struct forget what = {.pool = a->pool, .session = v[i], .keeps_memories = !all};
        if (all || talk)
            TRY(forget_again(a, &what));
    }
    return OK;
}

static enum status erase_messages(struct again *a)
{
    SQL_ALL(str, v, n, a->ctx, a->db, sql_read_text, SQL_ERASURE_MESSAGES, a->no);
    for (size_t i = 0; i < n; i++) {
        bool is_erased;
        TRY(WAS_ERASED(a, &is_erased, "id", a->pool.user, a->pool.space, v[i]));
        if (is_erased)
            TRY(forget_again(a, &(struct forget){.pool = a->pool, .id = v[i]}));
    }
    return OK;
}

static enum status look_at_memory(struct again *a, const struct memory *m, bool *is_erased)
{
    struct erasure_names names = {0};
    CLEANUP(ctx_free) struct ctx own = ctx_child(a->ctx, 0);
    ERASURE_NAME(&names, a->key, "id", a->pool.user, a->pool.space, m->id);
    ERASURE_NAME(&names, a->key, "text", a->pool.user, a->pool.space, erasure_text(&own.arena, m));
    if (m->session.n)
        ERASURE_NAME(&names, a->key, "session", a->pool.user, a->pool.space, m->session);
    return was_erased(a, &names, is_erased);
}

/* What a summary replaced has names of its own where it was erased with it; what was not is open
 * again. */
static enum status erase_memories(struct again *a)
{
    SQL_ALL(struct memory, v, n, a->ctx, a->db, read_memory, SQL_ERASURE_MEMORIES, a->no);
    str *ids = NEW_N(&a->ctx->arena, str, n);
    size_t n_ids = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_erased;
        TRY(look_at_memory(a, &v[i], &is_erased));
        if (is_erased)
            ids[n_ids++] = v[i].id;
    }
    const struct forget what = {.pool = a->pool,
                                .ids = ids,
                                .n_ids = n_ids,
                                .keeps_memories = true};
    return n_ids ? forget_again(a, &what) : OK;
}

/* --- bars --- */

struct bar_row {
    str id, bar;
};

static void read_bar(struct query *q, struct bar_row *out)
{
    out->id = sql_get_text(q);
    out->bar = str_dup(&q->ctx->arena, sql_see_blob(q));
}

/* What the copy made of the barred messages: titles, episodes, receipts that show them. */
static enum status erase_made_again(struct again *a, const uint64_t *barred, size_t n_barred)
{
    const struct forgetting f = {.ctx = a->ctx, .db = a->db};
    SQL_ALL(str, v, n, a->ctx, a->db, sql_read_text, SQL_ERASURE_MESSAGES, a->no);
    str *sessions = NEW_N(&a->ctx->arena, str, n);
    struct barring b = {.messages = v, .sessions = sessions};
    for (size_t i = 0; i < n; i++) {
        struct message m = {0};
        if (!SOME(k, n_barred, barred[k] == hash64(&v[i], 1)))
            continue;
        TRY(SQL_FIRST(a->ctx, a->db, read_message, &m, SQL_MESSAGE_BY_ID, a->no, v[i]));
        TRY(leave_title(&f, a->no, &m));
        v[b.n_messages++] = m.id;
        sessions[b.n_sessions++] = m.session;
    }
    return b.n_messages ? erase_what_shows(a->ctx, a->db, a->no, &b, a->erased) : OK;
}

/* Of one that an undo took back, the last word is another. */
static enum status put_bars(struct again *a)
{
    struct erasure_names names = {0};
    ERASURE_NAME(&names, a->key, "bars", a->pool.user, a->pool.space);
    SQL_ALL(struct bar_row, v, n, a->ctx, a->db, read_bar, SQL_ERASURE_BARS,
            blob_at(names.v[0], ERASURE_HASH_BYTES), a->behind);
    uint64_t *barred = NEW_N(&a->ctx->arena, uint64_t, n);
    for (size_t i = 0; i < n; i++) {
        bool holds;
        TRY(WAS_ERASED(a, &holds, "bar", v[i].id));
        if (holds)
            TRY(bar_unpack(a->ctx, a->db, a->no, v[i].bar, &barred[i]));
    }
    return n ? erase_made_again(a, barred, n) : OK;
}

/* --- all --- */

static enum status erase_in_pool(struct again *a)
{
    bool user, space;
    TRY(WAS_ERASED(a, &user, "user", a->pool.user));
    TRY(WAS_ERASED(a, &space, "space", a->pool.user, a->pool.space));
    if (user || space)
        return forget_again(a, &(struct forget){.pool = a->pool, .everything = true});
    str owner = erasure_owner(&a->ctx->arena, a->key, a->pool); /* as begin_forget did: */
    TRY(SQL_DO(a->ctx, a->db, SQL_UNDO_DELETE_AGAIN, a->no, a->behind, blob_of(owner)));
    TRY(erase_sessions(a));
    TRY(erase_messages(a));
    TRY(put_bars(a)); /* before the episodes that it erases: their sessions wait again */
    return erase_memories(a);
}

struct pool_name {
    int64_t no;
    struct pool_ref pool;
};

SQL_READER(read_pool, struct pool_name, out->no, out->pool.user, out->pool.space);

/* Each pool with memory of its own. */
static enum status erase_in_pools(struct again *a)
{
    SQL_ALL(struct pool_name, v, n, a->ctx, a->db, read_pool, SQL_ERASURE_POOLS);
    for (size_t i = 0; i < n; i++) {
        CLEANUP(ctx_free) struct ctx own = ctx_child(a->ctx, 0);
        struct again each = *a;
        each.ctx = &own;
        each.pool = v[i].pool;
        each.no = v[i].no;
        TRY(ctx_pass(a->ctx, &own, erase_in_pool(&each)));
    }
    return OK;
}

static enum status erase_accounts(struct again *a)
{
    SQL_ALL(str, v, n, a->ctx, a->db, sql_read_text, SQL_ERASURE_USERS);
    for (size_t i = 0; i < n; i++) {
        bool is_erased;
        TRY(WAS_ERASED(a, &is_erased, "account", v[i]));
        if (is_erased)
            TRY(account_erase(a->ctx, a->db, v[i]));
    }
    return OK;
}

enum status erase_again(struct ctx *ctx, struct db *db, const struct erasure_key *key,
                        int64_t behind, int64_t *erased)
{
    struct again a = {.ctx = ctx, .db = db, .key = key, .behind = behind, .erased = erased};
    TRY(erase_in_pools(&a));
    return erase_accounts(&a);
}
