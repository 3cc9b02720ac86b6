/* print.c - prints text, JSON and dates on standard output. */
#include "app/print.h"

#include <stdio.h>
#include <time.h>

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
    char text[40];
    time_t seconds = (time_t)(ms / 1000);
    struct tm t;
    if (!ms || !gmtime_r(&seconds, &t))
        return S("-");
    size_t n = strftime(text, sizeof text, "%Y-%m-%d", &t);
    return str_dup(a, (str){text, n});
}
