/* json_write.c - writing JSON: values in order, commas between them. */
#include <float.h>
#include <math.h>

#include "base/json.h"
#include "base/time_text.h"
#include "base/utf8.h"

/*
 * One flag is all the state a writer needs: comma says whether a value stands before the next one
 * at the current level. An opening bracket clears it and a closing one sets it, since the closed
 * object is itself a value of the level outside. Brackets are not counted; the caller balances
 * them. A full buf drops what does not fit; the caller checks full.
 */

struct json_out json_to(struct buf *b)
{
    return (struct json_out){.b = b};
}

struct json_out json_in(struct arena *a, size_t max)
{
    const struct buf b = buf_make(a, max);
    return json_to(arena_dup(a, &b, sizeof b, sizeof b));
}

static void begin_value(struct json_out *w)
{
    if (w->comma)
        buf_byte(w->b, ',');
    w->comma = true;
}

void json_open(struct json_out *w, char bracket)
{
    assert(bracket == '{' || bracket == '[');
    begin_value(w);
    buf_byte(w->b, bracket);
    w->comma = false;
}

void json_close(struct json_out *w, char bracket)
{
    assert(bracket == '}' || bracket == ']');
    buf_byte(w->b, bracket);
    w->comma = true;
}

void json_key(struct json_out *w, const char *name)
{
    json_str(w, str_of(name));
    buf_byte(w->b, ':');
    w->comma = false;
}

/* Texts of clients need not be UTF-8: an invalid byte is written as U+FFFD. */
void json_escape(struct buf *b, str s)
{
    size_t from = 0;
    for (size_t i = 0, n; i < s.n; i += n) {
        int32_t c = utf8_at(s, i, &n);
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        buf_add(b, str_sub(s, from, i));
        from = i + n;
        const char *short_form = c > 0 ? strchr("\"\"\\\\\nn\rr\tt\bb\ff", c) : NULL;
        if (c < 0)
            buf_add(b, S("\xEF\xBF\xBD"));
        else if (short_form)
            buf_printf(b, "\\%c", short_form[1]);
        else
            buf_printf(b, "\\u%04x", (unsigned)c);
    }
    if (s.n)
        buf_add(b, str_sub(s, from, s.n));
}

void json_str(struct json_out *w, str s)
{
    begin_value(w);
    buf_byte(w->b, '"');
    json_escape(w->b, s);
    buf_byte(w->b, '"');
}

void json_int(struct json_out *w, int64_t v)
{
    begin_value(w);
    buf_printf(w->b, "%lld", (long long)v);
}

void json_num(struct json_out *w, double v)
{
    char text[40] = "null";
    /* The shortest form that reads back as the same number: 0.1, not 0.10000000000000001. 15 digits
     * come back without zeros at the end, so fewer are tried only where they decide about an
     * exponent (1e+06). 17 always identify a double (IEEE 754), so the loop ends with an exact
     * form. */
    for (int digits = isnormal(v) && fabs(v) < 1e6 ? DBL_DIG : 6; isfinite(v) && digits <= 17;
         digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    json_raw(w, str_of(text));
}

void json_bool(struct json_out *w, bool v)
{
    json_raw(w, v ? S("true") : S("false"));
}

void json_null(struct json_out *w)
{
    json_raw(w, S("null"));
}

void json_raw(struct json_out *w, str json)
{
    begin_value(w);
    buf_add(w->b, json);
}

void json_time(struct json_out *w, int64_t ms)
{
    char text[TIME_ISO_ROOM];
    time_iso(ms, text);
    if (ms && *text)
        json_str(w, str_of(text));
    else
        json_null(w);
}

/* --- members --- */

void json_member_open(struct json_out *w, const char *name, char bracket)
{
    json_key(w, name);
    json_open(w, bracket);
}

#define MEMBER(of, type)                                                                           \
    void json_member_##of(struct json_out *w, const char *name, type v)                            \
    {                                                                                              \
        json_key(w, name);                                                                         \
        json_##of(w, v);                                                                           \
    }
MEMBER(str, str)
MEMBER(int, int64_t)
MEMBER(num, double)
MEMBER(bool, bool)
MEMBER(raw, str)
