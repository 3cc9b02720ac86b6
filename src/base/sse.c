/* sse.c - server-sent events by the WHATWG parsing rules. */
#include "base/sse.h"

/* An event that the end of the stream cuts is not delivered, and fields other than data and event
 * (id, retry) are ignored. max bounds a line and an event's data. */

struct sse sse_reader(size_t max)
{
    return (struct sse){.line = buf_make(NULL, max),
                        .data = buf_make(NULL, max),
                        .event = buf_make(NULL, 256)};
}

void sse_free(struct sse *s)
{
    buf_free(&s->line);
    buf_free(&s->data);
    buf_free(&s->event);
}

/* An event that did not fit is dropped as a whole: half of it could read as another message. The
 * last newline of data is not part of it, as each data line adds one. */
static void finish_event(struct sse *s, void (*got)(void *arg, str event, str data), void *arg)
{
    if (s->line.full || s->data.full)
        s->dropped++;
    else if (s->data.n)
        got(arg, buf_str(&s->event), (str){s->data.p, s->data.n - 1});
    buf_clear(&s->data);
    buf_clear(&s->event);
}

static void finish_line(struct sse *s, void (*got)(void *arg, str event, str data), void *arg)
{
    str line = buf_str(&s->line);
    if (!s->in_body && str_starts(line, S("\xEF\xBB\xBF")))
        line = str_sub(line, 3, line.n);
    s->in_body = true;
    bool is_end = !line.n && !s->line.full;
    str name = str_cut(&line, ':');
    if (line.n && line.p[0] == ' ')
        line = str_sub(line, 1, line.n);
    if (is_end) {
        finish_event(s, got, arg);
    } else if (s->line.full) {
        s->data.full = true; /* marks the event as lost; the line is emptied below */
    } else if (str_is(name, "data")) {
        buf_add(&s->data, line);
        buf_byte(&s->data, '\n');
    } else if (str_is(name, "event")) {
        buf_clear(&s->event);
        buf_add(&s->event, line);
    }
    buf_clear(&s->line);
}

void sse_feed(struct sse *s, str bytes, void (*got)(void *arg, str event, str data), void *arg)
{
    while (bytes.n) {
        /* CR ends a line at once, and LF behind it may arrive with the next bytes. */
        if (s->after_cr && bytes.p[0] == '\n')
            bytes = str_sub(bytes, 1, bytes.n);
        s->after_cr = false;
        size_t n = 0;
        while (n < bytes.n && bytes.p[n] != '\n' && bytes.p[n] != '\r')
            n++;
        buf_add(&s->line, str_sub(bytes, 0, n));
        if (n == bytes.n)
            return;
        s->after_cr = bytes.p[n] == '\r';
        finish_line(s, got, arg);
        bytes = str_sub(bytes, n + 1, bytes.n);
    }
}

void sse_write(struct buf *b, str event, str data)
{
    if (event.n) {
        buf_add(b, S("event: "));
        buf_add(b, event);
        buf_byte(b, '\n');
    }
    bool more;
    do {
        size_t left = data.n;
        str line = str_cut(&data, '\n');
        more = line.n < left;
        buf_add(b, S("data: "));
        buf_add(b, line);
        buf_byte(b, '\n');
    } while (more);
    buf_byte(b, '\n');
}
