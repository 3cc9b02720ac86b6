/* python_literal.c - a literal of Python as JSON text. */
#include "ext/eval/readers.h"

/*
 * BEAM publishes its questions as Python prints a dict. The notations differ in quotes, escapes,
 * three names, tuples, and commas before a closing bracket. What is no literal becomes JSON that is
 * none either, and json_parse then refuses it.
 */

/* The code of "\xNN", "\uNNNN" or "\UNNNNNNNN" at digits; false when they are no hex digits. */
static bool hex_at(str text, size_t at, size_t digits, uint32_t *out)
{
    *out = 0;
    for (size_t i = at; i < at + digits; i++) {
        int digit = i < text.n ? hex_digit(text.p[i]) : -1;
        if (digit < 0)
            return false;
        *out = *out << 4 | (uint32_t)digit;
    }
    return true;
}

static void add_code(struct buf *b, uint32_t code)
{
    if (code > 0xFFFF)
        buf_printf(b, "\\u%04x\\u%04x", 0xD800 + ((code - 0x10000) >> 10 & 0x3FF),
                   0xDC00 + ((code - 0x10000) & 0x3FF));
    else
        buf_printf(b, "\\u%04x", code);
}

/* The escape whose letter is at *at, which is left on its last byte. False for an unknown one. */
static bool add_escape(struct buf *b, str text, size_t *at)
{
    static const char simple[] = "n\nr\rt\tb\bf\fa\av\v\\\\'\'\"\"0";
    char c = text.p[*at];
    size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    uint32_t code;
    if (digits && hex_at(text, *at + 1, digits, &code) && code <= 0x10FFFF) {
        add_code(b, code);
        *at += digits;
        return true;
    }
    for (size_t i = 0; i + 1 < sizeof simple; i += 2)
        if (simple[i] == c) {
            json_escape(b, (str){&simple[i + 1], 1});
            return true;
        }
    return false;
}

/* The string whose quote is at *at, which is left behind its end. */
static bool add_string(struct buf *b, str text, size_t *at)
{
    char quote = text.p[*at];
    size_t i = *at + 1;
    buf_byte(b, '"');
    for (; i < text.n && text.p[i] != quote; i++) {
        if (text.p[i] != '\\') {
            size_t from = i;
            while (i + 1 < text.n && text.p[i + 1] != quote && text.p[i + 1] != '\\')
                i++;
            json_escape(b, str_sub(text, from, i + 1));
        } else if (++i >= text.n || !add_escape(b, text, &i)) {
            *at = i;
            return false;
        }
    }
    *at = i + 1;
    buf_byte(b, '"');
    return i < text.n;
}

/* A name or number. */
static size_t word_end(str text, size_t at)
{
    while (at < text.n && !strchr("'\"[](){},: \t\r\n", text.p[at]))
        at++;
    return at;
}

static void add_word(struct buf *b, str word)
{
    static const char *const names[][2] = {{"True", "true"}, {"False", "false"}, {"None", "null"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(word, names[i][0]))
            word = str_of(names[i][1]);
    buf_add(b, word);
}

enum status python_as_json(struct ctx *ctx, str text, str *out)
{
    struct buf b = buf_make(&ctx->arena, 6 * text.n + 16);
    for (size_t i = 0; i < text.n;) {
        char c = text.p[i];
        if (c == '\'' || c == '"') {
            if (!add_string(&b, text, &i))
                return fail(ctx, BAD_INPUT, "byte %zu is no string of Python", i);
        } else if (strchr("[](){},:", c)) {
            /* A comma before a closing bracket is left out. */
            if (strchr(")]}", c) && b.n && b.p[b.n - 1] == ',')
                b.n--;
            buf_byte(&b, c == '(' ? '[' : c == ')' ? ']' : c);
            i++;
        } else if (char_is_one_of(c, " \t\r\n")) {
            i++;
        } else {
            size_t end = word_end(text, i);
            add_word(&b, str_sub(text, i, end));
            i = end > i ? end : i + 1;
        }
    }
    *out = buf_str(&b);
    return OK;
}
