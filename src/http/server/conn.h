/* conn.h - a client's connection: its socket, its parser, its bounded output. */
#pragma once

#include <uv.h>

#include "http/server/idle_eviction.h"
#include "http/wire/address.h"
#include "http/wire/meter.h"
#include "http/wire/parse.h"

struct exchange;

/* When the server stops, for a request that was sent before its client could see that. */
enum { UNDERWAY_MS = 250 };

enum conn_state { CONN_IDLE, CONN_READING, CONN_ANSWERING, CONN_LINGERING };

struct conn {
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe; /* of a unix socket */
    };
    uv_write_t write;
    struct loop *loop;
    struct link all, dirty, turn; /* in the loop's lists */
    struct idle_place idle;
    struct parser parser;
    struct exchange *x;
    struct buf pending, out, sending;
    char address[ADDRESS_MAX]; /* who is counted */
    size_t address_n;          /* 0: this machine */
    struct meter *meter;
    struct bucket bucket;
    int64_t deadline_us; /* of the state, or of the client's taking more output */
    size_t unsent;       /* at the last look, to see progress */
    enum conn_state state;
    bool is_sending, is_resting, has_eof, close_after, lingers, closing,
        is_refused; /* is_resting: it is not read */
};

void conn_open(struct loop *l, int fd, bool is_refused);
void conn_close(struct conn *c);
/* Output was added inside a curl callback; it is sent when curl has returned. */
void conn_touch(struct conn *c);
void conns_flush(struct loop *l);
/* The next request of connections that have sent several ahead. */
void conns_take_turns(struct loop *l);
void conn_flush(struct conn *c);
size_t conn_unsent(const struct conn *c);
void conn_sweep(struct conn *c, int64_t now);
/* Answers with a failure while the request may still be coming, then closes. */
void conn_refuse(struct conn *c, enum status s, int code);

/* The caller of a request with a long body was admitted: the body is read on. */
void conn_resume(struct conn *c);
