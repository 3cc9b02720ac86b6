/* main.c - runs the tests of one file, or those whose name holds the first argument. */
#include "t.h"

#include <stdlib.h>
#include <string.h>

#include <sodium.h>

struct test_case *test_cases;

static void run(void **state)
{
    struct test_case *c = *state;
    struct ctx ctx = {0};
    c->run(&ctx);
    ctx_free(&ctx);
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[512];
    size_t n = 0;
    if (sodium_init() < 0)
        return 2;
    for (struct test_case *c = test_cases; c && n < 512; c = c->next)
        if (argc < 2 || strstr(c->name, argv[1]))
            tests[n++] = (struct CMUnitTest){.name = c->name, .test_func = run, .initial_state = c};
    if (!n) {
        fprintf(stderr, "no test of that name\n");
        return 2;
    }
    int failed = _cmocka_run_group_tests(argv[0], tests, n, NULL, NULL);
    printf("%zu passed, %d failed\n", n - (size_t)failed, failed);
    return failed != 0;
}
