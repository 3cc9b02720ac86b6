/* erasures.c - /v1/erasures: what was erased, listed, and as certificates that the server signs. */
#include "surface/common/error_body.h"
#include "surface/common/list_page.h"

/*
 * A caller sees the erasures in the space of the request, and finds those of each space in reach by
 * their ids; an operator sees all. An erased space is named by the request, as it is in no list.
 */

SHAPE(erasures_in, LIST_CURSOR, LIST_LIMIT);
LIST_PAGE(erasures_out, erasure_fields, "newest first");

static HANDLER(erasure_list)
{
    const struct erasures_in *a = in->in;
    bool sees_all = auth_has(&in->who, RUNS_SERVER);
    struct pool_ref pool = sees_all ? (struct pool_ref){0} : in->who.pool;
    str of =
        str_printf(&ctx->arena, "erasures\n" S_FMT "\n" S_FMT, S_ARG(pool.user), S_ARG(pool.space));
    struct list_place place = {0};
    struct list_page page = {0};
    struct certificate *v = NULL;
    size_t n;
    TRY(cursor_read(ctx, of, a->cursor, &place));
    TRY(engine_erasures(ctx, app->engine, pool, place.row, (size_t)a->limit + 1, &v, &n,
                        &page.total));
    if (n > (size_t)a->limit) {
        n = (size_t)a->limit;
        page.next = cursor_write(ctx, of, &(struct list_place){.row = v[n - 1].no});
    }
    return list_reply(ctx, erasures_out_fields, &page, v, n, sizeof *v, out);
}

static HANDLER(erasure_get)
{
    const struct identity *who = &in->who;
    struct pool_ref pool = {0};
    struct certificate c;
    str user = who->pool.user, id = in->params[0];
    TRY(auth_has(who, RUNS_SERVER)
            ? engine_certificate(ctx, app->engine, pool, user, id, &c)
            : AUTH_FIND(ctx, app, who, pool,
                        engine_certificate(ctx, app->engine, pool, user, id, &c)));
    return reply_fields(out, certificate_fields, &c);
}

static const struct route routes[] = {
    {ROUTE("GET", "/v1/erasures", erasure_list), READS(erasures_in), ANSWERS(erasures_out),
     .help = "what was erased, without content"},
    {ROUTE("GET", "/v1/erasures/{id}", erasure_get), ANSWERS(certificate),
     .help = "the signed certificate of one erasure"},
    {0},
};

const struct surface surface_erasures = STRICT_SURFACE("memories", routes);
