/* connect.h - programs that use this server: their hooks, and the entries in their settings. */
#pragma once

#include "app/command.h"
#include "http/http.h"

/* The server that --url names, or the one of the settings. BAD_INPUT for a unix socket. */
MUST_USE enum status server_address(struct ctx *ctx, const struct options *o, str *out);

/* The access token for that server, from the environment, or "". */
#define TOKEN_VARIABLE "REMEMBERD_TOKEN"
str server_token(void);

/* That server, and the headers of a call to it. There is room for one more. */
enum { SERVER_HEADERS_MAX = 4 };
struct called_server {
    str url;
    struct header headers[SERVER_HEADERS_MAX];
    size_t n_headers;
};
/* Connects to nothing yet. token "": none is sent. */
MUST_USE enum status server_find(struct ctx *ctx, const struct options *o, str token,
                                 struct called_server *out);

command_function command_hook;
