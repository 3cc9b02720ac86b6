/* rpc.c - JSON-RPC messages are read strictly, and failures are worded with code, id and field. */
#include "surface/mcp/jsonrpc.h"

#include "t.h"

TEST(a_message_is_a_request_a_notification_or_a_response)
{
    static const struct {
        const char *text, *id;
        enum rpc_kind kind;
    } good[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\"}", "7", RPC_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"a\\n\",\"method\":\"m\",\"params\":{}}", "\"a\\n\"",
         RPC_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\",\"params\":null}", "7", RPC_REQUEST},
        {" {\"method\":\"m\",\"jsonrpc\":\"2.0\"} ", "", RPC_NOTIFICATION},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":null}", "7", RPC_RESPONSE},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{}}", "7", RPC_RESPONSE},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct rpc r;
        CHECK_OK(rpc_read(ctx, str_of(good[i].text), &r));
        CHECK_INT(r.kind, good[i].kind);
        CHECK_STR(r.id, str_of(good[i].id));
        CHECK_INT(r.error, 0);
    }
}

TEST(what_is_no_message_has_its_code_and_its_id_when_it_can_be_read)
{
    static const struct {
        const char *text, *id;
        int error;
    } bad[] = {
        {"", "", RPC_PARSE},
        {"{\"jsonrpc\":\"2.0\"", "", RPC_PARSE},
        {"[]", "", RPC_INVALID},
        {"[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\"}]", "", RPC_INVALID},
        {"7", "", RPC_INVALID},
        {"{\"id\":7,\"method\":\"m\"}", "7", RPC_INVALID},
        {"{\"jsonrpc\":2.0,\"id\":7,\"method\":\"m\"}", "7", RPC_INVALID},
        {"{\"jsonrpc\":\"2.0\",\"id\":7}", "7", RPC_INVALID},
        {"{\"jsonrpc\":\"2.0\",\"id\":7.0,\"method\":\"m\"}", "", RPC_INVALID},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", "", RPC_INVALID},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\",\"params\":0}", "7", RPC_PARAMS},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct rpc r;
        CHECK_STATUS(rpc_read(ctx, str_of(bad[i].text), &r), BAD_INPUT);
        CHECK_INT(r.error, bad[i].error);
        CHECK_STR(r.id, str_of(bad[i].id));
        ctx_clear_failure(ctx);
    }
}

TEST(a_failure_names_field_and_rule_or_brings_its_own_data)
{
    struct rpc r = {.id = S("7"), .error = RPC_PARAMS};
    struct buf b = buf_make(&ctx->arena, 4096);
    fail_field(ctx, "name", "is required");
    rpc_write_error(ctx, &r, S(""), &b);
    CHECK_STR(buf_str(&b),
              S("{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32602,\"message\":\"name: is "
                "required\",\"data\":{\"field\":\"name\",\"rule\":\"is required\"}}}"));
    ctx_clear_failure(ctx);
    buf_clear(&b);
    r = (struct rpc){.error = RPC_INTERNAL};
    fail(ctx, STORAGE, "no \"disk\"");
    rpc_write_error(ctx, &r, S("[1]"), &b);
    CHECK_STR(buf_str(&b), S("{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32603,\"message\":\"no "
                             "\\\"disk\\\"\",\"data\":[1]}}"));
}
