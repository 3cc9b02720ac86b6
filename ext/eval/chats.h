/* chats.h - a conversation as a user would have had it: run as chats, or imported. */
#pragma once

#include "ext/eval/eval.h"

/* Ids that the messages of a conversation got in the store: ids[session][message]. */
struct led {
    str **ids;
    bool is_imported;
};

/*
 * A chat of a user with an assistant is led turn by turn through the code that a chat takes: memory
 * is recalled, a scripted model gives the assistant's text, and the turn is kept with its facts. A
 * conversation of two people with names is imported with its facts, as no chat could hold it.
 * Changes what the clock says.
 */
MUST_USE enum status chats_lead(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                const struct exam *c, struct led *out);
