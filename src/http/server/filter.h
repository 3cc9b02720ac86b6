/* filter.h - running a relay's chain of filters. */
#pragma once

#include "base/buf.h"
#include "http/relay.h"

/* Bytes through the filters from f on, f NULL included: what is left of them for the client. */
str filters_pass(struct filter *f, struct relay *r, str bytes);

/* The last byte has passed all filters, none of which may change the answer. */
void filters_last(struct relay *r);

/* The end of the answer for this one filter; *out is what the client gets. True: it wants work. */
bool filter_end(struct filter *f, struct relay *r, str *out);

/*
 * On a worker: the work of f, which its end asked for, then the end and work of the filters behind
 * it. What the client gets is added to *late. With *asks_again the filters up to the one that asks
 * are ready for another answer.
 */
MUST_USE enum status filters_work(struct ctx *ctx, struct app *app, struct relay *r,
                                  struct filter *f, struct buf *late, bool *asks_again);

/* The last bytes after a failure, or "" and false: no filter words one. */
bool filters_failed(struct relay *r, enum status how, str why, str *out);

void filters_done(struct ctx *ctx, struct app *app, struct relay *r, enum status how);
