/* static.h - a table of one vector for each token; a text is the mean of its tokens. */
#pragma once

#include "base/ctx.h"

struct static_table;

/* The folder of a model2vec model: model.safetensors and tokenizer.json. */
MUST_USE enum status static_open(struct ctx *ctx, str folder, struct static_table **out);
void static_close(struct static_table *t);
size_t static_dimensions(const struct static_table *t);

/* A vector of length 1, or all 0 when the text has no known token. */
void static_embed(const struct static_table *t, str text, float *out);
