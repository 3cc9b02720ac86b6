/* print.c - prints text, JSON and dates on standard output. */
#include "app/print.h"

#include <stdio.h>

#include "base/time_text.h"

void print_line(str text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        putchar(c < 0x20 || c == 0x7F ? ' ' : c);
    }
    putchar('\n');
}

void print_buf(const struct buf *b)
{
    fwrite(b->p, 1, b->n, stdout);
    putchar('\n');
}

str date_of(struct arena *a, int64_t ms)
{
    return ms ? time_write(a, ms, "%Y-%m-%d") : S("-");
}
