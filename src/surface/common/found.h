/* found.h - sessions, messages and receipts by their ids, in every space in reach. */
#pragma once

#include "surface/common/auth.h"

/* NOT_FOUND is the same for one that is not there and one out of reach. *pool is where it is. */

/* CONFLICT when several spaces have one of that name; how says by what the request names one. */
MUST_USE enum status found_session(struct ctx *ctx, struct app *app, const struct identity *who,
                                   str id, const char *how, struct session *out,
                                   struct pool_ref *pool);
MUST_USE enum status found_message(struct ctx *ctx, struct app *app, const struct identity *who,
                                   str id, size_t around, struct message_around *out,
                                   struct pool_ref *pool);
MUST_USE enum status found_receipt(struct ctx *ctx, struct app *app, const struct identity *who,
                                   str id, struct receipt *out, struct pool_ref *pool);

/* The pools as text: what a cursor is of. */
str pools_text(struct ctx *ctx, struct pools pools);
