/* person.c - the person behind a credential, named by headers or the body of a chat, or looked at.
 */
#include "surface/common/person.h"

#include "base/audit.h"
#include "base/seal.h"
#include "base/utf8.h"
#include "surface/common/auth.h"

/*
 * A front end such as a chat server shows one token for many people. This file finds out which of
 * them speaks. The setting user_from lists sources in order, and the first one that holds a name
 * decides; "all" stands for the list KNOWN_SOURCES. A source with a hyphen is a header, another one
 * is a member of a chat's body, given as a path.
 *
 * The name alone proves nothing: become_person asks whether the token may speak for that person
 * (acts_for). A person's memory is a user of its own below the owner of the token.
 */

/* U+FFFD: what JSON escapes that are no character are read as, so that different names could become
 * one. */
#define UNREADABLE "\xEF\xBF\xBD"

/* --- names in headers --- */

/* Two headers of one name: a proxy in front may have added one and kept the client's own. */
static enum status one_header(struct ctx *ctx, const struct request *in, str name, str *out)
{
    *out = S("");
    for (size_t i = 0; i < in->n_headers; i++) {
        const struct header *h = &in->headers[i];
        if (!str_eq_nocase(h->name, name))
            continue;
        if (out->n && !str_eq(*out, h->value))
            return fail_field(ctx, str_c(&ctx->arena, name), "comes twice with different values");
        *out = h->value;
    }
    return OK;
}

/* The token is trusted like every other header here: because of the credential beside it. */
static enum status name_in_jwt(struct ctx *ctx, str source, str *name)
{
    str rest = *name, claims;
    struct json *root = NULL;
    str_cut(&rest, '.');
    if (base64url_read(&ctx->arena, str_cut(&rest, '.'), &claims))
        soft(ctx, json_parse(ctx, claims, &root));
    *name = json_string(json_get(root, "sub"));
    return name->n
               ? OK
               : fail_field(ctx, str_c(&ctx->arena, source), "must be a JWT with the claim sub");
}

/* --- names in bodies --- */

/* What Claude Code puts into metadata.user_id: an object as text, or before mid-2026
 * user_HASH_account_UUID_session_UUID. */
struct installation {
    str account, device, session;
};

static bool read_old_form(str text, struct installation *out)
{
    const str user = S("user_"), account = S("_account_"), session = S("_session_");
    if (!str_starts(text, user))
        return false;
    str rest = str_sub(text, user.n, text.n);
    size_t at = str_find(rest, account);
    if (at == rest.n)
        return false;
    *out = (struct installation){.device = str_sub(rest, 0, at)};
    rest = str_sub(rest, at + account.n, rest.n);
    at = str_find(rest, session);
    if (at == rest.n)
        return false;
    out->account = str_sub(rest, 0, at);
    out->session = str_sub(rest, at + session.n, rest.n);
    return out->account.n || out->device.n;
}

/* account_uuid is the account of a person, device_id an installation without one. Both are absent
 * in other clients' metadata, whose user_id is then a plain name. */
static bool read_installation(struct ctx *ctx, str text, struct installation *out)
{
    struct json *v = NULL;
    if (read_old_form(text, out))
        return true;
    if (!text.n || text.p[0] != '{' || !soft(ctx, json_parse(ctx, text, &v)))
        return false;
    *out = (struct installation){.account = json_string(json_get(v, "account_uuid")),
                                 .device = json_string(json_get(v, "device_id")),
                                 .session = json_string(json_get(v, "session_id"))};
    return out->account.n || out->device.n;
}

/* A number is a name as it is written. */
static enum status name_in_body(struct ctx *ctx, const struct json *body, str source, str *out)
{
    const struct json *v = json_at(body, str_c(&ctx->arena, source));
    struct installation it;
    *out = S("");
    if (!v || v->type == JSON_NULL)
        return OK;
    if (v->type != JSON_STRING && v->type != JSON_NUMBER)
        return fail_field(ctx, str_c(&ctx->arena, source), "must be a string");
    *out = v->type == JSON_STRING ? json_string(v) : v->source;
    if (str_is(source, "metadata.user_id") && read_installation(ctx, *out, &it))
        *out = it.account.n ? it.account : it.device;
    return OK;
}

str person_session(struct ctx *ctx, const struct json *body)
{
    static const char *const members[] = {"session_id", "metadata.session_id", "metadata.chat_id",
                                          "metadata.conversation_id", NULL};
    struct installation it;
    for (const char *const *m = members; *m; m++) {
        str session = json_string(json_at(body, *m));
        if (session.n)
            return session;
    }
    str text = json_string(json_at(body, "metadata.user_id"));
    return read_installation(ctx, text, &it) ? it.session : S("");
}

/* --- who it is --- */

struct person {
    str source, name;
};

/* U+FFFD stands for bytes that were not text: two names that differ only there would share a
 * memory. */
static enum status check_name(struct ctx *ctx, const struct person *p)
{
    if (p->name.n > PERSON_MAX)
        return fail_field(ctx, str_c(&ctx->arena, p->source), "must have at most %d bytes",
                          PERSON_MAX);
    if (!utf8_is_valid(p->name) || str_find(p->name, S(UNREADABLE)) < p->name.n)
        return fail_field(ctx, str_c(&ctx->arena, p->source), "must be valid UTF-8 without U+FFFD");
    return name_check(ctx, str_c(&ctx->arena, p->source), p->name);
}

/* A token that speaks for nobody may still name its own user: front ends send a user with every
 * chat, also when there is only one. For a token with acts_for that name is a person like any
 * other. */
static enum status become_person(struct ctx *ctx, const struct person *p, struct identity *who)
{
    str name = p->name;
    assert(who->own.user.n);
    TRY(check_name(ctx, p));
    if (!who->acts_for.n && person_is_owner(&ctx->arena, who->own.user, name)) {
        who->pool.user = who->own.user;
        who->is_person = false;
        return OK;
    }
    if (!acts_for(who->acts_for, name))
        return fail(ctx, FORBIDDEN,
                    S_FMT ": this token may not speak for that person: make one with 'rememberd "
                          "token create --acts-for any', or see the setting user_from",
                    S_ARG(p->source));
    who->pool.user = person_user(&ctx->arena, who->own.user, name);
    who->is_person = true;
    return OK;
}

/* What "all" stands for. A name with a hyphen is a header, another one a member of the body. */
#define KNOWN_SOURCES                                                                              \
    PERSON_HEADER ",user,safety_identifier,metadata.user_id,litellm_metadata.user,"                \
                  "X-OpenWebUI-User-Jwt,X-OpenWebUI-User-Id,X-OpenWebUI-User-Email,"               \
                  "X-User-Id,X-User-Email,X-LiteLLM-Customer-Id,X-LiteLLM-End-User-Id"

/* Open WebUI can send the person as a signed token; a header whose name ends in -Jwt is read as
 * one. */
static enum status ask_source(struct ctx *ctx, const struct request *in, const struct json *body,
                              str source, struct person *out)
{
    out->source = source;
    if (str_find(source, S("-")) == source.n)
        return body ? name_in_body(ctx, body, source, &out->name) : OK;
    TRY(one_header(ctx, in, source, &out->name));
    bool is_jwt = source.n > 4 && str_eq_nocase(str_sub(source, source.n - 4, source.n), S("-jwt"));
    return out->name.n && is_jwt ? name_in_jwt(ctx, source, &out->name) : OK;
}

/* The first one with a name. */
static enum status ask_sources(struct ctx *ctx, const struct request *in, const struct json *body,
                               str sources, struct person *out)
{
    while (sources.n && !out->name.n) {
        str source = str_trim(str_cut(&sources, ','));
        TRY(str_is(source, "all") ? ask_sources(ctx, in, body, S(KNOWN_SOURCES), out)
                                  : ask_source(ctx, in, body, source, out));
    }
    return OK;
}

enum status person_find(struct ctx *ctx, struct app *app, const struct request *in,
                        const struct json *body, struct identity *who)
{
    struct person person = {0};
    TRY(ask_sources(ctx, in, body, app->settings->user_from, &person));
    return person.name.n ? become_person(ctx, &person, who) : OK;
}

/* Also where an owner looks at another user: the request is about that user alone. */
enum status person_named(struct ctx *ctx, str source, str name, struct identity *who)
{
    const struct person person = {source, name};
    assert(name.n);
    if (str_eq(who->pool.user, who->own.user))
        return become_person(ctx, &person, who);
    TRY(check_name(ctx, &person));
    if (!str_eq(person_user(&ctx->arena, who->own.user, name), who->pool.user))
        return fail(ctx, FORBIDDEN, S_FMT ": the request names another person in a header",
                    S_ARG(source));
    return OK;
}

/* --- another user, for an owner who looks --- */

/* Names the user whose memory is looked at. */
#define LOOK_AS_HEADER "X-Memory-Look-As"

/* Questions that are sent as a body. */
static bool only_reads(const struct request *in)
{
    static const char *const asking[] = {"/v1/preview", "/v1/memories/search", NULL};
    return str_is(in->method, "GET") || str_is(in->method, "HEAD") ||
           (str_is(in->method, "POST") && str_is_one_of(in->path, asking));
}

/* The name of a space that the looked-at user does not name: the usual one. */
enum status look_as(struct ctx *ctx, struct app *app, const struct request *in,
                    struct identity *who)
{
    struct account account;
    str user = str_trim(request_header(in, LOOK_AS_HEADER));
    if (!user.n || str_eq(user, who->pool.user))
        return OK;
    if (!auth_has(who, MANAGES_PEOPLE))
        return fail(ctx, FORBIDDEN, LOOK_AS_HEADER " needs an admin token of an owner");
    if (!only_reads(in))
        return fail(ctx, FORBIDDEN, "another user's memory can only be looked at");
    enum status s = engine_account(ctx, app->engine, user, &account);
    if (s == NOT_FOUND)
        return fail(ctx, NOT_FOUND, "there is no user '%.100s'", str_c(&ctx->arena, user));
    TRY(s);
    log_event(LOG_INFO, "access.look_as",
              "id=%s operator=\"" S_FMT "\" token=" S_FMT " user=\"" S_FMT "\" path=\"" S_FMT "\"",
              ctx->id, S_ARG(who->own.user), S_ARG(who->token), S_ARG(account.id), S_ARG(in->path));
    audit_note(ctx, "look_as", account.id, "operator=" S_FMT " token=" S_FMT " path=" S_FMT,
               S_ARG(who->own.user), S_ARG(who->token), S_ARG(in->path));
    who->pool = (struct pool_ref){account.id, S(DEFAULT_SPACE)};
    who->is_person = true;
    return OK;
}
