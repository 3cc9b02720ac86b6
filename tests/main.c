/* main.c - runs the tests of one file, or those whose name holds the first argument. */
#include "lib/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include <sodium.h>

struct test_case *test_cases;

static size_t skipped;

const char *shared_file(struct ctx *ctx, const char *name)
{
    static const char *const places[] = {"../shared", "../../shared"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *path = str_printf(&ctx->arena, "%s/%s", places[i], name).p;
        if (access(path, R_OK) == 0)
            return path;
    }
    return NULL;
}

/* Why the test is not run over PostgreSQL, or NULL. */
static const char *not_on_postgres(const char *program, const char *name)
{
    static const char *const rows[][2] = {
#define SKIP(name, why) {name, why},
#include "lib/not_on_postgres.def"
#undef SKIP
    };
    for (size_t i = 0; getenv("TEST_STORE") && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i][0], program) == 0 || strcmp(rows[i][0], name) == 0)
            return rows[i][1];
    return NULL;
}

static void run(void **state)
{
    struct test_case *c = *state;
    struct ctx ctx = {0};
    if (!c->needs && (c->missing = not_on_postgres(program_invocation_short_name, c->name))) {
        printf("skipped: %s: %s\n", c->name, c->missing);
        skipped++;
        skip();
    }
    if (c->needs && (c->missing = c->needs())) {
        printf("skipped: %s: %s\n", c->name, c->missing);
        skipped++;
        skip();
    }
    fake_clock_stop();
    c->run(&ctx);
    ctx_free(&ctx);
}

/* A program that started a thread says so in the file of TEST_THREADS: ./dev runs it under
 * ThreadSanitizer, too. */
static void note_threads(const char *program)
{
    const char *list = getenv("TEST_THREADS");
    FILE *f = list && !__libc_single_threaded ? fopen(list, "ae") : NULL;
    if (!f)
        return;
    fprintf(f, "%s\n", strrchr(program, '/') ? strrchr(program, '/') + 1 : program);
    fclose(f);
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[512];
    size_t n = 0;
    if (sodium_init() < 0)
        return 2;
    setenv("REMEMBERD_CONFIG", "", 0); /* a developer's own settings are not for tests */
    for (struct test_case *c = test_cases; c && n < 512; c = c->next)
        if (argc < 2 || strstr(c->name, argv[1]))
            tests[n++] = (struct CMUnitTest){.name = c->name, .test_func = run, .initial_state = c};
    if (!n) {
        fprintf(stderr, "no test of that name\n");
        return 2;
    }
    int failed = _cmocka_run_group_tests(argv[0], tests, n, NULL, NULL);
    note_threads(argv[0]);
    printf("%zu passed, %d failed, %zu skipped\n", n - (size_t)failed - skipped, failed, skipped);
    return failed != 0;
}
