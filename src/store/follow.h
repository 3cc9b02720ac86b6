/* follow.h - being told what this store's writes change. */
#pragma once

#include "core/event.h"

struct store;

/*
 * take is called by the thread that writes, once what the events tell can be read: it must be
 * short and call nothing of the store. Texts live until it returns. What another process writes
 * gives one EVENT_RESET, about a second later; so does a write that changes a great deal.
 */
struct follower {
    void (*take)(struct follower *f, const struct event *v, size_t n);
};
/* One at a time; NULL ends it, which never fails: take is not called any more when this returns.
 * Until the first one nothing is noted. */
MUST_USE enum status store_follow(struct ctx *ctx, struct store *s, struct follower *f);
