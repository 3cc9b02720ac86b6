/* omniroute.c - what OmniRoute's endpoints share: a memory, who may ask, how a failure reads. */
#include "surface/omniroute.h"

#include "surface/shapes.h"

/* --- a memory --- */

const struct field memory_shown_fields[] = {
    {STR(struct memory_shown, id), .required = true, .help = "UUID"},
    {AS_STR(struct memory_shown, api_key, "apiKeyId"), .required = true, .help = "owner"},
    {AS_STR(struct memory_shown, session, "sessionId"), .required = true, .help = "or empty"},
    {STR(struct memory_shown, type), .required = true, .one_of = type_names,
     .help = "kind of knowledge"},
    {STR(struct memory_shown, key), .required = true, .help = "or empty"},
    {STR(struct memory_shown, content), .required = true, .help = "what is remembered"},
    {JSON(struct memory_shown, metadata), .required = true, .help = "an object"},
    {AS_TIME(struct memory_shown, created, "createdAt"), .required = true},
    {AS_TIME(struct memory_shown, updated, "updatedAt"), .required = true},
    {AS_TIME(struct memory_shown, expires, "expiresAt"), .help = "null: never"},
    {0},
};

struct memory_shown show_memory(struct ctx *ctx, const struct memory *m)
{
    struct json *metadata = NEW(&ctx->arena, struct json);
    metadata->type = JSON_OBJECT;
    metadata->source = m->metadata.n ? m->metadata : S("{}");
    return (struct memory_shown){.id = m->id,
                                 .api_key = m->space,
                                 .session = m->session,
                                 .type = str_of(type_names[m->type]),
                                 .key = m->key,
                                 .content = m->content,
                                 .metadata = metadata,
                                 .created = m->created,
                                 .updated = m->updated,
                                 .expires = m->expires};
}

enum status show_memories(struct ctx *ctx, const struct memory *v, size_t n,
                          const struct json **out)
{
    struct memory_shown *items = NEW_N(&ctx->arena, struct memory_shown, n);
    for (size_t i = 0; i < n; i++)
        items[i] = show_memory(ctx, &v[i]);
    return json_list(ctx, memory_shown_fields, items, n, sizeof *items, out);
}

str model_of(str provider_model)
{
    size_t slash = str_find(provider_model, S("/"));
    return slash == provider_model.n ? provider_model
                                     : str_sub(provider_model, slash + 1, provider_model.n);
}

/* --- who asks --- */

enum status admit_manager(struct ctx *ctx, struct app *app, enum route_access needs,
                          struct request *in)
{
    enum status s = admit_own(ctx, app, needs, in);
    if (s == OK)
        return OK;
    ctx_clear_failure(ctx);
    if (s == FORBIDDEN)
        return fail(ctx, s,
                    "API key lacks 'manage' scope. 'rememberd token create --admin' makes "
                    "one that has it.");
    if (s != NO_AUTH)
        return fail(ctx, s, "Service temporarily unavailable");
    return fail(ctx, s, "%s",
                request_header(in, "Authorization").n ? "Invalid or expired access token"
                                                      : "Authentication required");
}

enum status managed_pool(struct ctx *ctx, struct app *app, const struct request *in, str key,
                         struct pool_ref *out)
{
    *out = (struct pool_ref){in->who.pool.user, S("")};
    return key.n ? space_of_key(ctx, app, &in->who, key, &out->space) : OK;
}

/* --- failures --- */

static bool is_json(str text)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    struct json *v;
    return !text.n || json_parse(&ctx, text, &v) == OK;
}

/* A UUID in which the id that the log knows can be found. */
static str request_id(struct ctx *ctx)
{
    return str_printf(&ctx->arena, "%.8s-0000-8000-8000-0000%.8s", ctx->id, ctx->id + 8);
}

static void details(struct json_out *w, const struct ctx *ctx, bool is_shape)
{
    json_key(w, "details");
    json_open(w, '[');
    if (is_shape) {
        json_open(w, '{');
        json_key(w, "field");
        json_str(w, str_of(ctx->field));
        json_key(w, "message");
        json_str(w, str_of(ctx->why));
        json_close(w, '}');
    }
    json_close(w, ']');
}

static str message_of(struct ctx *ctx, bool is_json_body)
{
    if (!is_json_body)
        return S("Invalid JSON body");
    return ctx->field[0] ? str_printf(&ctx->arena, "%s: %s", ctx->field, ctx->why)
                         : str_of(ctx->why);
}

/*
 * OmniRoute has several shapes of a failure; its document has {error: {message, type, details},
 * requestId}, and that is given everywhere. What breaks a rule of the body is told by the real
 * server as {message, details} beside no error at all; both stand in one body, so that clients of
 * either read it.
 */
void word_omniroute_error(struct ctx *ctx, enum status s, const struct request *in,
                          struct reply *out)
{
    bool is_client = (http_code(s) < 500 && s != TOO_BUSY) || s == UNSUPPORTED;
    bool is_json_body = s != BAD_INPUT || is_json(in->body);
    bool is_shape = s == BAD_INPUT && is_json_body;
    if (s == STORAGE && !in->who.pool.user.n)
        out->code = 503;
    buf_clear(&out->body);
    struct json_out w = json_to(&out->body);
    json_open(&w, '{');
    json_key(&w, "error");
    json_open(&w, '{');
    json_key(&w, "message");
    json_str(&w, message_of(ctx, is_json_body));
    json_key(&w, "type");
    json_str(&w, is_client ? S("invalid_request") : S("server_error"));
    details(&w, ctx, is_shape);
    json_close(&w, '}');
    if (is_shape) {
        json_key(&w, "message");
        json_str(&w, S("Invalid request"));
        details(&w, ctx, true);
    }
    json_key(&w, "requestId");
    json_str(&w, request_id(ctx));
    json_close(&w, '}');
}
