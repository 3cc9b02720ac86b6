/* reply.h - the lines of a reply's head. */
#pragma once

#include "http/http.h"

/* Names are tokens, values hold no control character: no header can break out of its line. */
MUST_USE enum status reply_check(struct ctx *ctx, const struct header *headers, size_t n);
void reply_line(struct buf *b, str name, str value);
void reply_headers(struct buf *b, const struct header *headers, size_t n);
