/* jsonrpc.h - one JSON-RPC 2.0 message: reading it strictly, and wording its errors. */
#pragma once

#include "base/json.h"

enum rpc_error {
    RPC_PARSE = -32700,
    RPC_INVALID = -32600,
    RPC_METHOD = -32601,
    RPC_PARAMS = -32602,
    RPC_INTERNAL = -32603,
};

enum rpc_kind { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESPONSE };

struct rpc {
    enum rpc_kind kind;
    str id; /* of a request: its JSON; "" when it could not be read */
    str method;
    const struct json *params; /* an object, or NULL */
    int error;                 /* why it was refused */
};

/* A member, or NULL when there is none or it is null, as some clients write what they leave out. */
const struct json *rpc_member(const struct json *object, const char *name);

/*
 * Reads one message; an array of them is refused. *out is always set: on failure error is the code
 * and id is there when it could be read. Strings point into the text.
 */
MUST_USE enum status rpc_read(struct ctx *ctx, str text, struct rpc *out);

/* The error response for ctx's failure; data is JSON. With "" it names the field and the rule. */
void rpc_write_error(struct ctx *ctx, const struct rpc *r, str data, struct buf *out);
