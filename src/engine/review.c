/* review.c - memories held back because they instruct a model: listed, allowed, forgotten. */
#include "engine/review.h"

#include "base/clock.h"
#include "engine/memories.h"
#include "engine/recall/quarantine.h"
#include "engine/recall/tombstone_writer.h"

const char *const review_states[] = {"held", "allowed", NULL};
const char *const review_decisions[] = {"hold", "allow", "forget", NULL};

/* What the row names, without what is barred; false when nothing of it instructs any more. */
static bool find_held(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                      const struct tombstones *tombstones, const struct held_item *row,
                      struct recalled *out)
{
    *out = (struct recalled){.is_memory = row->is_memory};
    enum status s = row->is_memory ? store_memory(ctx, e->store, pool, row->id, &out->memory)
                                   : store_message(ctx, e->store, pool, row->id, &out->message);
    if (!soft(ctx, s) || (row->is_memory && out->memory.valid_to) ||
        !tombstones_keep(tombstones, &ctx->arena, out))
        return false;
    const struct message *m = &out->message;
    str text = row->is_memory ? out->memory.content : m->is_echo ? m->says : m->text;
    out->text = quarantine_text(&ctx->arena, out, text);
    return out->text.n > 0;
}

static struct review review_of(struct pool_ref pool, const struct held_item *row,
                               const struct recalled *r)
{
    const struct message *m = &r->message;
    return (struct review){
        .id = row->id,
        .kind = row->is_memory ? S("memory") : S("message"),
        .text = r->text,
        .role = row->is_memory ? S("") : m->role,
        .origin = str_of(origin_names[row->is_memory ? r->memory.origin : m->origin]),
        .space = pool.space,
        .session = row->is_memory ? r->memory.session : m->session,
        .created = row->is_memory ? r->memory.created : m->created,
        .first = row->first,
        .last = row->last,
        .times = row->times,
        .state = str_of(review_states[row->state]),
        .why = S("it reads as an instruction to the model"),
    };
}

enum status engine_review(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                          enum review_state state, size_t offset, size_t limit, struct review **out,
                          size_t *n, int64_t *total)
{
    struct held_item *rows;
    struct tombstones tombstones;
    struct recalled r;
    size_t n_rows, have = 0, all = 0;
    engine_catch_up(ctx, e, pool);
    TRY(tombstones_load(ctx, e, pool, &tombstones));
    TRY(store_held_list(ctx, e->store, pool, state, &rows, &n_rows));
    struct review *v = NEW_N(&ctx->arena, struct review, n_rows + 1);
    for (size_t i = 0; i < n_rows; i++) {
        if (!find_held(ctx, e, pool, &tombstones, &rows[i], &r))
            continue;
        if (all++ >= offset && have < limit)
            v[have++] = review_of(pool, &rows[i], &r);
    }
    *out = v;
    *n = have;
    *total = (int64_t)all;
    return OK;
}

/* Each sentence is a statement; the message stays in its conversation. */
static enum status bar_held(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                            const struct recalled *r, int64_t *barred)
{
    struct memory *v = NULL;
    struct barring_in in = {.pool = pool, .reason = BAR_FORGOTTEN};
    size_t cap = 0;
    for (str rest = r->text; rest.n;) {
        str line = str_cut(&rest, '\n');
        ARENA_ADD(&ctx->arena, v, in.n, cap) = (struct memory){.content = line,
                                                               .source = r->message.id,
                                                               .session = r->message.session,
                                                               .created = r->message.created,
                                                               .updated = clock_ms()};
    }
    in.memories = v;
    return bar_statements(ctx, e, &in, barred);
}

enum status engine_decide(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                          enum review_state to, int64_t *barred)
{
    struct held_item row;
    struct tombstones tombstones;
    struct recalled r;
    *barred = 0;
    engine_catch_up(ctx, e, pool);
    TRY(store_held(ctx, e->store, pool, id, &row));
    TRY(tombstones_load(ctx, e, pool, &tombstones));
    if (!row.id.n || !find_held(ctx, e, pool, &tombstones, &row, &r))
        return fail(ctx, NOT_FOUND, "nothing with the id '" S_FMT "' is quarantined", S_ARG(id));
    if (to == REVIEW_FORGOTTEN) {
        const struct forget what = {.pool = pool, .id = row.id, .barred = barred};
        TRY(row.is_memory ? engine_forget(ctx, e, &what, NULL)
                          : bar_held(ctx, e, pool, &r, barred));
        /* Erasing a memory has taken its row along. */
        return soft_or(ctx, store_decide(ctx, e->store, pool, id, to, 0), NOT_FOUND);
    }
    return store_decide(ctx, e->store, pool, id, to, row.is_memory ? r.memory.updated : 0);
}
