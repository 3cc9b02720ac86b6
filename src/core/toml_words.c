/* toml_words.c - the words of TOML: white space, strings, numbers and truths. */
#include "core/toml_words.h"

#include <errno.h>

#include "base/utf8.h"
#include "core/toml.h"

size_t text_line(str text, const char *at)
{
    size_t line = 1;
    if (!at || at < text.p || at > text.p + text.n)
        return 0;
    for (const char *p = text.p; p < at; p++)
        line += *p == '\n';
    return line;
}

enum status toml_fail(struct toml_at *r, const char *what)
{
    str text = {r->start, (size_t)(r->end - r->start)};
    return fail(r->ctx, BAD_INPUT, "not valid TOML: line %zu: %s", text_line(text, r->p), what);
}

/* --- between values --- */

char toml_look(const struct toml_at *r, size_t ahead)
{
    return ahead < (size_t)(r->end - r->p) ? r->p[ahead] : '\0';
}

bool toml_take(struct toml_at *r, const char *word)
{
    bool is_there = str_starts((str){r->p, (size_t)(r->end - r->p)}, str_of(word));
    r->p += is_there ? strlen(word) : 0;
    return is_there;
}

void toml_skip_blanks(struct toml_at *r)
{
    while (toml_look(r, 0) == ' ' || toml_look(r, 0) == '\t')
        r->p++;
}

/* Tab is the one control character that text of one line may have. */
static bool is_control(char c)
{
    unsigned char u = (unsigned char)c;
    return (u < 0x20 && u != '\t') || u == 0x7F;
}

static bool take_newline(struct toml_at *r)
{
    return toml_take(r, "\n") || toml_take(r, "\r\n");
}

static enum status skip_comment(struct toml_at *r)
{
    toml_skip_blanks(r);
    if (toml_look(r, 0) != '#')
        return OK;
    while (r->p < r->end && *r->p != '\n' && !(*r->p == '\r' && toml_look(r, 1) == '\n'))
        if (is_control(*r->p++))
            return toml_fail(r, "a control character in a comment");
    return OK;
}

enum status toml_skip_lines(struct toml_at *r)
{
    do
        TRY(skip_comment(r));
    while (take_newline(r));
    return OK;
}

enum status toml_end_line(struct toml_at *r)
{
    TRY(skip_comment(r));
    if (r->p == r->end || take_newline(r))
        return OK;
    return toml_fail(r, "something follows on the same line; one key or header a line");
}

/* --- strings --- */

/* NUL is read as the reader of JSON reads it. */
static enum status read_code(struct toml_at *r, int digits, struct buf *out)
{
    uint32_t c = 0;
    for (int i = 0; i < digits; i++, r->p++) {
        int d = hex_digit(toml_look(r, 0));
        if (d < 0)
            return toml_fail(r, "an escape \\u needs 4 hex digits, \\U needs 8");
        c = c << 4 | (uint32_t)d;
    }
    if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
        return toml_fail(r, "an escape that is not a character of Unicode");
    utf8_add(out, c ? (int32_t)c : 0xFFFD);
    return OK;
}

/* A backslash at the end of a line takes the line break and all white space behind it away. */
static bool skip_folded(struct toml_at *r)
{
    const char *from = r->p;
    toml_skip_blanks(r);
    if (!take_newline(r)) {
        r->p = from;
        return false;
    }
    do
        toml_skip_blanks(r);
    while (take_newline(r));
    return true;
}

/* p is behind the backslash. */
static enum status read_escape(struct toml_at *r, bool is_multiline, struct buf *out)
{
    static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
    char c = toml_look(r, 0);
    const char *simple = c ? strchr(from, c) : NULL;
    if (is_multiline && skip_folded(r))
        return OK;
    if (c == 'u' || c == 'U') {
        r->p++;
        return read_code(r, c == 'u' ? 4 : 8, out);
    }
    if (!simple)
        return toml_fail(r, "an unknown escape; write a backslash as \\\\ or use 'single quotes'");
    buf_byte(out, to[simple - from]);
    r->p++;
    return OK;
}

/* One of "…" and '…'. What has no escape stays where it is. */
static enum status read_line_string(struct toml_at *r, str *out, bool *is_decoded)
{
    char quote = *r->p++;
    const char *from = r->p;
    struct buf b = buf_make(&r->ctx->arena, (size_t)(r->end - r->p) + 1);
    *is_decoded = false;
    while (toml_look(r, 0) != quote) {
        if (r->p >= r->end || *r->p == '\n' || *r->p == '\r')
            return toml_fail(r, "a string does not end on its line");
        if (is_control(*r->p))
            return toml_fail(r, "a control character in a string");
        char c = *r->p++;
        bool is_escape = quote == '"' && c == '\\';
        if (is_escape && !*is_decoded)
            buf_add(&b, (str){from, (size_t)(r->p - from) - 1});
        *is_decoded |= is_escape;
        if (is_escape)
            TRY(read_escape(r, false, &b));
        else if (*is_decoded)
            buf_byte(&b, c);
    }
    *out = *is_decoded ? buf_str(&b) : (str){from, (size_t)(r->p - from)};
    r->p++;
    return OK;
}

/* """…""" and '''…''': up to two quotes may stand before the three that end it. */
static enum status read_multiline(struct toml_at *r, const char *quotes, str *out)
{
    struct buf b = buf_make(&r->ctx->arena, (size_t)(r->end - r->p) + 1);
    take_newline(r);
    for (;;) {
        if (r->p >= r->end)
            return toml_fail(r, "a string does not end");
        if (toml_take(r, quotes)) {
            for (int i = 0; i < 2 && toml_look(r, 0) == *quotes; i++)
                buf_byte(&b, *r->p++);
            break;
        }
        if (*quotes == '"' && toml_take(r, "\\")) {
            TRY(read_escape(r, true, &b));
            continue;
        }
        bool is_break = *r->p == '\n' || (*r->p == '\r' && toml_look(r, 1) == '\n');
        if (is_control(*r->p) && !is_break)
            return toml_fail(r, "a control character in a string");
        buf_byte(&b, *r->p++);
    }
    *out = buf_str(&b);
    return OK;
}

static enum status read_string(struct toml_at *r, struct json *out, str *text)
{
    bool is_decoded = true;
    if (toml_take(r, "\"\"\""))
        TRY(read_multiline(r, "\"\"\"", text));
    else if (toml_take(r, "'''"))
        TRY(read_multiline(r, "'''", text));
    else
        TRY(read_line_string(r, text, &is_decoded));
    out->type = JSON_STRING;
    out->is_decoded = is_decoded;
    return OK;
}

/* --- numbers and truths --- */

static bool is_digit_of(char c, int base)
{
    int d = hex_digit(c);
    return d >= 0 && d < base;
}

/* Digits, an underscore between two of them. False for none, or for an underscore elsewhere. */
static bool take_digits(str *rest, int base, struct buf *out)
{
    size_t i = 0;
    for (; i < rest->n; i++) {
        if (rest->p[i] == '_' && i > 0 && i + 1 < rest->n && rest->p[i - 1] != '_' &&
            is_digit_of(rest->p[i + 1], base))
            continue;
        if (!is_digit_of(rest->p[i], base))
            break;
        buf_byte(out, rest->p[i]);
    }
    *rest = str_sub(*rest, i, rest->n);
    return i > 0;
}

static bool read_based(str word, struct buf *out)
{
    static const struct {
        str prefix;
        int base;
    } bases[] = {{S("0x"), 16}, {S("0o"), 8}, {S("0b"), 2}};
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        if (!str_starts(word, bases[i].prefix))
            continue;
        struct buf digits = buf_make(out->arena, word.n + 1);
        str rest = str_sub(word, 2, word.n);
        if (!take_digits(&rest, bases[i].base, &digits) || rest.n)
            return false;
        errno = 0;
        long long v = strtoll(str_c(out->arena, buf_str(&digits)), NULL, bases[i].base);
        buf_printf(out, "%lld", v);
        return errno == 0;
    }
    return false;
}

/* A character of the set, if it is next. */
static bool take_char(str *rest, const char *set, struct buf *out)
{
    if (!rest->n || !char_is_one_of(*rest->p, set))
        return false;
    buf_byte(out, ascii_lower(*rest->p));
    *rest = str_sub(*rest, 1, rest->n);
    return true;
}

/* Writes it as JSON: without a plus in front and without underscores. */
static bool read_decimal(str word, struct buf *out)
{
    int64_t whole;
    str rest = str_sub(word, str_starts(word, S("+")), word.n);
    if (rest.n == word.n)
        take_char(&rest, "-", out);
    if (rest.n > 1 && *rest.p == '0' && (is_digit_of(rest.p[1], 10) || rest.p[1] == '_'))
        return false;
    if (!take_digits(&rest, 10, out))
        return false;
    bool has_point = take_char(&rest, ".", out);
    if (has_point && !take_digits(&rest, 10, out))
        return false;
    bool has_exponent = take_char(&rest, "eE", out);
    if (has_exponent)
        take_char(&rest, "+-", out);
    if (has_exponent && !take_digits(&rest, 10, out))
        return false;
    return !rest.n && (has_point || has_exponent || str_int(buf_str(out), &whole));
}

static bool is_date(str word)
{
    return word.n > 4 && is_digit_of(word.p[0], 10) && is_digit_of(word.p[1], 10) &&
           (word.p[2] == ':' ||
            (is_digit_of(word.p[2], 10) && is_digit_of(word.p[3], 10) && word.p[4] == '-'));
}

enum status toml_read_word(struct toml_at *r, struct json *out, str *text)
{
    if (toml_look(r, 0) == '"' || toml_look(r, 0) == '\'')
        return read_string(r, out, text);
    const char *from = r->p;
    while (r->p < r->end && !strchr(" \t\r\n#,]}", *r->p))
        r->p++;
    str word = {from, (size_t)(r->p - from)};
    struct buf number = buf_make(&r->ctx->arena, word.n + 32);
    r->p = from;
    if (!word.n)
        return toml_fail(r, "a value is expected");
    if (str_is(word, "true") || str_is(word, "false")) {
        out->type = JSON_BOOL;
        out->truth = word.n == strlen("true");
        out->source = word;
    } else if (is_date(word)) {
        return toml_fail(r, "dates and times are not read; write a string in quotes");
    } else if (read_based(word, &number) || (!number.n && read_decimal(word, &number))) {
        out->type = JSON_NUMBER;
        out->source = str_eq(buf_str(&number), word) ? word : buf_str(&number);
    } else {
        return toml_fail(r, "not a number, true or false; a text needs quotes");
    }
    r->p += word.n;
    return OK;
}

static bool is_bare(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

enum status toml_read_name(struct toml_at *r, str *out)
{
    bool is_decoded;
    const char *from = r->p;
    if (toml_look(r, 0) == '"' || toml_look(r, 0) == '\'')
        return read_line_string(r, out, &is_decoded);
    while (is_bare(toml_look(r, 0)))
        r->p++;
    *out = (str){from, (size_t)(r->p - from)};
    return out->n ? OK : toml_fail(r, "a key is expected");
}
