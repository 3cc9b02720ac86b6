/* json.c - the reader: one pass, values in the arena, each with its place in the source. */
#include "base/json.h"

#include <utf8proc.h>

#include "base/utf8.h"

/*
 * A value keeps its place in the source. So the proxy can change a few bytes of a request and pass
 * on all others as they came, and a number is read when somebody wants it, as what he wants. Depth
 * is limited because reading, like everything that walks a value, calls itself.
 *
 * Reading checks the whole grammar of RFC 8259 but decodes only strings that hold an escape; all
 * others point into the source. Members are a linked list in the order of the source: objects of
 * requests are small, and a lookup is linear.
 */

struct reader {
    struct ctx *ctx;
    const char *start, *p, *end;
    size_t values_left;
    int depth;
};

static enum status fail_at(struct reader *r, const char *what)
{
    return fail(r->ctx, BAD_INPUT, "not valid JSON: %s at byte %zu", what,
                (size_t)(r->p - r->start));
}

/* A value takes two bytes of the text, and this of memory. */
static_assert(sizeof(struct json) == 48, "and the key of a member");

static size_t values_max(size_t bytes)
{
    size_t by_size = bytes / JSON_BYTES_A_VALUE;
    return by_size > JSON_VALUES_MAX ? by_size : JSON_VALUES_MAX;
}

static void skip_space(struct reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\r' || *r->p == '\t'))
        r->p++;
}

static int read_hex4(const char *p)
{
    int v = 0;
    for (int i = 0; i < 4; i++) {
        int d = hex_digit(p[i]);
        if (d < 0)
            return -1;
        v = v << 4 | d;
    }
    return v;
}

/* The character of a \u escape (p behind the u), joining two surrogates; *p moves behind it. */
static int32_t read_escape(const char **p, const char *end)
{
    int32_t c = read_hex4(*p);
    *p += 4;
    if (c >= 0xD800 && c < 0xDC00 && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u') {
        int low = read_hex4(*p + 2);
        if (low >= 0xDC00 && low < 0xE000) {
            *p += 6;
            return 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        }
    }
    return c == 0 || (c >= 0xD800 && c < 0xE000) ? 0xFFFD : c;
}

/* Decodes checked string content; what it gives is never longer than its escapes. */
static str decode_string(struct ctx *ctx, str raw)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char *start = arena_alloc(&ctx->arena, raw.n + 1), *o = start;
    const char *p = raw.p, *end = raw.p + raw.n;
    while (p < end) {
        if (*p != '\\') {
            *o++ = *p++;
        } else if (p[1] == 'u') {
            p += 2;
            o += utf8proc_encode_char(read_escape(&p, end), (utf8proc_uint8_t *)o);
        } else {
            *o++ = to[strchr(from, p[1]) - from];
            p += 2;
        }
    }
    return (str){start, (size_t)(o - start)};
}

/* The opening quote is at p. What is checked here, decode_string need not check. */
static enum status read_string(struct reader *r, str *out, bool *is_decoded)
{
    const char *from = ++r->p;
    bool escaped = false;
    for (;;) {
        if (r->p >= r->end)
            return fail_at(r, "a string does not end");
        unsigned char c = (unsigned char)*r->p;
        if (c == '"')
            break;
        if (c < 0x20)
            return fail_at(r, "a control character in a string");
        if (c != '\\') {
            r->p++;
            continue;
        }
        escaped = true;
        if (r->end - r->p >= 2 && r->p[1] && strchr("\"\\/bfnrt", r->p[1]))
            r->p += 2;
        else if (r->end - r->p >= 6 && r->p[1] == 'u' && read_hex4(r->p + 2) >= 0)
            r->p += 6;
        else
            return fail_at(r, "an unknown escape");
    }
    *out = (str){from, (size_t)(r->p - from)};
    if (escaped)
        *out = decode_string(r->ctx, *out);
    *is_decoded = escaped;
    r->p++;
    return OK;
}

/* Whether the next byte is c, which is then behind p. */
static bool take_byte(struct reader *r, char c)
{
    bool is_there = r->p < r->end && *r->p == c;
    r->p += is_there;
    return is_there;
}

static bool skip_digits(struct reader *r)
{
    const char *from = r->p;
    while (r->p < r->end && *r->p >= '0' && *r->p <= '9')
        r->p++;
    return r->p > from;
}

static enum status read_number(struct reader *r)
{
    take_byte(r, '-');
    if (!take_byte(r, '0') && !skip_digits(r))
        return fail_at(r, "a value is expected");
    if (take_byte(r, '.') && !skip_digits(r))
        return fail_at(r, "digits are expected");
    if (take_byte(r, 'e') || take_byte(r, 'E')) {
        if (!take_byte(r, '+'))
            take_byte(r, '-');
        if (!skip_digits(r))
            return fail_at(r, "digits are expected");
    }
    return OK;
}

static bool take_word(struct reader *r, str word)
{
    bool is_there = str_starts((str){r->p, (size_t)(r->end - r->p)}, word);
    r->p += is_there ? word.n : 0;
    return is_there;
}

static enum status read_word(struct reader *r, struct json *v)
{
    v->type = take_word(r, S("null")) ? JSON_NULL : JSON_BOOL;
    v->truth = v->type == JSON_BOOL && take_word(r, S("true"));
    bool is_there = v->type == JSON_NULL || v->truth || take_word(r, S("false"));
    return is_there ? OK : fail_at(r, "a value is expected");
}

static enum status read_value(struct reader *r, struct json *v);

/* Most strings are their bytes without the quotes. A decoded one stands beside the key, if any. */
static enum status read_text(struct reader *r, struct json *v)
{
    str string;
    bool is_decoded;
    TRY(read_string(r, &string, &is_decoded));
    v->type = JSON_STRING;
    v->is_decoded = is_decoded;
    if (is_decoded) {
        str *texts = NEW_N(&r->ctx->arena, str, 2);
        texts[0] = json_name(v);
        texts[1] = string;
        v->texts = texts;
    }
    return OK;
}

/* A member's key stands behind it. */
static enum status new_value(struct reader *r, bool is_member, struct json **out)
{
    if (!r->values_left--)
        return fail(r->ctx, TOO_LARGE,
                    "the JSON has more than %zu values (members and elements): the limit is "
                    "reached at byte %zu",
                    values_max((size_t)(r->end - r->start)), (size_t)(r->p - r->start));
    struct json *v = arena_alloc(&r->ctx->arena, sizeof *v + (is_member ? sizeof(str) : 0));
    if (is_member)
        v->texts = (const str *)(v + 1);
    *out = v;
    return OK;
}

/* The name of a member and the colon behind it. */
static enum status read_key(struct reader *r, struct json *member)
{
    bool is_decoded;
    if (r->p >= r->end || *r->p != '"')
        return fail_at(r, "a member's name is expected");
    TRY(read_string(r, (str *)(member + 1), &is_decoded));
    skip_space(r);
    return take_byte(r, ':') ? OK : fail_at(r, "':' is expected");
}

/* The members of an object or the elements of an array; p is at the bracket. depth goes down only
 * on success: a failure ends the whole reading. */
static enum status read_items(struct reader *r, struct json *v, char close)
{
    struct json **tail = &v->first;
    if (++r->depth > JSON_DEPTH_MAX)
        return fail_at(r, "nested too deep");
    r->p++;
    skip_space(r);
    for (bool ends = take_byte(r, close); !ends; ends = *r->p++ == close) {
        struct json *item = NULL;
        skip_space(r);
        TRY(new_value(r, close == '}', &item));
        if (close == '}')
            TRY(read_key(r, item));
        TRY(read_value(r, item));
        *tail = item;
        tail = &item->next;
        v->n++;
        skip_space(r);
        if (r->p >= r->end || (*r->p != ',' && *r->p != close))
            return fail_at(r, close == '}' ? "',' or '}' is expected" : "',' or ']' is expected");
    }
    r->depth--;
    return OK;
}

static enum status read_value(struct reader *r, struct json *v)
{
    enum status s;
    skip_space(r);
    const char *from = r->p;
    if (r->p >= r->end)
        return fail_at(r, "a value is expected");
    switch (*r->p) {
    case '{':
        v->type = JSON_OBJECT;
        s = read_items(r, v, '}');
        break;
    case '[':
        v->type = JSON_ARRAY;
        s = read_items(r, v, ']');
        break;
    case '"':
        s = read_text(r, v);
        break;
    case 't':
    case 'f':
    case 'n':
        s = read_word(r, v);
        break;
    default:
        v->type = JSON_NUMBER;
        s = read_number(r);
    }
    v->source = (str){from, (size_t)(r->p - from)};
    return s;
}

/* UTF-8 is checked once, before the grammar: every later step may cut between ASCII bytes without
 * splitting a character. */
enum status json_parse(struct ctx *ctx, str text, struct json **out)
{
    if (!text.p)
        text = S("");
    struct reader r = {.ctx = ctx,
                       .start = text.p,
                       .p = text.p,
                       .end = text.p + text.n,
                       .values_left = values_max(text.n)};
    if (!utf8_is_valid(text))
        return fail(ctx, BAD_INPUT, "not valid JSON: the text is not UTF-8");
    struct json *v = NEW(&ctx->arena, struct json);
    TRY(read_value(&r, v));
    skip_space(&r);
    if (r.p != r.end)
        return fail_at(&r, "something follows the value");
    *out = v;
    return OK;
}

const struct json *json_of_text(struct ctx *ctx, str text)
{
    struct json *v;
    return text.n && soft(ctx, json_parse(ctx, text, &v)) ? v : NULL;
}

/* Of two members with one name the last one counts, as in other parsers: what we check must be what
 * the model's server reads. */
static const struct json *last_member(const struct json *object, str name)
{
    const struct json *found = NULL;
    if (!object || object->type != JSON_OBJECT)
        return NULL;
    for (const struct json *m = object->first; m; m = m->next)
        if (str_eq(json_name(m), name))
            found = m;
    return found;
}

const struct json *json_get(const struct json *object, const char *name)
{
    return last_member(object, str_of(name));
}

/* A negative index picks the first element of an array, and one behind the end gives NULL. */
const struct json *json_at(const struct json *value, const char *path)
{
    str rest = str_of(path);
    while (value && rest.n) {
        str step = str_cut(&rest, '.');
        int64_t i;
        bool is_element = value->type == JSON_ARRAY && str_int(step, &i);
        value = is_element ? value->first : last_member(value, step);
        for (; is_element && value && i > 0; i--)
            value = value->next;
    }
    return value;
}

str json_string(const struct json *value)
{
    if (!value || value->type != JSON_STRING)
        return (str){0};
    return value->is_decoded ? value->texts[1] : str_sub(value->source, 1, value->source.n - 1);
}

str json_name(const struct json *member)
{
    return member->texts ? *member->texts : (str){0};
}

double json_num_or(const struct json *value, double otherwise)
{
    double v;
    return value && value->type == JSON_NUMBER && str_num(value->source, &v) ? v : otherwise;
}

int64_t json_int_or(const struct json *value, int64_t otherwise)
{
    int64_t v;
    return value && value->type == JSON_NUMBER && str_int(value->source, &v) ? v : otherwise;
}

bool json_is_true(const struct json *value)
{
    return value && value->type == JSON_BOOL && value->truth;
}
