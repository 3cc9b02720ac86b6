/* tool_loop.h - the tool loop: calls of search_memory are run here and the model is asked again. */
#pragma once

#include "surface/proxy/model_chat.h"

/*
 * Adds our tool to the body's list. False, and nothing is changed, when the client has a tool of
 * that name, wants several answers at once, or uses the older "functions".
 */
bool tool_loop_offer(struct ctx *ctx, struct splice *body, const struct json *root);

/* Adds the filter. The request, whose body has our tool, is sent again so often at most, longer by
 * each round; its receipt lists what the searches found. It must live as long as the relay. */
void tool_loop_add(struct ctx *ctx, struct relay *relay, const struct model_request *ask,
                   int64_t rounds);
