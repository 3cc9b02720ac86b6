/* request.h - a request: its path and id, its trace, its fields, its line in the log. */
#pragma once

#include "http/http.h"

/* The body, or the query of GET, HEAD and DELETE without one, into r->in and r->json; what the
 * surface reads of a body beside its routes (aside) into r->aside. */
MUST_USE enum status request_read(struct ctx *ctx, const struct surface *surface,
                                  const struct route *route, struct request *r);

/* The path of a request's target, undecoded: of "/path?query#part" and of "http://host/path?query",
 * whose host is *authority then, else "". *origin_form is the target without host and part. */
str request_path(str target, str *authority, str *origin_form, str *query);

/* --- trace.c --- */

/*
 * The trace of the request's headers, as W3C Trace Context says, in the arena; without one all
 * zero. Makes the request's id in ctx the one of its trace and its span. A broken traceparent
 * counts as absent, and so does its tracestate. begins: a request without a trace gets one, and a
 * sampled trace is recorded.
 */
struct trace *trace_read(struct ctx *ctx, const struct request *in, bool begins);

/* --- request_log.c --- */

/* How a request ended. */
struct ended {
    str target; /* without host and part */
    int code;
    enum status how;
    uint64_t sent;       /* bytes of the body */
    bool is_our_failure; /* else at most the client's own affair */
};
void request_log(struct ctx *ctx, const struct server_watch *watch, const struct request *in,
                 const struct ended *e);
