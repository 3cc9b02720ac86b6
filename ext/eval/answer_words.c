/* answer_words.c - the share of an answer's words in a block of memory. */
#include "ext/eval/eval.h"

#include "engine/text/block_strip.h"
#include "engine/text/term_set.h"
#include "words/words.h"

/*
 * Evidence counts as given when a line of its message is in the block, whatever part of the message
 * the line shows. This figure falls when passages are cut so short that they lose the answer.
 */
enum { WORDS_MAX = 1 << 16 };

static struct term_set terms_of_text(struct arena *a, str text)
{
    struct words w = words_of(a, text, WORDS_MAX);
    struct term_set t = terms_with_room(a, w.n + 1);
    for (size_t i = 0; i < w.n; i++)
        if (!w.v[i].is_stop)
            terms_add(a, &t, str_hash(w.v[i].stem));
    terms_sort(&t);
    return t;
}

/* The words that are in both, in the order of one: a set as well. */
static struct term_set terms_common(struct arena *a, const struct term_set *one,
                                    const struct term_set *other)
{
    struct term_set t = terms_with_room(a, one->n + 1);
    for (size_t i = 0; i < one->n; i++)
        if (terms_have(other, one->v[i]))
            terms_add(a, &t, one->v[i]);
    return t;
}

static str evidence_text(struct arena *a, const struct exam *c, const struct exam_question *q)
{
    str text = S("");
    for (size_t s = 0; s < c->n_sessions; s++)
        for (size_t i = 0; i < c->sessions[s].n; i++)
            if (strs_have(&q->evidence, c->sessions[s].messages[i].ref))
                text = str_printf(a, S_FMT "\n" S_FMT, S_ARG(text),
                                  S_ARG(c->sessions[s].messages[i].text));
    return text;
}

double answer_words_share(struct arena *a, const struct exam *c, const struct exam_question *q,
                          str block)
{
    struct term_set wanted = terms_of_text(a, q->answer);
    if (!wanted.n) {
        struct term_set evidence = terms_of_text(a, evidence_text(a, c, q));
        struct term_set asked = terms_of_text(a, q->text);
        wanted = terms_common(a, &asked, &evidence);
    }
    /* The block's own sentences say nothing of the answer. */
    if (str_starts(block, S(BLOCK_OPENING)))
        block = str_sub(block, strlen(BLOCK_OPENING), block.n);
    struct term_set given = terms_of_text(a, block);
    return wanted.n ? (double)terms_shared(&wanted, &given) / (double)wanted.n : -1;
}
