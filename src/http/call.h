/* call.h - a part of the face of http: calling another server and waiting for its answer. */
#pragma once

#include "base/ctx.h"

struct upstream;

struct header {
    str name, value;
};

/* --- calling another server and waiting (on a worker, never on the loop) --- */

/* Takes the body of a 2xx answer piece by piece; false ends the call. */
struct intake {
    bool (*take)(struct intake *in, str bytes);
};

/* Signs a call as an S3-compatible storage asks (AWS Signature Version 4). */
struct call_key {
    str id, secret, region;
};

/* A file as a body, which is read while it is sent. */
struct upload {
    int fd;
    int64_t bytes;
};

struct call {
    str url, method;
    const struct header *headers;
    size_t n_headers;
    str body;
    int64_t timeout_ms; /* of the whole call; with an intake or upload: the longest silence */
    size_t answer_max;
    struct intake *intake;       /* NULL: the body is gathered in answer.body */
    int redirects;               /* how many may be followed */
    const struct upload *upload; /* a PUT of it; NULL: body is sent */
    const struct call_key *key;  /* NULL: the call is not signed */
    const char *wants;           /* a header of the answer; may be NULL */
};

struct answer {
    int code;
    str type, body;
    int64_t retry_ms; /* how long the server asks us to wait; 0 when it does not */
    int64_t bytes;    /* of the body, as the answer's head says; -1: it does not */
    str wanted;       /* the header that call.wants names, or "" */
};

/* Addresses that may be called although they are barred (core/url.h), separated by commas. Before
 * any thread calls; the text must live as long as the process. */
void http_allow_addresses(str list);
/* Whether other servers can be called at all; *with names libcurl and its version. UNSUPPORTED,
 * with what to install, when libcurl is missing. */
MUST_USE enum status http_client_check(struct ctx *ctx, str *with);
/* UPSTREAM when there is no answer, TIMED_OUT (also by the ctx's deadline), TOO_LARGE, UNSUPPORTED
 * without libcurl; any HTTP code is OK. Connections are kept per thread. */
MUST_USE enum status http_call(struct ctx *ctx, const struct call *call, struct answer *out);
/* The same of a model server, at this path of its API and with its key: a POST of the body, or a
 * GET without one. */
MUST_USE enum status http_call_upstream(struct ctx *ctx, const struct upstream *up,
                                        const char *path, struct call call, struct answer *out);
/* What shows a model server its key: the header that its settings name, else that of the API. */
struct header http_key_header(struct arena *a, const struct upstream *up, bool is_anthropic);

/*
 * The reason in another server's error answer: error.message, status.error, error, message or
 * detail of its JSON, or its plain text; at most that many bytes, on one line, "" when it has none.
 * A text that repeats anything of asked is withheld. secret is the key that was sent: stars are
 * shown in its place.
 */
str http_complaint(struct arena *a, str body, size_t most, str secret, const str *asked, size_t n);
