/* token.c - creates, lists and revokes tokens. */
#include <signal.h>
#include <unistd.h>

#include "base/audit.h"
#include "base/clock.h"

#include "app/command.h"
#include "app/instance.h"
#include "app/print.h"
#include "store/store.h"

/*
 * Tokens are made and revoked in the database itself, also while a server runs; it sees the first
 * one within TOKEN_LOOK_MS. That first token changes who may do what: before it, everyone on this
 * machine may do everything. The secret is printed once; only a hash of it is kept.
 */

struct token_out {
    struct token t;
    str secret; /* "" in lists: it is not stored, and cannot be shown again */
};
static FIELDS(token_out, (AS_STR, t.id, "id"), (AS_STR, t.name, "name"),
              (AS_STR, t.pool.user, "user"), (AS_STR, t.pool.space, "space"),
              (AS_STR, t.acts_for, "acts_for"), (AS_STR, t.scopes, "scopes"),
              (AS_STR, t.spaces, "spaces"), (AS_STR, t.parent, "parent"),
              (AS_STR, t.last_address, "last_address"), (AS_STR, t.prefix, "prefix"),
              (AS_STR, secret, "token"), (AS_BOOL, t.is_admin, "admin"),
              (AS_TIME, t.created, "created"), (AS_TIME, t.expires, "expires"),
              (AS_TIME, t.revoked, "revoked"), (AS_TIME, t.last_used, "last_used"));

/* made: how many tokens that it made went with it. */
static enum status revoke_noted(struct ctx *ctx, const struct instance *instance, str user, str id,
                                int64_t *made)
{
    TRY(store_revoke_token(ctx, instance->store, user, id, made));
    audit_note(ctx, "token.revoked", user, "id=" S_FMT " made=%lld", S_ARG(id), (long long)*made);
    return OK;
}

static enum status create_token(struct ctx *ctx, const struct options *o, struct instance *instance)
{
    struct token t = {.name = o->name,
                      .pool = pool_of(o),
                      .acts_for = o->acts_for,
                      .scopes = o->scopes,
                      .spaces = o->spaces,
                      .is_admin = o->admin};
    str secret, spaces = o->spaces;
    if (t.spaces.n && !options_has(o, "space"))
        t.pool.space = str_trim(str_cut(&spaces, ','));
    bool is_own = !options_has(o, "space") && !o->admin && !t.spaces.n;
    if (is_own)
        t.pool.space = S(""); /* a new space for this token */
    if (o->days)
        t.expires = clock_ms() + o->days * DAY_MS;
    signal(SIGPIPE, SIG_IGN); /* a reader that has gone is a failure to write, told below */
    TRY(engine_make_token(ctx, instance->engine, &t, &secret));
    usleep(2000 * TOKEN_LOOK_MS); /* so a running server knows the token when this ends */
    if (o->json)
        TRY(print_fields(ctx, token_out_fields, &(struct token_out){t, secret}));
    else
        printf(S_FMT "\n", S_ARG(secret));
    enum status shown = print_end(ctx);
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    int64_t made;
    if (shown != OK) /* nobody has it */
        soft(&own, revoke_noted(&own, instance, t.pool.user, t.id, &made));
    if (shown != OK || o->json)
        return shown;
    fprintf(stderr,
            "The token is shown only once. Clients send it as 'Authorization: Bearer TOKEN'. From "
            "now on every request needs a token.\nIts memories are those of user " S_FMT
            ", space " S_FMT "%s\n",
            S_ARG(t.pool.user), S_ARG(t.pool.space),
            is_own ? ", which no other token uses. --space NAME lets tokens share a space; "
                     "memories from before the first token are in --space default."
                   : ".");
    return OK;
}

/* Whoever can read the database may list and revoke the tokens of all users; --user is a filter. */
static str user_filter(const struct options *o)
{
    return options_has(o, "user") ? o->user : S("");
}

/* The id is unique over all users, so the owner is looked up unless --user limits the search. */
static enum status revoke_token(struct ctx *ctx, const struct options *o, struct instance *instance)
{
    struct token *t;
    size_t n;
    int64_t made = 0;
    str id = o->words.v[2], user = o->user;
    TRY(store_tokens(ctx, instance->store, user_filter(o), &t, &n));
    for (size_t i = 0; i < n; i++)
        if (str_eq(t[i].id, id))
            user = t[i].pool.user;
    TRY(revoke_noted(ctx, instance, user, id, &made));
    if (o->json)
        printf("{\"revoked\":%lld}\n", (long long)made + 1);
    else
        printf(made ? "revoked, with %lld that it made\n" : "revoked\n", (long long)made);
    return OK;
}

/* The name is free text, so it comes last, where it cannot look like another column. */
static void print_token(struct ctx *ctx, const struct token *t)
{
    struct arena *a = &ctx->arena;
    const char *state = t->revoked ? "revoked" : token_is_valid(t, clock_ms()) ? "" : "expired";
    str used = t->last_used
                   ? str_printf(a, "used " S_FMT " from " S_FMT, S_ARG(date_of(a, t->last_used)),
                                S_ARG(t->last_address.n ? t->last_address : S("here")))
                   : S("never used");
    print_line(str_printf(a,
                          S_FMT "  " S_FMT "  user " S_FMT "  space " S_FMT "  %s%s%s%s" S_FMT
                                "%s" S_FMT "%s" S_FMT "%s" S_FMT "  " S_FMT "…  " S_FMT "  " S_FMT,
                          S_ARG(t->id), S_ARG(date_of(a, t->created)), S_ARG(t->pool.user),
                          S_ARG(t->pool.space), t->is_admin ? "admin" : "",
                          t->is_admin && *state ? ", " : "", state,
                          t->acts_for.n ? "  acts for " : "", S_ARG(t->acts_for),
                          t->scopes.n ? "  may " : "", S_ARG(t->scopes),
                          t->spaces.n ? "  only in " : "", S_ARG(t->spaces),
                          t->parent.n ? "  made by " : "", S_ARG(t->parent), S_ARG(t->prefix),
                          S_ARG(used), S_ARG(t->name)));
}

/* Revoked and expired ones too, so that one can see what was used when. */
static enum status list_tokens(struct ctx *ctx, const struct options *o, struct instance *instance)
{
    struct token *t;
    size_t n;
    TRY(store_tokens(ctx, instance->store, user_filter(o), &t, &n));
    struct json_out w = json_in(&ctx->arena, PRINT_MAX);
    json_open(&w, '[');
    for (size_t i = 0; i < n; i++)
        if (o->json)
            fields_write(&w, token_out_fields, &(struct token_out){.t = t[i]});
        else
            print_token(ctx, &t[i]);
    json_close(&w, ']');
    if (o->json)
        return print_buf(w.b);
    printf("%zu token%s\n", n, n == 1 ? "" : "s");
    return OK;
}

/* Before anything is opened: "token delete" must not create a database. */
enum status command_token_check(struct ctx *ctx, const struct options *o)
{
    str verb = o->words.v[1];
    size_t more = o->words.n - 2;
    unsigned scopes;
    TRY(acts_for_check(ctx, o->acts_for));
    TRY(token_scopes_read(ctx, o->scopes, &scopes));
    if (o->spaces.n && o->admin)
        return fail_field(ctx, "spaces", "cannot be used with --admin");
    if (o->spaces.n && options_has(o, "space") && !names_have(o->spaces, o->space))
        return fail_field(ctx, "space", "must be one of --spaces");
    if (more == str_is(verb, "revoke") && (more || str_is(verb, "create") || str_is(verb, "list")))
        return OK;
    return fail(ctx, BAD_INPUT, "must be one of: token create, token list, token revoke ID");
}

enum status command_token(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    bool is_new = str_is(o->words.v[1], "create"), is_list = str_is(o->words.v[1], "list");
    TRY(instance_open(ctx, o, is_new ? TO_ADD : is_list ? TO_READ : TO_CHANGE, &instance));
    return is_new    ? create_token(ctx, o, &instance)
           : is_list ? list_tokens(ctx, o, &instance)
                     : revoke_token(ctx, o, &instance);
}
