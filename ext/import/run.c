/* run.c - one import: files are recognised, cut into records and read; broken ones are noted. */
#include "base/utf8.h"
#include "ext/import/folder.h"
#include "ext/import/formats.h"
#include "ext/import/importer.h"
#include "ext/import/ingest.h"
#include "ext/import/items.h"

/*
 * A file is mapped and never parsed as a whole: items.c cuts it into records, and one record at a
 * time is a tree. So a file of any size needs the memory of its largest record.
 */
enum { RECORD_MAX = 64 << 20 };
enum { PROBLEM_MAX = 1000 }; /* characters: a path and the rule */

static void begin_record(struct import_run *run)
{
    ctx_clear_failure(&run->record);
    arena_reset(&run->record.arena);
}

/* Counts a broken record with the failure of from, and clears it. no 0: the whole file. */
static void note_broken(struct import_run *run, struct ctx *from, str path, const char *what,
                        int64_t no)
{
    struct import_report *r = run->im.report;
    struct arena *a = &run->ctx->arena;
    r->broken++;
    if (r->problems.n < IMPORT_PROBLEMS_MAX) {
        str place = no ? str_printf(a, ", %s %lld", what, (long long)no) : S("");
        str problem = str_printf(a, S_FMT S_FMT ": %s%s%s", S_ARG(path), S_ARG(place), from->field,
                                 from->field[0] ? ": " : "", from->why);
        r->problems.v[r->problems.n++] = engine_line(a, problem, PROBLEM_MAX);
    }
    ctx_clear_failure(from);
}

/* Only what the record itself breaks is its own: a disk that fails ends the import. */
static enum status judge_record(const struct foreign *f, enum status s, int64_t no)
{
    struct import_run *run = f->run;
    if (s != BAD_INPUT && s != TOO_LARGE)
        return importer_pass(run->ctx, &run->record, s);
    note_broken(run, &run->record, f->path, f->row->shape == RECORDS_LINES ? "line" : "record", no);
    return OK;
}

/* A file that fails as a whole: in a folder it is noted, and the others go on. */
static enum status judge_file(struct import_run *run, str path, enum status s, bool is_its_own)
{
    if (s == OK || !is_its_own || !run->is_folder)
        return s;
    note_broken(run, run->ctx, path, "", 0);
    run->im.report->failed++;
    return OK;
}

/* As in JSON: no invalid UTF-8, and U+FFFD for NUL. */
static enum status clean_text(struct ctx *ctx, str *text)
{
    if (!utf8_is_valid(*text))
        return fail(ctx, BAD_INPUT, "is not UTF-8 text");
    if (!text->n || !memchr(text->p, 0, text->n))
        return OK;
    struct buf b = buf_make(&ctx->arena, 3 * text->n);
    for (size_t i = 0; i < text->n; i++)
        buf_add(&b, text->p[i] ? str_sub(*text, i, i + 1) : S("\uFFFD"));
    *text = buf_str(&b);
    return OK;
}

static enum status read_record(struct foreign *f, str source)
{
    struct json *v;
    if (source.n > RECORD_MAX)
        return fail(f->ctx, TOO_LARGE, "may have at most %d bytes, has %zu", RECORD_MAX, source.n);
    if (f->row->read_text) {
        TRY(clean_text(f->ctx, &source));
        return f->row->read_text(f, source);
    }
    TRY(json_parse(f->ctx, source, &v));
    if (v->type != JSON_OBJECT)
        return fail(f->ctx, BAD_INPUT, "must be a JSON object");
    return f->row->read(f, v);
}

static enum status one_record(struct foreign *f, str source, int64_t no)
{
    struct import_run *run = f->run;
    begin_record(run);
    run->im.report->records++;
    TRY(judge_record(f, read_record(f, source), no));
    import_progress(run, source.p + source.n - f->text.p);
    return ctx_has_time(run->ctx) ? OK : fail(run->ctx, TIMED_OUT, "the import took too long");
}

static enum status each_item(struct foreign *f, str list)
{
    struct items it;
    struct item item;
    bool is_open = items_open(list, &it);
    assert(is_open);
    for (int64_t no = 1; is_open; no++) {
        begin_record(f->run);
        enum status s = items_next(f->ctx, &it, &item);
        if (s != OK || !item.value.n)
            return judge_record(f, s, no);
        TRY(one_record(f, item.value, no));
    }
    return OK;
}

/* With a mistake in it nothing of a copy is written. */
static enum status read_copy(struct foreign *f)
{
    struct ctx *ctx = f->run->ctx;
    begin_record(f->run);
    enum status s = f->row->shape == RECORDS_TEXT ? clean_text(ctx, &f->text) : OK;
    s = s == OK ? f->row->read_text(f, f->text) : s;
    return judge_file(f->run, f->path, s, s == BAD_INPUT || s == TOO_LARGE);
}

static enum status read_file(struct import_run *run, const struct import_format *row,
                             const struct folder_file *file, str text)
{
    struct foreign f = {.ctx = &run->record,
                        .run = run,
                        .row = row,
                        .format = str_of(row->name),
                        .path = file->name,
                        .text = text,
                        .modified = file->modified ? file->modified : run->now};
    struct import_report *r = run->im.report;
    int64_t no = 0;
    seen_free(&run->im.seen.turns);
    r->files++;
    r->format = r->format.n && !str_is(r->format, row->name) ? S("several") : str_of(row->name);
    if (row->is_copy)
        return read_copy(&f);
    if (row->read_text)
        return one_record(&f, text, 0);
    if (row->shape == RECORDS_WHOLE)
        return one_record(&f, str_trim(text), 1);
    if (row->shape == RECORDS_ITEMS)
        return each_item(&f, row->member ? items_member(text, str_of(row->member)) : text);
    for (str rest = text, line; take_line(&rest, &no, &line);)
        TRY(one_record(&f, line, no));
    begin_record(run);
    return row->end ? judge_record(&f, row->end(&f), no) : OK;
}

/* --- beginning and end --- */

static enum status begin_run(struct import_run *run, struct ctx *ctx, struct engine *e,
                             const struct import_in *in, struct import_report *out)
{
    *out = (struct import_report){.dry_run = in->dry_run};
    out->problems.v = NEW_N(&ctx->arena, str, IMPORT_PROBLEMS_MAX);
    *run = (struct import_run){.ctx = ctx, .record = ctx_child(ctx, 0), .batch = ctx_child(ctx, 0)};
    if (in->format.n && name_index(import_formats, in->format, -1) < 0)
        return fail_field(ctx, "format", "is not a known format: " S_FMT, S_ARG(in->format));
    TRY(importer_begin(&run->im, ctx, e, in, out));
    run->now = run->im.now;
    run->im.ctx = &run->record;
    run->im.once = true;
    return OK;
}

static void end_run(struct import_run *run)
{
    importer_end(&run->im);
    seen_free(&run->seen);
    seen_free(&run->said);
    ctx_free(&run->batch);
    arena_free(&run->session);
    ctx_free(&run->record);
}

/* What was given before a failure is kept, as it would be given again. */
static enum status finish_run(struct import_run *run, enum status so_far)
{
    begin_record(run);
    enum status s = importer_pass(run->ctx, &run->record, importer_write(&run->im));
    if (s == OK)
        s = importer_pass(run->ctx, &run->record, import_flush_memories(run));
    if (s == OK && !run->im.in->dry_run)
        s = store_flush(run->ctx, run->im.e->store);
    return so_far == OK ? s : so_far;
}

str import_without_mark(str text)
{
    return str_starts(text, S("\xEF\xBB\xBF")) ? str_sub(text, 3, text.n) : text;
}

/* Of a folder, what was not asked for by name: any text may be called .txt, and beside exported
 * conversations stand files that the user once sent to the model. What tells a coding agent how to
 * work is no memory of anybody. */
static bool is_left_out(const struct import_run *run, const struct import_format *row, str path)
{
    static const char *const instructions[] = {"CLAUDE.md", "CLAUDE.local.md", "AGENTS.md",
                                               "GEMINI.md", NULL};
    bool is_text = row->shape == RECORDS_TEXT && !row->is_copy && !run->im.in->format.n;
    return str_is_one_of(path_name(path), instructions) ||
           (is_text && (run->is_archive || !strcmp(row->name, "list")));
}

static enum status import_one(struct import_run *run, const struct folder_file *file, str bytes)
{
    str text = import_without_mark(bytes), format = run->im.in->format;
    const struct import_format *row = format_of(format, file->name, text, !run->is_folder);
    if (row && run->is_folder && is_left_out(run, row, file->name))
        row = NULL;
    if (!run->is_folder && (!format.n || str_is(format, "rememberd")) && !str_trim(text).n) {
        run->im.report->files++; /* the export of an empty space */
        return OK;
    }
    if (!row && !run->is_folder)
        return fail(run->ctx, BAD_INPUT, S_FMT ": " S_FMT, S_ARG(file->name),
                    S_ARG(format_missing(&run->ctx->arena, format, text)));
    run->im.report->ignored += !row;
    enum status s = row ? read_file(run, row, file, text) : OK;
    run->done += (int64_t)bytes.n;
    import_progress(run, 0);
    return s;
}

enum status engine_import(struct ctx *ctx, struct engine *e, const struct import_in *in, str path,
                          struct import_report *out)
{
    CLEANUP(end_run) struct import_run run = {0};
    struct folder_file *v;
    size_t n;
    enum status s = OK;
    TRY(begin_run(&run, ctx, e, in, out));
    TRY(folder_files(ctx, path, &v, &n, &run.is_folder));
    for (size_t i = 0; i < n; i++) {
        run.all += v[i].bytes;
        run.is_archive |= run.is_folder && str_ends(v[i].name, S(".json")) &&
                          str_starts(path_name(v[i].name), S("conversations"));
    }
    for (size_t i = 0; i < n && s == OK; i++) {
        CLEANUP(unmap_file) struct mapped mapped = {S("")};
        s = map_file(ctx, v[i].path, &mapped);
        s = s == OK ? import_one(&run, &v[i], mapped.text) : judge_file(&run, v[i].name, s, true);
    }
    TRY(finish_run(&run, s));
    return out->files || out->failed
               ? OK
               : fail(ctx, BAD_INPUT, S_FMT ": no file in it is of a known format", S_ARG(path));
}

enum status engine_import_text(struct ctx *ctx, struct engine *e, const struct import_in *in,
                               str name, str text, struct import_report *out)
{
    CLEANUP(end_run) struct import_run run = {0};
    const struct folder_file file = {.name = name, .bytes = (int64_t)text.n};
    TRY(begin_run(&run, ctx, e, in, out));
    run.all = file.bytes;
    return finish_run(&run, import_one(&run, &file, text));
}
