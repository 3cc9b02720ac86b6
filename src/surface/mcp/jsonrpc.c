/* jsonrpc.c - JSON-RPC messages: what is one, and how a failure is said. */
#include "surface/mcp/jsonrpc.h"

#include "surface/common/json_form.h"

/*
 * JSON-RPC 2.0 as the Model Context Protocol uses it: no batches, params always an object, an id
 * that is never null. A message with a method and an id is a request, without an id a notification,
 * and one with result or error a response. The error codes are those of JSON-RPC, section 5.1.
 */

/* A string or a whole number; a message with another id cannot be answered. */
static enum status read_id(struct ctx *ctx, const struct json *message, struct rpc *out)
{
    const struct json *id = json_get(message, "id");
    int64_t number;
    out->kind = id ? RPC_REQUEST : RPC_NOTIFICATION;
    if (!id)
        return OK;
    if (id->type != JSON_STRING && !(id->type == JSON_NUMBER && str_int(id->source, &number)))
        return fail_field(ctx, "id", "must be a string or a whole number");
    out->id = id->source;
    return OK;
}

const struct json *rpc_member(const struct json *object, const char *name)
{
    const struct json *v = json_get(object, name);
    return v && v->type != JSON_NULL ? v : NULL;
}

/* The order decides which code a broken message gets: the id first, so that even a wrong message
 * can be answered by its id, and params last with a code of their own. */
static enum status read_message(struct ctx *ctx, const struct json *message, struct rpc *out)
{
    if (message->type == JSON_ARRAY)
        return fail(ctx, BAD_INPUT, "batches are not supported; send one message at a time");
    if (message->type != JSON_OBJECT)
        return fail(ctx, BAD_INPUT, "a message must be a JSON object");
    TRY(read_id(ctx, message, out));
    if (!str_is(json_string(json_get(message, "jsonrpc")), "2.0"))
        return fail_field(ctx, "jsonrpc", "must be \"2.0\"");
    const struct json *method = json_get(message, "method");
    if (!method && (json_get(message, "result") || json_get(message, "error"))) {
        out->kind = RPC_RESPONSE;
        return OK;
    }
    out->method = json_string(method);
    if (!out->method.n)
        return fail_field(ctx, "method", "must be a string that is not empty");
    out->params = rpc_member(message, "params");
    out->error = RPC_PARAMS;
    if (out->params && out->params->type != JSON_OBJECT)
        return fail_field(ctx, "params", "must be an object");
    return OK;
}

enum status rpc_read(struct ctx *ctx, str text, struct rpc *out)
{
    static const str mark = S("\xEF\xBB\xBF"); /* of the byte order, which some clients send */
    struct json *message;
    *out = (struct rpc){.error = RPC_PARSE};
    if (str_starts(text, mark))
        text = str_sub(text, mark.n, text.n);
    TRY(json_parse(ctx, text, &message));
    out->error = RPC_INVALID;
    TRY(read_message(ctx, message, out));
    out->error = 0;
    return OK;
}

/* Without an id that could be read the member is left out, not null: MCP's schema allows no
 * null. */
void rpc_write_error(struct ctx *ctx, const struct rpc *r, str data, struct buf *out)
{
    assert(r->error < 0);
    const char *why = ctx->why[0] ? ctx->why : status_name(ctx->failed);
    struct arena *a = &ctx->arena;
    str field = str_of(ctx->field), rule = quote_json(a, str_of(why));
    if (!data.n && field.n)
        data = JSON_FORM(a, "{'field':%,'rule':%}", quote_json(a, field), rule);
    buf_add(out,
            JSON_FORM(a, "{'jsonrpc':'2.0',%'error':{'code':%,'message':%%%}}",
                      r->id.n ? JSON_FORM(a, "'id':%,", r->id) : S(""), number_json(a, r->error),
                      field.n ? quote_json(a, str_printf(a, "%s: %s", ctx->field, why)) : rule,
                      data.n ? S(",\"data\":") : S(""), data));
}
