/* connect.h - programs that use this server: their hooks, and the entries in their settings. */
#pragma once

#include "app/options.h"

/* The root of the repository that the folder is in, or the folder itself. */
str project_root(struct arena *a, str folder);

/* The server that --url names, or the one of the settings. BAD_INPUT for a unix socket. */
MUST_USE enum status server_address(struct ctx *ctx, const struct options *o, str *out);

/* The access token for that server, from the environment, or "". */
#define TOKEN_VARIABLE "REMEMBERD_TOKEN"
str server_token(void);
