/* guard.h - which Host and Origin are served. */
#pragma once

#include "http/http.h"

/*
 * Whether a request from a peer on this machine is of this machine: it names a loopback host, in
 * HTTP/1.1, and has no header of a proxy. A proxy here connects from loopback for clients anywhere.
 */
bool guard_is_local(const struct request *in, bool is_old);
/* The client's address as the nearest proxy names it, or "". */
str guard_client(const struct request *in);
/* FORBIDDEN or BAD_INPUT with a reason. is_old: HTTP/1.0, which needs no Host. */
MUST_USE enum status guard_check(struct ctx *ctx, const struct server_settings *settings,
                                 const struct request *in, bool is_old);
