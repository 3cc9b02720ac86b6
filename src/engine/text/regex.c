/* regex.c - regular expressions by PCRE2. */
#include "engine/text/regex.h"

#include <stdatomic.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/once.h"

/*
 * Patterns are ours, the texts are anybody's: MATCH_LIMIT ends a match that would try too many
 * ways, and such a text simply has no match. Compiling (with machine code) costs more than
 * matching, so a pattern is compiled at its first use.
 */

enum { MATCH_LIMIT = 200000 };

struct pattern {
    const char *regex;
    pcre2_match_context *limits;
    _Atomic(pcre2_code *) code; /* NULL until the first match */
};

static pcre2_code *compile(const char *regex)
{
    int error;
    PCRE2_SIZE at;
    pcre2_code *code =
        pcre2_compile((PCRE2_SPTR)regex, PCRE2_ZERO_TERMINATED, PCRE2_CASELESS, &error, &at, NULL);
    assert(code); /* every regex is ours, and a test matches each of them */
    /* Where the system forbids fresh machine code the interpreter answers the same, only later. */
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
    return code;
}

/* Without a lock: of two threads that compile a pattern at once, one throws its code away. */
static const pcre2_code *code_of(struct pattern *p)
{
    pcre2_code *code = atomic_load(&p->code), *none = NULL;
    if (code)
        return code;
    code = compile(p->regex);
    if (atomic_compare_exchange_strong(&p->code, &none, code))
        return code;
    pcre2_code_free(code);
    return none;
}

/* Aborts when there is no memory. */
static void *make_patterns(const void *column, size_t n, size_t size)
{
    struct pattern *patterns = heap_alloc(n * sizeof *patterns);
    struct pattern **all = heap_alloc(n * sizeof *all);
    pcre2_match_context *limits = pcre2_match_context_create(NULL);
    if (!limits)
        die_of_limits("out of memory");
    pcre2_set_match_limit(limits, MATCH_LIMIT);
    for (size_t i = 0; i < n; i++) {
        patterns[i].regex = *(const char *const *)((const char *)column + i * size);
        patterns[i].limits = limits;
        all[i] = &patterns[i];
    }
    return all;
}

struct pattern *const *patterns_of(const char *const *column, size_t n, size_t size)
{
    return once_of(column, n, size, make_patterns);
}

static void match_data_done(pcre2_match_data **data)
{
    pcre2_match_data_free(*data);
}

bool pattern_find(struct pattern *p, str text, size_t from, struct match *out)
{
    CLEANUP(match_data_done)
    pcre2_match_data *data = pcre2_match_data_create(PATTERN_GROUPS, NULL);
    if (!data || from > text.n)
        return false;
    int n = pcre2_match(code_of(p), (PCRE2_SPTR)(text.p ? text.p : ""), text.n, from, 0, data,
                        p->limits);
    if (n < 0 || !out)
        return n >= 0;
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(data);
    *out = (struct match){.from = at[0], .to = at[1]};
    for (int i = 1; i < PATTERN_GROUPS && (n == 0 || i < n); i++)
        if (at[2 * i] != PCRE2_UNSET)
            out->group[i] = str_sub(text, at[2 * i], at[2 * i + 1]);
    return true;
}
