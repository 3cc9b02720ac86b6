/* secret_names.h - beginnings of keys and names of secrets, as one table. */
#pragma once

#include "engine/text/regex.h"

enum secret_kind {
    SECRET_KEYS,      /* a beginning, then letters and digits */
    SECRET_SHAPE,     /* a pattern from here on */
    SECRET_PASSWORD,  /* names of what may be any word */
    SECRET_DIGITS,    /* of codes of digits */
    SECRET_CODES,     /* of several codes */
    SECRET_SEED,      /* of many words */
    SECRET_NAMED_KEY, /* of keys */
    SECRET_WEAK_KEY,  /* words that mostly name something else */
    SECRET_PERSONAL,  /* of numbers of papers */
    SECRET_NUMBERED   /* of numbers with check digits */
};

/* least: KEYS, how many characters follow; DIGITS, how many count directly behind the name;
 * NUMBERED, which number. */
struct secret_row {
    const char *literals;
    enum secret_kind kind;
    int least;
    const char *regex;
};

struct secret_table;

struct secret_table *secret_table_new(void);
void secret_table_free(struct secret_table *t);

/* A row of which a literal stands at `from`. */
struct secret_name {
    const struct secret_row *row;
    struct pattern *pattern; /* of a SHAPE */
    size_t from, to;
};

/* Whether any row may begin with these two bytes: most places of a text end here. */
bool secret_may_begin(const struct secret_table *t, unsigned char first, unsigned char second);
/* The next row that has a literal at `at`; *state is 0 at first. */
bool secret_name_at(const struct secret_table *t, str text, size_t at, uint32_t *state,
                    struct secret_name *out);
