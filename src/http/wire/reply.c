/* reply.c - status codes and headers of replies. */
#include "http/wire/reply.h"

/* Codes of RFC 9110; a dialect may choose another one in its word_error. TOO_BUSY is 429, not 503:
 * it is the client's pace that should change, and clients of model APIs wait and retry on it. */
int http_code(enum status s)
{
    static const int codes[STATUS_COUNT] = {
        [OK] = 200,        [BAD_INPUT] = 400, [NO_AUTH] = 401,   [FORBIDDEN] = 403,
        [NOT_FOUND] = 404, [CONFLICT] = 409,  [TOO_LARGE] = 413, [TOO_BUSY] = 429,
        [TIMED_OUT] = 504, [UPSTREAM] = 502,  [STORAGE] = 500,   [UNSUPPORTED] = 501,
    };
    return s < STATUS_COUNT ? codes[s] : 500;
}

void reply_header(struct reply *r, const char *name, str value)
{
    assert(r->n_headers < REPLY_HEADERS_MAX);
    r->headers[r->n_headers++] = (struct header){str_of(name), value};
}

bool reply_has(const struct reply *r, str name)
{
    return SOME(i, r->n_headers, str_eq_nocase(name, r->headers[i].name));
}

enum status reply_fields(struct reply *r, const struct field *table, const void *in)
{
    struct json_out w = json_to(&r->body);
    fields_write(&w, table, in);
    return OK;
}

const char *http_reason(int code)
{
    static const struct {
        int code;
        const char *words;
    } reasons[] = {
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {206, "Partial Content"},
        {301, "Moved Permanently"},
        {302, "Found"},
        {303, "See Other"},
        {304, "Not Modified"},
        {307, "Temporary Redirect"},
        {308, "Permanent Redirect"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {402, "Payment Required"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {410, "Gone"},
        {413, "Content Too Large"},
        {415, "Unsupported Media Type"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {507, "Insufficient Storage"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].code == code)
            return reasons[i].words;
    return "Status";
}

void reply_line(struct buf *b, str name, str value)
{
    buf_add(b, name);
    buf_add(b, S(": "));
    buf_add(b, value);
    buf_add(b, S("\r\n"));
}

/* Names and values may come from users or upstreams: a line end in one of them would be a header,
 * or an answer, of their own. Looser than the standard: what matters is that no line can end
 * early. */
enum status reply_check(struct ctx *ctx, const struct header *headers, size_t n)
{
    for (const struct header *h = headers; h < headers + n; h++) {
        const unsigned char *name = (const unsigned char *)h->name.p;
        const unsigned char *value = (const unsigned char *)h->value.p;
        bool is_named =
            h->name.n && EVERY(i, h->name.n, name[i] > ' ' && name[i] != ':' && name[i] != 127);
        if (!is_named ||
            SOME(i, h->value.n, (value[i] < ' ' && value[i] != '\t') || value[i] == 127))
            return fail(ctx, BAD_INPUT, "the header '%.40s' holds a character that is not allowed",
                        is_named ? str_c(&ctx->arena, h->name) : "?");
    }
    return OK;
}

void reply_end_head(struct buf *b, const struct reply *r)
{
    for (size_t i = 0; i < r->n_headers; i++)
        reply_line(b, r->headers[i].name, r->headers[i].value);
    buf_add(b, S("\r\n"));
}

void reply_piece(struct buf *b, str bytes, bool is_chunked)
{
    if (is_chunked && bytes.n)
        buf_printf(b, "%zx\r\n", bytes.n);
    buf_add(b, bytes);
    if (is_chunked && bytes.n)
        buf_add(b, S("\r\n"));
}
