/* stream.c - an answer made in pieces: one on a worker, to the client, then the next. */
#include "http/stream.h"

#include "http/server/conn.h"
#include "http/server/exchange.h"
#include "http/wire/reply.h"

/*
 * The first piece is made where the handler ran (stream_begin), so that a failure is still an
 * answer of its own. After that the exchange goes back and forth: the loop sends a piece and waits
 * until the client has taken most of it and the stream is due, then a worker makes the next one
 * (make_next). So a stream takes a worker only while it makes something, and memory for one
 * piece, however long the answer and however slow the client is. An HTTP/1.0 client gets no chunks:
 * the end of the connection is the end of the answer.
 */
enum { UNSENT_MAX = 64 << 10 }; /* bytes that a client has not taken when the next piece is made */

static enum status make_piece(struct exchange *x)
{
    struct stream *s = x->stream;
    CLEANUP(ctx_free) struct ctx piece = ctx_child(&x->ctx, 0);
    piece.is_cut = &x->gone;
    buf_clear(&x->piece);
    enum status made = s->ops->make(s, &piece, x->loop->server->app, &x->piece, &x->is_last);
    if (made == OK && x->piece.full)
        made = fail(&piece, TOO_LARGE, "a piece of the answer would exceed the limit of %zu bytes",
                    x->piece.max);
    if (made != OK && x->ctx.failed == OK)
        fail_note(&x->ctx, made, piece.detail, piece.field, "%s", piece.why);
    return made;
}

enum status stream_begin(struct exchange *x)
{
    x->stream = x->out.stream;
    x->piece = buf_make(NULL, x->loop->server->settings.reply_max);
    return x->is_head ? OK : make_piece(x);
}

static void make_next(struct exchange *x)
{
    assert(x->phase == WORKING);
    x->how = make_piece(x);
}

static void send_head(struct exchange *x)
{
    x->keep_alive &= !x->raw.is_old;
    struct buf *b = exchange_begin_reply(x, (struct has_lines){0});
    if (x->out.type.n)
        reply_line(b, S("Content-Type"), x->out.type);
    if (!x->raw.is_old)
        buf_add(b, S("Transfer-Encoding: chunked\r\n"));
    reply_end_head(b, &x->out);
}

/* On the loop: a piece is there. Flushing may close the connection and end the exchange, or find
 * everything taken and call stream_resume. */
static void send_made(struct exchange *x)
{
    reply_piece(&x->conn->out, buf_str(&x->piece), !x->raw.is_old);
    x->sent += x->piece.n;
    buf_free(&x->piece);
    if (x->is_last)
        exchange_end_answer(x, !x->raw.is_old && !x->is_head);
    else
        conn_flush(x->conn);
}

void stream_start(struct exchange *x)
{
    x->phase = STREAMING;
    send_head(x);
    x->is_last |= x->is_head;
    send_made(x);
}

static void take_next(struct exchange *x)
{
    x->phase = STREAMING;
    if (x->how == OK) {
        send_made(x);
        return;
    }
    x->conn->close_after = true; /* the client sees an answer without an end */
    exchange_end_answer(x, false);
}

static const struct work next_piece = {make_next, take_next, .has_begun = true};

/* A full queue is no failure of an answer that has begun: the next sweep tries again. */
void stream_resume(struct exchange *x)
{
    const struct stream_ops *ops = x->stream->ops;
    assert(x->phase == STREAMING);
    if (conn_unsent(x->conn) <= UNSENT_MAX && (!ops->is_due || ops->is_due(x->stream)) &&
        !exchange_queue(x, &next_piece))
        ctx_clear_failure(&x->ctx);
}

/* A stream that waits would keep the server from stopping. */
void stream_sweep(struct exchange *x)
{
    assert(x->phase == STREAMING);
    if (x->stream->ops->is_due && atomic_load(&x->loop->server->phase) != SERVING) {
        x->conn->close_after = true;
        exchange_end_answer(x, !x->raw.is_old && !x->is_head);
        return;
    }
    stream_resume(x);
}
