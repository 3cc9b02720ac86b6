/* t.h - a thin layer over cmocka: TEST(name) { … } and checks that say what they saw. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#undef fail /* ours is in base/ctx.h */
#undef fail_msg
#define fail_msg(...) (print_error(__VA_ARGS__), print_error("\n"), _fail(__FILE__, __LINE__))

#include "base/ctx.h"
#define fail(ctx, s, ...) fail_note((ctx), (s), 0, "", __VA_ARGS__)

/* A test that lets each write, or each moment, fail in turn tries every how many-th. Under a
 * sanitizer one takes seconds, and each is tried without. */
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { FAULT_STEP = 5 };
#else
enum { FAULT_STEP = 1 };
#endif

struct test_case {
    const char *name;
    void (*run)(struct ctx *ctx);
    const char *(*needs)(void); /* what is missing for it here, or NULL */
    const char *missing;
    struct test_case *next;
};

extern struct test_case *test_cases;

/*
 * Each test gets a fresh ctx; whatever it makes dies with it. Tests run in the order of the file.
 * TEST_NEEDS is skipped, and says why, when needs() gives a reason.
 */
#define TEST(NAME) TEST_NEEDS(NAME, NULL)
#define TEST_NEEDS(NAME, NEEDS)                                                                    \
    static void NAME(struct ctx *ctx);                                                             \
    static struct test_case case_##NAME = {.name = #NAME, .run = NAME, .needs = NEEDS};            \
    __attribute__((constructor)) static void add_##NAME(void)                                      \
    {                                                                                              \
        struct test_case **at = &test_cases;                                                       \
        while (*at)                                                                                \
            at = &(*at)->next;                                                                     \
        *at = &case_##NAME;                                                                        \
    }                                                                                              \
    static void NAME(__attribute__((unused)) struct ctx *ctx)

/* The path of a file of ../shared as seen from here, or NULL: a stranger's machine has none. */
const char *shared_file(struct ctx *ctx, const char *name);

static inline bool holds(str text, const char *part)
{
    return !*part || str_find(text, str_of(part)) < text.n;
}

#define CHECK(cond) assert_true(cond)
#define CHECK_INT(a, b) assert_int_equal((a), (b))
/* Fails with the status and the words it left. */
#define CHECK_OK(call)                                                                             \
    do {                                                                                           \
        enum status check_ = (call);                                                               \
        if (check_ != OK)                                                                          \
            fail_msg("%s: %s: %s %s", #call, status_name(check_), ctx->field, ctx->why);           \
    } while (0)
#define CHECK_STATUS(call, want)                                                                   \
    do {                                                                                           \
        enum status check_ = (call);                                                               \
        if (check_ != (want))                                                                      \
            fail_msg("%s: %s, not %s: %s", #call, status_name(check_), status_name(want),          \
                     ctx->why);                                                                    \
    } while (0)
#define CHECK_STR(got, want)                                                                       \
    do {                                                                                           \
        str got_ = (got), want_ = (want);                                                          \
        if (!str_eq(got_, want_))                                                                  \
            fail_msg("%s is '" S_FMT "', not '" S_FMT "'", #got, S_ARG(got_), S_ARG(want_));       \
    } while (0)
