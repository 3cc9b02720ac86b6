/* items.c - the values of a JSON text one after the other, so that a large file is never a tree. */
#include "ext/import/items.h"

static str skip_space(str s)
{
    while (s.n && char_is_one_of(*s.p, " \t\r\n"))
        s = str_sub(s, 1, s.n);
    return s;
}

/* The bytes of the string whose quote is at the beginning, with both quotes; 0: it does not end. */
static size_t string_bytes(str s)
{
    for (size_t i = 1; i < s.n; i++) {
        if (s.p[i] == '\\')
            i++;
        else if (s.p[i] == '"')
            return i + 1;
    }
    return 0;
}

/* Depth is counted, not followed, so nesting costs no stack. */
static size_t nested_bytes(str s)
{
    size_t depth = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '"') {
            size_t n = string_bytes(str_sub(s, i, s.n));
            if (!n)
                return 0;
            i += n - 1;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return i + 1;
        }
    }
    return 0;
}

static size_t value_bytes(str s)
{
    size_t n = 0;
    if (!s.n)
        return 0;
    if (*s.p == '"')
        return string_bytes(s);
    if (*s.p == '{' || *s.p == '[')
        return nested_bytes(s);
    while (n < s.n && !char_is_one_of(s.p[n], ",]} \t\r\n"))
        n++;
    return n;
}

bool items_open(str text, struct items *out)
{
    str s = skip_space(text);
    if (!s.n || (*s.p != '{' && *s.p != '['))
        return false;
    *out =
        (struct items){.text = text, .rest = str_sub(s, 1, s.n), .close = *s.p == '{' ? '}' : ']'};
    return true;
}

static enum status fail_at(struct ctx *ctx, const struct items *it, str rest, const char *what)
{
    return fail(ctx, BAD_INPUT, "not valid JSON: %s at byte %zu", what,
                (size_t)(rest.p - it->text.p));
}

static enum status read_key(struct ctx *ctx, const struct items *it, str *s, str *key)
{
    size_t n = s->n && *s->p == '"' ? string_bytes(*s) : 0;
    if (!n)
        return fail_at(ctx, it, *s, "a member's name is expected");
    *key = str_sub(*s, 1, n - 1);
    *s = skip_space(str_sub(*s, n, s->n));
    if (!s->n || *s->p != ':')
        return fail_at(ctx, it, *s, "':' is expected");
    *s = skip_space(str_sub(*s, 1, s->n));
    return OK;
}

enum status items_next(struct ctx *ctx, struct items *it, struct item *out)
{
    str s = skip_space(it->rest);
    *out = (struct item){S(""), S("")};
    if (s.n && *s.p == it->close) {
        s = skip_space(str_sub(s, 1, s.n));
        return s.n ? fail_at(ctx, it, s, "something follows the end") : OK;
    }
    if (it->has_begun) {
        if (!s.n || *s.p != ',')
            return fail_at(ctx, it, s,
                           s.n ? "',' or the end is expected" : "the file ends too soon");
        s = skip_space(str_sub(s, 1, s.n));
    }
    it->has_begun = true;
    if (it->close == '}')
        TRY(read_key(ctx, it, &s, &out->key));
    size_t n = value_bytes(s);
    if (!n)
        return fail_at(ctx, it, s, "a value is missing, or does not end");
    out->value = str_sub(s, 0, n);
    it->rest = str_sub(s, n, s.n);
    return OK;
}

str items_member(str object, str key)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    struct items it;
    struct item item;
    if (!items_open(object, &it) || it.close != '}')
        return S("");
    while (items_next(&own, &it, &item) == OK && item.value.n)
        if (str_eq(item.key, key))
            return item.value;
    return S("");
}

bool take_line(str *rest, int64_t *no, str *out)
{
    *out = S("");
    while (rest->n && !out->n) {
        *out = str_trim(str_cut(rest, '\n'));
        ++*no;
    }
    return out->n > 0;
}
