/* export.c - memories, or all that spaces hold, as lines that an import takes. */
#include "surface/rest/export.h"

#include "surface/common/auth.h"
#include "surface/rest/transfer.h"

/*
 * The answer is made in pieces (http/stream.h), so an export of any size takes the memory of one
 * piece. Each piece reads what is there then: what is written meanwhile may be in it or not, and
 * nothing is in it twice, since memories go by a place and messages by their position.
 */
enum { PIECE_BYTES = 64 << 10, ROWS = 100 };

enum export_step { STEP_SESSIONS, STEP_BARS, STEP_MEMORIES, STEP_END };

struct export
{
    struct stream stream;
    struct ctx *ctx; /* of the exchange: what must outlive a piece */
    struct memory_select select;
    bool all;
    size_t pool;
    enum export_step step;
    struct strs sessions;
    size_t session;
    bool has_sessions, has_session; /* listed; the session's own line is written */
    int64_t position;
    bool has_place;
    double place_value;
    int64_t place_row;
};

static enum status add_messages(struct export *x, struct ctx *ctx, struct app *app,
                                struct pool_ref pool, str id, struct buf *out)
{
    struct message *v;
    size_t n;
    TRY(engine_transfer_messages(ctx, app->engine, pool, id, x->position, ROWS, &v, &n));
    for (size_t i = 0; i < n; i++) {
        struct message_line line = {.message = v[i], .space = pool.space};
        line.chain = v[i].chain ? hashes_text(ctx, &v[i].chain, 1) : S("");
        line.tail = v[i].tail ? hashes_text(ctx, &v[i].tail, 1) : S("");
        line_write(out, ctx, LINE_MESSAGE, &line);
        x->position = doc_position(v[i].doc) + 1;
    }
    if (n == ROWS)
        return OK;
    x->session++;
    x->has_session = false;
    return OK;
}

/* A session that was erased since the list was made is left out. */
static enum status add_session(struct export *x, struct ctx *ctx, struct app *app,
                               struct pool_ref pool, struct buf *out)
{
    if (!x->has_sessions) {
        TRY(engine_transfer_sessions(x->ctx, app->engine, pool, &x->sessions));
        x->has_sessions = true;
        x->session = 0;
    }
    if (x->session == x->sessions.n) {
        x->step = STEP_BARS;
        return OK;
    }
    str id = x->sessions.v[x->session];
    if (!x->has_session) {
        struct session session;
        enum status s = engine_session(ctx, app->engine, pool, id, &session);
        if (soft_if(ctx, s, NOT_FOUND)) {
            x->session++;
            return OK;
        }
        TRY(s);
        line_write(out, ctx, LINE_SESSION, &session);
        x->has_session = true;
        x->position = 0;
    }
    return add_messages(x, ctx, app, pool, id, out);
}

static enum status add_bars(struct export *x, struct ctx *ctx, struct app *app,
                            struct pool_ref pool, struct buf *out)
{
    struct transfer_bar *v;
    size_t n;
    TRY(engine_transfer_bars(ctx, app->engine, pool, &v, &n));
    for (size_t i = 0; i < n; i++) {
        const struct bar_line line = {.space = pool.space,
                                      .kind = v[i].kind,
                                      .reason = v[i].reason,
                                      .at = v[i].at,
                                      .message =
                                          v[i].message ? hashes_text(ctx, &v[i].message, 1) : S(""),
                                      .terms = hashes_text(ctx, v[i].terms, v[i].n)};
        line_write(out, ctx, LINE_BAR, &line);
    }
    x->step = STEP_MEMORIES;
    return OK;
}

static enum status add_memories(struct export *x, struct ctx *ctx, struct app *app,
                                struct pool_ref pool, struct buf *out)
{
    struct memory_page_in ask = {.select = x->select,
                                 .is_ascending = true,
                                 .has_place = x->has_place,
                                 .place_value = x->place_value,
                                 .place_row = x->place_row,
                                 .limit = ROWS};
    struct memory_page page;
    ask.select.pools = &pool;
    ask.select.n_pools = 1;
    TRY(engine_page(ctx, app->engine, &ask, &page));
    for (size_t i = 0; i < page.n; i++)
        line_write(out, ctx, LINE_MEMORY, &page.v[i]);
    x->has_place = page.has_more;
    if (page.has_more) {
        x->place_value = memory_sort_value(&page.v[page.n - 1], SORT_CREATED);
        x->place_row = memory_row(&page.v[page.n - 1]);
        return OK;
    }
    x->step = STEP_END;
    return OK;
}

static enum status add_some(struct export *x, struct ctx *ctx, struct app *app, struct buf *out)
{
    struct pool_ref pool = x->select.pools[x->pool];
    switch (x->step) {
    case STEP_SESSIONS:
        return add_session(x, ctx, app, pool, out);
    case STEP_BARS:
        return add_bars(x, ctx, app, pool, out);
    case STEP_MEMORIES:
        return add_memories(x, ctx, app, pool, out);
    case STEP_END:
        break;
    }
    x->pool++;
    x->has_sessions = false;
    x->step = x->all ? STEP_SESSIONS : STEP_MEMORIES;
    return OK;
}

static enum status make_lines(struct stream *s, struct ctx *ctx, struct app *app, struct buf *out,
                              bool *is_last)
{
    struct export *x = container_of(s, struct export, stream);
    while (x->pool < x->select.n_pools && out->n < PIECE_BYTES)
        TRY(add_some(x, ctx, app, out));
    *is_last = x->pool >= x->select.n_pools;
    return OK;
}

static const struct stream_ops lines = {.make = make_lines};

const struct field export_in_fields[] = {
    FILTER_ROWS,
    {BOOL(struct export_in, all),
     .help = "all that the space holds: sessions, messages, what may not be recalled again, and "
             "closed memories, too"},
    {0},
};

/* With all there is nothing to select: a part of a copy would not be one. */
static bool has_filter(struct ctx *ctx, const struct filter_in *in)
{
    struct filter_in none;
    fields_defaults(filter_in_fields, &none);
    return !str_eq(filter_text(ctx, in, NULL, 0), filter_text(ctx, &none, NULL, 0));
}

enum status memory_export(struct ctx *ctx, struct app *app, const struct request *in,
                          struct reply *out)
{
    const struct export_in *e = in->in;
    struct export *x = NEW(&ctx->arena, struct export);
    struct pool_ref *pools;
    size_t n;
    if (e->all && has_filter(ctx, &e->filter))
        return fail_field(ctx, "all", "takes no filter");
    TRY(auth_listed(ctx, app, &in->who, &pools, &n));
    TRY(filter_read(ctx, &e->filter, pools, n, &x->select));
    x->stream.ops = &lines;
    x->ctx = ctx;
    x->all = e->all;
    x->step = e->all ? STEP_SESSIONS : STEP_MEMORIES;
    if (e->all)
        x->select.closed = CLOSED_TOO;
    out->type = S("application/x-ndjson");
    out->stream = &x->stream;
    return OK;
}
