/* supersession.c - Decides which lines that a chat would be given a later line may replace. */
#include "engine/recall/supersession.h"

#include <math.h>

#include "engine/pairs/pair.h"
#include "engine/text/content_key.h"
#include "engine/text/phrases.h"

/*
 * Each two lines of one person are a pair, which engine/pairs judges by what they share. Only the
 * lines that would be given are judged, beside all that were found. Nothing is written, so a better
 * judge acts on old conversations (decisions/011).
 */

bool supersession_asks_past(struct arena *a, str question)
{
    static const char *const past[] = {
#define PAST(phrase) phrase,
#include "lang/past_questions.def"
        NULL};
    static const char *const unspaced[] = {
#define PAST(text) text,
#include "lang/unspaced.def"
    };
    struct phrase_words w = phrase_words_of(a, phrase_fold(a, question));
    return phrase_find_any(&w, past) || SOME(i, sizeof unspaced / sizeof *unspaced,
                                             str_find(question, str_of(unspaced[i])) < question.n);
}

/* --- lines as the judge reads them --- */

struct dated_line {
    str text;
    int64_t created;        /* unix ms */
    doc_id place;           /* its document: which of two of the same time was said later */
    str id, from;           /* from: of a memory the message that it came from, else its id */
    str space, name;        /* of two spaces, or memories with names of their own: no pair */
    bool is_judged;         /* it would be given, or be given for one that is */
    str tokens;             /* by the encoder, or "" */
    struct pair_text *read; /* NULL: not read yet */
    double *odds;           /* for each line the probability that it replaces this one, or NULL */
    size_t by;              /* the line that does so most surely, if any may; else this one */
};

struct judging {
    const struct finder *f;
    struct dated_line *v;
    size_t n;
    const size_t *lines; /* of each document whose tokens are read */
};

/* What an assistant said replaces nothing. */
static struct dated_line dated_line_of(struct arena *a, const struct recalled *r, size_t place)
{
    bool is_users = r->is_memory || (str_is(r->message.role, "user") && !r->message.speaker.n);
    return (struct dated_line){.text = is_users ? found_text(r) : S(""),
                               .created = recalled_created(r),
                               .place = r->is_memory ? r->memory.doc : r->message.doc,
                               .id = recalled_id(r),
                               .from = r->is_memory && r->memory.source.n ? r->memory.source
                                                                          : recalled_id(r),
                               .space = r->space,
                               .name = r->is_memory ? callers_key(a, &r->memory) : S(""),
                               .is_judged = r->state == LINE_QUOTABLE,
                               .by = place};
}

/* What was noted from a message is as old as the message, however late it was noted. */
static void date_by_source(struct judging *j)
{
    for (size_t i = 0; i < j->n; i++)
        for (size_t k = 0; k < j->n; k++)
            if (str_eq(j->v[k].id, j->v[i].from) && str_eq(j->v[k].space, j->v[i].space)) {
                j->v[i].created = j->v[k].created;
                j->v[i].place = j->v[k].place;
            }
}

static void keep_tokens(void *what, size_t i, str row)
{
    const struct judging *j = what;
    j->v[j->lines[i]].tokens = str_dup(&j->f->ctx->arena, row);
}

static enum status load_space(struct judging *j, str space)
{
    struct arena *a = &j->f->ctx->arena;
    doc_id *docs = NEW_N(a, doc_id, j->n + 1);
    size_t *lines = NEW_N(a, size_t, j->n + 1), n = 0;
    for (size_t i = 0; i < j->n; i++) {
        size_t at = n;
        if (!j->v[i].text.n || !str_eq(j->v[i].space, space))
            continue;
        for (; at && docs[at - 1] > j->v[i].place; at--) {
            docs[at] = docs[at - 1];
            lines[at] = lines[at - 1];
        }
        docs[at] = j->v[i].place;
        lines[at] = i;
        n++;
    }
    const struct pool_ref pool = {j->f->in->pool.user, space};
    j->lines = lines;
    return store_token_vectors(j->f->ctx, j->f->e->store, pool, docs, n, keep_tokens, j);
}

static struct pair_text *line_at(struct judging *j, size_t i)
{
    struct arena *a = &j->f->ctx->arena;
    struct dated_line *x = &j->v[i];
    if (!x->read) {
        x->read = NEW(a, struct pair_text);
        pair_read(a, x->text, (const int8_t *)x->tokens.p, x->tokens.n / ENCODER_KEPT, x->read);
    }
    return x->read;
}

/* --- judging --- */

/* A memory and the message that it came from are none, nor are two memories of one message. */
static bool is_pair(const struct dated_line *older, const struct dated_line *newer)
{
    bool is_other = !str_eq(older->space, newer->space) ||
                    (older->name.n && newer->name.n && !str_eq(older->name, newer->name));
    bool is_later = newer->created != older->created ? newer->created > older->created
                                                     : newer->place > older->place;
    return !str_eq(older->from, newer->from) && !is_other && is_later && older->text.n &&
           newer->text.n;
}

/* The surest counts: v[older].by is the line that replaces it. */
static void judge_pair(struct judging *j, size_t older, size_t newer)
{
    assert(older < j->n && newer < j->n);
    struct dated_line *x = &j->v[older], *y = &j->v[newer];
    if (!is_pair(x, y) || !pair_may_be(line_at(j, older), line_at(j, newer)))
        return;
    struct pair_odds odds = pair_judge(line_at(j, older), line_at(j, newer));
    x->odds[newer] = odds.of[PAIR_REPLACES];
    if (odds.may_replace && x->odds[newer] > x->odds[x->by])
        x->by = newer;
}

/* A line seldom makes many others untrue, unless they replace each other; and what several lines
 * may replace is seldom true. A logistic, fitted to the lines that 48 people got (trial 109). */
static bool is_replaced(const struct judging *j, size_t line)
{
    static const double sure = 0.529, many = -1.533, several = 1.451;
    static const double one[] = {1.1, 0.8}; /* by words alone, and by vectors */
    const struct dated_line *x = &j->v[line], *by = &j->v[x->by];
    double odds = x->odds[x->by], others = 0, more = -odds;
    for (size_t i = 0; i < j->n; i++) {
        more += x->odds[i];
        if (i != line && j->v[i].odds)
            others += j->v[i].odds[x->by] * (1 - fmax(j->v[i].odds[line], x->odds[i]));
    }
    double sum = one[x->tokens.n && by->tokens.n] + sure * log(odds / fmax(1 - odds, 1e-9)) +
                 many * log1p(others) + several * log1p(fmax(more, 0));
    return sum >= 0;
}

/* A line that replaces one that is given may be given for it, and be replaced itself. "No wait,
 * Tuesday" does not say what it is about: what replaces it is judged by the line in front of it. */
enum status supersession_judge(const struct finder *f, size_t *by)
{
    struct arena *a = &f->ctx->arena;
    struct judging j = {f, NEW_N(a, struct dated_line, f->n + 1), f->n, NULL};
    for (size_t i = 0; i < j.n; i++)
        j.v[i] = dated_line_of(a, &f->found[i], i);
    date_by_source(&j);
    for (size_t i = 0; i < j.n; i++) /* once for each space */
        if (!SOME(k, i, str_eq(j.v[k].space, j.v[i].space)))
            TRY(load_space(&j, j.v[i].space));
    for (size_t i = 0; i < j.n; i++) {
        /* Instructions end one another by rules of their own (standing_ends). */
        enum line_origin origin = f->found[i].origin;
        bool is_put_right = origin == LINE_BY_NEXT && SOME(k, i, j.v[k].by == i);
        bool stays = origin == LINE_STANDING || is_put_right;
        if (!j.v[i].is_judged || stays)
            continue;
        j.v[i].odds = NEW_N(a, double, j.n);
        for (size_t k = 0; k < j.n; k++)
            judge_pair(&j, i, k);
        j.v[j.v[i].by].is_judged = true;
    }
    for (size_t i = 0; i < j.n; i++)
        by[i] = j.v[i].by != i && is_replaced(&j, i) ? j.v[i].by : i;
    return OK;
}
