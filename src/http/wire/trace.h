/* trace.h - reading traceparent and tracestate of a request, as W3C Trace Context says. */
#pragma once

#include "http/http.h"

/*
 * The trace of the request's headers, in the arena; without one all zero. Makes the request's id in
 * ctx the one of its trace and its span. A broken traceparent counts as absent, and so does its
 * tracestate. begins: a request without a trace gets one, and a sampled trace is recorded.
 */
struct trace *trace_read(struct ctx *ctx, const struct request *in, bool begins);
