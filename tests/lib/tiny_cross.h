/* tiny_cross.h - small cross-encoders with weights from a fixed sequence. */
#pragma once

#include "lib/tiny_models.h"

/* Sizes of a model. */
struct cross_sizes {
    size_t words, hidden, wide, heads, layers, positions, outputs;
};

/* That of tests/embed/cross_reference.py, which computes its logits. */
extern const struct cross_sizes tiny_cross_sizes;
enum { TINY_POSITIONS = 24 };

/* Writes config.json, vocab.txt and model.safetensors into the folder. Words beyond those of the
 * tiny model are "w43", "w44" and so on. */
void cross_write(struct ctx *ctx, str folder, const struct cross_sizes *sizes);
/* The same as NAME in a folder of models. */
void cross_write_as(struct ctx *ctx, str folder, const char *name, const struct cross_sizes *sizes);
/* The tiny one in a folder of models. */
void tiny_cross(struct ctx *ctx, str folder, const char *name);
