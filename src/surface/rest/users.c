/* users.c - /v1/users and /v1/spaces/{name}: who has something here, and all of it erased. */
#include "surface/common/error_body.h"
#include "surface/common/list_page.h"

/*
 * Operators see users and the people behind their keys; owners give them roles and erase them. A
 * space is its user's affair. Erasing cannot be taken back, so the request for a user names it
 * twice.
 */

static FIELDS(account, (STR, id, .help = "a user, or OWNER/PERSON"),
              (BOOL, is_registered, .help = "by POST /v1/users, or left an API key"),
              (STR, email, .empty = EMPTY_NULL), (STR, first_name, .empty = EMPTY_NULL),
              (STR, last_name, .empty = EMPTY_NULL), (INT, spaces), (INT, sessions),
              (INT, messages), (INT, memories, .help = "open ones"),
              (INT, bytes, .help = "of text, as its quota counts"),
              (ENUM_OF, role, enum role, .one_of = role_names, .help = "member, operator or owner"),
              (INT, tokens, .help = "that work"), (TIME, created),
              (AS_TIME, active, "last_active",
               .help = "when something was said or kept, or a token was shown"));

SHAPE(users_in,
      (STR, contains, .max = 256,
       .help = "only with this text in the id, the e-mail address or the name"),
      (STR, owner, .max = 1000, .help = "only the people of this user's clients"), LIST_CURSOR,
      LIST_LIMIT);

LIST_PAGE(users_out, account_fields, "by id");

/* One more than a page is read, to know whether there is another one. */
static HANDLER(user_list)
{
    const struct users_in *a = in->in;
    str of =
        str_printf(&ctx->arena, "users\n" S_FMT "\n" S_FMT, S_ARG(a->contains), S_ARG(a->owner));
    struct account_filter f = {.contains = a->contains,
                               .owner = a->owner,
                               .limit = (size_t)a->limit + 1};
    struct list_page page = {0};
    struct list_place place = {0};
    struct account *v;
    size_t n;
    TRY(cursor_read(ctx, of, a->cursor, &place));
    f.after = place.name;
    TRY(engine_accounts(ctx, app->engine, &f, &v, &n, &page.total));
    assert(n <= f.limit);
    if (n > (size_t)a->limit) {
        n = (size_t)a->limit;
        page.next = cursor_write(ctx, of, &(struct list_place){.name = v[n - 1].id});
    }
    return list_reply(ctx, users_out_fields, &page, v, n, sizeof *v, out);
}

/* The status, and in words where there is no such user. */
static enum status of_user(struct ctx *ctx, str id, enum status s)
{
    return s == NOT_FOUND ? fail(ctx, NOT_FOUND, "there is no user '" S_FMT "'", S_ARG(id)) : s;
}

static HANDLER(user_get)
{
    struct account a;
    TRY(of_user(ctx, in->params[0], engine_account(ctx, app->engine, in->params[0], &a)));
    return reply_fields(out, account_fields, &a);
}

SHAPE(role_in, (ENUM_OF, role, enum role, .required = true, .one_of = role_names,
                .help = "member: uses its own memory; operator: also runs the server; owner: also "
                        "manages people. The last owner stays one"));

SHAPE(role_out, (STR, id), (ENUM_OF, role, enum role, .one_of = role_names),
      (INT, revoked, .help = "tokens of others that this user made as an owner, and that end"));

static HANDLER(user_role)
{
    const struct role_in *a = in->in;
    struct role_out shape = {.id = in->params[0], .role = a->role};
    TRY(name_check(ctx, "id", shape.id));
    TRY(of_user(ctx, shape.id,
                engine_set_role(ctx, app->engine, shape.id, a->role, &shape.revoked)));
    return reply_fields(out, role_out_fields, &shape);
}

SHAPE(erase_in, (STR, confirm, .required = true, .max = 1000, .help = "the id once more"),
      (BOOL, people, .help = "also the people of the user's clients"));

static FIELDS_OF(erase_account, user_erased_out, (STR, id),
                 (INT, erased, .help = "number of memories and messages"),
                 (INT, people, .help = "number of people erased with it"),
                 (STR, erasure, .empty = EMPTY_OUT,
                  .help = "id of its certificate: GET /v1/erasures/{id}"));

static HANDLER(user_erase)
{
    const struct erase_in *a = in->in;
    struct erase_account what = {.id = in->params[0], .with_people = a->people};
    if (!str_eq(a->confirm, what.id))
        return fail_field(ctx, "confirm", "must be the id of the user that is to be erased");
    enum status s = engine_erase_account(ctx, app->engine, &what);
    if (s == CONFLICT) {
        str why = ctx_take_why(ctx);
        return fail(ctx, CONFLICT, S_FMT "; people=true erases them as well", S_ARG(why));
    }
    TRY(of_user(ctx, what.id, s));
    return reply_fields(out, user_erased_out_fields, &what);
}

SHAPE(space_erased_out, (STR, space), (INT, erased, .help = "number of memories and messages"),
      (STR, erasure, .empty = EMPTY_OUT, .help = "id of its certificate: GET /v1/erasures/{id}"));

/* The space of the path, under the rule of reach that holds for one that a header names. */
static HANDLER(space_erase)
{
    struct space_erased_out shape = {.space = in->params[0]};
    struct forget what = {.everything = true, .erasure = &shape.erasure};
    TRY(auth_pool(ctx, app, &in->who, in->params[0], "name", &what.pool));
    enum status s = engine_forget(ctx, app->engine, &what, &shape.erased);
    if (soft_if(ctx, s, NOT_FOUND))
        return fail(ctx, NOT_FOUND, "there is no space '" S_FMT "'", S_ARG(shape.space));
    TRY(s);
    return reply_fields(out, space_erased_out_fields, &shape);
}

static const struct route routes[] = {
    {ROUTE("GET", "/v1/users", user_list), TAKES(users_in), .access = ACCESS_OPERATOR,
     ANSWERS(users_out), .help = "users and the end users behind their keys, by id"},
    {ROUTE("GET", "/v1/users/{id}", user_get), .access = ACCESS_OPERATOR, ANSWERS(account),
     .help = "one user or person"},
    {ROUTE("PUT", "/v1/users/{id}/role", user_role), READS(role_in), .access = ACCESS_OWNER,
     ANSWERS(role_out), .help = "make a user a member, operator or owner"},
    {ROUTE("DELETE", "/v1/users/{id}", user_erase), TAKES(erase_in), .access = ACCESS_OWNER,
     ANSWERS(user_erased_out), .help = "erase a user or person with everything that it owns"},
    {ROUTE("DELETE", "/v1/spaces/{name}", space_erase), ANSWERS(space_erased_out),
     .help = "erase a space with everything in it"},
    {0},
};

const struct surface surface_users = STRICT_SURFACE("users", routes);
