/* subject.c - the subject of a statement, compared with the one whom a question is about. */
#include "engine/recall/subject.h"

#include "engine/questions/relatives.h"
#include "engine/text/attributes.h"
#include "engine/text/lexicon.h"
#include "lang/subject_lists.h"
#include "words/stem_table.h"

/*
 * "Where does my sister live?" must not be answered with "I live in Bergen", although both tell of
 * a home. Names and words of kinship in the question must be in the statement; a question of one's
 * own needs a statement in the first person, or a short one without a subject ("Home: Bergen"). My
 * daughter is one of my kids. For a request what is told of those around the asker counts, too: the
 * line itself says of whom it is.
 */

enum { SENTENCE_WORDS = 120 };

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

/* The same word, or one for a relative whom this general one may mean. */
static bool holds(const struct words *w, str stem, uint32_t general)
{
    const struct stem_table *relatives = STEM_TABLE(relative_rows);
    return SOME(i, w->n,
                str_eq(w->v[i].stem, stem) || stem_bits(relatives, w->v[i].stem) & general);
}

/* "Monday" and "May" are written like names and name nobody; German nouns are, too: "Haustiere" is
 * what is asked for. */
static bool names_someone(const struct word *w)
{
    const struct words one = {.v = (struct word *)w, .n = 1};
    return w->is_name && !attributes_told(&one) &&
           !lexicon_is(w->text, LEX_MONTH | LEX_WEEKDAY | LEX_SELF | LEX_SELF_TOO);
}

/* "My sister plays chess" is no answer to "What are my hobbies?", and "My wife is Eva" is one to
 * "Am I married?". */
static bool is_of_relative(const struct words *w, uint32_t wanted)
{
    enum { FRONT = 2 };
    static const struct term_set nobody;
    const struct words front = {w->v, w->n < FRONT ? w->n : FRONT};
    return !(attributes_told(&front) & wanted) && is_said_of_relative(w, &nobody);
}

/* The first of Chinese or Japanese kin that a text speaks of, as a row; -1: of the speaker. */
static int kin_of(str text)
{
    static const char *const kin[] = {
#define KIN(text) text,
#include "lang/unspaced.def"
    };
    size_t first = text.n;
    int who = -1;
    for (size_t i = 0; i < sizeof kin / sizeof *kin; i++) {
        size_t at = str_find(text, str_of(kin[i]));
        who = at < first ? (int)i : who;
        first = at < first ? at : first;
    }
    return who;
}

/* More than half of it; a name among other words is none of it. */
static bool is_mostly_unspaced(const struct words *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        n += w->v[i].is_unspaced;
    return 2 * n > w->n;
}

bool subject_fits(struct arena *a, str question, const struct attribute_sentence *of)
{
    enum { BARE = 24 };
    struct words q = words_of(a, question, SENTENCE_WORDS);
    struct words s = words_of(a, of->sentence, SENTENCE_WORDS);
    /* "She is a nurse": of somebody whom a sentence before it names. */
    bool goes_on = s.n && word_is_pronoun(s.v[0].text) && !word_is_speaker(s.v[0].text);
    struct words before = words_of(a, goes_on ? of->before : S(""), SENTENCE_WORDS);
    bool names = false;
    if (is_mostly_unspaced(&q) && is_mostly_unspaced(&s))
        return of->is_for_request || kin_of(question) == kin_of(of->sentence);
    for (size_t i = 0; i < q.n; i++) {
        const struct word *w = &q.v[i];
        uint32_t general = stem_bits(STEM_TABLE(general_rows), w->stem);
        if (!general && !word_is_kin(w->stem) && !names_someone(w))
            continue;
        names = true;
        if (holds(&s, w->stem, general) || holds(&before, w->stem, general))
            return true;
    }
    bool is_plain = lexicon_in(&s, LEX_SELF | LEX_SELF_TOO) || s.n <= BARE;
    /* "¿Dónde trabajaba?": the verb says who, without a pronoun. */
    bool is_own = lexicon_in(&q, LEX_SELF | LEX_SELF_TOO) || words_have(&q, self_verbs);
    return is_plain &&
           (of->is_for_request || (!names && is_own && !is_of_relative(&s, of->wanted)));
}
