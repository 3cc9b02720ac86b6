/* evaluate.c - measures recall in a temporary database, which is deleted afterwards. */
#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "app/command.h"
#include "app/instance.h"
#include "embed/embed.h"

/*
 * The LoCoMo benchmark asks questions about long conversations. This command imports them into a
 * database of its own, asks, and counts how often the turn with the answer is among the first k
 * that recall gives. The questions are not put to a model: the figures are of recall alone.
 */

/* Each rank is measured and reported on its own: RANKS_MAX of them are enough for a curve. */
enum { REPORT_MAX = 16 << 20, RANKS_MAX = 16 };

/* Without --k the usual ranks, so that reports are comparable. */
static enum status read_ranks(struct ctx *ctx, const struct options *o, struct eval_in *in)
{
    static const int64_t usual[] = {5, 10, 20};
    if (!o->k.n) {
        in->k = usual;
        in->n_k = sizeof usual / sizeof *usual;
        return OK;
    }
    int64_t *k = NEW_N(&ctx->arena, int64_t, o->k.n);
    for (size_t i = 0; i < o->k.n; i++)
        if (!str_int(o->k.v[i], &k[i]) || k[i] < 1 || k[i] > 1000 || o->k.n > RANKS_MAX)
            return fail(ctx, BAD_INPUT, "--k takes at most %d numbers from 1 to 1000", RANKS_MAX);
    in->k = k;
    in->n_k = o->k.n;
    return OK;
}

enum status command_eval_check(struct ctx *ctx, const struct options *o)
{
    struct eval_in in;
    if (!str_is(o->words.v[1], "locomo"))
        return fail(ctx, BAD_INPUT, "'" S_FMT "' is not a benchmark; there is: locomo",
                    S_ARG(o->words.v[1]));
    return read_ranks(ctx, o, &in);
}

/* The folder holds plain files only: a database and what SQLite keeps beside it. */
static void remove_folder(const char *path)
{
    DIR *d = opendir(path);
    char file[4200];
    for (struct dirent *e; d && (e = readdir(d));) {
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.')
            unlink(file);
    }
    if (d)
        closedir(d);
    rmdir(path);
}

/* In a function of its own so that the instance is closed before the caller removes its folder. */
static enum status measure_recall(struct ctx *ctx, const struct options *o, struct buf *report)
{
    CLEANUP(instance_close) struct instance instance = {0};
    struct eval_in in = {
        .file = o->words.v[2],
        .by_session = str_is(o->level, "session"),
        .one_pool = str_is(o->pool, "one"),
        .follow_ups = o->follow_ups,
        .sessions = o->sessions,
        .dump = o->dump,
    };
    TRY(read_ranks(ctx, o, &in));
    TRY(instance_open(ctx, o, &instance));
    if (isatty(STDERR_FILENO))
        fputs("measuring…", stderr);
    enum status s = engine_eval(ctx, instance.engine, &in, o->json, report);
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    return s;
}

/* Models come from the real data folder: the temporary one has none, and a download per run would
 * be slow. Memories never come from there. */
enum status command_eval(struct ctx *ctx, const struct options *o)
{
    const char *tmp = getenv("TMPDIR");
    struct options own = *o;
    struct instance real;
    struct buf report = buf_make(&ctx->arena, REPORT_MAX);
    str folder = str_printf(&ctx->arena, "%s/rememberd-eval-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    char *path = arena_alloc(&ctx->arena, folder.n + 1);
    memcpy(path, folder.p, folder.n);
    if (!mkdtemp(path))
        return fail(ctx, STORAGE, "the temporary folder %s cannot be created: %s", path,
                    strerror(errno));
    TRY(instance_find(ctx, &o->settings, &real));
    own.settings.model_dir = model_folder(ctx, &o->settings, real.folder);
    own.settings.data = str_of(path);
    enum status s = measure_recall(ctx, &own, &report);
    remove_folder(path);
    TRY(s);
    fwrite(report.p, 1, report.n, stdout);
    return OK;
}
