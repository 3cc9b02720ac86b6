/* grounding.c - whether a line is new, and whether the user said it. */
#include <assert.h>

#include "base/words.h"
#include "engine/distil/distil.h"
#include "engine/text/lexicon.h"
#include "engine/text/sentences.h"

enum { TOLD_MAX = 50000, LINE_WORDS = 100 };

/* --- the user's words --- */

static bool speaks_of_self(struct arena *a, str sentence)
{
    struct words w = words_of(a, sentence, LINE_WORDS);
    for (size_t i = 0; i < w.n; i++)
        if (lexicon_is(w.v[i].text, LEX_SELF | LEX_SELF_TOO))
            return true;
    return false;
}

/* A question to somebody else says nothing about the user ("Do you like figs?"). This gives the
 * sentences of a text that are such questions, or the others. */
static str sentences_of(struct arena *a, str text, bool are_questions)
{
    struct buf b = buf_make(a, 2 * text.n + 2);
    while (text.n) {
        str first = first_sentences(text, 1);
        size_t took = first.n ? (size_t)(first.p + first.n - text.p) : text.n;
        bool is_question = str_ends(first, S("?")) && !speaks_of_self(a, first);
        if (is_question == are_questions) {
            buf_add(&b, first);
            buf_byte(&b, '\n');
        }
        text = str_trim(str_sub(text, took, text.n));
    }
    return buf_str(&b);
}

static void add_words(struct arena *a, struct term_set *t, const struct words *w)
{
    for (size_t i = 0; i < w->n && t->n < TOLD_MAX; i++)
        terms_add(a, t, str_hash(w->v[i].stem));
}

struct told_words told_words_of(struct arena *a, const struct distilling *d)
{
    struct told_words told = {.each = NEW_N(a, struct term_set, d->n)};
    for (size_t i = 0; i < d->n; i++) {
        str text = d->signals[i].message.text;
        if (str_find(text, S("?")) < text.n) {
            struct words w = words_of(a, sentences_of(a, text, true), TOLD_MAX);
            add_words(a, &told.asked, &w);
            text = sentences_of(a, text, false);
        }
        struct words w = words_of(a, text, TOLD_MAX - told.said.n);
        add_words(a, &told.said, &w);
        add_words(a, &told.each[i], &w);
        terms_sort(&told.each[i]);
    }
    for (size_t i = 0; i < d->n_identity; i++) {
        struct words known = words_of(a, d->identity[i].content, LINE_WORDS);
        add_words(a, &told.said, &known);
    }
    terms_sort(&told.said);
    terms_sort(&told.asked);
    return told;
}

bool is_told(struct arena *a, const struct told_words *told, str line)
{
    struct words w = words_of(a, line, LINE_WORDS);
    size_t telling = 0, found = 0;
    for (size_t i = 0; i < w.n; i++) {
        if (word_says_nothing(&w.v[i]))
            continue;
        uint64_t stem = str_hash(w.v[i].stem);
        bool is_there = terms_have(&told->said, stem);
        if (!is_there && (w.v[i].is_name || terms_have(&told->asked, stem)))
            return false;
        telling++;
        found += is_there;
    }
    return found && 2 * found >= telling;
}

size_t teller_of(struct arena *a, const struct told_words *told, size_t signals, str line)
{
    struct words w = words_of(a, line, LINE_WORDS);
    size_t best = 0, most = 0;
    assert(signals > 0);
    for (size_t i = 0; i < signals; i++) {
        size_t shared = 0;
        for (size_t k = 0; k < w.n; k++)
            shared +=
                !word_says_nothing(&w.v[k]) && terms_have(&told->each[i], str_hash(w.v[k].stem));
        if (shared > most) {
            most = shared;
            best = i;
        }
    }
    return best;
}

/* --- whether a summary is one of the conversation --- */

/* The words of the whole conversation, also the assistant's. */
struct heard {
    struct term_set words;
    size_t n, stops;
};

static void add_heard(struct arena *a, struct heard *h, str text)
{
    struct words w = words_of(a, text, TOLD_MAX);
    add_words(a, &h->words, &w);
    h->n += w.n;
    for (size_t i = 0; i < w.n; i++)
        h->stops += w.v[i].is_stop;
}

static struct heard heard_of(struct arena *a, const struct distilling *d)
{
    struct heard h = {0};
    for (size_t i = 0; i < d->n; i++) {
        add_heard(a, &h, d->signals[i].message.text);
        add_heard(a, &h, d->signals[i].answer);
    }
    for (size_t i = 0; i < d->n_identity; i++)
        add_heard(a, &h, d->identity[i].content);
    if (d->before)
        add_heard(a, &h, d->before->content);
    terms_sort(&h.words);
    return h;
}

/*
 * Measured on a public benchmark of long conversations: three questions and answers about a session
 * share at least 0.54 of their content words with it, and one alone at least a third (98 of 100).
 * With a session of other people, three share less than a third (93 of 100), and so does one (80 of
 * 100). At a third, therefore, no honest summary is refused and most invented ones are. Two kinds
 * cannot be judged: short summaries, and English ones of a conversation in another language.
 */
bool is_of_conversation(struct arena *a, const struct distilling *d, str summary)
{
    enum { TELLING_LEAST = 6 };
    struct words w = words_of(a, summary, 10 * LINE_WORDS);
    struct heard said = heard_of(a, d), asked = {0};
    size_t telling = 0, found = 0, repeated = 0, stops = 0;
    add_heard(a, &asked, distil_instructions());
    terms_sort(&asked.words);
    for (size_t i = 0; i < w.n; i++) {
        stops += w.v[i].is_stop;
        if (word_says_nothing(&w.v[i]) || w.v[i].is_number)
            continue;
        uint64_t stem = str_hash(w.v[i].stem);
        telling++;
        found += terms_have(&said.words, stem);
        repeated += terms_have(&asked.words, stem);
    }
    bool is_foreign = said.stops * w.n * 2 < stops * said.n;
    if (telling < TELLING_LEAST || is_foreign)
        return true;
    bool is_repeated = 5 * repeated >= 4 * telling && repeated > found;
    return 3 * found >= telling && !is_repeated;
}
