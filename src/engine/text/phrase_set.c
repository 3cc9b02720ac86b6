/* phrase_set.c - reads a list of phrases, and finds those of it that stand in a text. */
#include "engine/text/phrase_set.h"

#include "base/once.h"
#include "engine/text/lexicon.h"
#include "engine/text/phrases.h"

/* --- reading a list --- */

/*
 * A list of phrases is read once and cached by its address, so lists must be static. Of each phrase
 * the place with the fewest choices is its anchor; the words of a text are looked up in a hash
 * table of anchors, and only phrases with a hit are compared place by place. So a text costs one
 * look-up for each word, however many phrases the list has. Phrases without a place that must be
 * there (only "*" or optional words) are compared always.
 *
 * Syntax: "how old|tall am i" has four places, "|" parts choices, "?" in front makes a place
 * optional, "*" is any word, "#" a date, "@month" and "@weekday" a name of these, "." the end of a
 * sentence, and "^ " in front binds the phrase to the beginning of the text.
 */

struct made {
    struct phrase_set set;
    struct arena arena;
    struct phrase_anchor *anchors;
    size_t n_anchors, cap;
};

static enum choice_kind kind_of(str choice)
{
    return str_is(choice, "*")          ? CHOICE_ANY
           : str_is(choice, "#")        ? CHOICE_DATE
           : str_is(choice, "@month")   ? CHOICE_MONTH
           : str_is(choice, "@weekday") ? CHOICE_WEEKDAY
                                        : CHOICE_WORDS;
}

/* An optional place that does not fit is skipped; there is no going back, so a list must not rely
 * on an optional "*" before a word that it could swallow. */
static struct phrase_choice choice_of(struct arena *a, str text)
{
    struct phrase_choice c = {.is_optional = str_starts(text, S("?"))};
    if (c.is_optional)
        text = str_sub(text, 1, text.n);
    c.kind = kind_of(text);
    if (c.kind != CHOICE_WORDS)
        return c;
    struct phrase_literal *words = NEW_N(a, struct phrase_literal, text.n + 1);
    while (text.n) {
        str word = str_cut(&text, '|');
        words[c.n++] = (struct phrase_literal){word, str_hash(word)};
    }
    c.words = words;
    return c;
}

static struct phrase phrase_of(struct arena *a, str text)
{
    struct phrase p = {.is_opening = str_starts(text, S("^ "))};
    if (p.is_opening)
        text = str_sub(text, 2, text.n);
    struct phrase_choice *choices = NEW_N(a, struct phrase_choice, text.n + 1);
    while (text.n)
        choices[p.n++] = choice_of(a, str_cut(&text, ' '));
    p.choices = choices;
    return p;
}

/* The end of the text ends a sentence as "." does, so "." need not be there. */
static bool is_needed(const struct phrase_choice *c)
{
    bool needed = c->kind == CHOICE_WORDS && !c->is_optional && c->n &&
                  !SOME(i, c->n, str_is(c->words[i].text, "."));
    return needed;
}

static void add_anchors(struct made *m, uint32_t phrase, const struct phrase_choice *c)
{
    for (size_t i = 0; i < c->n; i++) {
        ARENA_ADD(&m->arena, m->anchors, m->n_anchors, m->cap) =
            (struct phrase_anchor){c->words[i].hash, phrase, 0};
    }
}

/* By the place with the fewest words to choose from. */
static void anchor_phrase(struct made *m, uint32_t at)
{
    const struct phrase *p = &m->set.v[at];
    const struct phrase_choice *best = NULL;
    for (size_t i = 0; i < p->n; i++)
        if (is_needed(&p->choices[i]) && (!best || p->choices[i].n < best->n))
            best = &p->choices[i];
    if (best)
        add_anchors(m, at, best);
    else
        m->set.unanchored.v[at / 64] |= (uint64_t)1 << at % 64;
}

/* Chained hashing with half-full slots; indices are one higher, as 0 ends a chain. */
static void link_anchors(struct made *m)
{
    size_t room = 2;
    while (room < 2 * m->n_anchors)
        room *= 2;
    uint32_t *slots = NEW_N(&m->arena, uint32_t, room);
    for (size_t i = 0; i < m->n_anchors; i++) {
        uint32_t *slot = &slots[m->anchors[i].hash & (room - 1)];
        m->anchors[i].next = *slot;
        *slot = (uint32_t)i + 1;
    }
    m->set.slots = slots;
    m->set.last_slot = room - 1;
    m->set.anchors = m->anchors;
}

static void *read_list(const void *list, size_t n, size_t size)
{
    const char *const *phrases = list;
    assert(size == sizeof *phrases);
    while (phrases[n])
        n++;
    assert(n <= PHRASES_MAX);
    struct made *m = heap_alloc(sizeof *m);
    struct phrase *v = NEW_N(&m->arena, struct phrase, n + 1);
    m->set.v = v;
    m->set.n = n;
    for (size_t i = 0; i < n; i++) {
        v[i] = phrase_of(&m->arena, str_of(phrases[i]));
        anchor_phrase(m, (uint32_t)i);
    }
    link_anchors(m);
    return m;
}

/* Of a static, NULL-ended list; read at the first call. */
static const struct phrase_set *phrase_set_of(const char *const *phrases)
{
    const struct made *m = once_of(phrases, 0, sizeof *phrases, read_list);
    return &m->set;
}

/* --- finding --- */

/* YYYY-MM-DD. */
static bool is_date(str w)
{
    static const char shape[] = "0000-00-00";
    if (w.n != sizeof shape - 1)
        return false;
    return !SOME(i, w.n, shape[i] == '-' ? w.p[i] != '-' : w.p[i] < '0' || w.p[i] > '9');
}

static bool choice_allows(const struct phrase_choice *c, const struct phrase_word *word)
{
    switch (c->kind) {
    case CHOICE_ANY:
        return !str_is(word->text, ".");
    case CHOICE_DATE:
        return is_date(word->text);
    case CHOICE_MONTH:
        return lexicon_is(word->text, LEX_MONTH);
    case CHOICE_WEEKDAY:
        return lexicon_is(word->text, LEX_WEEKDAY);
    case CHOICE_WORDS:
        break;
    }
    return SOME(i, c->n, c->words[i].hash == word->hash && str_eq(c->words[i].text, word->text));
}

/* How many tokens from at on are the phrase's, or 0. The end of the message ends a sentence. */
static size_t phrase_at(const struct phrase_words *t, size_t at, const struct phrase *p)
{
    const struct phrase_word end = {S("."), 0, str_hash(S("."))};
    size_t i = at;
    for (size_t k = 0; k < p->n; k++) {
        if (choice_allows(&p->choices[k], i < t->n ? &t->v[i] : &end))
            i++;
        else if (!p->choices[k].is_optional)
            return 0;
    }
    return i - at;
}

/* The part of the text that the tokens stand for. */
static str words_of_tokens(const struct phrase_words *t, size_t at, size_t n)
{
    size_t last = at + n - 1;
    while (last > at && (last >= t->n || str_is(t->v[last].text, ".")))
        last--;
    return str_sub(t->text, t->v[at].from, t->v[last].from + t->v[last].text.n);
}

static bool phrase_stands(const struct phrase_words *t, const struct phrase *p, str *out)
{
    for (size_t at = 0; at < t->n && (at == 0 || !p->is_opening); at++) {
        size_t n = phrase_at(t, at, p);
        if (!n)
            continue;
        if (out)
            *out = words_of_tokens(t, at, n);
        return true;
    }
    return false;
}

/* The phrases that a word of the text is an anchor of: most texts have few. */
static struct phrase_marks mark_phrases(const struct phrase_words *t, const struct phrase_set *set)
{
    struct phrase_marks marks = set->unanchored;
    for (size_t i = 0; i < t->n; i++) {
        uint64_t hash = t->v[i].hash;
        for (uint32_t k = set->slots[hash & set->last_slot]; k; k = set->anchors[k - 1].next) {
            const struct phrase_anchor *anchor = &set->anchors[k - 1];
            if (anchor->hash == hash)
                marks.v[anchor->phrase / 64] |= (uint64_t)1 << anchor->phrase % 64;
        }
    }
    return marks;
}

/* The first phrase of the list, from `from` on, that stands anywhere in the text: lists are in the
 * order of precedence. -1: none. out (or NULL) gets the part of the text. */
int phrase_next(const struct phrase_words *t, const char *const *phrases, int from, str *out)
{
    const struct phrase_set *set = phrase_set_of(phrases);
    struct phrase_marks marks = mark_phrases(t, set);
    for (size_t i = (size_t)from; i < set->n; i++)
        if (marks.v[i / 64] >> i % 64 & 1 && phrase_stands(t, &set->v[i], out))
            return (int)i;
    return -1;
}

bool phrase_find_any(const struct phrase_words *t, const char *const *phrases, str *out)
{
    return phrase_next(t, phrases, 0, out) >= 0;
}
