/* user_facts.c - the facts that a question about the user asks for. */
#include "engine/recall/user_facts.h"

#include <stdlib.h>

/* Among the newest so many the important ones are looked for. */
enum { LOOKED_AT = 500, LEAST = 3, MOST = 15, TOKENS_EACH = 60 };

bool known_is_asked(struct gate gate)
{
    return !gate.is_weak && (gate.section == GATE_IDENTITY || gate.section == GATE_PINNED);
}

/* Identity before facts, then the most important, then the newest. */
static int first(const void *a, const void *b)
{
    const struct memory *x = a, *y = b;
    int by_layer = (y->layer == LAYER_IDENTITY) - (x->layer == LAYER_IDENTITY);
    if (by_layer)
        return by_layer;
    if (x->importance != y->importance)
        return x->importance < y->importance ? 1 : -1;
    if (x->created != y->created)
        return x->created < y->created ? 1 : -1;
    return (x->doc < y->doc) - (x->doc > y->doc);
}

/* The facts that a question such as "what do you know about me?" gets when its words find nothing:
 * between LEAST and MOST, one for each TOKENS_EACH of the budget. The caller applies bars
 * (find_shown). */
enum status known_of(const struct finder *f, int64_t after, int64_t budget_tokens,
                     struct recalled **out, size_t *n)
{
    struct memory *v;
    size_t found = 0, taken = 0;
    const struct memory_filter newest = {.pool = f->in->pool, .after = after, .limit = LOOKED_AT};
    TRY(past_list(f->ctx, f->e, &f->past, &newest, &v, &found));
    if (found)
        qsort(v, found, sizeof *v, first);
    int64_t most = budget_tokens < 0 ? MOST : budget_tokens / TOKENS_EACH;
    most = most < LEAST ? LEAST : most > MOST ? MOST : most;
    *out = NEW_N(&f->ctx->arena, struct recalled, (size_t)most + 1);
    for (size_t i = 0; i < found && taken < (size_t)most; i++)
        if (v[i].layer == LAYER_FACT || v[i].layer == LAYER_IDENTITY)
            (*out)[taken++] =
                (struct recalled){.is_memory = true,
                                  .memory = v[i],
                                  .score = v[i].importance,
                                  .why = S("the question asks what is known about the user")};
    *n = taken;
    return OK;
}
