/* message_blocks.h - blocks of memory in a body whose messages have a role and a content each. */
#pragma once

#include "surface/proxy/model_request.h"

/* Where the blocks of a request go, and whether those of earlier turns are put back. */
enum placement blocks_placement(const struct app *app, const struct model_request *m);
bool blocks_are_replayed(const struct app *app, const struct model_request *m);

/* The blocks of earlier turns beside their messages, those of the turn's window left out. Once,
 * before the others. Without messages there are no blocks. */
void blocks_put_earlier(struct ctx *ctx, const struct app *app, struct model_request *m);
/* The block of this turn, if its place is the front of the conversation, or if it is not: a caller
 * that splices more may do so in between. */
void blocks_put(struct ctx *ctx, const struct app *app, struct model_request *m, bool is_front);
