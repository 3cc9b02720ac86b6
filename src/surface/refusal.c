/* refusal.c - a failure in OpenAI's words. */
#include "surface/dialect.h"

/* What OpenAI's own server says for each kind; clients branch on type and code. */
static const struct {
    const char *type, *code;
} words[STATUS_COUNT] = {
    [BAD_INPUT] = {"invalid_request_error", NULL},
    [NO_AUTH] = {"invalid_request_error", "invalid_api_key"},
    [FORBIDDEN] = {"invalid_request_error", "insufficient_permissions"},
    [NOT_FOUND] = {"invalid_request_error", "not_found"},
    [CONFLICT] = {"invalid_request_error", "conflict"},
    [TOO_LARGE] = {"invalid_request_error", "request_too_large"},
    [TOO_BUSY] = {"server_error", "server_busy"},
    [TIMED_OUT] = {"server_error", "timeout"},
    [UPSTREAM] = {"server_error", "upstream_unreachable"},
    [STORAGE] = {"server_error", "storage_failed"},
    [UNSUPPORTED] = {"invalid_request_error", "unsupported"},
};

static void member(struct json_out *w, const char *name, const char *value)
{
    json_key(w, name);
    if (value && *value)
        json_str(w, str_of(value));
    else
        json_null(w);
}

void word_openai_error(struct ctx *ctx, enum status s, const struct request *in, struct reply *out)
{
    bool is_model = s == NOT_FOUND && str_is(str_of(ctx->field), "model");
    const char *why = ctx->why[0] ? ctx->why : status_name(s);
    (void)in;
    buf_clear(&out->body);
    struct json_out w = json_to(&out->body);
    json_open(&w, '{');
    json_key(&w, "error");
    json_open(&w, '{');
    json_key(&w, "message");
    json_str(&w, ctx->field[0] && !is_model ? str_printf(&ctx->arena, "%s: %s", ctx->field, why)
                                            : str_of(why));
    member(&w, "type", words[s].type ? words[s].type : "server_error");
    member(&w, "param", ctx->field);
    member(&w, "code", is_model ? "model_not_found" : words[s].code);
    json_close(&w, '}');
    json_close(&w, '}');
}
