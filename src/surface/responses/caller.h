/* caller.h - the program that asks for a response, and its purpose. */
#pragma once

#include "surface/proxy/model_request.h"
#include "surface/responses/items.h"

/* Whether Codex asks, which sends texts of its own in the user's name. */
bool caller_is_codex(const struct request *in);

/* *own is how many of items are the conversation: the program's question may stand behind them. */
enum caller response_caller(struct ctx *ctx, const struct request *in, const struct items *items,
                            size_t *own);
