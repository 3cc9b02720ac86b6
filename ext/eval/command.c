/* command.c - measures recall in a temporary database, which is deleted afterwards. */
#include <unistd.h>

#include "app/instance.h"
#include "embed/embed.h"
#include "ext/eval/measure.h"
#include "ext/eval/row.h"

/*
 * Conversations are brought into a database of its own, and questions are asked of them. It is
 * counted how often what answers a question is among the first k that recall gives, or in the
 * prompt. No model takes part: the figures are of recall alone.
 */

enum { REPORT_MAX = 16 << 20 };

static enum status read_ranks(struct ctx *ctx, const struct options *o, struct eval_in *in)
{
    int64_t *k = NEW_N(&ctx->arena, int64_t, o->k.n);
    for (size_t i = 0; i < o->k.n; i++)
        if (!str_int(o->k.v[i], &k[i]) || k[i] < 1 || k[i] > EVAL_RANK_MAX || o->k.n > EVAL_K_MAX)
            return fail(ctx, BAD_INPUT, "--k takes at most %d numbers from 1 to %d", EVAL_K_MAX,
                        EVAL_RANK_MAX);
    in->k = k;
    in->n_k = o->k.n;
    return OK;
}

/* Flags that not all measures take: those of a ranking. */
#define RANKING " level k pool sessions dump follow_ups per_question texts "

/* What can be measured: one row for each second word. A format's name stands for its ranking. */
static const struct measure {
    const char *name, *flags; /* of the flags that not all measures take, those that it does */
    size_t files_min, files_max;
    enum status (*run)(struct ctx *ctx, struct engine *e, const struct eval_in *in, bool as_json,
                       struct buf *report); /* NULL: needs no database */
} measures[] = {
    {"locomo", RANKING, 1, 1, engine_eval},
    {"longmemeval", RANKING, 1, 1, engine_eval},
    {"beam", RANKING, 1, 1, engine_eval},
    {"jsonl", RANKING, 1, 1, engine_eval},
    {"prompt", " sessions per_question texts curve format ", 1, 1, engine_eval_prompt},
    {"junk", " sample judgements format ", 1, 98, engine_eval_junk},
    {"compare", " ", 2, 2, NULL},
};
enum { MEASURES = sizeof measures / sizeof *measures };

static const struct measure *measure_of(str name)
{
    for (size_t i = 0; i < MEASURES; i++)
        if (str_is(name, measures[i].name))
            return &measures[i];
    return NULL;
}

static bool takes_flag(const struct measure *m, str flag)
{
    static const char some[] = RANKING "curve format sample judgements ";
    char word[64];
    snprintf(word, sizeof word, " " S_FMT " ", S_ARG(flag));
    return !strstr(some, word) || strstr(m->flags, word);
}

static enum status check_usage(struct ctx *ctx, const struct options *o)
{
    struct eval_in in;
    const struct measure *m = measure_of(o->words.v[1]);
    if (!m)
        return fail(ctx, BAD_INPUT,
                    "'" S_FMT "' is not a benchmark; there is: locomo, longmemeval, beam, jsonl, "
                    "and prompt, junk, compare",
                    S_ARG(o->words.v[1]));
    size_t files = o->words.n - 2;
    if (files < m->files_min || files > m->files_max)
        return fail(ctx, BAD_INPUT, "eval %s takes %s", m->name,
                    m->files_min == 2   ? "two files"
                    : m->files_max == 1 ? "one file"
                                        : "one file or more");
    for (size_t i = 0; i < o->given.n; i++)
        if (!takes_flag(m, o->given.v[i]))
            return fail(ctx, BAD_INPUT, "%s does not take %s", m->name,
                        options_flag(&ctx->arena, o->given.v[i].p));
    if (o->format.n && name_index(eval_formats, o->format, -1) < 0)
        return fail_field(ctx, "--format", "must be one of: locomo, longmemeval, beam, jsonl");
    return read_ranks(ctx, o, &in);
}

/* Models come from the real data folder: the temporary one has none, and a download per run would
 * be slow. Memories never come from there. */
static enum status measure_recall(struct ctx *ctx, const struct options *o, struct buf *report)
{
    struct options own = *o;
    struct instance real;
    CLEANUP(instance_close) struct instance instance = {0};
    const struct measure *m = measure_of(o->words.v[1]);
    struct eval_in in = {
        .file = o->words.v[2],
        .files = o->words.v + 2,
        .n_files = o->words.n - 2,
        .format = m->run == engine_eval ? o->words.v[1] : o->format,
        .by_session = str_is(o->level, "session"),
        .one_pool = str_is(o->pool, "one"),
        .follow_ups = o->follow_ups,
        .sessions = o->sessions,
        .dump = o->dump,
        .per_question = o->per_question,
        .has_texts = o->texts,
        .curve = o->curve,
        .sample = o->sample,
        .judgements = o->judgements,
    };
    TRY(read_ranks(ctx, o, &in));
    TRY(instance_find(ctx, &o->settings, &real));
    own.settings.model_dir = model_folder(ctx, &o->settings, real.folder);
    TRY(instance_open(ctx, &own, TO_MEASURE, &instance));
    if (isatty(STDERR_FILENO))
        fputs("measuring…", stderr);
    enum status s = m->run(ctx, instance.engine, &in, o->json, report);
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    return s;
}

static enum status run_eval(struct ctx *ctx, const struct options *o)
{
    struct buf report = buf_make(&ctx->arena, REPORT_MAX);
    TRY(measure_of(o->words.v[1])->run
            ? measure_recall(ctx, o, &report)
            : eval_compare(ctx, o->words.v[2], o->words.v[3], o->json, &report));
    if (report.full)
        return fail(ctx, TOO_LARGE, "the report is larger than %d bytes", REPORT_MAX);
    fwrite(report.p, 1, report.n, stdout);
    return OK;
}

const struct command eval_commands[] = {EVAL_ROW(check_usage, run_eval), {0}};
