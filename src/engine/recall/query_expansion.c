/* query_expansion.c - Completes a question before the search: names, words for one thing. */
#include "engine/recall/query_expansion.h"

#include "base/rule.h"
#include "engine/questions/names.h"
#include "words/stem_table.h"

/*
 * What a question's own words do not hold. "What does Anna like?" after "My wife is called Anna":
 * the fact that gives the name is looked for, and "wife" is searched as if it were "Anna", and the
 * other way round. So there is no table of names that could outlive a fact: what was forgotten,
 * closed or barred names nobody.
 */

/* Documents taken from the index, and read for names. */
enum { HITS_MAX = 2000, NAMES_READ = 16 };

/* --- names --- */

/* Which word of the question this is, or n. */
static size_t word_of(const struct query *q, str stem)
{
    size_t i = 0;
    while (i < q->n && !str_eq(q->stems[i], stem))
        i++;
    return i;
}

static str stem_of(struct arena *a, str word)
{
    struct words w = words_of(a, word, 1);
    return w.n && !w.v[0].is_stop ? w.v[0].stem : S("");
}

/* The question with the name in the place of the thing, for rules that read whole questions. */
static str asked_with(struct arena *a, str question, str word, str instead)
{
    size_t at = str_find(question, word);
    if (at == question.n)
        return question;
    return str_printf(a, S_FMT S_FMT S_FMT, S_ARG(str_sub(question, 0, at)), S_ARG(instead),
                      S_ARG(str_sub(question, at + word.n, question.n)));
}

/* One of the two stands in the question: the other is searched as well. */
static void add_name(struct finder *f, const struct naming *naming)
{
    struct arena *a = &f->ctx->arena;
    struct query *q = &f->asked.query;
    str thing = stem_of(a, naming->thing), name = stem_of(a, naming->name);
    size_t has_thing = word_of(q, thing), has_name = word_of(q, name);
    bool is_thing = has_thing < q->n;
    if (!thing.n || !name.n || is_thing == (has_name < q->n) ||
        q->n + q->n_others == QUERY_WORDS_MAX)
        return;
    q->stems[q->n + q->n_others] = is_thing ? name : thing;
    q->other_of[q->n_others++] = is_thing ? has_thing : has_name;
    str mine =
        naming->is_of_user ? str_printf(a, "my " S_FMT, S_ARG(naming->thing)) : naming->thing;
    if (!f->asked.also.n)
        f->asked.also = is_thing ? asked_with(a, f->in->question, q->texts[has_thing], naming->name)
                                 : asked_with(a, f->in->question, q->texts[has_name], mine);
}

/* Facts that give a name have "name" in their key, which is searched like a word. */
static enum status find_names(struct finder *f)
{
    struct arena *a = &f->ctx->arena;
    struct query *q = &f->asked.query;
    str stems[QUERY_WORDS_MAX];
    size_t n = q->n < QUERY_WORDS_MAX ? q->n : QUERY_WORDS_MAX - 1, read = 0;
    struct word_hits hits;
    doc_id docs[NAMES_READ];
    struct memory v[NAMES_READ];
    if (f->in->only.turns || !n)
        return OK;
    memcpy(stems, q->stems, n * sizeof *stems);
    stems[n] = stem_of(a, S("name"));
    /* The store still knows the answer to this one; most users have no such fact. */
    TRY(past_words(f->ctx, f->e, f->in->pool, &f->past, true, &stems[n], 1, HITS_MAX, &hits));
    if (!hits.n)
        return OK;
    TRY(past_words(f->ctx, f->e, f->in->pool, &f->past, true, stems, n + 1, HITS_MAX, &hits));
    for (size_t i = hits.n; i-- > 0 && read < NAMES_READ;) {
        unsigned any = 0;
        for (size_t w = 0; w < n; w++)
            any |= hits.v[i].counts[w];
        if (any && hits.v[i].counts[n])
            docs[read++] = hits.v[i].doc;
    }
    TRY(past_memories(f->ctx, f->e, f->in->pool, &f->past, docs, read, v));
    for (size_t i = 0; i < read; i++) {
        struct recalled r = {.is_memory = true, .memory = v[i]};
        struct naming naming;
        bool gives_name = str_find(v[i].key, S("_name")) < v[i].key.n;
        if (gives_name && v[i].origin != ORIGIN_TOOL && find_shows(f, &r) && !r.part.is_cut &&
            naming_of(v[i].content, &naming))
            add_name(f, &naming);
    }
    return OK;
}

/* --- words for one thing --- */

static const char *const same[] = {
#define SAME(words) words,
#include "lang/same_words.def"
};

/* The row of a word, counted from 1 (__COUNTER__ numbers the rows); a word stands in one row. */
static uint32_t row_of(str stem)
{
    enum { FIRST = __COUNTER__ + 1 };
    static const struct stem_row rows[] = {
#define SAME(words) {__COUNTER__ - FIRST + 1, words},
#include "lang/same_words.def"
    };
    return stem_bits(stem_table_of(rows, sizeof rows / sizeof *rows), stem);
}

/* "My mom" finds "Mum turns 70". Names come first, as there is room for so many words only. */
static void add_same_words(struct finder *f)
{
    struct query *q = &f->asked.query;
    for (size_t i = 0; i < q->n; i++) {
        uint32_t row = row_of(q->stems[i]);
        str words = row ? str_of(same[row - 1]) : S("");
        while (words.n && q->n + q->n_others < QUERY_WORDS_MAX) {
            str other = stem_of(&f->ctx->arena, str_cut(&words, ' '));
            if (!other.n || word_of(q, other) < q->n)
                continue;
            q->stems[q->n + q->n_others] = other;
            q->other_of[q->n_others++] = i;
        }
    }
}

enum status query_expand(struct finder *f)
{
    if (RULE("names"))
        TRY(find_names(f));
    if (RULE("same_words"))
        add_same_words(f);
    return OK;
}
