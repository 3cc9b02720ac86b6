/* tokens.c - credentials: rows found by the hash of what a client shows. */
#include "base/clock.h"
#include "store/sqlite/sqlite_store.h"

enum status token_add(struct ctx *ctx, struct db *db, const struct token *t)
{
    SQL_RUN(q, ctx, db, SQL_TOKEN_ADD);
    sql_text(&q, t->id);
    sql_text(&q, t->hash);
    sql_text(&q, t->name);
    sql_text(&q, t->pool.user);
    sql_text(&q, t->pool.space);
    sql_int(&q, t->is_admin);
    sql_int(&q, t->created ? t->created : clock_ms());
    sql_int(&q, t->expires);
    sql_int(&q, t->revoked);
    sql_text(&q, t->prefix);
    sql_int(&q, t->last_used);
    sql_int(&q, t->is_open);
    while (sql_row(&q))
        continue;
    if (q.rc == SQLITE_CONSTRAINT)
        return fail(ctx, CONFLICT, "there is a token with this id or secret already");
    return sql_end(&q);
}

enum status token_revoke(struct ctx *ctx, struct db *db, str user, str id)
{
    SQL_RUN(q, ctx, db, SQL_TOKEN_REVOKE);
    sql_text(&q, user);
    sql_text(&q, id);
    sql_int(&q, clock_ms());
    TRY(sql_do(&q));
    return db_changes(db) ? OK : fail(ctx, NOT_FOUND, "no token '" S_FMT "'", S_ARG(id));
}

enum status token_use(struct ctx *ctx, struct db *db, const void *what)
{
    const struct token_use *use = what;
    SQL_RUN(q, ctx, db, SQL_TOKEN_USED);
    sql_text(&q, use->id);
    sql_int(&q, use->at);
    return sql_do(&q);
}

enum status sqlite_token_used(struct ctx *ctx, struct store *s, str id, int64_t at)
{
    struct token_use use = {id, at};
    return writer_token_use(ctx, sqlite_of(s)->writer, &use);
}

static void read_token(struct query *q, struct token *out)
{
    *out = (struct token){0};
    out->id = sql_get_text(q);
    out->hash = sql_get_text(q);
    out->name = sql_get_text(q);
    out->pool.user = sql_get_text(q);
    out->pool.space = sql_get_text(q);
    out->is_admin = sql_get_int(q) != 0;
    out->created = sql_get_int(q);
    out->expires = sql_get_int(q);
    out->revoked = sql_get_int(q);
    out->prefix = sql_get_text(q);
    out->last_used = sql_get_int(q);
    out->is_open = sql_get_int(q) != 0;
}

enum status sqlite_find_token(struct ctx *ctx, struct store *s, str hash, struct token *out)
{
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    SQL_RUN(q, ctx, r.db, SQL_TOKEN_BY_HASH);
    sql_text(&q, hash);
    sql_int(&q, clock_ms());
    if (sql_row(&q)) {
        read_token(&q, out);
        return OK;
    }
    TRY(sql_end(&q));
    return fail(ctx, NOT_FOUND, "the token is not known");
}

enum status sqlite_tokens(struct ctx *ctx, struct store *s, str user, struct token **out, size_t *n)
{
    struct token *v = NULL;
    size_t have = 0, cap = 0;
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    SQL_RUN(q, ctx, r.db, user.n ? SQL_TOKEN_LIST : SQL_TOKEN_LIST_ALL);
    if (user.n)
        sql_text(&q, user);
    while (sql_row(&q)) {
        v = arena_more(&ctx->arena, v, have, &cap, sizeof *v);
        read_token(&q, &v[have++]);
    }
    TRY(sql_end(&q));
    *out = v;
    *n = have;
    return OK;
}

enum status sqlite_has_tokens(struct ctx *ctx, struct store *s, bool *out)
{
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    SQL_RUN(q, ctx, r.db, SQL_TOKEN_ANY);
    bool any = sql_row(&q);
    TRY(sql_end(&q));
    *out = any;
    return OK;
}
