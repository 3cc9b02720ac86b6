/* rights.c - tokens and roles that were taken away, so that an older copy does not give them back.
 */
#include "store/sql/records/rights.h"

#include "store/sql/records/accounts.h"
#include "store/sql/records/erasure.h"
#include "store/sql/records/tokens.h"

/* A token has one name, by its id; a role has one for each step, so that who is an operator instead
 * of an owner stays one. */

enum status rights_revoked(struct ctx *ctx, struct db *db, const str *tokens, size_t n)
{
    const struct erasing_in in = {.what = "rights"};
    ERASING(e);
    TRY(erasing_begin(ctx, db, &in, &e));
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
    const struct erasing_in in = {.what = takes ? "rights" : "again"};
    ERASING(e);
    TRY(erasing_begin(ctx, db, &in, &e));
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

/* --- again --- */

/* A token, or else a role. */
struct had_right {
    str user, token;
    enum role role;
};

static void read_right(struct query *q, struct had_right *out)
{
    out->user = sql_get_text(q);
    out->token = sql_get_text(q);
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
    return r->token.n ? token_revoke(ctx, db, r->user, r->token) : role_put(ctx, db, r->user, left);
}

enum status rights_taken_again(struct ctx *ctx, struct db *db, const struct erasure_key *key,
                               int64_t behind, int64_t *taken)
{
    struct had_right *v;
    size_t n;
    bool is_taken;
    TRY(SQL_LIST(ctx, db, read_right, &v, &n, SQL_RIGHTS, (int64_t)ROLE_OPERATOR));
    for (size_t i = 0; i < n; i++, *taken += is_taken)
        TRY(take_right(ctx, db, key, behind, &v[i], &is_taken));
    return role_keep_owner(ctx, db);
}
