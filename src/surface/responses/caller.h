/* caller.h - which program asks for a response, and what for. */
#pragma once

#include "surface/responses/items.h"

enum caller {
    CALLER_CHAT,  /* the user's own words */
    CALLER_AGENT, /* an agent that the chat has started: it is given memories and teaches none */
    CALLER_ASIDE  /* the program's own question: earlier blocks stand, nothing is added or learnt */
};

/* Whether Codex asks, which sends texts of its own in the user's name. */
bool caller_is_codex(const struct request *in);

/* *own is how many of items are the conversation: the program's question may stand behind them. */
enum caller caller_of(struct ctx *ctx, const struct request *in, const struct items *items,
                      size_t *own);
