/* ingest.c - turns from a file into a pool: JSON lines, or LoCoMo. */
#include "ext/import/ingest.h"

#include "ext/import/importer.h"
#include "ext/import/items.h"

enum { LINE_MAX_BYTES = 16 << 20, PROGRESS_EVERY = 1 << 20 };

static const char *const roles[] = {"user", "assistant", "tool", "system", NULL};

/* The file is read line by line, or parsed as a whole where it is LoCoMo's array. */
static FIELDS_OF(message, line, (STR, session, .required = true, .min = 1, .max = 500),
                 (STR, role, .one_of = roles, .otherwise_str = "user"),
                 (AS_STR, text, "content", .required = true), (STR, speaker, .max = 200),
                 (TIME, created), (AS_STR, ref, "id", .max = 500));

static enum status ingest_sessions(struct importer *im, const struct exam *c)
{
    for (size_t s = 0; s < c->n_sessions; s++) {
        TRY(importer_session(im, &(struct session){.id = c->sessions[s].id}));
        for (size_t i = 0; i < c->sessions[s].n; i++)
            TRY(importer_message(im, &c->sessions[s].messages[i]));
    }
    return importer_write(im);
}

enum status ingest_conversation(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                const struct exam *c, bool extract, struct import_report *out)
{
    CLEANUP(importer_end) struct importer im = {0};
    const struct import_in in = {.pool = pool, .extract = extract};
    TRY(importer_begin(&im, ctx, e, &in, out));
    return ingest_sessions(&im, c);
}

enum status locomo_all(struct foreign *f, str text)
{
    struct exams all;
    TRY(locomo_read(f->ctx, text, &all));
    for (size_t i = 0; i < all.n; i++)
        for (size_t k = 0; k < all.v[i].n_sessions; k++) {
            const struct exam_session *from = &all.v[i].sessions[k];
            TRY(foreign_session(f, &(struct session){.id = from->id}, from->messages, from->n));
        }
    return OK;
}

enum status turn_line(struct foreign *f, const struct json *record)
{
    struct message m = {.origin = ORIGIN_IMPORT};
    TRY(fields_read(f->ctx, line_fields, record, false, &m));
    return foreign_session(f, &(struct session){.id = m.session}, &m, 1);
}

static enum status read_line(struct importer *im, str text, struct message *out)
{
    struct json *j;
    *out = (struct message){.origin = ORIGIN_IMPORT};
    if (text.n > LINE_MAX_BYTES)
        return fail(&im->work, TOO_LARGE, "a line may have at most %d bytes", LINE_MAX_BYTES);
    TRY(json_parse(&im->work, text, &j));
    if (j->type != JSON_OBJECT)
        return fail(&im->work, BAD_INPUT, "must be a JSON object");
    return fields_read(&im->work, line_fields, j, false, out);
}

/* A line with another session ends the bundle; the line is read again in the next one's memory. */
static enum status add_line(struct importer *im, str text)
{
    struct message m;
    TRY(importer_pass(im->ctx, &im->work, read_line(im, text, &m)));
    if (!str_eq(im->b.session.id, m.session)) {
        struct session next = {.id = str_dup(&im->ctx->arena, m.session)};
        TRY(importer_session(im, &next));
        TRY(importer_pass(im->ctx, &im->work, read_line(im, text, &m)));
    }
    return importer_message(im, &m);
}

enum status fail_at_line(struct ctx *ctx, int64_t no, enum status s)
{
    str field = str_dup(&ctx->arena, str_of(ctx->field)), why = ctx_take_why(ctx);
    return fail(ctx, s, "line %lld: " S_FMT "%s" S_FMT, (long long)no, S_ARG(field),
                field.n ? " " : "", S_ARG(why));
}

/* A bad line ends the import; what was read before it is written, and the same file may be given
 * again. */
static enum status ingest_lines(struct importer *im, str text)
{
    int64_t no = 0, told = 0, all = (int64_t)text.n;
    for (str rest = text, line; take_line(&rest, &no, &line);) {
        int64_t done = all - (int64_t)rest.n;
        enum status s = add_line(im, line);
        if (s != OK) {
            s = fail_at_line(im->ctx, no, s);
            TRY(importer_write(im));
            return s;
        }
        if (im->in->progress && (done - told >= PROGRESS_EVERY || !rest.n)) {
            im->in->progress(done, all);
            told = done;
        }
    }
    return importer_write(im);
}

/* Both outcomes are looked at: a flush that fails has lost messages that the report counts. */
enum status engine_ingest(struct ctx *ctx, struct engine *e, struct pool_ref pool, str path,
                          bool extract, void (*progress)(int64_t done, int64_t all),
                          struct import_report *out)
{
    CLEANUP(unmap_file) struct mapped file = {S("")};
    CLEANUP(importer_end) struct importer im = {0};
    const struct import_in in = {.pool = pool, .extract = extract, .progress = progress};
    *out = (struct import_report){0};
    TRY(importer_begin(&im, ctx, e, &in, out));
    TRY(map_file(ctx, path, &file));
    str text = import_without_mark(file.text);
    struct exams locomo = {0};
    bool is_locomo = str_starts(str_trim(text), S("["));
    enum status s = is_locomo ? locomo_read(ctx, text, &locomo) : ingest_lines(&im, text);
    for (size_t i = 0; s == OK && i < locomo.n; i++)
        s = ingest_sessions(&im, &locomo.v[i]);
    enum status flushed = store_flush(ctx, e->store);
    TRY(s);
    return flushed;
}
