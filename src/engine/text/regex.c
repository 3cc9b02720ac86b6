/* regex.c - regular expressions by PCRE2. */
#include "engine/text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum { MATCH_LIMIT = 200000 };

struct pattern {
    pcre2_code *code;
    pcre2_match_context *limits;
};

static bool compile(struct pattern *p, const char *regex)
{
    int error;
    PCRE2_SIZE at;
    p->code =
        pcre2_compile((PCRE2_SPTR)regex, PCRE2_ZERO_TERMINATED, PCRE2_CASELESS, &error, &at, NULL);
    p->limits = pcre2_match_context_create(NULL);
    if (!p->code || !p->limits)
        return false;
    pcre2_set_match_limit(p->limits, MATCH_LIMIT);
    /* Where the system forbids fresh machine code the interpreter answers the same, only later. */
    pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE);
    return true;
}

struct pattern *pattern_new(const char *regex)
{
    struct pattern *p = heap_alloc(sizeof *p);
    if (compile(p, regex))
        return p;
    pattern_free(p);
    return NULL;
}

void pattern_free(struct pattern *p)
{
    if (!p)
        return;
    pcre2_match_context_free(p->limits);
    pcre2_code_free(p->code);
    free(p);
}

static void match_data_done(pcre2_match_data **data)
{
    pcre2_match_data_free(*data);
}

bool pattern_find(const struct pattern *p, str text, size_t from, struct match *out)
{
    CLEANUP(match_data_done)
    pcre2_match_data *data = pcre2_match_data_create(PATTERN_GROUPS, NULL);
    if (!data || from > text.n)
        return false;
    int n =
        pcre2_match(p->code, (PCRE2_SPTR)(text.p ? text.p : ""), text.n, from, 0, data, p->limits);
    if (n < 0)
        return false;
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(data);
    *out = (struct match){.from = at[0], .to = at[1]};
    for (int i = 1; i < PATTERN_GROUPS && (n == 0 || i < n); i++)
        if (at[2 * i] != PCRE2_UNSET)
            out->group[i] = str_sub(text, at[2 * i], at[2 * i + 1]);
    return true;
}
