/* answer.h - answers in Ollama's shape: reading a model's text, and writing the built-in one's. */
#pragma once

#include "surface/proxy/model_chat.h"

extern const struct answer_reader ollama_reader;

/* Writes the answer whole, or as lines; an empty one says that the model is loaded. */
void ollama_write_demo(struct ctx *ctx, const struct model_request *m, struct demo *d,
                       struct reply *out);
