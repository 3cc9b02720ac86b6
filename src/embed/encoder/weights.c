/* weights.c - expands 4-bit weights to 7 bits, and the rest of the file to floats. */
#include "embed/encoder/weights.h"

#include <math.h>

/*
 * A group of weights has a scale of its own, and a product of integers can have only one for each
 * output. So a row becomes 7-bit numbers with one scale: it has 16 levels in each group before, and
 * 127 over all after. That loses a fortieth of what the 4 bits have lost. The embedding table stays
 * as it is in the file: a text reads a few of its rows.
 */

static const size_t byte_count = (size_t)ENCODER_LAYERS * ENCODER_LINEAR;

/* Where reading has come to; each part of the file is read once, from its beginning to its end. */
struct reading {
    struct encoder_weights *out;
    size_t nibbles, floats; /* taken so far */
    int8_t *bytes;
};

/* --- the layers --- */

static void read_row(const struct encoder_file *f, size_t from, size_t n, float *out)
{
    float scales[ENCODER_WIDE / ENCODER_GROUP];
    halves_read(f->scales, from / ENCODER_GROUP, n / ENCODER_GROUP, scales);
    for (size_t i = 0; i < n; i += 2) {
        uint8_t pair = f->nibbles[(from + i) / 2];
        float scale = scales[i / ENCODER_GROUP];
        out[i] = (float)(((pair & 15) ^ 8) - 8) * scale;
        out[i + 1] = (float)(((pair >> 4) ^ 8) - 8) * scale;
    }
}

/* Rounds one row to 7 bits and puts it where the products read it; returns its sum. */
static int32_t pack_row(const float *row, size_t inputs, size_t output, int8_t *out, float *scale)
{
    float most = 0;
    int32_t sum = 0;
    for (size_t i = 0; i < inputs; i++)
        most = fabsf(row[i]) > most ? fabsf(row[i]) : most;
    *scale = most / PRODUCT_WEIGHT;
    float by = most > 0 ? PRODUCT_WEIGHT / most : 0;
    for (size_t i = 0; i < inputs; i++) {
        long v = lrintf(row[i] * by);
        assert(v >= -PRODUCT_WEIGHT && v <= PRODUCT_WEIGHT);
        out[product_place(inputs, output, i)] = (int8_t)v;
        sum += (int32_t)v;
    }
    return sum;
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
    float row[ENCODER_WIDE], *columns = NEW_N(&r->out->arena, float, outputs);
    int32_t *starts = NEW_N(&r->out->arena, int32_t, outputs);
    assert(inputs <= ENCODER_WIDE && outputs % PRODUCT_ROWS == 0 && inputs % PRODUCT_STEP == 0);
    for (size_t o = 0; o < outputs; o++) {
        read_row(&r->out->file, r->nibbles, inputs, row);
        starts[o] = -PRODUCT_OFFSET * pack_row(row, inputs, o, r->bytes, &columns[o]);
        r->nibbles += inputs;
    }
    out->product = (struct product){r->bytes, starts, outputs, inputs};
    out->columns = columns;
    r->bytes += outputs * inputs;
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
    w.bytes = heap_grow(NULL, byte_count + ALIGN);
    struct reading r = {.out = &w, .bytes = w.bytes};
    r.bytes += (ALIGN - (uintptr_t)r.bytes % ALIGN) % ALIGN;
    w.begin = take_norm(&r);
    for (size_t i = 0; i < ENCODER_LAYERS; i++)
        take_layer(&r, &w.layers[i]);
    assert(r.nibbles == byte_count);
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
