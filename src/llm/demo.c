/* demo.c - the built-in model rememberd/demo, which quotes memories. */
#include "llm/llm.h"

#include "words/words.h"

/*
 * Without an upstream the server still answers, so that memory can be tried without a key. No model
 * runs: the answer counts the words that a remembered line shares with the question, by their
 * stems, and quotes the best lines. The same input always gives the same text.
 */

enum { ANSWER_MAX = 4096, WORDS_MAX = 200, QUOTED_MAX = 3 };

#define QUOTES " What I remember about this: "
#define WHO_I_AM                                                                                   \
    "I am rememberd/demo, the built-in offline stand-in, not a real model: I only repeat what is " \
    "remembered."

/* How many content words of the question are in the line. */
static size_t shared_words(struct words question, struct words line)
{
    size_t n = 0;
    for (size_t i = 0; i < question.n; i++)
        n += !question.v[i].is_stop && SOME(k, line.n, str_eq(question.v[i].stem, line.v[k].stem));
    return n;
}

/* Marks the lines that share the most words with the question, at most QUOTED_MAX. Later lines are
 * newer, so they win a tie. */
static size_t choose_lines(struct arena *a, str question, const struct demo_line *v, size_t n,
                           bool *chosen)
{
    struct words q = words_of(a, question, WORDS_MAX);
    size_t *shared = NEW_N(a, size_t, n + 1), best = 0, count = 0;
    for (size_t i = 0; i < n; i++) {
        /* 1 is added so that a line that shares no word may still be quoted when no line does
         * better: recall has chosen it. */
        shared[i] = 1 + shared_words(q, words_of(a, v[i].text, WORDS_MAX));
        best = shared[i] > best ? shared[i] : best;
    }
    for (size_t i = n; i-- > 0 && count < QUOTED_MAX;) {
        chosen[i] = shared[i] == best;
        count += chosen[i];
    }
    return count;
}

/* An outdated line is never quoted without what was said since. */
static void add_later(const struct demo_line *v, size_t n, bool *chosen, bool *later)
{
    size_t first = 0, count = 0;
    while (first < n && !(chosen[first] && v[first].is_outdated))
        first++;
    for (size_t i = n; i-- > first + 1 && count < QUOTED_MAX;) {
        if (v[i].is_outdated || chosen[i])
            continue;
        later[i] = true;
        count++;
    }
}

static bool quote_lines(struct buf *b, const struct demo_line *v, size_t n, const bool *chosen)
{
    bool has_some = false, has_end = false;
    for (size_t i = 0; i < n; i++) {
        if (!chosen[i])
            continue;
        buf_printf(b, "%s\xE2\x80\x9C" S_FMT "\xE2\x80\x9D", has_some ? "; " : "",
                   S_ARG(v[i].text));
        has_some = true;
        has_end = v[i].text.n && char_is_one_of(v[i].text.p[v[i].text.n - 1], ".!?");
    }
    if (has_some && !has_end)
        buf_add(b, S("."));
    return has_some;
}

/* The answer says in each case that this is not a real model, since people try it first. */
str llm_demo_answer(struct arena *a, str question, const struct demo_line *remembered, size_t n,
                    str noted)
{
    struct buf b = buf_make(a, ANSWER_MAX);
    bool *chosen = NEW_N(a, bool, n + 1), *later = NEW_N(a, bool, n + 1);
    if (noted.n)
        return str_printf(a, S_FMT " " WHO_I_AM, S_ARG(noted));
    if (!choose_lines(a, question, remembered, n, chosen))
        return S(WHO_I_AM " About this I remember nothing yet.");
    add_later(remembered, n, chosen, later);
    buf_add(&b, S(WHO_I_AM QUOTES));
    quote_lines(&b, remembered, n, chosen);
    size_t at = b.n;
    buf_add(&b, S(" And since then: "));
    if (!quote_lines(&b, remembered, n, later))
        b.n = at;
    return buf_str(&b);
}

str llm_without_demo(str answer)
{
    size_t at = str_find(answer, S(WHO_I_AM));
    if (at == answer.n)
        return answer;
    str rest = str_sub(answer, at + strlen(WHO_I_AM), answer.n);
    return str_starts(rest, S(QUOTES)) ? str_sub(rest, strlen(QUOTES), rest.n) : S("");
}
