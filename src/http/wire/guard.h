/* guard.h - checks of Host and Origin, and the headers by which browsers learn of them. */
#pragma once

#include "http/http.h"

/*
 * Whether a request from a peer on this machine is of this machine: it names a loopback host, in
 * HTTP/1.1, and has no header of a proxy. A proxy here connects from loopback for clients anywhere.
 */
bool guard_is_local(const struct request *in, bool is_old);
/* Whether it says who asks; not whether that is true. */
bool guard_shows_credential(const struct request *in);
/* The client's address as the nearest proxy names it, or "". */
str guard_client(const struct request *in);
/* BAD_INPUT unless it names one host, in one way; authority is that of the target, or "". is_old:
 * HTTP/1.0, which needs no Host. */
MUST_USE enum status guard_host(struct ctx *ctx, const struct request *in, str authority,
                                bool is_old);
/* FORBIDDEN with a reason: the host is not served, or the request is a foreign page's. is_open: it
 * asks for what anyone may have, such as the web page, to which other pages may link. */
MUST_USE enum status guard_check(struct ctx *ctx, const struct server_settings *settings,
                                 const struct request *in, bool is_open);

/* Whether a foreign page of this origin may read answers (settings->origins). "" is no page. */
bool guard_shares(const struct server_settings *settings, str origin);
/* OPTIONS by which a browser asks before the request itself. */
bool guard_is_preflight(const struct request *in);
/* Headers of the answer to a preflight. */
void guard_preflight(const struct request *in, struct reply *out);
/* Lines for every answer's head, beside those that it has itself. is_shared: a foreign page asks
 * that may read the answer. */
void guard_head(const struct server_settings *settings, const struct request *in, bool is_shared,
                struct buf *b);
