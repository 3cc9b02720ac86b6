/* write.c - spaces as records, in parts: sessions, bars, memories. */
#include "engine/state/state.h"
#include "ext/import/copy/lines.h"

/*
 * An export of any size takes the memory of one part. Each part reads what is there then; nothing
 * is in it twice, since memories go by a place and messages by their position.
 */
enum { ROWS = 100 };

const char *const export_formats[] = {"jsonl", "markdown", NULL};

enum export_step { STEP_LIST, STEP_SESSIONS, STEP_BARS, STEP_MEMORIES };

struct exporting {
    struct ctx *ctx; /* of the export: what must outlive a part */
    struct export_order order;
    copy_writer *write;
    size_t pool; /* of order's */
    enum export_step first_step, step;
    struct strs sessions;
    size_t session;
    bool has_session; /* its own line is written */
    int64_t position;
    struct memory_page_in page; /* the next one of memories */
};

static struct pool_ref pool_of(const struct exporting *x)
{
    return x->order.select.pools[x->pool];
}

ORDER(by_begin, struct session, UP(created) ?: BY_TEXT(id));

/* Their ids, by when they began; no more is kept, since a user may have many. */
static enum status list_sessions(struct exporting *x, UNUSED struct ctx *ctx, struct engine *e,
                                 UNUSED struct buf *out)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(x->ctx, 0);
    const struct session_filter f = {.pool = pool_of(x), .limit = SIZE_MAX};
    struct session *v;
    size_t n;
    engine_catch_up(x->ctx, e, f.pool);
    TRY(ctx_pass(x->ctx, &own, store_sessions(&own, e->store, &f, &v, &n, NULL)));
    SORT(v, n, by_begin);
    x->sessions = (struct strs){NEW_N(&x->ctx->arena, str, n + 1), n};
    for (size_t i = 0; i < n; i++)
        x->sessions.v[i] = str_dup(&x->ctx->arena, v[i].id);
    x->session = 0;
    x->step = STEP_SESSIONS;
    return OK;
}

static enum status add_messages(struct exporting *x, struct ctx *ctx, struct engine *e, str id,
                                struct buf *out)
{
    struct message *v;
    size_t n;
    TRY(store_session_messages(ctx, e->store, pool_of(x), id, x->position, ROWS, &v, &n));
    for (size_t i = 0; i < n; i++) {
        const struct message_line line = {.message = v[i],
                                          .space = pool_of(x).space,
                                          .chain = hashes_text(ctx, &v[i].chain, v[i].chain != 0),
                                          .tail = hashes_text(ctx, &v[i].tail, v[i].tail != 0)};
        x->write(out, ctx, LINE_MESSAGE, &line);
        x->position = doc_position(v[i].doc) + 1;
    }
    x->session += n < ROWS;
    x->has_session = n == ROWS;
    return OK;
}

/* A session that was erased since the list was made is left out. */
static enum status add_session(struct exporting *x, struct ctx *ctx, struct engine *e,
                               struct buf *out)
{
    if (x->session == x->sessions.n) {
        x->step = STEP_BARS;
        return OK;
    }
    str id = x->sessions.v[x->session];
    if (!x->has_session) {
        struct session session;
        enum status s = store_session(ctx, e->store, pool_of(x), id, &session);
        if (soft_if(ctx, s, NOT_FOUND)) {
            x->session++;
            return OK;
        }
        TRY(s);
        x->write(out, ctx, LINE_SESSION, &session);
        x->has_session = true;
        x->position = 0;
    }
    return add_messages(x, ctx, e, id, out);
}

static enum status add_bars(struct exporting *x, struct ctx *ctx, struct engine *e, struct buf *out)
{
    struct bars_read read;
    TRY(store_bars(ctx, e->store, pool_of(x), 0, &read));
    for (size_t i = 0; i < read.n; i++) {
        const struct bar *b = &read.bars[i];
        const struct bar_line line = {.bar = *b,
                                      .space = pool_of(x).space,
                                      .message = hashes_text(ctx, &b->message, b->message != 0),
                                      .terms = hashes_text(ctx, b->terms, b->n)};
        x->write(out, ctx, LINE_BAR, &line);
    }
    x->step = STEP_MEMORIES;
    return OK;
}

static enum status add_memories(struct exporting *x, struct ctx *ctx, struct engine *e,
                                struct buf *out)
{
    struct memory_page page;
    x->page.select.pools = &x->order.select.pools[x->pool];
    engine_catch_up(ctx, e, pool_of(x));
    TRY(store_memory_page(ctx, e->store, &x->page, &page));
    for (size_t i = 0; i < page.n; i++)
        x->write(out, ctx, LINE_MEMORY, &page.v[i]);
    x->page.has_place = page.has_more;
    if (!page.has_more) {
        x->pool++;
        x->step = x->first_step;
        return OK;
    }
    x->page.place_value = memory_sort_value(&page.v[page.n - 1], SORT_CREATED);
    x->page.place_row = memory_row(&page.v[page.n - 1]);
    return OK;
}

/* In the order of enum export_step. */
typedef enum status add_some(struct exporting *x, struct ctx *ctx, struct engine *e,
                             struct buf *out);
static add_some *const steps[] = {list_sessions, add_session, add_bars, add_memories};

struct exporting *engine_export_begin(struct ctx *ctx, const struct export_order *order)
{
    struct exporting *x = NEW(&ctx->arena, struct exporting);
    *x = (struct exporting){.ctx = ctx,
                            .order = *order,
                            .write = order->format == EXPORT_MARKDOWN ? copy_write_markdown
                                                                      : copy_write_line,
                            .first_step = order->all ? STEP_LIST : STEP_MEMORIES,
                            .page = {.select = order->select, .is_ascending = true, .limit = ROWS}};
    x->step = x->first_step;
    x->page.select.n_pools = 1;
    if (order->all)
        x->page.select.closed = CLOSED_TOO;
    return x;
}

enum status engine_export_part(struct ctx *ctx, struct engine *e, struct exporting *x, size_t bytes,
                               struct buf *out, bool *is_last)
{
    while (x->pool < x->order.select.n_pools && out->n < bytes)
        TRY(steps[x->step](x, ctx, e, out));
    *is_last = x->pool >= x->order.select.n_pools;
    return OK;
}
