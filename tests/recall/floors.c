/* floors.c - evaluates recall on a file and fails when a figure leaves its bounds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "engine/engine.h"
#include "ext/eval/measure.h"
#include "store/store.h"

/*
 * usage: recall_floors FILE[,FILE] [table=FOLDER | encoder] MEASURE BOUND … [MEASURE BOUND …] …
 * MEASURE: turn|session|follow_ups|prompt|kept|junk=JUDGEMENTS; BOUND: overall.any@10>=87 or
 * as_set.other_spoke<=12. The bounds may only become stricter. With a table vectors take part, of
 * the static table in that folder of models; with the encoder its own. turn, session and follow_ups
 * after each other share one index of the file. Without the file or the table the test is skipped:
 * they stand beside the repository, not in it.
 */

enum { SKIPPED = 77, REPORT_MAX = 1 << 20 };

enum what { BY_TURN, BY_SESSION, FOLLOW_UPS, PROMPT, KEPT, JUNK_AUDIT };

struct asked {
    struct strs files;
    str models; /* "": words alone */
    bool by_encoder;
    enum what what;
    str judgements;
    bool is_loaded; /* by the measure before */
};

static struct settings settings_of(const struct asked *asked)
{
    struct settings s = {0};
    settings_defaults(&s);
    s.encoder = asked->by_encoder;
    if (asked->models.n) {
        s.embedding_source = EMBED_STATIC;
        s.embedding_static = true;
        s.model_dir = asked->models;
    }
    return s;
}

static enum status measure(struct ctx *ctx, struct engine *engine, const struct asked *asked,
                           struct buf *report)
{
    const struct eval_in in = {.file = asked->files.v[0],
                               .files = asked->files.v,
                               .n_files = asked->files.n,
                               .judgements = asked->judgements,
                               .by_session = asked->what == BY_SESSION,
                               .follow_ups = asked->what == FOLLOW_UPS,
                               .kept = asked->what == KEPT,
                               .is_loaded = asked->is_loaded};
    if (asked->what == JUNK_AUDIT)
        return engine_eval_junk(ctx, engine, &in, true, report);
    bool is_prompt = asked->what == PROMPT || asked->what == KEPT;
    return (is_prompt ? engine_eval_prompt : engine_eval)(ctx, engine, &in, true, report);
}

/* The report of one measure. */
static enum status evaluate(struct ctx *ctx, struct engine *engine, const struct asked *asked,
                            struct json **out)
{
    struct buf report = buf_make(&ctx->arena, REPORT_MAX);
    TRY(measure(ctx, engine, asked, &report));
    return json_parse(ctx, buf_str(&report), out);
}

/* Says whether the figure keeps the bound. */
static bool keeps(struct ctx *ctx, const struct json *report, const char *bound)
{
    bool at_least = strstr(bound, ">=") != NULL;
    const char *sign = strstr(bound, at_least ? ">=" : "<=");
    if (!sign)
        return false;
    str path = str_dup(&ctx->arena, (str){bound, (size_t)(sign - bound)});
    const struct json *figure = json_at(report, path.p);
    double is = json_num_or(figure, 0), limit = strtod(sign + 2, NULL);
    bool kept = figure && (at_least ? is >= limit : is <= limit);
    printf("%s %s: %.2f\n", kept ? "ok  " : "FAIL", bound, is);
    return kept;
}

static bool is_there(struct ctx *ctx, str path)
{
    if (access(str_c(&ctx->arena, path), R_OK) == 0)
        return true;
    printf("skipped: " S_FMT " is not there (it stands beside the repository)\n", S_ARG(path));
    return false;
}

/* False when the word is none of the measures. */
static bool read_what(str word, struct asked *out)
{
    static const char *const whats[] = {"turn", "session", "follow_ups", "prompt",
                                        "kept", "junk",    NULL};
    int what = name_index(whats, str_cut(&word, '='), -1);
    if (what < 0 || (what == JUNK_AUDIT) != (word.n > 0))
        return false;
    out->what = (enum what)what;
    out->judgements = word;
    return true;
}

/* Whether all that the test needs is there. */
static bool has_all(struct ctx *ctx, str files, struct asked *out)
{
    out->files.v = NEW_N(&ctx->arena, str, files.n + 1);
    while (files.n) {
        str file = str_cut(&files, ',');
        if (!is_there(ctx, file))
            return false;
        out->files.v[out->files.n++] = file;
    }
    return out->files.n && (!out->models.n || is_there(ctx, out->models));
}

struct sums {
    int passed, failed;
};

/* Each measure, and the bounds behind it. */
static enum status check_all(struct ctx *ctx, struct engine *engine, struct asked *asked,
                             char **words, struct sums *out)
{
    struct json *report = NULL;
    for (; *words; words++) {
        if (read_what(str_of(*words), asked)) {
            printf("%s\n", *words);
            TRY(evaluate(ctx, engine, asked, &report));
            asked->is_loaded = true;
        } else {
            bool kept = report && keeps(ctx, report, *words);
            out->passed += kept;
            out->failed += !kept;
        }
    }
    return OK;
}

static enum status check_in(struct ctx *ctx, const char *folder, struct asked *asked, char **words,
                            struct sums *out)
{
    struct settings settings = settings_of(asked);
    struct store *store;
    struct engine *engine;
    const char *url = getenv("TEST_STORE"); /* tests/lib/with_postgres */
    struct store_settings where = {
        .path = url ? str_printf(&ctx->arena, "%s&schema=floors_%d", url, (int)getpid())
                    : str_printf(&ctx->arena, "%s/eval.db", folder)};
    TRY(store_open(ctx, &where, &store));
    enum status s = engine_open(ctx, store, &settings, &engine);
    if (s == OK) {
        s = check_all(ctx, engine, asked, words, out);
        engine_close(engine);
    }
    store_close(store);
    static const char *const made[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        unlink(str_printf(&ctx->arena, "%s/eval.db%s", folder, made[i]).p);
    return s;
}

int main(int argc, char **argv)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    char folder[] = "/tmp/rememberd-recall-XXXXXX";
    struct asked asked = {0};
    struct sums sums = {0};
    int first = 2;
    if (argc > first && str_starts(str_of(argv[first]), S("table=")))
        asked.models = str_of(argv[first++] + strlen("table="));
    else if (argc > first && str_is(str_of(argv[first]), "encoder"))
        asked.by_encoder = first++ > 0;
    if (argc < first + 2 || !read_what(str_of(argv[first]), &asked) || sodium_init() < 0) {
        fprintf(stderr, "usage: recall_floors FILE[,FILE] [table=FOLDER | encoder] "
                        "turn|session|follow_ups|prompt|kept|junk=JUDGEMENTS BOUND ...\n");
        return 2;
    }
    if (!has_all(&ctx, str_of(argv[1]), &asked))
        return SKIPPED;
    if (!mkdtemp(folder))
        return 2;
    enum status s = check_in(&ctx, folder, &asked, argv + first, &sums);
    rmdir(folder);
    if (s != OK) {
        fprintf(stderr, "%s: %s\n", status_name(s), ctx.why);
        return 1;
    }
    printf("%d passed, %d failed\n", sums.passed, sums.failed);
    return sums.failed != 0;
}
