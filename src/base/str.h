/* str.h - text that is read: a pointer and a length, never a NUL to look for. */
#pragma once

/* Nearly every file includes this one, and so does not include these headers again. */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"

typedef struct str {
    const char *p;
    size_t n;
} str;

#define S(literal) ((str){"" literal, sizeof(literal) - 1})
#define S_FMT "%.*s"
#define S_ARG(s) (int)(s).n, (s).p ? (s).p : ""

static inline str str_of(const char *c)
{
    return (str){c, c ? strlen(c) : 0};
}

/* Builds with AddressSanitizer stop at a part that would end before it begins. */
#if defined(__SANITIZE_ADDRESS__)
#define PART_IS_SOUND(from, to) assert((from) <= (to))
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PART_IS_SOUND(from, to) assert((from) <= (to))
#endif
#endif
#ifndef PART_IS_SOUND
#define PART_IS_SOUND(from, to) (void)0
#endif

static inline str str_sub(str s, size_t from, size_t to)
{
    PART_IS_SOUND(from, to);
    return (str){s.p ? s.p + from : s.p, to - from};
}

static inline bool str_eq(str a, str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_is(str a, const char *b)
{
    return str_eq(a, str_of(b));
}

/* Of ASCII letters only, as all that folds case here. */
static inline char ascii_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}
bool str_eq_nocase(str a, str b);
/* In a NULL-ended list, in the same way. */
bool str_is_one_of(str s, const char *const *list);
/* The index of name in a NULL-ended list, byte by byte, or otherwise. */
int name_index(const char *const *names, str name, int otherwise);
bool str_starts(str s, str with);
bool str_ends(str s, str with);

static inline bool char_is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

/* How many bytes a control character takes that is there: two of C1, as U+009B; 0: none is. */
size_t control_bytes(str s, size_t at);

/* White space of ASCII. */
static inline bool char_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* 0 to 15; -1 for what is no hexadecimal digit. */
static inline int hex_digit(char c)
{
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

/* Byte order, shorter first when one begins the other. */
int str_cmp(str a, str b);

/* The first position of needle in s, or s.n without one. */
size_t str_find(str s, str needle);

/* The position behind the last c, or 0 without one. */
size_t str_behind_last(str s, char c);

/* Without ASCII white space at both ends. */
str str_trim(str s);
/* Without the characters of the set at its end. */
str str_trim_end(str s, const char *set);
/* 0 to 9. */
bool str_has_digit(str s);

/* The text before c (or everything); *rest continues behind it. */
str str_cut(str *rest, char c);

/* A copy in the arena, with a NUL behind it for C libraries. */
str str_dup(struct arena *a, str s);
const char *str_c(struct arena *a, str s);
/* Puts such a copy in the place of each of these texts: STRS_DUP(a, &m.id, &m.text). */
#define STRS_DUP(A, ...)                                                                           \
    strs_dup(A, (str *const[]){__VA_ARGS__}, sizeof((str *const[]){__VA_ARGS__}) / sizeof(str *))
void strs_dup(struct arena *a, str *const *v, size_t n);
str str_lower(struct arena *a, str s);
str str_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Whole decimal numbers; false when s is anything else or does not fit. */
bool str_int(str s, int64_t *out);
bool str_num(str s, double *out);

/* FNV-1a, for tables; not for secrets. str_hash_on: of what h was made of, followed by s. */
uint64_t str_hash(str s);
uint64_t str_hash_on(uint64_t h, str s);

/* Unbounded or unchecked functions of the C library. Their headers are included above, so that only
 * uses are caught. */
#undef sprintf /* clang's fortified headers make it a macro */
#pragma GCC poison strcpy strcat sprintf vsprintf strtok atoi atol atof gets

/* --- arrays of anything --- */

/* Whether a condition holds for one of the numbers I below N, and for all of them. */
#define SOME(I, N, ...)                                                                            \
    ({                                                                                             \
        bool some_ = false;                                                                        \
        for (size_t I = 0; !some_ && I < (N); I++)                                                 \
            some_ = (__VA_ARGS__);                                                                 \
        some_;                                                                                     \
    })
#define EVERY(I, N, ...) (!SOME(I, N, !(__VA_ARGS__)))

/*
 * A function for qsort over an array of TYPE, of whose elements x and y are two:
 * ORDER(newest_first, struct memory, DOWN(created) ?: DOWN(doc)). UP and DOWN compare a member,
 * BY_TEXT one that is a str.
 */
#define ORDER(NAME, TYPE, ...)                                                                     \
    static int NAME(const void *a, const void *b)                                                  \
    {                                                                                              \
        const TYPE *x = a, *y = b;                                                                 \
        return __VA_ARGS__;                                                                        \
    }
/* Sorts the first N of an array by such a function; the array may be NULL where N is 0. */
#define SORT(V, N, ORDER) ((N) ? qsort((V), (N), sizeof *(V), (ORDER)) : (void)0)
#define UP(M) ((x->M > y->M) - (x->M < y->M))
#define DOWN(M) (-UP(M))
#define BY_TEXT(M) str_cmp(x->M, y->M)
