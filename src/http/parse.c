/* parse.c - bytes of a connection into requests, by llhttp; limits are kept while they come. */
#include <assert.h>

#include "base/clock.h"
#include "http/conn.h"
#include "http/exchange.h"
#include "http/loop.h"

/*
 * llhttp gives the pieces of a request as they come, one name or value possibly in several. The
 * head is collected in one buffer and its headers are remembered as offsets, since the buffer moves
 * while it grows. A callback that refuses notes the code in conn.fault and stops the parser.
 */
enum { BODY_FIRST = 64 << 10 }; /* bytes reserved at once: the announced length may be a lie */

/* From inside a callback of llhttp nothing may be sent, since the parser is still running: the code
 * waits in conn.fault until conn_parse has it back. */
static int refuse_size(struct conn *c, enum status s, int code, const char *why, size_t limit)
{
    fail(&c->x->ctx, s, "%s %zu bytes", why, limit);
    c->fault = code;
    return HPE_USER;
}

static int add_to_head(struct conn *c, const char *at, size_t n)
{
    buf_add(&c->x->head, (str){at, n});
    if (c->x->head.full)
        return refuse_size(c, TOO_LARGE, 431, "request line and headers are over the limit of",
                           c->x->head.max);
    return 0;
}

static int on_url(llhttp_t *p, const char *at, size_t n)
{
    struct conn *c = p->data;
    c->x->target_n += n;
    return add_to_head(c, at, n);
}

/* A header begins with its first piece: either no header came before, or the one before has its
 * name complete. Headers behind a chunked body (trailers) are dropped, as RFC 9110, section 6.5.1
 * allows. */
static int on_field(llhttp_t *p, const char *at, size_t n)
{
    struct conn *c = p->data;
    struct exchange *x = c->x;
    if (x->head_done)
        return 0; /* a trailer */
    if (!x->n_spans || x->name_done) {
        if (x->n_spans == HEADERS_MAX) {
            fail(&x->ctx, TOO_LARGE, "a request may have at most %d headers", HEADERS_MAX);
            c->fault = 431;
            return HPE_USER;
        }
        x->spans[x->n_spans++] = (struct span){.name = (uint32_t)x->head.n};
        x->name_done = false;
    }
    assert(x->n_spans > 0 && x->n_spans <= HEADERS_MAX);
    x->spans[x->n_spans - 1].name_n += (uint32_t)n;
    return add_to_head(c, at, n);
}

static int on_field_complete(llhttp_t *p)
{
    struct conn *c = p->data;
    struct exchange *x = c->x;
    if (!x->head_done && x->n_spans) {
        x->name_done = true;
        x->spans[x->n_spans - 1].value = (uint32_t)x->head.n;
    }
    return 0;
}

static int on_value(llhttp_t *p, const char *at, size_t n)
{
    struct conn *c = p->data;
    if (c->x->head_done || !c->x->n_spans)
        return 0;
    c->x->spans[c->x->n_spans - 1].value_n += (uint32_t)n;
    return add_to_head(c, at, n);
}

/* A client that asks before it sends the body (Expect) gets a refusal without sending it. */
static int ask_for_body(struct conn *c)
{
    struct exchange *x = c->x;
    if (x->is_old || !str_eq_nocase(request_header(&x->in, "Expect"), S("100-continue")))
        return 0;
    if (x->refused) {
        c->fault = x->refused;
        return HPE_USER;
    }
    x->wants_continue = exchange_is_early(x);
    if (!x->wants_continue)
        conn_continue(c);
    return c->closing ? HPE_USER : 0;
}

/* Here the size of the body is known if it is announced, so a body that is too long is refused
 * before its first byte. A chunked one is refused as it grows. */
static int on_headers(llhttp_t *p)
{
    struct conn *c = p->data;
    struct exchange *x = c->x;
    uint64_t length = p->flags & F_CONTENT_LENGTH ? p->content_length : 0;
    p->upgrade = 0; /* an offer to change the protocol is ignored, as HTTP allows */
    x->head_done = true;
    x->length = length;
    x->is_old = p->http_major == 1 && p->http_minor == 0;
    x->keep_alive = llhttp_should_keep_alive(p);
    x->in.method = str_of(llhttp_method_name((llhttp_method_t)p->method));
    if (!exchange_head_is_there(x)) {
        c->fault = x->refused;
        return HPE_USER;
    }
    if (length > x->body_max)
        return refuse_size(c, TOO_LARGE, 413, "the body is over the limit of", x->body_max);
    x->body = buf_make(NULL, x->body_max);
    if (length) { /* saves the first growths of the buffer */
        x->body.cap = length < BODY_FIRST ? length + 1 : BODY_FIRST;
        x->body.p = heap_grow(NULL, x->body.cap);
    }
    return length || p->flags & F_CHUNKED ? ask_for_body(c) : 0;
}

/* Bodies come in before the token is checked, so that anyone could fill the memory: all bodies
 * together have a limit, too. */
static bool has_room(struct exchange *x, size_t n)
{
    struct server *s = x->loop->server;
    x->body_counted += n;
    return atomic_fetch_add(&s->bodies, n) + n <= s->settings.bodies_max;
}

static int on_body(llhttp_t *p, const char *at, size_t n)
{
    struct conn *c = p->data;
    if (!has_room(c->x, n))
        return refuse_size(c, TOO_BUSY, 429, "the bodies of all requests are over the limit of",
                           c->loop->server->settings.bodies_max);
    buf_add(&c->x->body, (str){at, n});
    if (c->x->body.full)
        return refuse_size(c, TOO_LARGE, 413, "the body is over the limit of", c->x->body_max);
    return 0;
}

/* A pause, because this request's exchange must be over before the next one's begins: answers go
 * out in the order of the requests. */
static int on_whole(__attribute__((unused)) llhttp_t *p)
{
    return HPE_PAUSED;
}

/* In the order in which llhttp calls them. A name or value in pieces is why on_field and on_value
 * add, and why only on_field_complete knows where a value begins. */
static const llhttp_settings_t callbacks = {
    .on_url = on_url,
    .on_header_field = on_field,
    .on_header_field_complete = on_field_complete,
    .on_header_value = on_value,
    .on_headers_complete = on_headers,
    .on_body = on_body,
    .on_message_complete = on_whole,
};

void conn_parser_init(struct conn *c)
{
    llhttp_init(&c->parser, HTTP_REQUEST, &callbacks);
    c->parser.data = c;
}

/* What is left of the bytes: those of the next request. */
str conn_parse(struct conn *c, str bytes)
{
    assert(c->x && c->x->phase == READING);
    enum llhttp_errno error = llhttp_execute(&c->parser, bytes.p, bytes.n);
    if (error == HPE_OK || c->closing)
        return (str){0};
    if (error == HPE_PAUSED) { /* on_whole: one request at a time, the rest waits */
        const char *at = llhttp_get_error_pos(&c->parser);
        llhttp_resume(&c->parser);
        exchange_dispatch(c->x);
        return (str){at, (size_t)(bytes.p + bytes.n - at)};
    }
    if (!c->fault) {
        fail(&c->x->ctx, BAD_INPUT, "this is not valid HTTP/1.1: %s",
             llhttp_get_error_reason(&c->parser));
        c->fault = 400;
    }
    conn_refuse(c, c->x->ctx.failed, c->fault);
    return (str){0};
}
