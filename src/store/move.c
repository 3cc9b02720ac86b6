/* move.c - moving a store: both sides opened, rows copied, compared and checked. */
#include "store/move.h"

#include "store/sql/move.h"
#include "store/store.h"

static enum status open_side(struct ctx *ctx, struct store_settings settings, struct store **out)
{
    settings.is_move = true;
    return store_open(ctx, &settings, out);
}

static enum status check_target(struct ctx *ctx, const struct moving *m)
{
    str findings;
    move_show(m, "checking", 0, 1);
    TRY(store_check(ctx, m->to, &findings));
    if (findings.n)
        return fail(ctx, STORAGE, "the copy is not sound: " S_FMT, S_ARG(findings));
    TRY(move_end(ctx, m->to));
    move_show(m, "checking", 1, 1);
    return OK;
}

/* The target is opened again for its words index. */
static enum status move_between(struct ctx *ctx, const struct store_move *move, struct moving *m)
{
    TRY(open_side(ctx, move->from, &m->from));
    TRY(open_side(ctx, move->to, &m->to));
    TRY(move_copy(m));
    move_show(m, "indexing", 0, 1);
    store_close(m->to);
    m->to = NULL;
    TRY(open_side(ctx, move->to, &m->to));
    move_show(m, "indexing", 1, 1);
    TRY(move_compare(m));
    return check_target(ctx, m);
}

enum status store_move(struct ctx *ctx, const struct store_move *move, struct store_moved *out)
{
    struct moving m = {.ctx = ctx, .move = move, .out = out};
    *out = (struct store_moved){0};
    if (str_eq(move->from.path, move->to.path))
        return fail(ctx, BAD_INPUT, "source and target are the same");
    enum status status = move_between(ctx, move, &m);
    store_close(m.to);
    store_close(m.from);
    return status;
}
