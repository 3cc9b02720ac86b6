/* weights.c - puts the 4-bit weights into the order of the products, and the rest into floats. */
#include "embed/encoder/weights.h"

#include <math.h>

/*
 * A group of weights has a scale of its own. A product multiplies by integers, so the scales of an
 * output become integers times one float: a two thousandth of the greatest is lost at most. The
 * embedding table stays as it is in the file: a text reads a few of its rows.
 */

static const size_t byte_count = (size_t)ENCODER_LAYERS * ENCODER_LINEAR / 2;

_Static_assert((int)ENCODER_GROUP == (int)PRODUCT_GROUP, "scales are of the groups of products");

/* Where reading has come to; each part of the file is read once, from its beginning to its end. */
struct reading {
    struct encoder_weights *out;
    size_t nibbles, floats; /* taken so far */
    uint8_t *bytes;
};

/* --- the layers --- */

/* An output's weights: from -8 to 7 in the file, two in a byte, the lower half first. */
static void place_weights(const uint8_t *pairs, size_t inputs, size_t output, uint8_t *out)
{
    int by = product_is_upper(output) ? 4 : 0;
    for (size_t i = 0; i < inputs; i++) {
        int v = pairs[i / 2] >> (i % 2 ? 4 : 0) & 15;
        out[product_place(inputs, output, i)] |= (uint8_t)((v ^ PRODUCT_OFFSET) << by);
    }
}

/* An output's scales; returns what undoes that they became integers. */
static float place_scales(const float *scales, size_t inputs, size_t output, int16_t *out)
{
    float most = 0;
    for (size_t g = 0; g < inputs / PRODUCT_GROUP; g++)
        most = fabsf(scales[g]) > most ? fabsf(scales[g]) : most;
    float by = most > 0 ? PRODUCT_SCALE / most : 0;
    for (size_t g = 0; g < inputs / PRODUCT_GROUP; g++) {
        int16_t *to = out + product_scale_place(inputs, output, g);
        to[0] = to[1] = (int16_t)lrintf(scales[g] * by);
    }
    return most / PRODUCT_SCALE;
}

static const float *take_floats(struct reading *r, size_t n)
{
    float *v = NEW_N(&r->out->arena, float, n);
    halves_read(r->out->file.floats, r->floats, n, v);
    r->floats += n;
    return v;
}

static void take_linear(struct reading *r, size_t outputs, size_t inputs, struct linear *out)
{
    const struct encoder_file *f = &r->out->file;
    float row[ENCODER_WIDE / ENCODER_GROUP], *columns = NEW_N(&r->out->arena, float, outputs);
    size_t groups = inputs / ENCODER_GROUP;
    int16_t *scales = NEW_N(&r->out->arena, int16_t, 2 * groups * outputs);
    assert(inputs <= ENCODER_WIDE && outputs % PRODUCT_ROWS == 0 && inputs % ENCODER_GROUP == 0);
    for (size_t o = 0; o < outputs; o++, r->nibbles += inputs) {
        place_weights(f->nibbles + r->nibbles / 2, inputs, o, r->bytes);
        halves_read(f->scales, r->nibbles / ENCODER_GROUP, groups, row);
        columns[o] = place_scales(row, inputs, o, scales);
    }
    out->product = (struct product){r->bytes, scales, outputs, inputs};
    out->columns = columns;
    r->bytes += outputs * inputs / 2;
}

static struct norm take_norm(struct reading *r)
{
    const float *weight = take_floats(r, ENCODER_HIDDEN);
    return (struct norm){weight, take_floats(r, ENCODER_HIDDEN)};
}

static void take_layer(struct reading *r, struct encoder_layer *l)
{
    take_linear(r, (size_t)3 * ENCODER_HIDDEN, ENCODER_HIDDEN, &l->qkv);
    take_linear(r, ENCODER_HIDDEN, ENCODER_HIDDEN, &l->out);
    take_linear(r, ENCODER_WIDE, ENCODER_HIDDEN, &l->up);
    take_linear(r, ENCODER_HIDDEN, ENCODER_WIDE, &l->down);
    l->qkv.bias = take_floats(r, (size_t)3 * ENCODER_HIDDEN);
    l->out.bias = take_floats(r, ENCODER_HIDDEN);
    l->attended = take_norm(r);
    l->up.bias = take_floats(r, ENCODER_WIDE);
    l->down.bias = take_floats(r, ENCODER_HIDDEN);
    l->done = take_norm(r);
}

/* --- the rest --- */

static void read_space(struct encoder_weights *w)
{
    float row[ENCODER_HIDDEN], *mean = NEW_N(&w->arena, float, ENCODER_HIDDEN);
    float *directions = NEW_N(&w->arena, float, ENCODER_HIDDEN *ENCODER_SPACE);
    memcpy(mean, w->file.mean, ENCODER_HIDDEN * sizeof *mean);
    for (size_t d = 0; d < ENCODER_SPACE; d++) {
        halves_read(w->file.directions, d * ENCODER_HIDDEN, ENCODER_HIDDEN, row);
        for (size_t i = 0; i < ENCODER_HIDDEN; i++)
            directions[i * ENCODER_SPACE + d] = row[i];
    }
    w->mean = mean;
    w->directions = directions;
}

enum status weights_open(struct ctx *ctx, str bytes, struct encoder_weights *out)
{
    enum { ALIGN = 64, CENTRES = ENCODER_PARTS * ENCODER_CODES * ENCODER_PART };
    struct encoder_weights w = {0};
    TRY(encoder_file_read(ctx, bytes, &w.file));
    w.bytes = heap_alloc(byte_count + ALIGN);
    struct reading r = {.out = &w, .bytes = w.bytes};
    r.bytes += (ALIGN - (uintptr_t)r.bytes % ALIGN) % ALIGN;
    w.begin = take_norm(&r);
    for (size_t i = 0; i < ENCODER_LAYERS; i++)
        take_layer(&r, &w.layers[i]);
    assert(r.nibbles == 2 * byte_count);
    float *centres = NEW_N(&w.arena, float, CENTRES);
    halves_read(w.file.centres, 0, CENTRES, centres);
    w.centres = centres;
    read_space(&w);
    *out = w;
    return OK;
}

void weights_close(struct encoder_weights *w)
{
    free(w->bytes);
    arena_free(&w->arena);
    *w = (struct encoder_weights){0};
}

void weights_row(const struct encoder_weights *w, uint32_t id, size_t position, float *out)
{
    const uint8_t *codes = w->file.codes + (size_t)id * ENCODER_PARTS;
    const int8_t *place = w->file.positions + position * ENCODER_HIDDEN;
    float scale;
    assert(id < ENCODER_VOCABULARY && position < ENCODER_POSITIONS);
    halves_read(w->file.position_scales, position, 1, &scale);
    for (size_t p = 0; p < ENCODER_PARTS; p++) {
        const float *centre = w->centres + (p * ENCODER_CODES + codes[p]) * ENCODER_PART;
        for (size_t i = 0; i < ENCODER_PART; i++, out++, place++)
            *out = centre[i] + (float)*place * scale;
    }
}
