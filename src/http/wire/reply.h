/* reply.h - the lines of a reply's head. */
#pragma once

#include "http/http.h"

/* Names are tokens, values hold no control character: no header can break out of its line. */
MUST_USE enum status reply_check(struct ctx *ctx, const struct header *headers, size_t n);
/* Lines that each head has, once: of an upstream's own, or ours. */
struct has_lines {
    bool date, id, caching, buffering;
};
/* Whether the handler has set a header. */
bool reply_has(const struct reply *r, str name);
void reply_line(struct buf *b, str name, str value);
/* The handler's headers, and the empty line behind all. */
void reply_end_head(struct buf *b, const struct reply *r);
/* Bytes of a body, as a chunk of their own or as they are; of none there is no chunk, since an
 * empty one is the end. */
void reply_piece(struct buf *b, str bytes, bool is_chunked);
