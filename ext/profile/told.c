/* told.c - statements in chats about a name of the profile, later than the name was set. */
#include "ext/profile/reading.h"

#include "engine/text/claims.h"
#include "lang/profile_told_lists.h"

/* Among the newest facts so many are read. */
enum { LOOKED_AT = 500 };

/* A street is more than the town that someone says. */
static enum slot slot_of_name(struct arena *a, str name)
{
    str words = profile_words(a, name);
    enum slot slot = slot_of_label(words);
    bool is_single = slot != SLOT_COUNT && slot_is_single(slot) && slot != SLOT_partner;
    return is_single && !str_is(words, "address") ? slot : SLOT_COUNT;
}

/* "Lives in Hamar now". */
static str without_now(str value)
{
    for (const char *const *end = value_ends; *end; end++)
        if (str_ends(value, str_of(*end)))
            return str_trim(str_sub(value, 0, value.n - strlen(*end)));
    return value;
}

static void take_told(struct arena *a, const struct read_fact *said, const struct memory *m,
                      const struct profile_fact *v, size_t n, struct told *out)
{
    bool is_calling =
        str_is(said->name, "nickname") && !SOME(i, n, str_eq_nocase(v[i].name, said->name));
    enum slot slot = is_calling ? SLOT_name : slot_of_name(a, said->name);
    for (size_t i = 0; i < n && slot != SLOT_COUNT; i++)
        if (m->created > out[i].at && slot == slot_of_name(a, v[i].name))
            out[i] = (struct told){without_now(said->value), m->created, m->doc};
}

enum status profile_told(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                         const struct profile_fact *v, size_t n, struct told *out)
{
    struct memory_filter f = {.pool = pool, .limit = LOOKED_AT};
    struct memory *said;
    size_t n_said = 0;
    TRY(store_list_memories(ctx, e->store, &f, &said, &n_said, NULL));
    for (size_t i = 0; i < n_said; i++) {
        const struct memory *m = &said[i];
        struct reading r = {.ctx = ctx};
        if (m->origin != ORIGIN_USER || (m->layer != LAYER_IDENTITY && m->layer != LAYER_FACT))
            continue;
        read_fact_memory(&r, m);
        for (size_t k = 0; k < r.n; k++)
            take_told(&ctx->arena, &r.v[k], m, v, n, out);
    }
    return OK;
}
