/* print.c - prints text, JSON and dates on standard output. */
#include "app/print.h"

#include <stdio.h>
#include <unistd.h>

#include "base/time_text.h"

/*
 * Standard output is for results, so that it can be piped; warnings, progress and failures go to
 * standard error. Texts of memories and messages are printed by print_line: an escape sequence in
 * one of them could otherwise drive the terminal of whoever lists it.
 */

void print_line(str text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        putchar(c < 0x20 || c == 0x7F ? ' ' : c);
    }
    putchar('\n');
}

/* For text that this program has made, JSON above all: it is written as it is. */
void print_buf(const struct buf *b)
{
    fwrite(b->p, 1, b->n, stdout);
    putchar('\n');
}

str counted(struct arena *a, int64_t n, const char *one, const char *more)
{
    return str_printf(a, "%lld %s", (long long)n, n == 1 ? one : more);
}

/* The day in UTC is enough for a list; JSON has the exact time. */
str date_of(struct arena *a, int64_t ms)
{
    return ms ? time_write(a, ms, "%Y-%m-%d") : S("-");
}

str curl_target(struct arena *a, str listen)
{
    if (str_starts(listen, S("unix:")))
        return str_printf(a, "--unix-socket " S_FMT " http://localhost",
                          S_ARG(str_sub(listen, S("unix:").n, listen.n)));
    return str_starts(listen, S("http://")) ? listen
                                            : str_printf(a, "http://" S_FMT, S_ARG(listen));
}

const char *style_code(enum style style)
{
    static const char *const codes[] = {"\033[0m", "\033[1m", "\033[2m", "\033[32m"};
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool has_colours =
        isatty(STDOUT_FILENO) && !(none && *none) && terminal && strcmp(terminal, "dumb") != 0;
    return has_colours ? codes[style] : "";
}
