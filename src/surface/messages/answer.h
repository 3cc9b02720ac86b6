/* answer.h - answers in Anthropic's shapes: reading a model's text, and writing the built-in one's.
 */
#pragma once

#include "surface/proxy/answer_capture.h"
#include "surface/proxy/demo_answer.h"

extern const struct answer_reader message_reader;

/* Writes a message, or the events of one. */
void answer_write_demo(struct ctx *ctx, const struct demo *d, struct reply *out);
