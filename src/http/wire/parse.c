/* parse.c - bytes of a client into requests, by llhttp; limits are kept while they come. */
#include "http/wire/parse.h"

/*
 * llhttp gives the pieces of a request as they come, one name or value possibly in several. The
 * head is collected in one buffer and its headers are remembered as offsets, since the buffer moves
 * while it grows. A callback that refuses notes the code in parser.fault and stops llhttp: nothing
 * may be sent from inside, so the code waits there until parser_feed has returned.
 */
enum { BODY_FIRST = 64 << 10 }; /* bytes reserved at once: the announced length may be a lie */

struct span {
    uint32_t name, name_n, value, value_n; /* offsets into incoming.head */
};

void incoming_init(struct incoming *in, struct ctx *ctx, size_t head_max)
{
    *in = (struct incoming){.ctx = ctx,
                            .head = buf_make(&ctx->arena, head_max),
                            .spans = NEW_N(&ctx->arena, struct span, HEADERS_MAX)};
}

/* Only now do the spans become pointers: the buffer of the head has stopped growing. Surrounding
 * white space is not part of a value (RFC 9110, section 5.5). */
const struct header *incoming_headers(const struct incoming *in)
{
    struct header *h = NEW_N(&in->ctx->arena, struct header, in->n_spans);
    assert(in->head_done);
    for (size_t i = 0; i < in->n_spans; i++) {
        const struct span *s = &in->spans[i];
        h[i].name = (str){in->head.p + s->name, s->name_n};
        h[i].value = str_trim((str){in->head.p + s->value, s->value_n});
    }
    return h;
}

static int stop_with(struct parser *p, int code)
{
    p->fault = code;
    return code ? HPE_USER : 0;
}

static int refuse_size(struct parser *p, int code, const char *why, size_t limit)
{
    fail(p->in->ctx, TOO_LARGE, "%s %zu bytes", why, limit);
    return stop_with(p, code);
}

static int add_to_head(struct parser *p, const char *at, size_t n)
{
    buf_add(&p->in->head, (str){at, n});
    if (p->in->head.full)
        return refuse_size(p, 431, "request line and headers are over the limit of",
                           p->in->head.max);
    return 0;
}

static int on_url(llhttp_t *http, const char *at, size_t n)
{
    struct parser *p = http->data;
    int code = add_to_head(p, at, n);
    p->in->target_n = p->in->head.n; /* nothing else is in it yet */
    return code;
}

/* A header begins with its first piece: either no header came before, or the one before has its
 * name complete. Headers behind a chunked body (trailers) are dropped, as RFC 9110, section 6.5.1
 * allows. */
static int on_field(llhttp_t *http, const char *at, size_t n)
{
    struct parser *p = http->data;
    struct incoming *in = p->in;
    if (in->head_done)
        return 0; /* a trailer */
    if (!in->n_spans || in->name_done) {
        if (in->n_spans == HEADERS_MAX) {
            fail(in->ctx, TOO_LARGE, "a request may have at most %d headers", HEADERS_MAX);
            return stop_with(p, 431);
        }
        in->spans[in->n_spans++] = (struct span){.name = (uint32_t)in->head.n};
        in->name_done = false;
    }
    assert(in->n_spans > 0 && in->n_spans <= HEADERS_MAX);
    in->spans[in->n_spans - 1].name_n += (uint32_t)n;
    return add_to_head(p, at, n);
}

static int on_field_complete(llhttp_t *http)
{
    struct incoming *in = ((struct parser *)http->data)->in;
    if (!in->head_done && in->n_spans) {
        in->name_done = true;
        in->spans[in->n_spans - 1].value = (uint32_t)in->head.n;
    }
    return 0;
}

static int on_value(llhttp_t *http, const char *at, size_t n)
{
    struct parser *p = http->data;
    if (p->in->head_done || !p->in->n_spans)
        return 0;
    p->in->spans[p->in->n_spans - 1].value_n += (uint32_t)n;
    return add_to_head(p, at, n);
}

/* Here the size of the body is known if it is announced, so a body that is too long is refused
 * before its first byte. A chunked one is refused as it grows. */
static int on_headers(llhttp_t *http)
{
    struct parser *p = http->data;
    struct incoming *in = p->in;
    http->upgrade = 0; /* an offer to change the protocol is ignored, as HTTP allows */
    if (http->http_major != 1 || http->http_minor > 1) {
        fail(in->ctx, UNSUPPORTED, "this server speaks HTTP/1.1 and HTTP/1.0, not HTTP/%d.%d",
             http->http_major, http->http_minor);
        return stop_with(p, http->http_major ? 505 : 400);
    }
    in->head_done = true;
    in->length = http->flags & F_CONTENT_LENGTH ? http->content_length : 0;
    in->is_old = http->http_minor == 0;
    in->keep_alive = llhttp_should_keep_alive(http);
    in->method = str_of(llhttp_method_name((llhttp_method_t)http->method));
    if (stop_with(p, p->events->head(p)))
        return HPE_USER;
    if (in->length > in->body_max)
        return refuse_size(p, 413, "the body is over the limit of", in->body_max);
    in->body = buf_make(NULL, in->body_max);
    if (in->length) { /* saves the first growths of the buffer */
        in->body.cap = in->length < BODY_FIRST ? in->length + 1 : BODY_FIRST;
        in->body.p = heap_grow(NULL, in->body.cap);
    }
    p->framing.at = http->flags & F_CHUNKED ? FRAMING_SIZE : FRAMING_PLAIN;
    bool has_body = in->length || http->flags & F_CHUNKED;
    return has_body ? stop_with(p, p->events->body_due(p)) : 0;
}

static int on_body(llhttp_t *http, const char *at, size_t n)
{
    struct parser *p = http->data;
    struct incoming *in = p->in;
    if (stop_with(p, p->events->body(p, n)))
        return HPE_USER;
    buf_add(&in->body, (str){at, n});
    if (in->body.full)
        return refuse_size(p, 413, "the body is over the limit of", in->body_max);
    return 0;
}

/* A pause, because this request's exchange must be over before the next one's begins: answers go
 * out in the order of the requests. */
static int on_whole(UNUSED llhttp_t *p)
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

void parser_init(struct parser *p, const struct parser_events *events)
{
    *p = (struct parser){.events = events};
    llhttp_init(&p->http, HTTP_REQUEST, &callbacks);
    p->http.data = p;
}

static enum parsed refuse_bytes(struct parser *p, str *bytes, const char *why)
{
    *bytes = (str){0};
    if (!p->fault) {
        fail(p->in->ctx, BAD_INPUT, "this is not valid HTTP/1.1: %s", why);
        p->fault = 400;
    }
    return PARSE_REFUSED;
}

/* In two steps at most: the head, and what follows. */
enum parsed parser_feed(struct parser *p, str *bytes)
{
    while (bytes->n) {
        const char *why;
        str part = {bytes->p, framing_scan(&p->framing, *bytes, &why)};
        if (why)
            return refuse_bytes(p, bytes, why);
        enum llhttp_errno error = llhttp_execute(&p->http, part.p, part.n);
        const char *at = error == HPE_PAUSED ? llhttp_get_error_pos(&p->http) : part.p + part.n;
        *bytes = (str){at, (size_t)(bytes->p + bytes->n - at)};
        if (error == HPE_PAUSED) { /* on_whole: one request at a time, the rest waits */
            llhttp_resume(&p->http);
            p->framing = (struct framing){0};
            return PARSE_WHOLE;
        }
        if (error != HPE_OK)
            return refuse_bytes(p, bytes, llhttp_get_error_reason(&p->http));
    }
    return PARSE_MORE;
}
