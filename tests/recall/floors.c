/* floors.c - evaluates recall on a file and fails when a figure leaves its bounds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "engine/engine.h"

/*
 * usage: recall_floors FILE turn|session BOUND …   with BOUND as overall.any@10>=87 or
 * as_set.other_spoke<=12. The bounds may only become stricter. Without the file the test is
 * skipped: it stands beside the repository, not in it.
 */

enum { SKIPPED = 77, REPORT_MAX = 1 << 20 };

static enum status evaluate(struct ctx *ctx, str folder, str file, bool by_session,
                            struct json **out)
{
    struct settings settings = {0};
    struct store *store;
    struct engine *engine;
    fields_defaults(settings_table, &settings);
    struct store_settings where = {.path =
                                       str_printf(&ctx->arena, S_FMT "/eval.db", S_ARG(folder))};
    TRY(store_open(ctx, &where, &store));
    enum status s = engine_open(ctx, store, &settings, &engine);
    struct buf report = buf_make(&ctx->arena, REPORT_MAX);
    if (s == OK) {
        const struct eval_in in = {.file = file, .by_session = by_session};
        s = engine_eval(ctx, engine, &in, true, &report);
        engine_close(engine);
    }
    store_close(store);
    static const char *const made[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        unlink(str_printf(&ctx->arena, S_FMT "%s", S_ARG(where.path), made[i]).p);
    TRY(s);
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

int main(int argc, char **argv)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    char folder[] = "/tmp/rememberd-recall-XXXXXX";
    if (argc < 4 || sodium_init() < 0 || (strcmp(argv[2], "turn") && strcmp(argv[2], "session"))) {
        fprintf(stderr, "usage: recall_floors FILE turn|session BOUND ...\n");
        return 2;
    }
    if (access(argv[1], R_OK) != 0) {
        printf("skipped: %s is not there (its licence keeps it out of the repository)\n", argv[1]);
        return SKIPPED;
    }
    if (!mkdtemp(folder))
        return 2;
    struct json *report;
    enum status s =
        evaluate(&ctx, str_of(folder), str_of(argv[1]), !strcmp(argv[2], "session"), &report);
    rmdir(folder);
    if (s != OK) {
        fprintf(stderr, "%s: %s\n", status_name(s), ctx.why);
        return 1;
    }
    int failed = 0;
    for (int i = 3; i < argc; i++)
        failed += !keeps(&ctx, report, argv[i]);
    printf("%d passed, %d failed\n", argc - 3 - failed, failed);
    return failed != 0;
}
