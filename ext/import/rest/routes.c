/* routes.c - the routes that bring in and write out memories. */
#include "base/audit.h"
#include "ext/import/export.h"
#include "ext/import/rest/import.h"
#include "surface/common/auth.h"
#include "surface/common/error_body.h"
#include "surface/rest/filter.h"

/* --- export --- */

struct export_in {
    struct filter_in filter;
    bool all;
    unsigned format; /* enum export_format */
};
handler memory_export;

/* The answer is made in pieces (http/stream.h), so an export of any size takes the memory of one
 * piece. */
enum { PIECE_BYTES = 64 << 10 };

struct export
{
    struct stream stream;
    struct exporting *x;
};

static enum status make_piece(struct stream *s, struct ctx *ctx, struct app *app, struct buf *out,
                              bool *is_last)
{
    struct export *x = container_of(s, struct export, stream);
    return engine_export_part(ctx, app->engine, x->x, PIECE_BYTES, out, is_last);
}

static const struct stream_ops pieces = {.make = make_piece};

static const struct field export_in_fields[] = {FILTER_ROWS FIELD_ROWS(
    export_in,
    (BOOL, all,
     .help = "all that the space holds: sessions, messages, what may not be recalled again, and "
             "archived memories, too"),
    (ENUM, format, .otherwise_str = "jsonl", .one_of = export_formats,
     .help = "lines of JSON, or Markdown that people can read; an import takes both")){0}};

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
    struct export_order order = {.format = (enum export_format)e->format, .all = e->all};
    struct pool_ref *pools;
    size_t n;
    if (e->all && has_filter(ctx, &e->filter))
        return fail_field(ctx, "all", "takes no filter");
    TRY(auth_listed(ctx, app, &in->who, &pools, &n));
    TRY(filter_read(ctx, &e->filter, pools, n, &order.select));
    x->stream.ops = &pieces;
    x->x = engine_export_begin(ctx, &order);
    out->type = order.format == EXPORT_MARKDOWN ? S("text/markdown; charset=utf-8")
                                                : S("application/x-ndjson");
    out->stream = &x->stream;
    audit_note(ctx, "exported", in->who.pool.user, "all=%d request=%s", e->all, ctx->id);
    return OK;
}

enum { IMPORT_MAX = 64 << 20 }; /* bytes of an import; larger ones are cut at a line */

static const struct route routes[] = {
    {ROUTE("GET", "/v1/memories/export", memory_export), .scope = MAY_EXPORT, READS(export_in),
     .strict = true, .words.type = "application/x-ndjson", .words.stream = "text/markdown",
     .help = "memories as lines of JSON, or with all=true a copy of everything in the space"},
    {ROUTE("POST", "/v1/memories/import", memory_import), .body_max = IMPORT_MAX, ASKS(import_in),
     ANSWERS(import_out), .help = "an export, or a file of another program"},
    {0},
};

const struct surface surface_transfer = PROBLEM_SURFACE("memories", routes);
