/* stream.h - an answer that is made in pieces, as the client takes them. */
#pragma once

#include "base/buf.h"
#include "base/ctx.h"

struct app;
struct stream;

struct stream_ops {
    /*
     * On a worker: adds the next piece to the body. ctx is of this piece: its memory is freed with
     * it, and it is cut when the client leaves. *is_last ends the answer. A piece may be empty. A
     * failure of the first piece is the answer's, as if the handler had failed; later the answer
     * breaks off, so that the client sees that it is not whole.
     */
    enum status (*make)(struct stream *s, struct ctx *ctx, struct app *app, struct buf *out,
                        bool *is_last);
    /* For an answer that waits for something to happen: whether make has something to add. Asked
     * on the loop, about ten times a second, so it only compares. Such an answer ends when the
     * server stops. NULL: the next piece is made as soon as the client has taken the last one. */
    bool (*is_due)(struct stream *s);
    /* Once, on a worker, however the answer ended; or NULL. */
    void (*done)(struct stream *s, struct app *app);
};

/* A member of the handler's own struct in the ctx's arena, put into reply.stream. */
struct stream {
    const struct stream_ops *ops;
};
