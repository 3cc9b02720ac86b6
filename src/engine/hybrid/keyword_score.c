/* keyword_score.c - the keyword score: the whole query, then each of its words. */
#include <assert.h>

#include "base/words.h"
#include "engine/hybrid/hybrid.h"

enum { OF_THE_WHOLE = 20, OF_A_KEY = 6, OF_EACH = 3 };

/* Occurrences of needle in s, without overlap. */
static int64_t count_of(str s, str needle)
{
    assert(needle.n); /* an empty needle would be found for ever */
    int64_t n = 0;
    for (size_t at; (at = str_find(s, needle)) < s.n; n++)
        s = str_sub(s, at + needle.n, s.n);
    return n;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static str next_word(str *rest)
{
    size_t from = 0, to;
    while (from < rest->n && is_blank(rest->p[from]))
        from++;
    for (to = from; to < rest->n && !is_blank(rest->p[to]);)
        to++;
    str word = str_sub(*rest, from, to);
    *rest = str_sub(*rest, to, rest->n);
    return word;
}

static int64_t score_of(str haystack, str query, bool is_key)
{
    int64_t score = str_find(haystack, query) < haystack.n ? OF_THE_WHOLE : 0;
    for (str word; (word = next_word(&query)).n;) {
        int64_t n = count_of(haystack, word);
        score += is_key ? (n ? OF_A_KEY : 0) : OF_EACH * n;
    }
    return score;
}

int64_t keyword_score(struct arena *a, str query, str content, str key, str metadata)
{
    const str haystacks[] = {utf8_lower(a, content), utf8_lower(a, key), utf8_lower(a, metadata)};
    int64_t score = 0;
    query = utf8_lower(a, str_trim(query));
    for (size_t i = 0; query.n && i < 3; i++)
        score += score_of(haystacks[i], query, str_eq(haystacks[i], haystacks[1]));
    return score;
}
