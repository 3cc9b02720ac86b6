/* subject_filter.c - Lowers or takes out lines about somebody else, or about a pasted text. */
#include "engine/recall/subject_filter.h"

#include "base/rule.h"
#include "base/utf8.h"
#include "engine/recall/features.h"
#include "engine/text/attributes.h"
#include "engine/text/lexicon.h"
#include "engine/text/utterance.h"
#include "lang/others_lists.h"

/*
 * "When is Kinga's birthday?" found whose birthday is known. What people say of somebody
 * in a few messages has the name in it. In a large pool more follows from what was said before, so
 * the name counts less there.
 */

/* --- other people --- */

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
    double texts = (double)(f->asked.words.messages + f->asked.words.memories);
    double small = texts > SMALL ? SMALL / texts : 1, left = 1 - (1 - without_name) * small;
    for (size_t i = 0; i < f->n; i++) {
        struct recalled *r = &f->found[i];
        if (!r->is_memory && r->message.speaker.n) /* of people, who count whole */
            continue;
        if (RULE("missing_name") && name < f->asked.query.n && lacks(f->found[i].by, name))
            r->score *= left;
    }
}

/* --- pasted texts --- */

/* Words of a question; bytes that a pasted text has at least. */
enum { WORDS_MAX = 80, PASTED_LEAST = 60 };

/* Of a message: what its writer wrote is less. Of the question's weight: what stands in the answer.
 */
static const double own_most = 0.5, share_least = 0.5;

/* Then even an answer with most of the question's words is left out. */
static bool is_about_asker(const struct words *w)
{
    return lexicon_in(w, LEX_SELF | LEX_SELF_TOO);
}

/* "What did the page say", "the review I pasted". */
static bool names_text(struct arena *a, const struct words *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (str_is_one_of(utf8_lower(a, w->v[i].text), text_kinds))
            return true;
    return false;
}

/* An assistant's message that has one in front of it. */
static bool is_answer(const struct recalled *r)
{
    return !r->is_memory && str_is(r->message.role, "assistant") && !r->message.speaker.n &&
           doc_position(r->message.doc) > 0;
}

/* Less than half of it is the writer's own, and at least PASTED_LEAST bytes are not. */
static bool is_pasted(struct arena *a, const struct message *m)
{
    if (!str_is(m->role, "user") || m->speaker.n)
        return false;
    str text = str_trim(m->is_echo ? m->says : m->text);
    size_t own = str_trim(utterance_own_words(a, text)).n;
    return text.n >= own + PASTED_LEAST && (double)own < own_most * (double)text.n;
}

/* "Summarise this: …" gets an answer full of facts of some page. "What do I have to pay?" must not
 * be answered from it; "What did the contract say?" may. One read of the messages before, of those
 * answers that would be given. */
enum status pasted_leave_out(struct finder *f)
{
    struct arena *a = &f->ctx->arena;
    struct words w = words_of(a, f->in->question, WORDS_MAX);
    doc_id *docs = NEW_N(a, doc_id, f->n + 1);
    size_t *which = NEW_N(a, size_t, f->n + 1), n = 0;
    bool about_asker = is_about_asker(&w);
    if (names_text(a, &w))
        return OK;
    for (size_t i = 0; i < f->n; i++) {
        const struct recalled *r = &f->found[i];
        bool is_here = f->in->seen.session.n && str_eq(r->message.session, f->in->seen.session);
        bool is_asked = !about_asker && r->measured.signals[SIGNAL_share] >= share_least;
        if (r->state != LINE_QUOTABLE || !is_answer(r) || is_here || is_asked)
            continue;
        which[n] = i;
        docs[n++] = r->message.doc - 1;
    }
    if (!n)
        return OK;
    struct message *before = NEW_N(a, struct message, n);
    TRY(store_messages(f->ctx, f->e->store, f->in->pool, docs, n, before));
    for (size_t i = 0; i < n; i++) {
        if (!is_pasted(a, &before[i]))
            continue;
        f->found[which[i]].state = LINE_CHOSEN;
        f->found[which[i]].why = S("it is about a text that was pasted");
    }
    return OK;
}
