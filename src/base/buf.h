/* buf.h - text that is written: it grows to a stated limit and says so once, at the end. */
#pragma once

#include "base/str.h"

/* full is sticky: whatever comes after it is dropped. */
struct buf {
    char *p;
    size_t n, cap, max;
    struct arena *arena; /* NULL: on the heap, given back by buf_free */
    bool full;
};

struct buf buf_make(struct arena *arena, size_t max);
void buf_free(struct buf *b);

void buf_add(struct buf *b, str s);
void buf_byte(struct buf *b, char c);
/* The same of JSON or plain text, but of an image or a sound in base64 only its first bytes: of
 * each run of BASE64_RUN such characters. *run is the length of the one at the end, 0 at first. */
enum { BASE64_RUN = 1024, BASE64_KEPT = 8 };
void buf_add_words(struct buf *b, size_t *run, str s);
/* A whole text so; the text itself where it holds none. */
str buf_words(struct arena *a, str text);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Empties it and keeps the memory. */
void buf_clear(struct buf *b);

static inline str buf_str(const struct buf *b)
{
    return (str){b->p, b->n};
}
