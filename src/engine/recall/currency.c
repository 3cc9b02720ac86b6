/* currency.c - which of the lines that a chat would be given a later line replaces. */
#include "engine/recall/currency.h"

#include <stdlib.h>

#include "base/stem_table.h"
#include "engine/text/attributes.h"
#include "engine/text/lexicon.h"
#include "engine/text/phrases.h"
#include "engine/text/term_set.h"

/* Clauses of a line, words of a clause and bytes of a line that are looked at */
enum { CLAUSES = 8, WORDS = 40, LINE_MAX = 600 };

/* --- the tables of words --- */

enum { IS_FUNCTION = 1, IS_LIST = 2, IS_KIN = 4 };

static unsigned known_as(str stem)
{
    static const struct stem_row rows[] = {
#define FUNCTION(words) {IS_FUNCTION, words},
#define LISTS(words) {IS_LIST, words},
#define KIN(words) {IS_KIN, words},
#include "engine/recall/currency.def"
    };
    return stem_bits(stem_table_of(rows, sizeof rows / sizeof *rows), stem);
}

bool currency_is_kin(str stem)
{
    return known_as(stem) & IS_KIN;
}

/* --- phrases --- */

static const char *const changes[] = {
#define CHANGES(phrase) phrase,
#include "engine/recall/currency.def"
    NULL};
static const char *const present[] = {
#define PRESENT(phrase) phrase,
#include "engine/recall/currency.def"
    NULL};
static const char *const adds[] = {
#define ADDS(phrase) phrase,
#include "engine/recall/currency.def"
    NULL};
static const char *const ends_next[] = {
#define ENDS_NEXT(phrase) phrase,
#include "engine/recall/currency.def"
    NULL};
static const char *const ends_subject[] = {
#define ENDS_SUBJECT(phrase) phrase,
#include "engine/recall/currency.def"
    NULL};

bool currency_asks_past(struct arena *a, str question)
{
    static const char *const past[] = {
#define PAST(phrase) phrase,
#include "engine/recall/currency.def"
        NULL};
    struct phrase_words w = phrase_words_of(a, phrase_fold(a, question));
    return phrase_find_any(&w, past, NULL);
}

str currency_mark(enum currency is)
{
    static const char *const marks[] = {[CURRENT] = "",
                                        [DOUBTFUL] = "(may be outdated, see the later line) ",
                                        [PARTLY] = "(partly replaced by a later line) ",
                                        [REPLACED] = "(no longer so, replaced by a later line) "};
    return str_of(marks[is]);
}

/* --- reading a line --- */

enum subject {
    OWN,
    OTHER
}; /* the speaker, also where nobody is named; someone or something else */

struct clause {
    struct words w;
    uint64_t terms[WORDS]; /* stems */
    bool tells[WORDS];     /* words with a topic */
    struct term_set all;   /* stems, each once */
    struct term_set telling;
    uint32_t told; /* attributes */
    enum subject subject;
    uint64_t who;      /* of another subject */
    uint64_t ended;    /* the topic that it ends, or 0 */
    bool is_list;      /* its verb takes several values */
    bool has_date;     /* a date, a time or a number */
    bool has_name;     /* a name that is no date */
    bool owns_subject; /* "my phone is …" */
};

struct reading {
    struct clause v[CLAUSES];
    size_t n;
    struct term_set telling; /* of all of them */
    bool changes, is_present, adds, has_date, has_name;
};

static bool is_date(const struct word *w)
{
    return w->is_number ||
           lexicon_is(w->text, LEX_MONTH | LEX_MONTH_SHORT | LEX_WEEKDAY | LEX_NUMBER);
}

/* "I", "wir"; not "my". */
static bool is_speaker(str word)
{
    static const char *const pronouns[] = {"i",    "we",       "ich", "wir", "je",  "j",
                                           "nous", "yo",       "eu",  "io",  "noi", "ik",
                                           "wij",  "nosotros", "nós", NULL};
    for (const char *const *p = pronouns; *p; p++)
        if (str_eq_nocase(word, str_of(*p)))
            return true;
    return false;
}

static bool is_plain(const struct word *w)
{
    return w->is_stop || is_date(w) ||
           lexicon_is(w->text, LEX_PREPOSITION | LEX_STRESS | LEX_SELF | LEX_SELF_TOO | LEX_JOINT);
}

static void set_other(struct clause *c, const struct word *w)
{
    c->subject = OTHER;
    c->who = str_hash(w->stem);
}

/* "My brother", "my phone". */
static void read_possessed(struct clause *c, size_t at)
{
    enum { NEAR = 4 };
    for (size_t i = at + 1; i < c->w.n && i <= at + NEAR; i++)
        if (known_as(c->w.v[i].stem) & IS_KIN) {
            set_other(c, &c->w.v[i]);
            return;
        }
    c->owns_subject = true;
}

/* Who or what the clause is about. before: of the clause in front, for "she". */
static void read_subject(struct clause *c, const struct clause *before)
{
    enum { LOOKED_AT = 7 };
    bool is_behind = false; /* a verb or a thing: a name there is no subject any more */
    for (size_t i = 0; i < c->w.n && i < LOOKED_AT; i++) {
        const struct word *w = &c->w.v[i];
        if (is_speaker(w->text))
            return;
        if (lexicon_is(w->text, LEX_SELF | LEX_SELF_TOO)) {
            read_possessed(c, i);
            return;
        }
        if (before && i == 0 && lexicon_is(w->text, LEX_PERSON | LEX_THING)) {
            c->subject = before->subject;
            c->who = before->who;
            return;
        }
        if (w->is_name && !is_date(w) && !is_behind) {
            bool is_joined = i + 2 < c->w.n && is_speaker(c->w.v[i + 2].text);
            if (!is_joined)
                set_other(c, w);
            return;
        }
        bool opens = i == 0 && c->w.n > 2 && !is_plain(w) && w->text.p[0] >= 'A' &&
                     w->text.p[0] <= 'Z' && !attributes_told(&(struct words){&c->w.v[i], 1}) &&
                     !(known_as(w->stem) & IS_FUNCTION);
        if (opens && !(c->w.n > 2 && is_speaker(c->w.v[2].text))) {
            set_other(c, w);
            return;
        }
        if (i == 0 && lexicon_is(w->text, LEX_ARTICLE) && c->w.n > 1) {
            set_other(c, &c->w.v[1]);
            return;
        }
        is_behind |= c->tells[i];
    }
}

static void read_words(struct arena *a, struct clause *c)
{
    c->telling = terms_with_room(a, c->w.n);
    c->all = terms_with_room(a, c->w.n);
    for (size_t i = 0; i < c->w.n; i++) {
        const struct word *w = &c->w.v[i];
        unsigned is = known_as(w->stem);
        c->terms[i] = str_hash(w->stem);
        c->tells[i] = !is_date(w) && !w->is_stop && (!(is & IS_FUNCTION) || w->is_name);
        c->is_list |= (is & IS_LIST) != 0 || lexicon_is(w->text, LEX_PAST) ||
                      str_is(w->text, "called") || str_is(w->text, "named");
        c->has_date |= is_date(w);
        c->has_name |= w->is_name && !is_date(w);
        terms_add(a, &c->all, c->terms[i]);
        if (c->tells[i])
            terms_add(a, &c->telling, c->terms[i]);
    }
    terms_sort(&c->all);
    terms_sort(&c->telling);
    c->told = attributes_told(&c->w);
}

/* The first topic behind a byte of the clause. */
static uint64_t topic_behind(const struct clause *c, size_t at)
{
    for (size_t i = 0; i < c->w.n; i++)
        if (c->w.v[i].at >= at && c->tells[i] && !(known_as(c->w.v[i].stem) & IS_LIST))
            return c->terms[i];
    return 0;
}

/* "I gave up fencing", "fencing is cancelled", "… made me dizzy, it was replaced". */
static void read_end(struct clause *c, const struct clause *before, const struct phrase_words *p,
                     str folded)
{
    str found;
    bool is_it = before && lexicon_is(c->w.v[0].text, LEX_THING);
    if ((is_it || c->subject == OTHER) && phrase_find_any(p, ends_subject, NULL))
        c->ended = topic_behind(is_it ? before : c, 0);
    else if (phrase_find_any(p, ends_next, &found))
        c->ended = topic_behind(c, (size_t)(found.p - folded.p) + found.n);
}

static bool ends_clause(str text, size_t i)
{
    bool blank = i + 1 >= text.n || text.p[i + 1] == ' ' || text.p[i + 1] == '\n';
    if ((text.p[i] >= '@' && (unsigned char)text.p[i] < 0x80) || text.p[i] == ' ')
        return false; /* most are letters */
    return char_is_one_of(text.p[i], ";\n") || (char_is_one_of(text.p[i], ".,:!?") && blank) ||
           str_starts(str_sub(text, i, text.n), S("\u2014"));
}

static void read_clause(struct arena *a, struct reading *r, str text)
{
    struct clause *c = &r->v[r->n];
    c->w = words_of(a, text, WORDS);
    if (!c->w.n)
        return;
    read_words(a, c);
    read_subject(c, r->n ? c - 1 : NULL);
    if (r->changes) {
        str folded = phrase_fold(a, text);
        struct phrase_words p = phrase_words_of(a, folded);
        read_end(c, r->n ? c - 1 : NULL, &p, folded);
    }
    r->has_date |= c->has_date;
    r->has_name |= c->has_name;
    for (size_t i = 0; i < c->telling.n; i++)
        terms_add(a, &r->telling, c->telling.v[i]);
    r->n++;
}

static void read_line(struct arena *a, struct reading *r, str text)
{
    size_t from = 0;
    text = utf8_cut(text, LINE_MAX);
    struct phrase_words p = phrase_words_of(a, phrase_fold(a, text));
    r->changes = phrase_find_any(&p, changes, NULL);
    r->is_present = phrase_find_any(&p, present, NULL);
    r->adds = phrase_find_any(&p, adds, NULL);
    for (size_t i = 0; i <= text.n && r->n < CLAUSES; i++)
        if (i == text.n || ends_clause(text, i)) {
            read_clause(a, r, str_sub(text, from, i));
            from = i + 1;
        }
    terms_sort(&r->telling);
}

/* --- two clauses --- */

static bool fits_subject(const struct clause *older, const struct clause *newer,
                         const struct reading *all)
{
    if (older->subject == OWN && newer->subject == OWN)
        return true;
    if (older->subject == OTHER && newer->subject == OTHER && older->who == newer->who)
        return true;
    bool is_named = older->subject == OTHER && terms_have(&all->telling, older->who);
    return is_named || (newer->subject == OTHER && terms_have(&older->telling, newer->who));
}

/* Length of the longest common part of the words from i and k on. */
struct frame {
    uint8_t rest[WORDS + 1][WORDS + 1];
};

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
            g.asked |= x->w.v[i].is_name && terms_have(asked, x->terms[i]);
            g.older_date |= is_date(&x->w.v[i]);
            g.older |= x->tells[i] || is_date(&x->w.v[i]);
            i++;
        } else {
            g.newer_date |= is_date(&y->w.v[k]);
            g.newer |= y->tells[k] || is_date(&y->w.v[k]);
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

/* At most so many words lie on each other, in whatever order. */
static size_t words_in_both(const struct clause *x, const struct clause *y)
{
    size_t n = 0;
    for (size_t i = 0; i < x->w.n; i++)
        n += terms_have(&y->all, x->terms[i]);
    return n;
}

static bool is_common(size_t common, size_t shorter)
{
    enum { COMMON = 3 };
    return common >= COMMON && 3 * common >= shorter;
}

/* The same sentence with another value. */
static enum currency by_frame(const struct clause *older, const struct clause *newer,
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
    if (!is_frame || o.places != 1 || o.inserts || o.is_asked)
        return CURRENT;
    if (!h->fits && !h->who && o.telling < TOPICS)
        return CURRENT;
    if (lists && !is_dose)
        return h->who && h->changes ? DOUBTFUL : CURRENT;
    bool is_short = o.common >= LONG && o.telling < 2 && !older->owns_subject;
    return h->fits && (h->changes || (o.behind <= 1 && !is_short)) ? REPLACED : DOUBTFUL;
}

/* --- two lines --- */

static enum currency greater(enum currency a, enum currency b)
{
    return a > b ? a : b;
}

static bool has_several(const struct clause *c)
{
    for (size_t i = 1; i + 1 < c->w.n; i++)
        if (lexicon_is(c->w.v[i].text, LEX_JOINT) || str_eq_nocase(c->w.v[i].text, S("und")) ||
            str_is(c->w.v[i].text, "et") || str_is(c->w.v[i].text, "y") ||
            str_is(c->w.v[i].text, "e"))
            return true;
    return false;
}

/* The newer one says that a topic of the older one has ended. */
static enum currency by_end(const struct reading *older, const struct clause *c,
                            const struct reading *newer)
{
    for (size_t i = 0; i < newer->n; i++)
        if (newer->v[i].ended && terms_have(&c->telling, newer->v[i].ended) &&
            fits_subject(c, &newer->v[i], newer))
            return older->n > 2 || has_several(c) ? PARTLY : REPLACED;
    return CURRENT;
}

/* Another home, job or marriage, with a word of change. */
static enum currency by_attribute(const struct clause *older, const struct clause *newer,
                                  const struct reading *all)
{
    uint32_t both = older->told & newer->told & attributes_single();
    if (older->owns_subject != newer->owns_subject && older->owns_subject)
        return CURRENT;
    if (both & ATTRIBUTE_BIT(home) && !all->has_name)
        both &= ~ATTRIBUTE_BIT(home);
    if (!both || !(all->changes || all->is_present))
        return CURRENT;
    bool is_plain_change =
        both & (ATTRIBUTE_BIT(home) | ATTRIBUTE_BIT(marriage) | ATTRIBUTE_BIT(boss));
    return all->changes && is_plain_change ? REPLACED : DOUBTFUL;
}

/* The same topic, moved or changed. */
static enum currency by_topic(const struct clause *older, const struct reading *newer)
{
    size_t shared = terms_shared(&older->telling, &newer->telling);
    bool is_moved = older->has_date && newer->has_date;
    if (shared < 2 || 2 * shared < older->telling.n || !(newer->changes || newer->is_present))
        return CURRENT;
    if (is_moved && !older->is_list)
        return REPLACED;
    return newer->changes && !older->has_date ? DOUBTFUL : CURRENT;
}

static enum currency clause_is(const struct reading *all, const struct clause *older,
                               const struct reading *newer, struct hints h)
{
    enum currency is = by_end(all, older, newer);
    h.changes = newer->changes || newer->is_present;
    for (size_t i = 0; i < newer->n && !newer->adds; i++) {
        const struct clause *c = &newer->v[i];
        h.fits = fits_subject(older, c, newer);
        is = greater(is, by_frame(older, c, &h));
        if (h.fits) {
            is = greater(is, by_attribute(older, c, newer));
            is = greater(is, by_topic(older, newer));
        }
    }
    return is;
}

/* Whether other clauses of the older line say something that stays. */
static bool has_rest(const struct reading *r, const struct clause *but)
{
    enum { SAYS = 2 };
    for (size_t i = 0; i < r->n; i++) {
        const struct clause *c = &r->v[i];
        bool is_own = c->subject != but->subject || c->who != but->who || (c->told & ~but->told) ||
                      c->w.n > 5;
        if (c != but && c->telling.n > SAYS && is_own)
            return true;
    }
    return false;
}

static enum currency line_is(const struct reading *older, const struct reading *newer,
                             const struct hints *h)
{
    enum currency is = CURRENT;
    for (size_t i = 0; i < older->n; i++) {
        enum currency of = clause_is(older, &older->v[i], newer, *h);
        if (of == REPLACED && has_rest(older, &older->v[i]))
            of = PARTLY;
        is = greater(is, of);
    }
    return is;
}

/* --- all lines --- */

static bool is_later(const struct dated_line *x, const struct dated_line *y)
{
    return x->created != y->created ? x->created > y->created : x->place > y->place;
}

static bool is_pair(const struct dated_line *older, const struct dated_line *newer)
{
    bool same = (older->source.n && str_eq(older->source, newer->id)) ||
                (newer->source.n && str_eq(newer->source, older->id));
    return !same && is_later(newer, older) && older->text.n && newer->text.n;
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

void currency_judge(struct arena *a, str question, struct dated_line *v, size_t n)
{
    static const char *const who[] = {"who|whom|wer|wen|qui|quién|quem|chi|wie", NULL};
    struct reading *r = NEW_N(a, struct reading, n + 1);
    struct term_set asked = terms_of(a, question);
    struct phrase_words q = phrase_words_of(a, phrase_fold(a, question));
    struct hints h = {.asked = &asked, .who = phrase_find_any(&q, who, NULL)};
    for (size_t i = 0; n > 1 && i < n; i++)
        read_line(a, &r[i], v[i].text);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            if (i == k || v[i].is == REPLACED || !is_pair(&v[i], &v[k]))
                continue;
            enum currency is = line_is(&r[i], &r[k], &h);
            if (is > v[i].is) {
                v[i].is = is;
                v[i].by = k;
            }
        }
}
