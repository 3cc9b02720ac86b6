/* replay.h - blocks of memory that stand in a conversation already. */
#pragma once

#include "engine/chat/turn.h"

/* Fills out.earlier and told from the conversation's receipts. Never fails a chat: what cannot be
 * read is not put back. */
void replay_find(struct ctx *ctx, struct engine *e, struct turn *t);

/* Leaves out of what recall has found what an earlier block of the conversation tells. */
void replay_leave_told(const struct turn *t, struct recalled *v, size_t n);

/* What a block made of these tells; for the receipt. */
struct strs replay_told(struct arena *a, const struct recalled *v, size_t n);
