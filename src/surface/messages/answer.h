/* answer.h - answers in Anthropic's shapes: reading a model's text, writing the built-in one's. */
#pragma once

#include "surface/proxy/model_chat.h"

extern const struct answer_reader message_reader;

/* Writes a message, or the events of one. */
void answer_write_demo(struct ctx *ctx, const struct model_request *m, struct demo *d,
                       struct reply *out);
