/* erase_account.c - everyone who has something here: listed, given a role, erased with proof. */
#include "engine/state/state.h"

#include "base/audit.h"

enum { PEOPLE_AT_ONCE = 200 };

static const struct pool_ref everyone; /* a new person may have had the first answer just now */

enum status engine_accounts(struct ctx *ctx, struct engine *e, const struct account_filter *f,
                            struct account **out, size_t *n, int64_t *total)
{
    engine_catch_up(ctx, e, everyone);
    return store_accounts(ctx, e->store, f, out, n, total);
}

enum status engine_account(struct ctx *ctx, struct engine *e, str id, struct account *out)
{
    const struct account_filter f = {.id = id};
    struct account *v;
    size_t n;
    int64_t total;
    engine_catch_up(ctx, e, (struct pool_ref){.user = id});
    TRY(store_accounts(ctx, e->store, &f, &v, &n, &total));
    if (!n)
        return NOT_FOUND;
    *out = v[0];
    return OK;
}

enum status engine_set_role(struct ctx *ctx, struct engine *e, str user, enum role role,
                            int64_t *revoked)
{
    engine_catch_up(ctx, e, (struct pool_ref){.user = user});
    TRY(store_set_role(ctx, e->store, user, role, revoked));
    audit_note(ctx, "role.changed", user, "to=%s revoked=%lld", role_names[role],
               (long long)*revoked);
    return OK;
}

/* The last owner is refused before anything is erased. Tokens go before memory: what a request
 * added in between would stay. When it fails in between, memory is left, and with it a user to be
 * erased again. */
static enum status erase_one(struct ctx *ctx, struct engine *e, str id, int64_t *erased,
                             str *erasure)
{
    const struct forget what = {.pool.user = id,
                                .everything = true,
                                .all_spaces = true,
                                .erasure = erasure};
    bool is_local = str_is(id, LOCAL_USER);
    int64_t n = 0, revoked;
    TRY(engine_all_kept(ctx, e, what.pool));
    enum status s = is_local ? OK : store_set_role(ctx, e->store, id, ROLE_MEMBER, &revoked);
    TRY(soft_or(ctx, s, NOT_FOUND)); /* of whom only people are there */
    TRY(is_local ? OK : store_erase_account(ctx, e->store, id));
    TRY(soft_or(ctx, engine_forget(ctx, e, &what, &n), NOT_FOUND));
    *erased += n;
    audit_note(ctx, "account.erased", id, "rows=%lld", (long long)n);
    return OK;
}

/* Those that were erased are no longer listed, so each round begins anew. */
static enum status erase_people(struct ctx *ctx, struct engine *e, struct erase_account *what)
{
    const struct account_filter f = {.owner = what->id, .limit = PEOPLE_AT_ONCE};
    for (;;) {
        CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
        struct account *v;
        size_t n;
        int64_t total;
        TRY(ctx_pass(ctx, &own, store_accounts(&own, e->store, &f, &v, &n, &total)));
        for (size_t i = 0; i < n; i++, what->people++)
            TRY(ctx_pass(ctx, &own, erase_one(&own, e, v[i].id, &what->erased, NULL)));
        if (!n)
            return OK;
    }
}

enum status engine_erase_account(struct ctx *ctx, struct engine *e, struct erase_account *what)
{
    const struct account_filter people = {.owner = what->id, .limit = 1};
    struct account *v, own;
    size_t n;
    int64_t total;
    what->people = what->erased = 0;
    engine_catch_up(ctx, e, everyone); /* else a turn of a new person would be kept behind it */
    TRY(store_accounts(ctx, e->store, &people, &v, &n, &total));
    enum status s = engine_account(ctx, e, what->id, &own);
    if (s != NOT_FOUND || !total)
        TRY(s);
    if (total && !what->with_people)
        return fail(ctx, CONFLICT, "%lld people of its clients would lose their owner",
                    (long long)total);
    if (what->dry_run) {
        what->people = total;
        return OK;
    }
    TRY(erase_people(ctx, e, what));
    return erase_one(ctx, e, what->id, &what->erased, &what->erasure);
}

/* --- past erasures, as signed certificates --- */

enum status engine_erasures(struct ctx *ctx, struct engine *e, struct pool_ref pool, int64_t before,
                            size_t limit, struct certificate **out, size_t *n, int64_t *total)
{
    return store_erasures(ctx, e->store, pool, before, limit, out, n, total);
}

enum status engine_certificate(struct ctx *ctx, struct engine *e, struct pool_ref pool, str user,
                               str id, struct certificate *out)
{
    str key_file = str_printf(&ctx->arena, S_FMT "/erasure.key", S_ARG(e->settings->data));
    TRY(store_erasure(ctx, e->store, pool, user, id, out));
    return certificate_sign(ctx, key_file.p, out);
}
