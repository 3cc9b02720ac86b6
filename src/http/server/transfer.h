/* transfer.h - the upstream side of a relay, as relay.c runs it. */
#pragma once

#include <curl/curl.h>

#include "core/url.h"
#include "http/http.h"
#include "http/wire/mask.h"
#include "http/wire/reply.h"

struct exchange;
struct loop;

struct transfer {
    struct exchange *x;
    struct loop *loop;
    CURL *easy;
    void (*over)(struct transfer *t, CURLcode code); /* called when curl reports the end */
    struct buf head;   /* the header lines to the client, collected in the ctx's arena */
    int64_t last_us;   /* when the upstream last gave a sign */
    int64_t length;    /* of the body, as the upstream announced it, if has_length */
    uint64_t came;     /* of the body, so far */
    struct filter *at; /* whose end came last: its work runs on a worker */
    char barred[ADDRESS_TEXT_MAX]; /* the last address that got no socket, or "" */
    struct mask mask;              /* of an error answer */
    struct buf late;               /* what the filters gave there */
    enum status worked;            /* how their work went */
    str disposition;               /* the upstream's Content-Disposition */
    str hops;                      /* the headers that its Connection names, with commas */
    struct has_lines has;
    bool is_paused, has_length, is_coded;
    bool is_active; /* a browser would run it */
    bool head_came; /* of this answer */
    bool head_sent; /* of this or an earlier one */
    bool asks_again;
};

void relay_start(struct exchange *x);
void relay_resume(struct exchange *x);
void relay_sweep(struct exchange *x, int64_t now);
/* Ends the upstream call; the client is gone or about to be. */
void relay_cancel(struct exchange *x);
