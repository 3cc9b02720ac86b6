/* tokens.c - credentials, found by the hash of what a client shows; rights that were taken away. */
#include "store/sql/records/tokens.h"

#include "base/clock.h"
#include "store/sql/records/accounts.h"
#include "store/sql/records/checks.h"
#include "store/sql/records/erasure.h"
#include "store/sql/state/reader.h"
#include "store/sql/state/writer.h"

/*
 * Only the SHA-256 of a token is stored, so a copy of the file opens nothing. Tokens are long and
 * random, which is why a fast hash without salt is enough. Revoked and expired tokens stay as rows,
 * for the list.
 */

enum status token_add(struct ctx *ctx, struct db *db, const struct token *t)
{
    SQL_RUN(q, ctx, db, SQL_TOKEN_ADD, t->id, t->hash, t->name, t->pool.user, t->pool.space,
            t->is_admin, t->created ? t->created : clock_ms(), t->expires, t->revoked, t->prefix,
            t->last_used, t->is_open, t->acts_for, t->parent, t->scopes, t->spaces,
            t->last_address);
    while (sql_row(&q))
        continue;
    if (sql_is_conflict(&q))
        return fail(ctx, CONFLICT, "there is a token with this id or secret already");
    TRY(sql_end(&q));
    /* Revoked since its request was let in: a token made now would outlive it. */
    return db_changes(db) ? OK : fail(ctx, NO_AUTH, "the token that makes this one was revoked");
}

static enum status add_token(struct ctx *ctx, struct db *db, const void *what)
{
    return token_add(ctx, db, what);
}

enum status token_check(struct ctx *ctx, const struct token *t)
{
    TRY(pool_check(ctx, t->pool));
    return t->id.n && t->hash.n ? OK : fail(ctx, BAD_INPUT, "a token needs an id and a hash");
}

enum status store_put_token(struct ctx *ctx, struct store *s, const struct token *t)
{
    TRY(token_check(ctx, t));
    return writer_call(ctx, s->writer, add_token, t);
}

/* --- rights that were taken away, so that an older copy does not give them back --- */

/* A token has one name, by its id; a role has one for each step, so that who is an operator instead
 * of an owner stays one. */

enum status rights_revoked(struct ctx *ctx, struct db *db, const str *tokens, size_t n)
{
    ERASING_BEGUN(e, ctx, db, .what = "rights");
    for (size_t i = 0; i < n; i++) {
        struct erasure_names names = {0};
        ERASURE_NAME(&names, &e.key, "token", tokens[i]);
        TRY(erasing_names(ctx, &e, &names));
    }
    return erasing_end(ctx, &e);
}

enum status rights_changed(struct ctx *ctx, struct db *db, str user, enum role was, enum role now)
{
    const bool takes = now < was;
    ERASING_BEGUN(e, ctx, db, .what = takes ? "rights" : "again");
    for (enum role r = (takes ? now : was) + 1; r <= (takes ? was : now); r++) {
        struct erasure_names names = {0};
        struct erasure_word word = {0};
        ERASURE_NAME(&names, &e.key, "role", user, str_of(role_names[r]));
        if (!takes)
            TRY(erasure_last(ctx, db, 0, &names, &word));
        if (takes || word.is_erased) /* who never lost it needs no row */
            TRY(erasing_names(ctx, &e, &names));
    }
    return erasing_end(ctx, &e);
}

/* --- revoking, and use --- */

struct revoke {
    str user, id;
    int64_t *made;
};

static enum status revoke_token(struct ctx *ctx, struct db *db, const void *what)
{
    const struct revoke *r = what;
    SQL_ALL(str, revoked, n, ctx, db, sql_read_text, SQL_TOKEN_REVOKE, r->user, clock_ms(), r->id);
    *r->made = (int64_t)n - 1;
    return n ? rights_revoked(ctx, db, revoked, n)
             : fail(ctx, NOT_FOUND, "no token '" S_FMT "'", S_ARG(r->id));
}

enum status store_revoke_token(struct ctx *ctx, struct store *s, str user, str id, int64_t *made)
{
    const struct revoke what = {user, id, made};
    struct task t = {.ctx = ctx, .call = revoke_token, .what = &what, .erases = true};
    return writer_run(s->writer, &t);
}

struct use {
    str id, address;
    int64_t at;
};

/* Every request shows its token, so nobody waits for this write. */
static enum status note_use(struct ctx *ctx, struct db *db, const void *what)
{
    const struct use *use = what;
    return SQL_DO(ctx, db, SQL_TOKEN_USED, use->id, use->at, use->address);
}

enum status store_token_used(struct ctx *ctx, struct store *s, str id, int64_t at, str address)
{
    struct later *later;
    TRY(writer_reserve(ctx, s->writer, sizeof(struct use) + id.n + address.n, &later));
    struct use *own = NEW(&later->ctx.arena, struct use);
    *own = (struct use){str_dup(&later->ctx.arena, id), str_dup(&later->ctx.arena, address), at};
    later->task.is_touch = true;
    writer_queue(s->writer, later, note_use, own);
    return OK;
}

static void read_token(struct query *q, struct token *out)
{
    *out = (struct token){0};
    SQL_GET(q, out->id, out->hash, out->name, out->pool.user, out->pool.space, out->is_admin,
            out->created, out->expires, out->revoked, out->prefix, out->last_used, out->is_open,
            out->acts_for, out->parent, out->scopes, out->spaces, out->last_address);
    out->role = role_of(sql_get_int(q));
}

/* All causes (unknown, revoked, expired) give the same answer; *out tells them apart. */
enum status store_find_token(struct ctx *ctx, struct store *s, str hash, struct token *out)
{
    *out = (struct token){0};
    ACCESS_READER(r, is_empty, ctx, s);
    if (!is_empty)
        TRY(SQL_FIRST(ctx, r.db, read_token, out, SQL_TOKEN_BY_HASH, hash));
    return out->id.n && token_is_valid(out, clock_ms())
               ? OK
               : fail(ctx, NOT_FOUND, "the token is not known");
}

enum status store_tokens(struct ctx *ctx, struct store *s, str user, struct token **out, size_t *n)
{
    *n = 0;
    ACCESS_READER(r, is_empty, ctx, s);
    return is_empty ? OK
           : user.n ? SQL_LIST(ctx, r.db, read_token, out, n, SQL_TOKEN_LIST, user)
                    : SQL_LIST(ctx, r.db, read_token, out, n, SQL_TOKEN_LIST_ALL);
}

enum status store_used_tokens(struct ctx *ctx, struct store *s, int64_t since, size_t most,
                              struct token **out, size_t *n)
{
    *n = 0;
    ACCESS_READER(r, is_empty, ctx, s);
    if (is_empty)
        return OK;
    return SQL_LIST(ctx, r.db, read_token, out, n, SQL_TOKEN_LIST_USED, since, (int64_t)most);
}

enum status store_has_tokens(struct ctx *ctx, struct store *s, bool *out)
{
    *out = false;
    ACCESS_READER(r, is_empty, ctx, s);
    return is_empty ? OK : SQL_ANY(ctx, r.db, out, SQL_TOKEN_ANY);
}

/* --- taken from an older copy --- */

/* A token, or else a role. */
struct had_right {
    str user, token;
    enum role role;
};

static void read_right(struct query *q, struct had_right *out)
{
    SQL_GET(q, out->user, out->token);
    out->role = role_of(sql_get_int(q));
}

/* Down to the first step that was not taken; a token has one. */
static enum status take_right(struct ctx *ctx, struct db *db, const struct erasure_key *key,
                              int64_t behind, const struct had_right *r, bool *taken)
{
    struct erasure_word word = {.is_erased = true};
    enum role left = r->role;
    while (left > ROLE_MEMBER && word.is_erased) {
        struct erasure_names names = {0};
        if (r->token.n)
            ERASURE_NAME(&names, key, "token", r->token);
        else
            ERASURE_NAME(&names, key, "role", r->user, str_of(role_names[left]));
        TRY(erasure_last(ctx, db, behind, &names, &word));
        left -= word.is_erased;
    }
    *taken = left != r->role;
    if (!*taken)
        return OK;
    if (!r->token.n)
        return role_put(ctx, db, r->user, left);
    /* not found: gone with the token that made it */
    const struct revoke what = {r->user, r->token, &(int64_t){0}};
    return soft_or(ctx, revoke_token(ctx, db, &what), NOT_FOUND);
}

enum status rights_taken_again(struct ctx *ctx, struct db *db, const struct erasure_key *key,
                               int64_t behind, int64_t *taken)
{
    bool is_taken;
    SQL_ALL(struct had_right, v, n, ctx, db, read_right, SQL_RIGHTS, (int64_t)ROLE_OPERATOR);
    for (size_t i = 0; i < n; i++, *taken += is_taken)
        TRY(take_right(ctx, db, key, behind, &v[i], &is_taken));
    return role_keep_owner(ctx, db);
}
