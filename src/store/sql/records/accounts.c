/* accounts.c - people with something in the store: registered, listed, given a role, erased. */
#include "store/sql/records/accounts.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "store/sql/records/erasure.h"
#include "store/sql/records/tokens.h"
#include "store/sql/state/change_events.h"
#include "store/sql/state/reader.h"
#include "store/sql/state/writer.h"

/*
 * Nobody has to register: a pool and a token name their user, and so does a person behind a key.
 * The list is the union of the three. It is read in the order of the names, so a page costs what it
 * shows; only the total reads all names.
 */

static void read_account(struct query *q, struct account *out)
{
    *out = (struct account){0};
    SQL_GET(q, out->id, out->email, out->first_name, out->last_name, out->is_registered,
            out->spaces, out->sessions, out->messages, out->memories, out->bytes, out->tokens,
            out->created, out->active);
    out->role = role_of(sql_get_int(q));
}

/* The people of an owner are the names from "owner/" up to "owner0": '0' is the byte behind '/'. */
static enum status read_page(struct ctx *ctx, struct db *db, const struct account_filter *f,
                             struct account **out, size_t *n, int64_t *total)
{
    struct arena *a = &ctx->arena;
    str from = f->owner.n ? str_printf(a, S_FMT "/", S_ARG(f->owner)) : S("");
    str to = f->owner.n ? str_printf(a, S_FMT "0", S_ARG(f->owner)) : S("");
    str contains = utf8_lower(a, f->contains),
        after = str_cmp(f->after, from) > 0 ? f->after : from;
    int64_t now = clock_ms();
    TRY(SQL_NUMBER(ctx, db, total, SQL_ACCOUNT_COUNT, from, to, now, contains));
    return SQL_LIST(ctx, db, read_account, out, n, SQL_ACCOUNT_LIST, after, to, now, contains,
                    sql_limit(f->limit));
}

enum status store_accounts(struct ctx *ctx, struct store *s, const struct account_filter *f,
                           struct account **out, size_t *n, int64_t *total)
{
    READER(r, ctx, s);
    if (!f->id.n)
        return read_page(ctx, r.db, f, out, n, total);
    TRY(SQL_LIST(ctx, r.db, read_account, out, n, SQL_ACCOUNT_GET, f->id, S(""), clock_ms()));
    *total = (int64_t)*n;
    return OK;
}

/* --- those who registered: found by id or address, kept together with a token --- */

SQL_READER(read_user, struct user, out->id, out->email, out->first_name, out->last_name,
           out->attributes, out->sealed_key, out->key_preview, out->created, out->updated);

/* NOT_FOUND without a note. */
static enum status find_user(struct ctx *ctx, struct store *s, enum sql which, str name,
                             struct user *out)
{
    struct user found = {.id = S("")};
    READER(r, ctx, s);
    TRY(SQL_FIRST(ctx, r.db, read_user, &found, which, name));
    if (!found.id.n)
        return NOT_FOUND;
    *out = found;
    return OK;
}

enum status store_user(struct ctx *ctx, struct store *s, str id, struct user *out)
{
    return find_user(ctx, s, SQL_USER_GET, id, out);
}

enum status store_user_by_email(struct ctx *ctx, struct store *s, str email, struct user *out)
{
    return find_user(ctx, s, SQL_USER_BY_EMAIL, email, out);
}

enum status store_sealed_users(struct ctx *ctx, struct store *s, struct user **out, size_t *n)
{
    READER(r, ctx, s);
    return SQL_LIST(ctx, r.db, read_user, out, n, SQL_USER_SEALED);
}

struct put_user {
    const struct user *user;
    bool may_change;
    const struct token *token;
};

/* An empty address is stored by many users and found by none. */
static enum status check_email(struct ctx *ctx, struct db *db, const struct user *u)
{
    struct user other = {.id = u->id};
    TRY(SQL_FIRST(ctx, db, read_user, &other, SQL_USER_BY_EMAIL, u->email));
    return str_eq(other.id, u->id)
               ? OK
               : fail(ctx, CONFLICT, "there is a user with this address already");
}

/* With the token in the same transaction: a user without one could never come back. A name may be
 * in use without a user: pools and tokens carry it, and must not become someone else's. Of one that
 * is changed `created` stays. */
static enum status put_user(struct ctx *ctx, struct db *db, const void *what)
{
    const struct put_user *p = what;
    const struct user *u = p->user;
    int64_t is_known = 0, now = clock_ms();
    if (!p->may_change)
        TRY(SQL_NUMBER(ctx, db, &is_known, SQL_USER_IS_KNOWN, u->id));
    if (is_known)
        return fail(ctx, CONFLICT, "there is a user with this id already");
    TRY(check_email(ctx, db, u));
    TRY(SQL_DO(ctx, db, SQL_USER_ADD, u->id, u->email, u->first_name, u->last_name, u->attributes,
               u->sealed_key, u->key_preview, u->created ? u->created : now,
               u->updated ? u->updated : now));
    return p->token ? token_add(ctx, db, p->token) : OK;
}

/* Both checks guard the boundary between users: a token under another user's name would open that
 * user's memories. */
static enum status check_user(struct ctx *ctx, const struct user *u, const struct token *token)
{
    if (!u->id.n)
        return fail(ctx, BAD_INPUT, "a user needs an id");
    if (token)
        TRY(token_check(ctx, token));
    if (token && !str_eq(token->pool.user, u->id))
        return fail(ctx, BAD_INPUT, "the token is another user's");
    return OK;
}

enum status store_put_user(struct ctx *ctx, struct store *s, const struct user *u, bool may_change,
                           const struct token *token)
{
    TRY(check_user(ctx, u, token));
    return writer_call(ctx, s->writer, put_user, &(struct put_user){u, may_change, token});
}

/* --- roles --- */

enum role role_of(int64_t n)
{
    return n > 0 && n < ROLE_COUNT ? (enum role)n : ROLE_MEMBER;
}

struct set_role {
    str user;
    enum role role;
    int64_t *revoked;
};

enum status role_put(struct ctx *ctx, struct db *db, str user, enum role role)
{
    return role == ROLE_MEMBER ? SQL_DO(ctx, db, SQL_ROLE_DELETE, user)
                               : SQL_DO(ctx, db, SQL_ROLE_PUT, user, (int64_t)role);
}

enum status role_keep_owner(struct ctx *ctx, struct db *db)
{
    bool any;
    TRY(SQL_ANY(ctx, db, &any, SQL_ROLE_OWNED, (int64_t)ROLE_OWNER));
    return any ? OK : role_put(ctx, db, S(LOCAL_USER), ROLE_OWNER);
}

/* In one transaction, so that of the last two owners only one can go. */
static enum status set_role(struct ctx *ctx, struct db *db, const void *what)
{
    const struct set_role *w = what;
    int64_t was, is_known;
    bool any;
    TRY(SQL_NUMBER(ctx, db, &is_known, SQL_USER_IS_KNOWN, w->user));
    if (!(w->user.n && is_known) && !str_is(w->user, LOCAL_USER))
        return NOT_FOUND;
    TRY(SQL_NUMBER(ctx, db, &was, SQL_ROLE_GET, w->user));
    TRY(role_put(ctx, db, w->user, w->role));
    TRY(SQL_ANY(ctx, db, &any, SQL_ROLE_OWNED, (int64_t)ROLE_OWNER));
    if (!any)
        return fail_forbidden(ctx, "role",
                              "'" S_FMT "' is the last owner; make somebody else an owner first",
                              S_ARG(w->user));
    TRY(rights_changed(ctx, db, w->user, role_of(was), w->role));
    if (!role_has(role_of(was), MANAGES_PEOPLE) || role_has(w->role, MANAGES_PEOPLE))
        return OK;
    SQL_ALL(str, made, n, ctx, db, sql_read_text, SQL_TOKEN_REVOKE_MADE, w->user, clock_ms());
    *w->revoked = (int64_t)n;
    return rights_revoked(ctx, db, made, n);
}

enum status store_set_role(struct ctx *ctx, struct store *s, str user, enum role role,
                           int64_t *revoked)
{
    const struct set_role what = {user, role, revoked};
    struct task t = {.ctx = ctx, .call = set_role, .what = &what, .erases = true};
    *revoked = 0;
    return writer_run(s->writer, &t);
}

/* --- erasing --- */

/* Whether requests must show a token depends on rows that are there for good, so these stay, and
 * say nothing. */
enum status account_erase(struct ctx *ctx, struct db *db, str user)
{
    if (db->notes) /* a person has no token whose row would note it */
        notes_add(db->notes, &(struct event){.kind = EVENT_ACCESS, .pool.user = user});
    TRY(SQL_DO(ctx, db, SQL_ROLE_DELETE, user));
    TRY(role_keep_owner(ctx, db));
    TRY(SQL_DO(ctx, db, SQL_USER_DELETE, user));
    TRY(SQL_DO(ctx, db, SQL_TOKEN_DELETE_OPEN, user));
    return SQL_DO(ctx, db, SQL_TOKEN_DISOWN, user, clock_ms());
}

static enum status erase_account(struct ctx *ctx, struct db *db, const void *what)
{
    const str *user = what;
    struct erasure_names names = {0};
    ERASING_BEGUN(note, ctx, db, .pool.user = *user, .what = "account");
    ERASURE_NAME(&names, &note.key, "account", *user);
    ERASURE_NAME(&names, &note.key, "user", *user); /* who has no memory leaves no other */
    TRY(erasing_names(ctx, &note, &names));
    TRY(erasing_end(ctx, &note));
    return account_erase(ctx, db, *user);
}

enum status store_erase_account(struct ctx *ctx, struct store *s, str user)
{
    struct task t = {.ctx = ctx, .call = erase_account, .what = &user, .erases = true};
    TRY(writer_run(s->writer, &t));
    return writer_erased(&t);
}
