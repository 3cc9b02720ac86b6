/* json_form.c - JSON written by its form: small objects that are seen as they will look. */
#include "surface/common/json_form.h"

/* Six bytes for one is the worst case: \u0000 for a control character. */
str quote_json(struct arena *a, str text)
{
    struct json_out w = json_in(a, text.n * 6 + 3);
    json_str(&w, text);
    return buf_str(w.b);
}

str number_json(struct arena *a, int64_t n)
{
    return str_printf(a, "%lld", (long long)n);
}

str json_by_form(struct arena *a, const char *form, const str *values)
{
    struct buf b = buf_make(a, SIZE_MAX / 4);
    for (const char *c = form; *c; c++)
        if (*c == '%')
            buf_add(&b, *values++);
        else
            buf_byte(&b, *c == '\'' ? '"' : *c);
    return buf_str(&b);
}
