/* formats.c - the benchmarks whose files can be read: one row each. */
#include "ext/eval/measure.h"
#include "ext/eval/readers.h"

#include <sys/stat.h>

/* How much of a file is looked at for the member that tells its format. */
enum { LOOKED_AT = 1 << 20 };

/* In the order in which a file without a named format is tried; the last one takes what is left. */
static const struct format {
    const char *name, *mark;
    exam_reader *read;
    enum status (*read_folder)(struct ctx *ctx, str path, struct exams *out); /* or NULL */
} formats[] = {
    {"locomo", "\"sample_id\"", locomo_read, NULL},
    {"longmemeval", "\"haystack_sessions\"", longmemeval_read, NULL},
    {"beam", "\"probing_questions\"", beam_read, beam_read_folder},
    {"jsonl", "", exam_lines_read, NULL},
};
enum { FORMATS = sizeof formats / sizeof *formats };

const char *const eval_formats[] = {"locomo", "longmemeval", "beam", "jsonl", NULL};
_Static_assert(sizeof eval_formats / sizeof *eval_formats == FORMATS + 1, "one name for each row");

static const struct format *format_of(str name, str text)
{
    str head = str_sub(text, 0, text.n < LOOKED_AT ? text.n : LOOKED_AT);
    for (size_t i = 0; i < FORMATS; i++)
        if (name.n ? str_is(name, formats[i].name)
                   : str_find(head, str_of(formats[i].mark)) < head.n)
            return &formats[i];
    return name.n ? NULL : &formats[FORMATS - 1];
}

static enum status read_folder(struct ctx *ctx, str path, str name, struct exams *out)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].read_folder && (!name.n || str_is(name, formats[i].name)))
            return formats[i].read_folder(ctx, path, out);
    return fail(ctx, BAD_INPUT, S_FMT ": is a folder; " S_FMT " is read from a file", S_ARG(path),
                S_ARG(name));
}

enum status eval_read(struct ctx *ctx, str path, str name, struct mapped *file, struct exams *out)
{
    struct stat st;
    *out = (struct exams){0};
    if (stat(str_c(&ctx->arena, path), &st) == 0 && S_ISDIR(st.st_mode))
        return read_folder(ctx, path, name, out);
    TRY(map_file(ctx, path, file));
    const struct format *f = format_of(name, file->text);
    if (!f)
        return fail_field(ctx, "format", "must be one of: locomo, longmemeval, beam, jsonl");
    if (f->read(ctx, file->text, out) == OK)
        return out->n ? OK : fail(ctx, BAD_INPUT, S_FMT ": holds no conversation", S_ARG(path));
    enum status s = ctx->failed;
    str field = str_dup(&ctx->arena, str_of(ctx->field)), why = ctx_take_why(ctx);
    return fail(ctx, s, S_FMT ": " S_FMT "%s" S_FMT, S_ARG(path), S_ARG(field), field.n ? ": " : "",
                S_ARG(why));
}
