/* trace.h - a part of the face of http: the trace that a request belongs to, and its times. */
#pragma once

#include "base/ctx.h"

/* What a chat's time is spent on. The last one may end after the client has its answer. */
enum stage { STAGE_RECALL, STAGE_UPSTREAM, STAGE_KEEP, STAGE_COUNT };
extern const char *const stage_names[];

enum { TRACE_ID_HEX = 32, SPAN_ID_HEX = 16, TRACE_SAMPLED = 1 };

/* What is known of a chat but its texts. Written by the surface that answers it. */
struct chat_facts {
    const char *operation;         /* of OpenTelemetry: "chat"; NULL: the request is not a chat */
    str provider, model;           /* the API of the upstream, and the model that was asked for */
    str upstream;                  /* its base URL, or "" */
    str answered_by, answer_id;    /* as the answer says, or "" */
    int64_t tokens_in, tokens_out; /* that the upstream counted; 0: not known */
    str session, receipt;          /* ids, or "" */
};

/* Lives as long as the exchange. Times are clock_mono_us; 0: not yet. */
struct trace {
    char id[TRACE_ID_HEX + 1];    /* lower-case hex; "": no trace */
    char parent[SPAN_ID_HEX + 1]; /* the caller's span; "": the trace begins here */
    char span[SPAN_ID_HEX + 1];   /* of this request */
    unsigned flags;
    str state;        /* tracestate of a valid traceparent, with commas between its lines */
    bool is_recorded; /* its spans are sent */
    struct chat_facts chat;
    struct {
        int64_t began_us, ended_us;
    } stages[STAGE_COUNT];
    int64_t first_us;  /* the upstream's first byte */
    int64_t ended_us;  /* the client has its answer, or has left */
    int upstream_code; /* 0: no answer */
};

/* t may be NULL. A stage that runs more than once goes from its first begin to its last end. */
void trace_begin(struct trace *t, enum stage stage);
void trace_end(struct trace *t, enum stage stage);

/* The id of a stage's span: the same each time, and never all zero. */
void trace_stage_span(const struct trace *t, enum stage stage, char out[SPAN_ID_HEX + 1]);

/* The value of a traceparent header that names the span as the parent; in the arena. */
str trace_parent(struct arena *a, const struct trace *t, const char *span);
