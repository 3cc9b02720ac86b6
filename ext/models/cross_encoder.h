/* cross_encoder.h - a BERT that reads a question and a passage: how well one answers it. */
#pragma once

#include "base/ctx.h"

struct cross_encoder;

/* Whether the folder's config.json is that of such a model; no other file is read. */
bool cross_encoder_is_in(struct ctx *ctx, str folder);

/* Reads config.json, vocab.txt (or tokenizer.json) and model.safetensors of the folder.
 * UNSUPPORTED: oneDNN is not installed, or the model is of another kind. */
MUST_USE enum status cross_encoder_open(struct ctx *ctx, str folder, struct cross_encoder **out);
void cross_encoder_close(struct cross_encoder *c);

/*
 * scores[i] is the model's number for texts[i], greater for a better answer. The texts are read in
 * their order, and *done is how many have a score: all, or after a failure those before it.
 * TIMED_OUT at the deadline of the ctx or when it is cut. Thread-safe; each call uses one core.
 */
MUST_USE enum status cross_encoder_score(struct ctx *ctx, const struct cross_encoder *c,
                                         str question, const str *texts, size_t n, double *scores,
                                         size_t *done);
