/* move.c - moving a store: both sides opened, rows copied, compared and checked. */
#include "store/move.h"

#include "store/sql/move.h"
#include "store/store.h"

static void show_step(const struct move *m, const char *what, int64_t done)
{
    if (m->progress)
        m->progress(m->own, what, done, 1);
}

static enum status open_side(struct ctx *ctx, struct store_settings settings, struct store **out)
{
    settings.is_move = true;
    return store_open(ctx, &settings, out);
}

static enum status check_target(struct ctx *ctx, const struct move *m)
{
    str findings;
    show_step(m, "checking", 0);
    TRY(store_check(ctx, m->to, &findings));
    if (findings.n)
        return fail(ctx, STORAGE, "the copy is not sound: " S_FMT, S_ARG(findings));
    TRY(move_end(ctx, m->to));
    show_step(m, "checking", 1);
    return OK;
}

/* The target is opened again for its words index. */
static enum status move_between(struct ctx *ctx, const struct store_move *move, struct move *m)
{
    TRY(open_side(ctx, move->from, &m->from));
    TRY(open_side(ctx, move->to, &m->to));
    TRY(move_copy(ctx, m));
    show_step(m, "indexing", 0);
    store_close(m->to);
    m->to = NULL;
    TRY(open_side(ctx, move->to, &m->to));
    show_step(m, "indexing", 1);
    TRY(move_compare(ctx, m));
    return check_target(ctx, m);
}

enum status store_move(struct ctx *ctx, const struct store_move *move, struct store_moved *out)
{
    struct move m = {.source = move->from.path,
                     .progress = move->progress,
                     .own = move->own,
                     .out = out};
    *out = (struct store_moved){0};
    if (str_eq(move->from.path, move->to.path))
        return fail(ctx, BAD_INPUT, "source and target are the same");
    enum status status = move_between(ctx, move, &m);
    store_close(m.to);
    store_close(m.from);
    return status;
}
