/* reply.c - status codes, headers, and whole replies on their way out. */
#include "http/reply.h"

#include <assert.h>
#include <time.h>

#include "base/clock.h"
#include "http/conn.h"
#include "http/exchange.h"
#include "http/guard.h"
#include "http/loop.h"

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

/* name is not copied and must outlive the exchange: callers pass literals. */
void reply_header(struct reply *r, const char *name, str value)
{
    assert(r->n_headers < REPLY_HEADERS_MAX);
    r->headers[r->n_headers++] = (struct header){str_of(name), value};
}

enum status reply_fields(struct reply *r, const struct field *table, const void *in)
{
    struct json_out w = json_to(&r->body);
    fields_write(&w, table, in);
    return OK;
}

/* For people who read the wire: programs go by the code. */
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
        {504, "Gateway Timeout"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].code == code)
            return reasons[i].words;
    return "Status";
}

/* Made once a second for all replies of a loop. */
static str date_of(struct loop *l)
{
    time_t now = (time_t)(clock_ms() / 1000);
    if (now != l->date_s) {
        struct tm t;
        gmtime_r(&now, &t);
        strftime(l->date, sizeof l->date, "%a, %d %b %Y %H:%M:%S GMT", &t);
        l->date_s = now;
    }
    return str_of(l->date);
}

static void add_line(struct buf *b, str name, str value)
{
    buf_add(b, name);
    buf_add(b, S(": "));
    buf_add(b, value);
    buf_add(b, S("\r\n"));
}

/* The part of a head that replies and relays share. A relay passes on the upstream's Date and
 * request id when it has them. */
void reply_begin(struct exchange *x, struct buf *b, bool needs_date, bool needs_id)
{
    int code = x->out.code;
    if (code == 200) /* most answers: saves a format for each */
        buf_add(b, S("HTTP/1.1 200 OK\r\n"));
    else
        buf_printf(b, "HTTP/1.1 %d %s\r\n", code, http_reason(code));
    if (needs_date)
        add_line(b, S("Date"), date_of(x->loop));
    if (needs_id)
        add_line(b, S("X-Request-Id"), str_of(x->ctx.id));
    if (x->surface->trace)
        add_line(b, str_of(x->surface->trace), request_trace(&x->ctx, &x->in, x->surface->trace));
    guard_head(x, b);
    if (!x->keep_alive)
        add_line(b, S("Connection"), S("close"));
    else if (x->is_old)
        add_line(b, S("Connection"), S("keep-alive"));
}

/* Looser than the standard: what matters is that no line can end early. */
static bool is_token(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ' || s.p[i] == ':' || s.p[i] == 127)
            return false;
    return s.n > 0;
}

/* Names and values may come from users or upstreams: a line end in one of them would be a header,
 * or an answer, of their own. */
enum status reply_check(struct ctx *ctx, const struct header *headers, size_t n)
{
    for (const struct header *h = headers; h < headers + n; h++) {
        bool is_bad = !is_token(h->name);
        for (size_t i = 0; i < h->value.n; i++) {
            unsigned char c = (unsigned char)h->value.p[i];
            is_bad |= (c < ' ' && c != '\t') || c == 127;
        }
        if (is_bad)
            return fail(ctx, BAD_INPUT, "the header '%.40s' holds a character that is not allowed",
                        is_token(h->name) ? str_c(&ctx->arena, h->name) : "?");
    }
    return OK;
}

void reply_headers(struct buf *b, const struct header *headers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        add_line(b, headers[i].name, headers[i].value);
}

/* On the loop, once per exchange. 204 and 304 have no body (RFC 9110, sections 15.3.5 and 15.4.5),
 * and no length is sent with them. The connection may be closed or serve its next request before
 * this returns. */
void reply_send(struct exchange *x)
{
    assert(loop_is_here(x->loop) && x->conn && x->phase != ANSWERED);
    struct buf *b = &x->conn->out;
    struct reply *r = &x->out;
    bool has_body = r->code != 204 && r->code != 304;
    if (r->close || atomic_load(&x->loop->server->phase) != SERVING)
        x->keep_alive = false;
    reply_begin(x, b, true, true);
    if (has_body) {
        if (r->body.n || r->type.n)
            add_line(b, S("Content-Type"), r->type.n ? r->type : S("application/json"));
        buf_printf(b, "Content-Length: %zu\r\n", r->body.n);
    }
    reply_headers(b, r->headers, r->n_headers);
    buf_add(b, S("\r\n"));
    if (has_body && !x->is_head) { /* HEAD has the length of the body, and no body */
        buf_add(b, buf_str(&r->body));
        x->sent = r->body.n;
    }
    x->phase = ANSWERED;
    if (!x->keep_alive)
        x->conn->close_after = true;
    conn_flush(x->conn);
}
