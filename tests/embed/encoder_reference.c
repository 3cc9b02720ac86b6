/* encoder_reference.c - the encoder stays near the published model, from which it was fitted. */
#include <math.h>

#include "embed/common/floats.h"
#include "embed/encoder/encoder_int.h"
#include "lib/tiny_models.h"

/* The mean of the states of all tokens, as sentence-transformers makes the vector of a text. */
static void mean_state(struct ctx *ctx, struct encoder *e, const struct json *ids, float *out)
{
    static float states[(ENCODER_BLOCK + 2) * ENCODER_HIDDEN];
    uint32_t inner[ENCODER_BLOCK + 2];
    size_t n = 0;
    for (const struct json *id = ids->first; id; id = id->next)
        inner[n++] = (uint32_t)json_int_or(id, 0);
    CHECK_OK(encoder_states(ctx, e, inner + 1, n - 2, states));
    memset(out, 0, ENCODER_HIDDEN * sizeof *out);
    for (size_t i = 0; i < n; i++)
        floats_add(out, states + i * ENCODER_HIDDEN, ENCODER_HIDDEN);
    floats_unit(out, ENCODER_HIDDEN);
}

TEST_NEEDS(texts_have_nearly_the_vectors_of_the_whole_model, missing_models)
{
    struct encoder *e = encoder_new();
    double sum = 0, least = 1;
    int n = 0;
    for (const struct json *c = reference(ctx, "all-MiniLM-L6-v2")->first; c; c = c->next) {
        const struct json *ids = json_get(c, "ids");
        float got[ENCODER_HIDDEN], want[ENCODER_HIDDEN];
        size_t i = 0;
        if (ids->n > ENCODER_BLOCK + 2)
            continue;
        for (const struct json *v = json_get(c, "vector")->first; v; v = v->next)
            want[i++] = (float)json_num_or(v, 0);
        mean_state(ctx, e, ids, got);
        double like = (double)floats_dot(got, want, ENCODER_HIDDEN);
        sum += like;
        least = like < least ? like : least;
        n++;
    }
    printf("%d texts: cosine %.4f in the mean, %.4f at least\n", n, sum / n, least);
    CHECK(n >= 60);
    CHECK(sum / n >= 0.82 && least >= 0.52); /* fitted further since: decisions/006 */
    encoder_free(e);
}
