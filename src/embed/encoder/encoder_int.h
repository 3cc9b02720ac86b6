/* encoder_int.h - for tests and measuring: an encoder with other kernels, and its states. */
#pragma once

#include "embed/encoder/steps.h"

struct encoder *encoder_new_by(const struct encoder_kernels *kernels);

/* The n ids with [CLS] and [SEP] around them; out gets n + 2 rows of ENCODER_HIDDEN floats, as they
 * are after the last layer. */
MUST_USE enum status encoder_states(struct ctx *ctx, struct encoder *e, const uint32_t *ids,
                                    size_t n, float *out);
