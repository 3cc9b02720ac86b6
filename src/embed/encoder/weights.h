/* weights.h - the weights of the encoder, expanded from its file for computing. */
#pragma once

#include "embed/encoder/format.h"
#include "embed/encoder/products.h"

struct linear {
    struct product product;
    const float *columns; /* the scale of each output's weights */
    const float *bias;
};

struct norm {
    const float *weight, *shift;
};

struct encoder_layer {
    struct linear qkv, out, up, down; /* query, key and value are one product */
    struct norm attended, done;
};

struct encoder_weights {
    struct arena arena; /* of all below, except: */
    void *bytes;        /* the 7-bit weights */
    struct encoder_file file;
    struct encoder_layer layers[ENCODER_LAYERS];
    struct norm begin;
    const float *centres; /* a row of four floats for each code of each part */
    const float *mean;
    const float *directions; /* for each input, the value of every direction */
};

MUST_USE enum status weights_open(struct ctx *ctx, str bytes, struct encoder_weights *out);
void weights_close(struct encoder_weights *w);

/* The input of the first layer before its norm: the token's row and its position's, added. */
void weights_row(const struct encoder_weights *w, uint32_t id, size_t position, float *out);
