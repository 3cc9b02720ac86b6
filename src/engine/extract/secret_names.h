/* secret_names.h - beginnings of keys and names of secrets, as one table. */
#pragma once

#include "engine/text/regex.h"

enum secret_kind {
    SECRET_NUMBERS,   /* a pattern that has no literal */
    SECRET_KEYS,      /* a beginning, then letters and digits */
    SECRET_BLOCK,     /* a pattern from here on, which ends at the next block */
    SECRET_SHAPE,     /* a pattern from here on */
    SECRET_NAMED,     /* a name, then a pattern */
    SECRET_CODES,     /* a name, then a pattern several times */
    SECRET_PASSWORD,  /* names of what may be any word */
    SECRET_PIN,       /* of codes of digits */
    SECRET_NAMED_KEY, /* of keys */
    SECRET_WEAK_KEY   /* words that mostly name something else */
};

/* least: KEYS, how many characters follow; PIN, how many digits count directly behind the name. */
struct secret_row {
    const char *literals;
    enum secret_kind kind;
    int least;
    const char *regex;
};

struct secret_table;

const struct secret_table *secret_table(void);

/* A row of which a literal stands at `from`. */
struct secret_name {
    const struct secret_row *row;
    struct pattern *pattern; /* NULL: the kind has none */
    size_t from, to;
};

/* The next place from there on at which a secret or its name may begin; text.n: there is none. */
size_t secret_next(const struct secret_table *t, str text, size_t from);
/* The next row that has a literal at `at`; *state is 0 at first. */
bool secret_name_at(const struct secret_table *t, str text, size_t at, uint32_t *state,
                    struct secret_name *out);
/* The numbers that need no name. */
struct pattern *secret_numbers(const struct secret_table *t);
