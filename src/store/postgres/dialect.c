/* dialect.c - the text of a statement as PostgreSQL takes it. */
#include "store/postgres/dialect.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Up to the end of a quoted part. */
static size_t quoted_length(const char *p)
{
    const char *end = strchr(p + 1, *p);
    return end ? (size_t)(end - p) + 1 : strlen(p);
}

char *dialect_text(const char *p)
{
    static const char word[] = "user";
    char *out = heap_alloc(3 * strlen(p) + 1), *to = out;
    while (*p) {
        size_t n = 1;
        if (*p == '\'' || *p == '"')
            n = quoted_length(p);
        else if (is_word(*p))
            for (n = 0; is_word(p[n]);)
                n++;
        bool is_user = n == sizeof word - 1 && memcmp(p, word, n) == 0;
        if (is_user)
            *to++ = '"';
        if (*p == '?')
            *to++ = '$';
        else if (*p == '+' && isalpha((unsigned char)p[1]))
            (void)p; /* a plus sign at a column: for SQLite's planner alone */
        else
            to = (char *)memcpy(to, p, n) + n;
        if (is_user)
            *to++ = '"';
        p += n;
    }
    return out;
}
