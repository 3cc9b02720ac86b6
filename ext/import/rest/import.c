/* import.c - our own export and other programs' files into spaces. */
#include "ext/import/import.h"
#include "ext/import/rest/import.h"

#include "surface/common/auth.h"

struct import_ask {
    str format, name;
    bool dry_run, extract, again;
};
FIELDS_OF(
    import_ask, import_in, (BOOL, dry_run, .help = "count what would be new, and write nothing"),
    (STR, format, .one_of = import_formats,
     .help = "what the file is; without it, detected from the content"),
    (STR, name, .otherwise_str = "file", .min = 1, .max = 1000,
     .help = "path of the file in what is imported, such as notes/tea.md: notes are known by it"),
    (BOOL, again, .help = "bring back what was erased here, too"),
    (BOOL, extract, .otherwise = 1,
     .help = "find facts in the user's words of another program's conversations"));

FIELDS_OF(import_report, import_out, (STR, format, .help = "what the file was taken for"),
          (AS_INT, records, "lines", .help = "lines or records that were read"),
          (AS_INT, new_memories, "memories", .help = "memories that are new"),
          (AS_INT, new_sessions, "sessions", .help = "sessions that are new"),
          (AS_INT, new_messages, "messages", .help = "messages that are new"),
          (AS_INT, new_bars, "bars",
           .help = "statements that recall may not give again, which are new"),
          (INT, updated, .help = "memories that the file has in a later state"),
          (INT, facts, .help = "facts found in what the user said"),
          (INT, erased, .help = "left out, since it was erased here; again=true brings it back"),
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

/* The query of a request with a body is the handler's to read. */
static enum status read_query(struct ctx *ctx, const struct request *in, struct import_ask *out)
{
    fields_defaults(import_in_fields, out);
    for (const struct field *f = import_in_fields; f->name; f++) {
        str text = request_query(ctx, in, f->name);
        if (text.n)
            TRY(fields_set(ctx, import_in_fields, str_of(f->name), text, out));
    }
    return OK;
}

enum status memory_import(struct ctx *ctx, struct app *app, const struct request *in,
                          struct reply *out)
{
    struct importing i = {.ctx = ctx, .app = app, .in = in};
    struct import_report report;
    struct import_ask ask;
    TRY(read_query(ctx, in, &ask));
    const struct import_in what = {.pool = in->who.pool,
                                   .format = ask.format,
                                   .dry_run = ask.dry_run,
                                   .extract = ask.extract,
                                   .again = ask.again,
                                   .place = find_place,
                                   .own = &i};
    TRY(engine_import_text(ctx, app->engine, &what, ask.name, in->body, 0, &report));
    return reply_fields(out, import_out_fields, &report);
}
