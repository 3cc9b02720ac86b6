/* user.c - lists everyone who has something here, gives roles, and erases one with all of it. */
#include "app/ask.h"
#include "app/command.h"
#include "app/instance.h"
#include "app/print.h"

/* Users need no registration: whoever has memories, conversations or a token is listed, and so is
 * each person behind a front end's key. */

static FIELDS(account, (STR, id), (STR, email), (INT, spaces), (INT, sessions), (INT, messages),
              (INT, memories), (INT, bytes), (INT, tokens),
              (ENUM_OF, role, enum role, .one_of = role_names), (TIME, created),
              (AS_TIME, active, "last_active"));

/* The status, and in words where there is no such user. */
static enum status of_user(struct ctx *ctx, str id, enum status s)
{
    return s == NOT_FOUND ? fail(ctx, NOT_FOUND, "there is no user '" S_FMT "'", S_ARG(id)) : s;
}

static void print_accounts(struct ctx *ctx, const struct account *v, size_t n, int64_t total)
{
    for (size_t i = 0; i < n; i++) {
        struct arena *a = &ctx->arena;
        print_line(str_printf(
            a, S_FMT "  " S_FMT ", " S_FMT ", " S_FMT "  %s  last active " S_FMT "  " S_FMT,
            S_ARG(v[i].id), S_ARG(counted(a, v[i].memories, "memory", "memories")),
            S_ARG(counted(a, v[i].messages, "message", "messages")),
            S_ARG(counted(a, v[i].tokens, "token", "tokens")), role_names[v[i].role],
            S_ARG(v[i].active ? date_of(a, v[i].active) : S("never")), S_ARG(v[i].email)));
    }
    printf("%zu of %lld\n", n, (long long)total);
}

static enum status list_users(struct ctx *ctx, const struct options *o, struct instance *instance)
{
    const struct account_filter f = {.contains = o->contains, .limit = (size_t)o->limit};
    struct account *v;
    size_t n;
    int64_t total;
    TRY(engine_accounts(ctx, instance->engine, &f, &v, &n, &total));
    if (!o->json) {
        print_accounts(ctx, v, n, total);
        return OK;
    }
    struct json_out w = json_in(&ctx->arena, PRINT_MAX);
    json_open(&w, '{');
    json_member_open(&w, "users", '[');
    for (size_t i = 0; i < n; i++)
        fields_write(&w, account_fields, &v[i]);
    json_close(&w, ']');
    json_member_int(&w, "total", total);
    json_close(&w, '}');
    return print_buf(w.b);
}

static enum status set_role(struct ctx *ctx, const struct options *o, struct instance *instance)
{
    str user = o->words.v[2];
    int64_t revoked;
    int role = name_index(role_names, o->words.v[3], -1);
    TRY(of_user(ctx, user,
                engine_set_role(ctx, instance->engine, user, (enum role)role, &revoked)));
    if (o->json)
        printf("{\"role\":\"%s\",\"revoked\":%lld}\n", role_names[role], (long long)revoked);
    else
        printf(S_FMT " is %s now; %lld tokens that it had made for others were revoked\n",
               S_ARG(user), role_names[role], (long long)revoked);
    return OK;
}

static enum status erase_user(struct ctx *ctx, struct instance *instance,
                              struct erase_account *what)
{
    enum status s = engine_erase_account(ctx, instance->engine, what);
    if (s == CONFLICT) {
        str why = ctx_take_why(ctx);
        return fail(ctx, CONFLICT, S_FMT "; --people erases them as well", S_ARG(why));
    }
    return of_user(ctx, what->id, s);
}

static enum status ask_about_user(struct ctx *ctx, struct instance *instance,
                                  const struct erase_account *what)
{
    struct arena *a = &ctx->arena;
    struct erasure sum = {0};
    struct strs people;
    bool is_local = str_is(what->id, LOCAL_USER);
    TRY(erasure_add(ctx, instance->engine, (struct pool_ref){what->id, S("")}, &sum));
    TRY(engine_people(ctx, instance->engine, what->id, S(""), &people));
    for (size_t i = 0; i < people.n; i++) {
        struct pool_ref pool = {person_user(a, what->id, people.v[i]), S("")};
        TRY(erasure_add(ctx, instance->engine, pool, &sum));
    }
    str who = str_printf(a, "the user '" S_FMT "'%s", S_ARG(what->id),
                         is_local ? "" : " with its registration and access tokens");
    if (what->people)
        who = str_printf(a, S_FMT " and " S_FMT " of its clients", S_ARG(who),
                         S_ARG(counted(a, what->people, "person", "people")));
    return ask_to_erase(ctx, who, &sum);
}

static enum status forget_user(struct ctx *ctx, const struct options *o, struct instance *instance)
{
    struct erase_account what = {.id = o->words.v[2], .with_people = o->people, .dry_run = !o->yes};
    TRY(erase_user(ctx, instance, &what));
    if (what.dry_run) {
        TRY(ask_about_user(ctx, instance, &what));
        what.dry_run = false;
        TRY(erase_user(ctx, instance, &what));
    }
    if (o->json)
        printf("{\"erased\":%lld,\"people\":%lld,\"erasure\":\"" S_FMT "\"}\n",
               (long long)what.erased, (long long)what.people, S_ARG(what.erasure));
    else
        printf("erased " S_FMT ", and " S_FMT "\n",
               S_ARG(
                   counted(&ctx->arena, what.erased, "memory or message", "memories and messages")),
               S_ARG(counted(&ctx->arena, what.people, "person", "people")));
    return OK;
}

enum status command_user_check(struct ctx *ctx, const struct options *o)
{
    str verb = o->words.v[1];
    if (str_is(verb, "list") && o->words.n == 2 && !o->people)
        return OK;
    if (str_is(verb, "forget") && o->words.n == 3)
        return ask_is_possible(ctx, o);
    if (str_is(verb, "role") && o->words.n == 4)
        return name_index(role_names, o->words.v[3], -1) >= 0
                   ? OK
                   : fail_field(ctx, "role", "must be member, operator or owner");
    return fail(ctx, BAD_INPUT,
                "must be one of: user list, user role ID member|operator|owner, "
                "user forget ID [--people] [--yes]");
}

enum status command_user(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    bool is_list = str_is(o->words.v[1], "list");
    TRY(instance_open(ctx, o, is_list ? TO_READ : TO_CHANGE, &instance));
    return is_list                         ? list_users(ctx, o, &instance)
           : str_is(o->words.v[1], "role") ? set_role(ctx, o, &instance)
                                           : forget_user(ctx, o, &instance);
}
