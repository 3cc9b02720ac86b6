/* guard.h - which Host and Origin are served. */
#pragma once

#include "http/http.h"

/* FORBIDDEN or BAD_INPUT with a reason. is_old: HTTP/1.0, which needs no Host. */
MUST_USE enum status guard_check(struct ctx *ctx, const struct server_settings *settings,
                                 const struct request *in, bool is_old);
