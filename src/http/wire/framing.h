/* framing.h - where a request ends, checked strictly before the parser reads the bytes. */
#pragma once

#include "base/ctx.h"
#include "http/http.h"

/* What the next byte belongs to. */
enum framing_part {
    FRAMING_LINE, /* of the head, or of the trailers */
    FRAMING_BODY, /* the head is over: the parser says how the body comes */
    FRAMING_PLAIN,
    FRAMING_SIZE, /* of a chunk */
    FRAMING_EXTENSION,
    FRAMING_SIZE_END,
    FRAMING_CHUNK,
    FRAMING_CHUNK_CR,
    FRAMING_CHUNK_LF,
    FRAMING_OVER,
};

/* All zero: in front of a request. */
struct framing {
    enum framing_part at;
    bool after_cr, after_space, has_line, is_trailer;
    size_t line_n, digits; /* of the line so far without its end; of the size of a chunk */
    size_t extra;          /* bytes of extensions and trailers */
    uint64_t left;         /* of the chunk */
};

/* How many of the bytes belong to this part of the request: to the end of its head, or to its end.
 * *why is set to what is wrong with one of them. */
size_t framing_scan(struct framing *f, str bytes, const char **why);

/* Headers that say where the body ends, or who asks: BAD_INPUT when a proxy in front could read
 * them in another way. */
MUST_USE enum status framing_check(struct ctx *ctx, const struct header *headers, size_t n,
                                   bool is_old);

/* UNSUPPORTED, and 415 in refused, for a packed body that is read here: nothing unpacks it. */
MUST_USE enum status framing_packed(struct ctx *ctx, const struct request *in, bool is_passed_on,
                                    int *refused);
