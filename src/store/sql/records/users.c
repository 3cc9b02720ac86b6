/* users.c - those who registered: found by id or address, kept together with a token. */
#include "base/clock.h"
#include "store/sql/records/tokens.h"
#include "store/sql/state/reader.h"
#include "store/sql/state/writer.h"

static void read_user(struct query *q, struct user *out)
{
    *out = (struct user){0};
    out->id = sql_get_text(q);
    out->email = sql_get_text(q);
    out->first_name = sql_get_text(q);
    out->last_name = sql_get_text(q);
    out->attributes = sql_get_text(q);
    out->sealed_key = sql_get_text(q);
    out->key_preview = sql_get_text(q);
    out->created = sql_get_int(q);
    out->updated = sql_get_int(q);
}

/* NOT_FOUND without a note. */
static enum status find_user(struct ctx *ctx, struct store *s, enum sql which, str name,
                             struct user *out)
{
    struct user found = {.id = S("")};
    READER(r);
    TRY(reader_begin(ctx, sql_of(s), &r));
    TRY(SQL_FIRST(ctx, r.db, read_user, &found, which, name));
    if (!found.id.n)
        return NOT_FOUND;
    *out = found;
    return OK;
}

enum status sql_user(struct ctx *ctx, struct store *s, str id, struct user *out)
{
    return find_user(ctx, s, SQL_USER_GET, id, out);
}

enum status sql_user_by_email(struct ctx *ctx, struct store *s, str email, struct user *out)
{
    return find_user(ctx, s, SQL_USER_BY_EMAIL, email, out);
}

enum status sql_sealed_users(struct ctx *ctx, struct store *s, struct user **out, size_t *n)
{
    READER(r);
    TRY(reader_begin(ctx, sql_of(s), &r));
    return SQL_LIST(ctx, r.db, read_user, out, n, SQL_USER_SEALED);
}

/* --- in the writer's transaction --- */

struct put_user {
    const struct user *user;
    bool may_change;
    const struct token *token;
};

/* A name may be in use without a user: pools and tokens carry it, and must not become someone
 * else's. */
static enum status check_new(struct ctx *ctx, struct db *db, str id)
{
    int64_t is_known;
    TRY(SQL_NUMBER(ctx, db, &is_known, SQL_USER_IS_KNOWN, id));
    return is_known ? fail(ctx, CONFLICT, "there is a user with this id already") : OK;
}

/* An empty address is stored by many users and found by none. */
static enum status check_email(struct ctx *ctx, struct db *db, const struct user *u)
{
    struct user other = {.id = u->id};
    TRY(SQL_FIRST(ctx, db, read_user, &other, SQL_USER_BY_EMAIL, u->email));
    if (!str_eq(other.id, u->id))
        return fail(ctx, CONFLICT, "there is a user with this address already");
    return OK;
}

/* Adds or changes: created stays as it was. */
static enum status add_user(struct ctx *ctx, struct db *db, const struct user *u)
{
    int64_t now = clock_ms();
    return SQL_DO(ctx, db, SQL_USER_ADD, u->id, u->email, u->first_name, u->last_name,
                  u->attributes, u->sealed_key, u->key_preview, u->created ? u->created : now,
                  u->updated ? u->updated : now);
}

/* With the token in the same transaction: a user without one could never come back. */
static enum status put_user(struct ctx *ctx, struct db *db, const void *what)
{
    const struct put_user *p = what;
    if (!p->may_change)
        TRY(check_new(ctx, db, p->user->id));
    TRY(check_email(ctx, db, p->user));
    TRY(add_user(ctx, db, p->user));
    return p->token ? token_add(ctx, db, p->token) : OK;
}

enum status sql_put_user(struct ctx *ctx, struct store *s, const struct user *u, bool may_change,
                         const struct token *token)
{
    struct put_user p = {u, may_change, token};
    return writer_call(ctx, sql_of(s)->writer, put_user, &p);
}
