/* sse.h - server-sent events, read as the bytes come and written one at a time. */
#pragma once

#include "base/buf.h"

/* A reader; make with sse_reader, end with sse_free. An event over max bytes is dropped and
 * counted. */
struct sse {
    struct buf line, data, event;
    bool after_cr, in_body;
    size_t dropped;
};

struct sse sse_reader(size_t max);
void sse_free(struct sse *s);

/*
 * Feeds bytes; calls got for each finished event with its name ("" when none) and its data lines
 * joined by newline. The texts live until got returns. Follows the WHATWG parsing rules: CR, LF and
 * CRLF end lines, a leading BOM and comments are dropped, and so are events without data.
 */
void sse_feed(struct sse *s, str bytes, void (*got)(void *arg, str event, str data), void *arg);

/* Writes one event; a newline in data starts a new data line. */
void sse_write(struct buf *b, str event, str data);
