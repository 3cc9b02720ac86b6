/* call.h - calls to the running server, with the token of the environment. */
#pragma once

#include "base/json.h"
#include "ext/connect/connect.h"

/* For server_find: the token, or else a key of the model's server. */
str shell_credential(void);

/* UPSTREAM, with what to do, when no server answers. Any code of HTTP is OK. */
MUST_USE enum status shell_call(struct ctx *ctx, const struct called_server *s, const char *method,
                                str path, str body, struct intake *intake, struct answer *out);
/* FORBIDDEN for 401 and 403, NOT_FOUND for 404, UPSTREAM for all else but 200, with the reason. */
MUST_USE enum status shell_check(struct ctx *ctx, const struct answer *answer);
/* A GET whose answer is JSON. */
MUST_USE enum status shell_get(struct ctx *ctx, const struct called_server *s, str path,
                               struct json **out);
