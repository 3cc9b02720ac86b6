/* parse.h - bytes of a client as requests, one after the other. */
#pragma once

#include <llhttp.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "http/call.h"
#include "http/wire/framing.h"

enum { HEADERS_MAX = 100 }; /* of a request */

/* A request as it comes in. */
struct incoming {
    struct ctx *ctx;       /* head and spans are in its arena; it notes why the parser refuses */
    struct buf head, body; /* the body is on the heap */
    struct span *spans;
    size_t n_spans;
    size_t target_n; /* of head: the request target */
    size_t body_max; /* set by the head event */
    uint64_t length; /* of the body, as it was announced, or 0 */
    str method;
    bool name_done, head_done, keep_alive, is_old; /* is_old: HTTP/1.0, which has no chunks */
};

void incoming_init(struct incoming *in, struct ctx *ctx, size_t head_max);
/* All n_spans headers, once head_done is set. */
const struct header *incoming_headers(const struct incoming *in);

struct parser;

/* Each returns 0, or the code that refuses the request; why is in the ctx. */
struct parser_events {
    int (*head)(struct parser *p);
    int (*body_due)(struct parser *p);       /* behind the head, when a body follows */
    int (*body)(struct parser *p, size_t n); /* so many bytes more are to be kept */
};

struct parser {
    llhttp_t http;
    const struct parser_events *events;
    struct incoming *in;    /* set by the owner before the first byte of a request */
    struct framing framing; /* what of the request came so far */
    int fault;              /* the code of a refusal */
};

enum parsed { PARSE_MORE, PARSE_WHOLE, PARSE_REFUSED };

void parser_init(struct parser *p, const struct parser_events *events);
/* Takes bytes up to the end of one request; *bytes is then what is behind that end, or "". */
enum parsed parser_feed(struct parser *p, str *bytes);
