/* supersession.c - Decides which lines that a chat would be given a later line replaces. */
#include "engine/recall/supersession.h"

#include <assert.h>

#include "engine/recall/clause_parse.h"
#include "engine/recall/unspaced.h"
#include "engine/text/attributes.h"
#include "engine/text/lexicon.h"
#include "engine/text/phrases.h"

/*
 * A pair of lines is judged clause by clause, by several rules, and the strongest verdict counts
 * (CURRENT < DOUBTFUL < PARTLY < REPLACED):
 *   by_frame      the same sentence with another value: "My tea is Assam" / "My tea is Sencha"
 *   by_attribute  another home, job or marriage, with a word of change
 *   by_claim      another value of the same slot, in whatever sentence
 *   by_denial     the same said with and without "not"
 *   by_move       all of the newer one's topics, on another date
 *   by_topic      most topics shared, and a date moved or a change told
 *   by_end        the newer one says that a topic of the older one is over
 * Two lines are in doubt only where both are short: long ones hold words of many things. Of 28
 * doubts in what everyday people say two were right (decisions/054).
 * Only the few lines that would be given are judged, so the pairs may be looked at closely; nothing
 * is written, and a better rule acts on old conversations (decisions/022).
 */

bool supersession_asks_past(struct arena *a, str question)
{
    static const char *const past[] = {
#define PAST(phrase) phrase,
#include "lang/currency.def"
        NULL};
    struct phrase_words w = phrase_words_of(a, phrase_fold(a, question));
    return phrase_find_any(&w, past, NULL) || unspaced_asks_past(question);
}

str supersession_mark(enum supersession is)
{
    static const char *const marks[] = {[CURRENT] = "",
                                        [DOUBTFUL] = "(may be outdated, see the later line) ",
                                        [PARTLY] = "(partly replaced by a later line) ",
                                        [REPLACED] = "(no longer so, replaced by a later line) "};
    return str_of(marks[is]);
}

/* --- two clauses --- */

static bool fits_subject(const struct clause *older, const struct clause *newer,
                         const struct clause_parse *all)
{
    bool is_another = older->name && newer->name && older->name != newer->name;
    if (older->subject == OWN && newer->subject == OWN)
        return !is_another;
    if (older->subject == OTHER && newer->subject == OTHER && older->who == newer->who)
        return !is_another;
    bool is_named = older->subject == OTHER && terms_have(&all->telling, older->who);
    return is_named || (newer->subject == OTHER && terms_have(&older->telling, newer->who));
}

/* Length of the longest common part of the words from i and k on. */
struct frame {
    uint8_t rest[WORDS + 1][WORDS + 1];
};

/* Longest common subsequence, by words: at most WORDS × WORDS steps. */
static void measure_frame(const struct clause *x, const struct clause *y, struct frame *f)
{
    memset(f, 0, sizeof *f);
    for (size_t i = x->w.n; i-- > 0;)
        for (size_t k = y->w.n; k-- > 0;) {
            uint8_t skip =
                f->rest[i + 1][k] > f->rest[i][k + 1] ? f->rest[i + 1][k] : f->rest[i][k + 1];
            f->rest[i][k] =
                x->terms[i] == y->terms[k] ? (uint8_t)(f->rest[i + 1][k + 1] + 1) : skip;
        }
}

/* How two clauses lie on each other. */
struct overlay {
    size_t common, telling; /* words, and those with a topic, in both */
    size_t behind;          /* of the latter behind the last place where a value is another */
    size_t places;          /* where both have other topics */
    bool is_figure;         /* there both have a number or a date */
    bool inserts;           /* one has a topic in front of the first place that the other lacks */
    bool is_asked;          /* a word of the older one's value is in the question */
};

struct gap {
    bool older, newer, asked, older_date, newer_date;
};

/* Words without a topic stand in a value, too: "Tuesday at nine". */
static void close_gap(struct overlay *o, struct gap *g)
{
    if (g->older && g->newer) {
        o->places++;
        o->is_figure |= g->older_date && g->newer_date;
        o->behind = 0;
        o->is_asked |= g->asked;
    } else if ((g->older || g->newer) && o->common && !o->places) {
        o->inserts = true;
    }
    *g = (struct gap){0};
}

static struct overlay overlay_of(const struct clause *x, const struct clause *y,
                                 const struct term_set *asked)
{
    struct frame f;
    struct overlay o = {0};
    struct gap g = {0};
    size_t i = 0, k = 0;
    measure_frame(x, y, &f);
    while (i < x->w.n || k < y->w.n) {
        if (i < x->w.n && k < y->w.n && x->terms[i] == y->terms[k]) {
            if (x->tells[i])
                close_gap(&o, &g);
            o.common++;
            o.telling += x->tells[i];
            o.behind += x->tells[i];
            i++, k++;
        } else if (k == y->w.n || (i < x->w.n && f.rest[i + 1][k] >= f.rest[i][k + 1])) {
            g.asked |= x->names[i] && terms_have(asked, x->terms[i]);
            g.older_date |= x->dates[i];
            g.older |= x->tells[i] || x->dates[i];
            i++;
        } else {
            g.newer_date |= y->dates[k];
            g.newer |= y->tells[k] || y->dates[k];
            k++;
        }
    }
    close_gap(&o, &g);
    return o;
}

/* What the question and the newer line say about a pair. */
struct hints {
    const struct term_set *asked; /* words of the question */
    bool who;                     /* it asks who: the value may stand in front */
    bool changes;                 /* the newer line has a word of change */
    bool fits;                    /* the subjects are the same */
};

/* "Work at" and "work on" are two sentences, though most of their words are the same. */
static bool is_other_verb(const struct clause *older, const struct clause *newer)
{
    bool has_verb = false;
    if (older->claim.slot == SLOT_COUNT || newer->claim.slot != SLOT_COUNT)
        return false;
    for (size_t i = 0; i < newer->w.n; i++)
        has_verb |= newer->terms[i] == older->terms[older->claim.at];
    return has_verb;
}

/* At most so many words lie on each other, in whatever order. */
static size_t words_in_both(const struct clause *x, const struct clause *y)
{
    size_t n = 0;
    for (size_t i = 0; i < x->w.n; i++)
        n += (y->marks & term_mark(x->terms[i])) && terms_have(&y->all, x->terms[i]);
    return n;
}

/* Three words and a third of the shorter clause. */
static bool is_common(size_t common, size_t shorter)
{
    enum { COMMON = 3 };
    return common >= COMMON && 3 * common >= shorter;
}

/* The same sentence with another value. */
static enum supersession by_frame(const struct clause *older, const struct clause *newer,
                                  const struct hints *h)
{
    enum { LONG = 5, TOPICS = 3 };
    size_t shorter = older->w.n < newer->w.n ? older->w.n : newer->w.n;
    if (!is_common(words_in_both(older, newer), shorter)) /* most pairs; and quickly seen */
        return CURRENT;
    struct overlay o = overlay_of(older, newer, h->asked);
    bool lists = older->is_list || newer->is_list, is_dose = o.is_figure && h->changes;
    bool is_single = older->owns_subject || older->subject == OTHER || h->changes ||
                     o.common >= LONG || (older->told & newer->told & attributes_single());
    bool is_frame = is_common(o.common, shorter) && o.telling + is_single >= 2;
    if (!is_frame || o.places != 1 || o.inserts || o.is_asked || is_other_verb(older, newer))
        return CURRENT;
    if (!h->fits && !h->who && o.telling < TOPICS)
        return CURRENT;
    if (lists && !is_dose)
        return h->who && h->changes ? DOUBTFUL : CURRENT;
    bool is_short = o.common >= LONG && o.telling < 2 && !older->owns_subject;
    return h->fits && (h->changes || (o.behind <= 1 && !is_short)) ? REPLACED : DOUBTFUL;
}

/* --- two lines --- */

/* The verdicts are in the order of their strength. */
static enum supersession greater(enum supersession a, enum supersession b)
{
    return a > b ? a : b;
}

/* The newer one says that a topic of the older one has ended; the end of one of several leaves a
 * part. */
static enum supersession by_end(const struct clause_parse *older, const struct clause *c,
                                const struct clause_parse *newer)
{
    for (size_t i = 0; i < newer->n; i++)
        if (newer->v[i].ended && terms_have(&c->telling, newer->v[i].ended) &&
            (newer->v[i].ends_name || fits_subject(c, &newer->v[i], newer)))
            return older->n > 2 || c->has_several ? PARTLY : REPLACED;
    return CURRENT;
}

/* "My lodger works for …": whose slot it is, of those whom "my" names without being kin; 0: the
 * speaker's. */
static uint64_t owned_by(const struct clause *c)
{
    for (size_t i = c->claim.at; c->owns_subject && i-- > 1;)
        if (c->tells[i])
            return c->terms[i];
    return 0;
}

/* Another home, job or marriage, with a word of change. */
static enum supersession by_attribute(const struct clause *older, const struct clause *newer,
                                      const struct clause_parse *all)
{
    uint32_t both = older->told & newer->told & attributes_single();
    if ((older->owns_subject && !newer->owns_subject) || owned_by(older) != owned_by(newer))
        return CURRENT;
    if (both & ATTRIBUTE_BIT(home) && !all->has_name)
        both &= ~ATTRIBUTE_BIT(home);
    if (!both || !(all->changes || all->is_present))
        return CURRENT;
    bool is_plain_change =
        both & (ATTRIBUTE_BIT(home) | ATTRIBUTE_BIT(marriage) | ATTRIBUTE_BIT(boss));
    return all->changes && is_plain_change ? REPLACED : DOUBTFUL;
}

/* Another value of the same slot, in whatever sentence: "works for", "moved to". */
static enum supersession by_claim(const struct clause *older, const struct clause *newer,
                                  const struct clause_parse *all)
{
    const struct claim *x = &older->claim, *y = &newer->claim;
    bool changes = all->changes || all->is_present;
    if (x->slot == SLOT_COUNT || x->slot != y->slot || x->ends ||
        owned_by(older) != owned_by(newer))
        return CURRENT;
    size_t shared = terms_shared(&older->value, &newer->value);
    if (y->ends)
        return shared ? REPLACED : newer->value.n || !older->value.n ? CURRENT : DOUBTFUL;
    if (!older->value.n || !newer->value.n || 2 * shared >= newer->value.n)
        return CURRENT;
    if (!changes && !slot_is_single(x->slot))
        return CURRENT;
    bool is_explicit = x->slot == SLOT_name || older->is_label || newer->is_label;
    return (changes || is_explicit) && slot_is_single(x->slot) ? REPLACED : DOUBTFUL;
}

/* What was so is denied, or the other way round: "I don't eat fish", "I eat fish again". */
static enum supersession by_denial(const struct clause *older, const struct clause *newer,
                                   const struct clause_parse *all)
{
    size_t fewer = older->telling.n < newer->telling.n ? older->telling.n : newer->telling.n;
    if (older->denies == newer->denies)
        return CURRENT;
    size_t shared = terms_shared(&older->telling, &newer->telling);
    if (!shared || shared < fewer || 3 * shared < 2 * older->telling.n)
        return CURRENT;
    return all->changes || all->is_present ? REPLACED : DOUBTFUL;
}

/* Two flights, by where they go. */
static bool names_another(const struct clause *older, const struct clause_parse *newer)
{
    for (size_t i = 0; i < older->w.n; i++)
        if (older->names[i] && !older->dates[i] && terms_have(&newer->telling, older->terms[i]))
            return false;
    return older->has_name && newer->has_name;
}

/* The same topic, moved or changed. */
static enum supersession by_topic(const struct clause *older, const struct clause_parse *newer)
{
    bool is_moved = older->has_date && newer->has_date;
    bool changes = newer->changes || newer->is_present;
    if (!changes || newer->is_supposed || (is_moved && names_another(older, newer)))
        return CURRENT;
    size_t shared = terms_shared(&older->telling, &newer->telling);
    size_t least = older->name && terms_have(&newer->telling, older->name) ? 3 : 2;
    if (shared < 2 || least * shared < older->telling.n)
        return CURRENT;
    if (is_moved && !older->is_list)
        return REPLACED;
    return newer->changes && !older->has_date ? DOUBTFUL : CURRENT;
}

/* "Choir has moved to Wednesdays": all that it speaks of, the older one did, with another date. */
static enum supersession by_move(const struct clause *older, const struct clause *newer,
                                 const struct clause_parse *all)
{
    enum { MUCH = 3 };
    if (!all->changes || !older->has_date || !newer->has_date || older->is_list)
        return CURRENT;
    size_t shared = terms_shared(&older->telling, &newer->telling);
    if (!shared || shared < newer->telling.n)
        return CURRENT;
    return older->telling.n > MUCH * shared ? DOUBTFUL : REPLACED;
}

static enum supersession clause_is(const struct clause_parse *all, const struct clause *older,
                                   const struct clause_parse *newer, struct hints h)
{
    enum supersession is = by_end(all, older, newer);
    h.changes = newer->changes || newer->is_present;
    for (size_t i = 0; i < newer->n && !newer->adds; i++) {
        const struct clause *c = &newer->v[i];
        if (c->claim.is_supposed)
            continue;
        h.fits = fits_subject(older, c, newer);
        is = greater(is, by_frame(older, c, &h));
        if (h.fits) {
            is = greater(is, by_attribute(older, c, newer));
            is = greater(is, by_claim(older, c, newer));
            is = greater(is, by_denial(older, c, newer));
            is = greater(is, by_move(older, c, newer));
            is = greater(is, by_topic(older, newer));
        }
    }
    return is;
}

/* Whether other clauses of the older line say something that stays. */
static bool has_rest(const struct clause_parse *r, const struct clause *but)
{
    enum { SAYS = 2, LONG = 5 };
    for (size_t i = 0; i < r->n; i++) {
        const struct clause *c = &r->v[i];
        bool is_apart = (c->joined || but->joined) && !(c->told & but->told);
        bool is_own = c->subject != but->subject || c->who != but->who || (c->told & ~but->told) ||
                      c->w.n >= LONG;
        bool is_date = c->has_date && !but->has_date; /* "for our anniversary, it's August 22nd" */
        if (c != but && ((c->telling.n > SAYS && is_own) || (c->telling.n && is_apart) || is_date))
            return true;
    }
    return false;
}

static enum supersession line_is(const struct clause_parse *older, const struct clause_parse *newer,
                                 const struct hints *h)
{
    enum { FEW = 10 }; /* words that tell, of a message of two or three sentences */
    enum supersession is = CURRENT;
    bool are_short = older->telling.n <= FEW && newer->telling.n <= FEW;
    for (size_t i = 0; i < older->n; i++) {
        enum supersession of = clause_is(older, &older->v[i], newer, *h);
        if (of == DOUBTFUL && !are_short)
            of = CURRENT;
        if (of == REPLACED && has_rest(older, &older->v[i]))
            of = PARTLY;
        is = greater(is, of);
    }
    return is;
}

/* --- all lines --- */

/* By time, then by the place in the store: turns of one import may have one time. */
static bool is_later(const struct dated_line *x, const struct dated_line *y)
{
    return x->created != y->created ? x->created > y->created : x->place > y->place;
}

/* A memory and the message it was made of say the same and never replace each other; nor do lines
 * of two spaces, or memories that were stored under different keys of the caller's own. */
static bool is_pair(const struct dated_line *older, const struct dated_line *newer)
{
    bool same = (older->source.n && str_eq(older->source, newer->id)) ||
                (newer->source.n && str_eq(newer->source, older->id));
    bool is_other = !str_eq(older->space, newer->space) ||
                    (older->name.n && newer->name.n && !str_eq(older->name, newer->name));
    return !same && !is_other && is_later(newer, older) && older->text.n && newer->text.n;
}

static struct term_set terms_of(struct arena *a, str text)
{
    struct words w = words_of(a, text, WORDS);
    struct term_set out = terms_with_room(a, w.n);
    for (size_t i = 0; i < w.n; i++)
        if (!w.v[i].is_stop)
            terms_add(a, &out, str_hash(w.v[i].stem));
    terms_sort(&out);
    return out;
}

struct judging {
    struct arena *a;
    struct dated_line *v;
    struct clause_parse **r; /* NULL: not read yet */
    bool *is_unspaced;       /* more than half of the line is */
    size_t n;
    struct hints hints;
};

static struct judging judging_of(struct arena *a, str question, struct dated_line *v, size_t n)
{
    static const char *const who[] = {"who|whom|wer|wen|qui|quién|quem|chi|wie", NULL};
    struct judging j = {.a = a,
                        .v = v,
                        .n = n,
                        .r = NEW_N(a, struct clause_parse *, n + 1),
                        .is_unspaced = NEW_N(a, bool, n + 1)};
    struct term_set *asked = NEW(a, struct term_set);
    struct phrase_words q = phrase_words_of(a, phrase_fold(a, question));
    *asked = terms_of(a, question);
    for (size_t i = 0; i < n; i++)
        j.is_unspaced[i] = text_is_unspaced(v[i].text);
    j.hints = (struct hints){.asked = asked, .who = phrase_find_any(&q, who, NULL)};
    return j;
}

/* Reading costs most, so a line that no other is compared with is not read. */
static const struct clause_parse *line_at(struct judging *j, size_t i)
{
    if (!j->r[i]) {
        j->r[i] = ROOM_N(j->a, struct clause_parse, 1);
        clause_parse_noted(j->a, j->v[i].notes, j->v[i].text, j->r[i]);
    }
    return j->r[i];
}

/* Keeps the first of the strongest: v[older].by is the line that replaces it. */
static void judge_pair(struct judging *j, size_t older, size_t newer)
{
    assert(older < j->n && newer < j->n);
    struct dated_line *x = &j->v[older], *y = &j->v[newer];
    if (older == newer || x->is == REPLACED || !is_pair(x, y))
        return;
    bool is_unspaced = j->is_unspaced[older] && j->is_unspaced[newer];
    enum supersession is = is_unspaced ? unspaced_supersession(j->a, x->text, y->text)
                                       : line_is(line_at(j, older), line_at(j, newer), &j->hints);
    if (is > x->is) {
        x->is = is;
        x->by = newer;
    }
}

/* What was noted from a message is replaced by what replaces all of the message. */
static void settle_noted(struct dated_line *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n && v[i].source.n && v[i].is != REPLACED; k++)
            if (str_eq(v[k].id, v[i].source) && v[k].is == REPLACED && v[k].by != i) {
                v[i].is = REPLACED;
                v[i].by = v[k].by;
            }
}

/* A line that replaces one that is given may be given for it, and be replaced itself. */
void supersession_judge(struct arena *a, str question, struct dated_line *v, size_t n,
                        const bool *given)
{
    struct judging j = judging_of(a, question, v, n);
    bool *wanted = NEW_N(a, bool, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (!given[i] && !wanted[i])
            continue;
        for (size_t k = 0; k < n; k++)
            judge_pair(&j, i, k);
        wanted[v[i].by] |= v[i].is != CURRENT;
    }
    settle_noted(v, n);
}
