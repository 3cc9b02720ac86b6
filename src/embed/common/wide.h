/* wide.h - eight numbers as one value, for loops that are built once per instruction set. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * On a processor without such registers the compiler uses two or more. Helpers take pointers,
 * because a vector argument has no stable calling convention, and are inlined into one function
 * for each instruction set.
 */
typedef float wide __attribute__((vector_size(32), aligned(4), may_alias));
typedef int wide_int __attribute__((vector_size(32), aligned(4), may_alias));

enum { WIDE = 8 };

#define INLINE static inline __attribute__((always_inline))

#define AVX2 __attribute__((target("avx2"), no_sanitize("thread")))
#define VNNI __attribute__((target("avx512f,avx512vnni")))

/* NAME_SET from the body NAME_body, for processors with the features in TARGET. */
#define BUILD(TARGET, NAME, SET, PARAMS, ...)                                                      \
    TARGET static void NAME##_##SET PARAMS                                                         \
    {                                                                                              \
        NAME##_body(__VA_ARGS__);                                                                  \
    }

/* Four neighbouring values as one number. */
INLINE int32_t four_of(const void *p)
{
    int32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* A loop that is written out, if n is a constant of at most 16: what it adds up stays in registers,
 * where an array would be kept in memory. */
#ifdef __clang__
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif
#define EACH(i, n) UNROLLED for (size_t i = 0; i < (n); i++)
