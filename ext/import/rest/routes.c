/* routes.c - the routes that bring in and write out memories. */
#include "base/audit.h"
#include "ext/import/export.h"
#include "ext/import/import.h"
#include "surface/common/error_body.h"
#include "surface/rest/list.h"

struct import_ask {
    struct import_in in;
    str name;
};
static FIELDS_OF(
    import_ask, import_in,
    (AS_BOOL, in.dry_run, "dry_run", .help = "count what would be new, and write nothing"),
    (AS_STR, in.format, "format", .one_of = import_formats,
     .help = "what the file is; without it, detected from the content"),
    (STR, name, .otherwise_str = "file", .min = 1, .max = 1000,
     .help = "path of the file in what is imported, such as notes/tea.md: notes are known by it"),
    (AS_BOOL, in.again, "again", .help = "bring back what was erased here, too"),
    (AS_BOOL, in.extract, "extract", .otherwise = 1,
     .help = "find facts in the user's words of another program's conversations"));

static FIELDS_OF(import_report, import_out, (STR, format, .help = "what the file was taken for"),
                 (AS_INT, records, "lines", .help = "lines or records that were read"),
                 (AS_INT, new_memories, "memories", .help = "memories that are new"),
                 (AS_INT, new_sessions, "sessions", .help = "sessions that are new"),
                 (AS_INT, new_messages, "messages", .help = "messages that are new"),
                 (AS_INT, new_bars, "bars",
                  .help = "statements that recall may not give again, which are new"),
                 (INT, updated, .help = "memories that the file has in a later state"),
                 (INT, facts, .help = "facts found in what the user said"),
                 (INT, erased,
                  .help = "left out, since it was erased here; again=true brings it back"),
                 (INT, skipped, .help = "left out on purpose"),
                 (INT, broken, .help = "records that break a rule; the rest went on"),
                 (STRS, problems, .help = "which, and which rule; at most 100"),
                 (BOOL, dry_run, .help = "nothing was written"));

struct importing {
    struct ctx *ctx;
    struct app *app;
    const struct request *in;
    str seen_space; /* the last one that was found in reach */
};

/* A request that names a space puts everything there; else each line says where. */
static enum status find_place(void *own, struct ctx *ctx, str space, struct pool_ref *out)
{
    struct importing *i = own;
    if (i->in->who.space_from)
        return OK;
    if (!str_eq(space, i->seen_space)) {
        TRY(auth_pool(ctx, i->app, &i->in->who, space, "space", out));
        i->seen_space = str_dup(&i->ctx->arena, space);
    }
    out->space = str_dup(&ctx->arena, space);
    return OK;
}

static HANDLER(memory_import)
{
    struct importing i = {.ctx = ctx, .app = app, .in = in};
    struct import_ask ask = {.in = {.pool = in->who.pool, .place = find_place, .own = &i}};
    struct import_report report;
    TRY(request_query_read(ctx, in, import_in_fields, &ask));
    TRY(engine_import_text(ctx, app->engine, &ask.in, ask.name, in->body, &report));
    return reply_fields(out, import_out_fields, &report);
}

struct export_in {
    struct filter_in filter;
    bool all;
    unsigned format; /* enum export_format */
};

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
    return !str_eq(filter_text(ctx, in, (struct pools){0}),
                   filter_text(ctx, &none, (struct pools){0}));
}

static HANDLER(memory_export)
{
    const struct export_in *e = in->in;
    struct export *x = NEW(&ctx->arena, struct export);
    struct export_order order = {.format = (enum export_format)e->format, .all = e->all};
    struct pools pools;
    if (e->all && has_filter(ctx, &e->filter))
        return fail_field(ctx, "all", "takes no filter");
    TRY(auth_listed(ctx, app, &in->who, &pools));
    TRY(filter_read(ctx, &e->filter, pools, &order.select));
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
    {ROUTE("POST", "/v1/memories/import", memory_import), .strict = true, .body_max = IMPORT_MAX,
     ASKS(import_in), .words.sends_type = "application/octet-stream", ANSWERS(import_out),
     .help = "an export, or a file of another program"},
    {0},
};

const struct surface surface_transfer = PROBLEM_SURFACE("memories", routes);
