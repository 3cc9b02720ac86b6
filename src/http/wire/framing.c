/* framing.c - line ends, sizes of chunks and the headers about them, as RFC 9112 writes them. */
#include "http/wire/framing.h"

/*
 * A proxy in front and this server must see the same end of each request: bytes that one of them
 * takes for the next request are a request that the proxy never checked (request smuggling). The
 * parser is lenient in places, and its versions differ, so that each byte of the framing passes
 * here first. The rules are those of RFC 9112 without what it lets a recipient tolerate.
 */
enum {
    SIZE_DIGITS_MAX = 15, /* of a chunk's size: no sum of them overflows */
    EXTRA_MAX = 4096      /* bytes of chunk extensions and trailers, which nobody reads */
};

/* --- bytes --- */

static const char *end_line(struct framing *f)
{
    bool is_empty = !f->line_n;
    f->after_cr = false;
    f->line_n = 0;
    if (!is_empty)
        f->has_line = true;
    else if (f->has_line) /* empty lines in front of a request are skipped (section 2.2) */
        f->at = f->is_trailer ? FRAMING_OVER : FRAMING_BODY;
    return NULL;
}

static const char *take_line(struct framing *f, char c)
{
    if (f->after_cr)
        return c == '\n' ? end_line(f) : "a carriage return without a line feed";
    if (c == '\n')
        return "a line ends without a carriage return";
    if (c == '\0')
        return "a NUL in the head";
    if (c == '\r') {
        f->after_cr = true;
        return NULL;
    }
    if (!f->line_n++ && (c == ' ' || c == '\t'))
        return "a line begins with white space";
    if (c == ' ' && f->after_space && !f->has_line)
        return "more than one space in the request line";
    f->after_space = c == ' ';
    return f->is_trailer && ++f->extra > EXTRA_MAX ? "the trailers are too long" : NULL;
}

static const char *take_size(struct framing *f, char c)
{
    int digit = hex_digit(c);
    if (digit >= 0 && ++f->digits <= SIZE_DIGITS_MAX) {
        f->left = f->left << 4 | (uint64_t)digit;
        return NULL;
    }
    if (!f->digits || digit >= 0 || (c != ';' && c != '\r'))
        return "the size of a chunk is not a short hexadecimal number";
    f->at = c == ';' ? FRAMING_EXTENSION : FRAMING_SIZE_END;
    return NULL;
}

static const char *take_extension(struct framing *f, char c)
{
    if (c == '\r')
        f->at = FRAMING_SIZE_END;
    else if ((unsigned char)c < ' ' && c != '\t')
        return "a chunk extension holds a control character";
    return ++f->extra > EXTRA_MAX ? "the chunk extensions are too long" : NULL;
}

static const char *end_size(struct framing *f, char c)
{
    f->at = f->left ? FRAMING_CHUNK : FRAMING_LINE;
    f->is_trailer = f->has_line = !f->left;
    return c == '\n' ? NULL : "a carriage return without a line feed";
}

static const char *end_chunk(struct framing *f, char c)
{
    if (c != (f->at == FRAMING_CHUNK_CR ? '\r' : '\n'))
        return "there are bytes behind a chunk";
    f->at = f->at == FRAMING_CHUNK_CR ? FRAMING_CHUNK_LF : FRAMING_SIZE;
    f->digits = 0;
    return NULL;
}

static const char *take_byte(struct framing *f, char c)
{
    switch (f->at) {
    case FRAMING_LINE:
        return take_line(f, c);
    case FRAMING_SIZE:
        return take_size(f, c);
    case FRAMING_EXTENSION:
        return take_extension(f, c);
    case FRAMING_SIZE_END:
        return end_size(f, c);
    case FRAMING_CHUNK_CR:
    case FRAMING_CHUNK_LF:
        return end_chunk(f, c);
    default: /* the parser went on where this scan had ended */
        return "its end is not certain";
    }
}

static size_t skip_chunk(struct framing *f, size_t n)
{
    n = n < f->left ? n : (size_t)f->left;
    f->left -= n;
    if (!f->left)
        f->at = FRAMING_CHUNK_CR;
    return n;
}

size_t framing_scan(struct framing *f, str bytes, const char **why)
{
    size_t i = 0;
    *why = NULL;
    if (f->at == FRAMING_PLAIN)
        return bytes.n;
    while (i < bytes.n && !*why) {
        if (f->at == FRAMING_CHUNK)
            i += skip_chunk(f, bytes.n - i);
        else
            *why = take_byte(f, bytes.p[i++]);
        if (f->at == FRAMING_BODY || f->at == FRAMING_OVER)
            break;
    }
    return i;
}

/* --- headers --- */

/* Of two with one name, a proxy could believe another one than we do. Host has its own check. */
static enum status check_once(struct ctx *ctx, const struct header *headers, size_t n)
{
    static const char *const once[] = {
        "Authorization", "Content-Encoding", "Content-Length", "Content-Type",
        "Expect",        "Origin",           "Sec-Fetch-Site", "Transfer-Encoding",
    };
    for (size_t i = 0; i < sizeof once / sizeof *once; i++) {
        size_t count = 0;
        for (size_t k = 0; k < n; k++)
            count += str_eq_nocase(headers[k].name, str_of(once[i]));
        if (count > 1)
            return fail(ctx, BAD_INPUT, "the header %s came %zu times", once[i], count);
    }
    return OK;
}

enum status framing_check(struct ctx *ctx, const struct header *headers, size_t n, bool is_old)
{
    bool has_length = false, has_coding = false;
    TRY(check_once(ctx, headers, n));
    for (const struct header *h = headers; h < headers + n; h++) {
        bool is_coding = str_eq_nocase(h->name, S("Transfer-Encoding"));
        bool is_length = str_eq_nocase(h->name, S("Content-Length"));
        if (is_coding && (is_old || !str_eq_nocase(h->value, S("chunked"))))
            return fail(ctx, BAD_INPUT, "Transfer-Encoding may be chunked only, in HTTP/1.1");
        if (is_length &&
            !(h->value.n && EVERY(i, h->value.n, char_is_one_of(h->value.p[i], "0123456789"))))
            return fail(ctx, BAD_INPUT, "Content-Length must be one decimal number");
        has_coding |= is_coding;
        has_length |= is_length;
    }
    if (has_coding && has_length)
        return fail(ctx, BAD_INPUT, "a request has either Content-Length or Transfer-Encoding");
    return OK;
}

enum status framing_packed(struct ctx *ctx, const struct request *in, bool is_passed_on,
                           int *refused)
{
    str coding = request_header(in, "Content-Encoding");
    if (!coding.n || is_passed_on || str_eq_nocase(coding, S("identity")))
        return OK;
    *refused = 415;
    return fail(ctx, UNSUPPORTED, "Content-Encoding: a body must come unpacked here");
}
