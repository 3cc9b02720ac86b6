/* buf.c - growing text with a limit. */
#include "base/buf.h"

#include <ctype.h>
#include <stdarg.h>

/*
 * A buf has a limit, so that nothing a client or an upstream sends can grow without bound. What
 * would pass it is dropped as a whole. The text always ends with a NUL that n, max and buf_str do
 * not count; before the first addition p is NULL.
 */

struct buf buf_make(struct arena *arena, size_t max)
{
    return (struct buf){.max = max, .arena = arena};
}

void buf_free(struct buf *b)
{
    if (!b->arena)
        free(b->p);
    *b = (struct buf){.max = b->max, .arena = b->arena};
}

/* Room for n more bytes and a NUL; false when that would pass the limit. A buf in an arena leaves
 * its smaller copies there until the arena is freed. */
static bool make_room(struct buf *b, size_t n)
{
    assert(b->n <= b->max && (!b->cap || b->n < b->cap));
    if (b->full || n > b->max || b->n > b->max - n) {
        b->full = true;
        return false;
    }
    if (b->n + n + 1 <= b->cap)
        return true;
    size_t cap = b->cap ? b->cap * 2 : 256;
    while (cap < b->n + n + 1)
        cap *= 2;
    b->p = b->arena ? arena_dup(b->arena, b->p, b->n, cap) : heap_grow(b->p, cap);
    b->cap = cap;
    return true;
}

void buf_add(struct buf *b, str s)
{
    if (!s.n || !make_room(b, s.n))
        return;
    memcpy(b->p + b->n, s.p, s.n);
    b->n += s.n;
    b->p[b->n] = 0;
}

void buf_byte(struct buf *b, char c)
{
    if (!make_room(b, 1))
        return;
    b->p[b->n++] = c;
    b->p[b->n] = 0;
}

/* The kept bytes may be the end of an escape. What was cleared meanwhile cannot be taken back. */
void buf_add_words(struct buf *b, size_t *run, str s)
{
    size_t from = 0;
    for (size_t i = 0; i < s.n; i++) {
        bool is_data = isalnum((unsigned char)s.p[i]) || char_is_one_of(s.p[i], "+/=_-");
        *run = is_data ? *run + 1 : 0;
        if (*run == BASE64_RUN) {
            buf_add(b, str_sub(s, from, i + 1));
            b->n -= b->n < BASE64_RUN ? 0 : BASE64_RUN - BASE64_KEPT;
        }
        from = *run < BASE64_RUN ? from : i + 1;
    }
    buf_add(b, str_sub(s, from, s.n));
}

str buf_words(struct arena *a, str text)
{
    size_t run = 0;
    struct buf b = buf_make(a, text.n);
    if (text.n >= BASE64_RUN)
        buf_add_words(&b, &run, text);
    return b.n && b.n < text.n ? buf_str(&b) : text;
}

/* Formats twice: once for the length, once in place. So the only limit is that of the buf. */
void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n > 0 && make_room(b, (size_t)n)) {
        vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

void buf_clear(struct buf *b)
{
    b->n = 0;
    b->full = false;
}
