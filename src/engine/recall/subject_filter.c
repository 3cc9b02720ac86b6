/* subject_filter.c - Lowers lines that lack the one name that the question asks for. */
#include "engine/recall/subject_filter.h"

#include "engine/recall/features.h"
#include "engine/text/attributes.h"
#include "engine/text/lexicon.h"

/*
 * "When is Kinga's birthday?" found whose birthday is known. What people say of somebody in a few
 * messages has the name in it. In a large pool more follows from what was said before, so the name
 * counts less there (decisions/008).
 */

enum { QUESTION_WORDS = 200, SMALL = 50 };

/* What is left of the score without the name, in a pool of up to SMALL texts. */
static const double without_name = 0.3;

static bool is_name(const struct word *w)
{
    const struct words one = {.v = (struct word *)w, .n = 1};
    return w->is_name && !lexicon_is(w->text, LEX_MONTH | LEX_WEEKDAY) && !attributes_told(&one);
}

/* The word of the query that is the only name in the question, and stands in the pool; else n. */
static size_t name_asked(const struct finder *f, const struct words *question)
{
    const struct query *q = &f->asked.query;
    size_t found = q->n, n = 0;
    for (size_t k = 0; k < q->n; k++)
        for (size_t i = 0; i < question->n; i++)
            if (f->asked.words.found[k] && str_eq(question->v[i].text, q->texts[k]) &&
                is_name(&question->v[i])) {
                found = k;
                n++;
                break;
            }
    return n == 1 ? found : q->n;
}

static bool lacks(const struct candidate *c, size_t name)
{
    return c && !(c->own[name] & 15) && !c->near[name];
}

void subject_filter_lower(struct finder *f)
{
    struct arena *a = &f->ctx->arena;
    struct words w = words_of(a, f->in->question, QUESTION_WORDS);
    size_t name = name_asked(f, &w);
    if (name == f->asked.query.n)
        return;
    double texts = (double)(f->asked.words.messages + f->asked.words.memories);
    double small = texts > SMALL ? SMALL / texts : 1, left = 1 - (1 - without_name) * small;
    for (size_t i = 0; i < f->n; i++) {
        struct recalled *r = &f->found[i];
        bool is_of_people = !r->is_memory && r->message.speaker.n; /* who count whole */
        if (!is_of_people && lacks(r->by, name))
            r->score *= left;
    }
}
