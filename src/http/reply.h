/* reply.h - replies on their way out: the head's lines, and whole replies. */
#pragma once

#include "http/http.h"

struct exchange;

/* The status line and our own headers; the caller adds the rest and the empty line. */
void reply_begin(struct exchange *x, struct buf *b, bool needs_date, bool needs_id);
/* Names are tokens, values hold no control character: no header can break out of its line. */
MUST_USE enum status reply_check(struct ctx *ctx, const struct header *headers, size_t n);
void reply_headers(struct buf *b, const struct header *headers, size_t n);
/* Puts the whole reply into the connection's output and sends it. */
void reply_send(struct exchange *x);
