/* call.h - calls to the running server, with the token of the environment. */
#pragma once

#include "app/options.h"
#include "base/json.h"
#include "http/http.h"

enum { SHELL_HEADERS_MAX = 6 };

struct shell_server {
    str url;
    struct header headers[SHELL_HEADERS_MAX];
    size_t n_headers;
};

/* Connects to nothing yet. */
MUST_USE enum status shell_server_find(struct ctx *ctx, const struct options *o,
                                       struct shell_server *out);

/* UPSTREAM, with what to do, when no server answers. Any code of HTTP is OK. */
MUST_USE enum status shell_call(struct ctx *ctx, const struct shell_server *s, const char *method,
                                str path, str body, struct intake *intake, struct answer *out);
/* FORBIDDEN for 401 and 403, UPSTREAM for other codes but 200, with the server's reason. */
MUST_USE enum status shell_check(struct ctx *ctx, const struct answer *answer);
/* A GET whose answer is JSON. */
MUST_USE enum status shell_get(struct ctx *ctx, const struct shell_server *s, str path,
                               struct json **out);
