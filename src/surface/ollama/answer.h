/* answer.h - answers in Ollama's shape: reading a model's text, and writing the built-in one's. */
#pragma once

#include "surface/proxy/answer_capture.h"
#include "surface/proxy/demo_answer.h"

extern const struct answer_reader ollama_reader;

/* Writes the answer whole, or as lines; an empty one says that the model is loaded. */
void ollama_write_demo(struct ctx *ctx, const struct demo *d, struct reply *out);
