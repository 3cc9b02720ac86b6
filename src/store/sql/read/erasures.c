/* erasures.c - rows about what was erased, read for certificates. */
#include "base/id.h"
#include "store/sql/records/checks.h"
#include "store/sql/records/erasure.h"
#include "store/sql/state/reader.h"

/* Whose erasures are meant: those of a pool, and of its user as a whole. Without a user: all. */
static void bind_owners(struct query *q, const struct erasure_key *key, struct pool_ref pool)
{
    str of_pool = erasure_owner(&q->ctx->arena, key, pool);
    str of_user = erasure_owner(&q->ctx->arena, key, (struct pool_ref){.user = pool.user});
    SQL_BIND(q, blob_of(of_pool), blob_of(of_user));
}

SQL_READER(read_erasure, struct certificate, out->no, out->id, out->at, out->what, out->memories,
           out->messages);

/* Without a key nothing was ever erased. */
enum status store_erasures(struct ctx *ctx, struct store *s, struct pool_ref pool, int64_t before,
                           size_t limit, struct certificate **out, size_t *n, int64_t *total)
{
    TRY(pool_check_reach(ctx, pool));
    struct erasure_key key;
    *n = 0;
    *total = 0;
    READER(r, ctx, s);
    TRY(erasure_key_find(ctx, r.db, false, &key));
    if (!key.is_there)
        return OK;
    SQL_RUN(list, ctx, r.db, SQL_ERASURE_LIST);
    bind_owners(&list, &key, pool);
    SQL_BIND(&list, before ? before : INT64_MAX, (int64_t)limit);
    TRY(SQL_ROWS(&list, read_erasure, out, n));
    SQL_RUN(q, ctx, r.db, SQL_ERASURE_COUNT);
    bind_owners(&q, &key, pool);
    return sql_number(&q, total);
}

static void read_hash(struct query *q, str *out)
{
    *out = hex_of(&q->ctx->arena, sql_see_blob(q).p, ERASURE_HASH_BYTES);
}

/* The row begins with the hash of its user. */
static str key_for(struct arena *a, const struct erasure_key *key, str user, str owner)
{
    str mine = erasure_owner(a, key, (struct pool_ref){.user = user});
    struct erasure_key own = erasure_user_key(key, user);
    bool is_mine =
        mine.n && owner.n >= ERASURE_HASH_BYTES && memcmp(owner.p, mine.p, ERASURE_HASH_BYTES) == 0;
    return is_mine ? hex_of(a, own.bytes, ERASURE_KEY_BYTES) : S("");
}

static enum status read_one(struct ctx *ctx, struct db *db, const struct erasure_key *key,
                            struct pool_ref pool, str user, str id, struct certificate *out)
{
    SQL_RUN(q, ctx, db, SQL_ERASURE_ONE);
    bind_owners(&q, key, pool);
    sql_text(&q, id);
    if (sql_row(&q)) {
        read_erasure(&q, out);
        out->hash_key = key_for(&ctx->arena, key, user, sql_see_blob(&q));
        out->state = sql_get_text(&q);
    }
    return sql_end(&q);
}

enum status store_erasure(struct ctx *ctx, struct store *s, struct pool_ref pool, str user, str id,
                          struct certificate *out)
{
    TRY(pool_check_reach(ctx, pool));
    struct erasure_key key;
    struct certificate c = {0};
    READER(r, ctx, s);
    TRY(erasure_key_find(ctx, r.db, false, &key));
    if (key.is_there)
        TRY(read_one(ctx, r.db, &key, pool, user, id, &c));
    if (!c.id.n)
        return fail(ctx, NOT_FOUND, "no erasure has the id '" S_FMT "'", S_ARG(id));
    TRY(SQL_LIST(ctx, r.db, read_hash, &c.hashes.v, &c.hashes.n, SQL_ERASURE_CALL_HASHES, id));
    *out = c;
    return OK;
}
