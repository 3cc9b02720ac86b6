/* subject.c - the subject of a statement, compared with the one whom a question is about. */
#include "engine/recall/subject.h"

#include "engine/gate/evidence.h"
#include "engine/questions/persons.h"
#include "engine/recall/unspaced.h"
#include "engine/text/attributes.h"
#include "engine/text/lexicon.h"
#include "engine/text/sentences.h"
#include "lang/subject_lists.h"
#include "words/stem_table.h"

/*
 * "Where does my sister live?" must not be answered with "I live in Bergen", although both tell of
 * a home. Names and words of kinship in the question must be in the statement; a question of one's
 * own needs a statement in the first person, or a short one without a subject ("Home: Bergen"). My
 * daughter is one of my kids.
 */

enum { SENTENCE_WORDS = 120, FRONT = 3 };

/* Words for several kinds of relatives, and those whom they may mean. */
enum { CHILDREN = 1, SIBLINGS = 2, PARENTS = 4, GRANDPARENTS = 8 };
static const struct stem_row general_rows[] = {
#define SEVERAL(who, words) {who, words},
#include "lang/subject.def"
};
static const struct stem_row relative_rows[] = {
#define RELATIVE(who, words) {who, words},
#include "lang/subject.def"
};

/* 0 of a word that is none of the general ones. */
static uint32_t general_of(str stem)
{
    return stem_bits(stem_table_of(general_rows, sizeof general_rows / sizeof *general_rows), stem);
}

static bool holds_relative(const struct words *w, uint32_t general)
{
    const struct stem_table *relatives =
        stem_table_of(relative_rows, sizeof relative_rows / sizeof *relative_rows);
    for (size_t i = 0; i < w->n; i++)
        if (stem_bits(relatives, w->v[i].stem) & general)
            return true;
    return false;
}

static bool holds_stem(const struct words *w, str stem)
{
    for (size_t i = 0; i < w->n; i++)
        if (str_eq(w->v[i].stem, stem))
            return true;
    return false;
}

/* "Monday" and "May" are written like names and name nobody. */
static bool is_date(const struct word *w)
{
    return lexicon_is(w->text, LEX_MONTH | LEX_WEEKDAY);
}

static uint32_t told_by(const struct word *w)
{
    return attributes_told(&(struct words){.v = (struct word *)w, .n = 1});
}

/* German nouns are written like names, too: "Haustiere" is what is asked for, and nobody. */
static bool names_someone(const struct word *w)
{
    return w->is_name && !is_date(w) && !lexicon_is(w->text, LEX_SELF | LEX_SELF_TOO) &&
           !told_by(w);
}

/* --- whom a sentence tells of --- */

/* Those who live with the speaker; what they eat and suffer from bears on his requests. */
enum teller { SPEAKER, HOUSEHOLD, ANOTHER, ANIMAL };

static bool is_household(const struct word *w)
{
    static const struct stem_row rows[] = {
#define IN_HOUSEHOLD(words) {1, words},
#include "lang/subject.def"
    };
    return stem_bits(stem_table_of(rows, sizeof rows / sizeof *rows), w->stem) ||
           general_of(w->stem) == CHILDREN;
}

/* A name that says who, and not where ("in Leeds"). */
static bool is_whose_name(const struct words *w, size_t i)
{
    if (told_by(&w->v[i]) || (i && word_is_kin(w->v[i - 1].stem))) /* "my wife Carlene" */
        return false;
    bool is_place = i > 0 && lexicon_is(w->v[i - 1].text, LEX_PREPOSITION);
    return w->v[i].is_name && !is_date(&w->v[i]) && !is_place;
}

/* "Ivy needs …", "Biscuit is …": a sentence that begins with somebody and what he does. */
static bool opens_with_name(const struct words *w)
{
    char first = w->n > 1 ? w->v[0].text.p[0] : 'a';
    return first >= 'A' && first <= 'Z' && !w->v[0].is_stop && !told_by(&w->v[0]) &&
           (lexicon_is(w->v[1].text, LEX_AUXILIARY) || str_is_one_of(w->v[1].text, name_verbs));
}

/* The words of a sentence. */
struct told_words {
    struct words w;
    bool has_names; /* capitals name somebody; German nouns have them, too */
};

static struct told_words told_words_of(struct arena *a, str sentence)
{
    return (struct told_words){words_of(a, sentence, SENTENCE_WORDS), gate_is_fitted_for(sentence)};
}

/* Whose the word at this place is: of the one who is named last before it; `before` where nobody
 * is. "My boss" is nobody else where the boss is asked for. */
static enum teller teller_at(const struct told_words *t, size_t at, uint32_t wanted,
                             enum teller before, bool *inherits)
{
    const struct words *w = &t->w;
    bool is_referred = false; /* "she": to somebody in front of it */
    *inherits = false;
    for (size_t i = at < w->n ? at + 1 : w->n; i-- > 0;) {
        const struct word *v = &w->v[i];
        uint32_t told = told_by(v);
        if (word_is_speaker(v->text) && !is_referred)
            return SPEAKER;
        if (!(told & wanted) && word_is_kin(v->stem))
            return is_household(v) ? HOUSEHOLD : ANOTHER;
        if (!(told & wanted) && (told & ATTRIBUTE_BIT(pets)))
            return ANIMAL;
        if (lexicon_is(v->text, LEX_SELF | LEX_SELF_TOO) && !is_referred)
            return SPEAKER;
        if (t->has_names && (is_whose_name(w, i) || (i == 0 && opens_with_name(w))))
            return ANOTHER;
        is_referred |= word_is_pronoun(v->text) && !lexicon_is(v->text, LEX_THING);
    }
    *inherits = true;
    return is_referred && before == SPEAKER ? ANOTHER : before;
}

/* Of a sentence as a whole, for the one behind it. */
static enum teller teller_of(const struct told_words *t, uint32_t wanted, enum teller before)
{
    const struct words *w = &t->w;
    enum { LOOKED_AT = 6 };
    bool inherits;
    for (size_t i = 0; i < w->n && i < LOOKED_AT; i++) {
        struct told_words front = {{w->v, i + 1}, t->has_names};
        enum teller is = teller_at(&front, i, wanted, before, &inherits);
        bool is_kin_next = i + 1 < w->n && word_is_kin(w->v[i + 1].stem);
        if (!inherits && !is_kin_next &&
            !(lexicon_is(w->v[i].text, LEX_SELF | LEX_SELF_TOO) && !word_is_speaker(w->v[i].text)))
            return is;
    }
    return before;
}

/* What a sentence says of the wanted attributes counts where some of it is of one who fits. */
static bool has_teller(const struct told_words *t, const struct attribute_sentence *of,
                       enum teller before, enum teller most, bool *inherits)
{
    enum { FRONT_WORDS = 6 };
    const struct words *w = &t->w;
    bool is_any = false, fits = false, one;
    *inherits = false;
    for (size_t i = 0; i < w->n; i++) {
        if (!(told_by(&w->v[i]) & of->wanted))
            continue;
        is_any = true;
        fits |= teller_at(t, i, of->wanted, before, &one) <= most;
        *inherits |= one;
    }
    return is_any ? fits : teller_at(t, FRONT_WORDS, of->wanted, before, inherits) <= most;
}

bool subject_fits(struct arena *a, str question, const struct attribute_sentence *of)
{
    enum { BARE = 24 };
    struct words q = words_of(a, question, SENTENCE_WORDS);
    struct told_words s = told_words_of(a, of->sentence);
    struct words told = words_of(a, of->before, SENTENCE_WORDS);
    struct sentence in_front;
    bool names = false, inherits = false;
    if (text_is_unspaced(question) && text_is_unspaced(of->sentence))
        return of->is_for_request || unspaced_subject_fits(question, of->sentence);
    /* "A cake for the party", "dinner for us": whoever it is may eat with them. */
    enum teller before = SPEAKER, most = !of->is_for_request || of->is_far ? SPEAKER
                                         : of->is_grave || words_have(&q, several_people)
                                             ? ANOTHER
                                             : HOUSEHOLD;
    for (str rest = of->before; sentence_cut(&rest, &in_front);) {
        struct told_words t = told_words_of(a, in_front.text);
        before = teller_of(&t, of->wanted, before);
    }
    bool fits = of->is_setting || has_teller(&s, of, before, most, &inherits);
    for (size_t i = 0; i < q.n; i++) {
        const struct word *w = &q.v[i];
        uint32_t general = general_of(w->stem);
        if (!general && !word_is_kin(w->stem) && !names_someone(w))
            continue;
        names = true;
        if (holds_stem(&s.w, w->stem) || holds_relative(&s.w, general) ||
            (inherits && (holds_stem(&told, w->stem) || holds_relative(&told, general))))
            return true;
    }
    bool is_plain = lexicon_in(&s.w, LEX_SELF | LEX_SELF_TOO) || s.w.n <= BARE;
    /* "¿Dónde trabajaba?": the verb says who, without a pronoun. */
    bool is_own = lexicon_in(&q, LEX_SELF | LEX_SELF_TOO) || words_have(&q, self_verbs);
    return fits && is_plain && (of->is_for_request || (!names && is_own));
}
