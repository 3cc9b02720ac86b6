/* regex.h - regular expressions over bytes, compiled when first matched, by any thread. */
#pragma once

#include "base/str.h"

/* PCRE2, compiled to machine code, with a limit on the work of one match. Letters are ASCII: no
 * byte of another script is a word character or has a case, so that every text may be matched and
 * offsets never cut a character of UTF-8 unless the pattern says so. */
struct pattern;

/* The patterns of a column of a static table: n regexes (or NULL), each `size` bytes behind the one
 * before. Each is compiled by its first match, as most talk needs few of some hundred. */
struct pattern *const *patterns_of(const char *const *column, size_t n, size_t size);
#define PATTERNS(ROWS, COLUMN)                                                                     \
    patterns_of(&(ROWS)->COLUMN, sizeof(ROWS) / sizeof *(ROWS), sizeof *(ROWS))
/* The pattern of a regex that one place alone asks. */
#define PATTERN(REGEX)                                                                             \
    ({                                                                                             \
        static const char *const regex_[] = {REGEX};                                               \
        *patterns_of(regex_, 1, sizeof *regex_);                                                   \
    })

enum { PATTERN_GROUPS = 3 };

struct match {
    size_t from, to;           /* of the whole match */
    str group[PATTERN_GROUPS]; /* of the text, by number from 1; p is NULL where it took no part */
};

/* The first match at or after from; one that must begin there starts with \G. Running into the
 * limit is no match. out may be NULL. */
bool pattern_find(struct pattern *p, str text, size_t from, struct match *out);
