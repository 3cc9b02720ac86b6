/* equivalence.c - comparing two texts by their words: the same, fuller, changed or different. */
#include "engine/dedup/equivalence.h"

#include "base/utf8.h"
#include "engine/text/bytes.h"
#include "engine/text/claims.h"
#include "engine/text/lexicon.h"
#include "lang/equivalence_lists.h"
#include "words/words.h"

/*
 * A cosine says how similar two texts are, and "User's dog likes long walks" is similar to "User's
 * cat likes long walks". So similar texts are also compared word by word. Without the model's
 * answer they are not the same where one has a content word in the place of another, where numbers
 * or names differ, or where the newer text has more than one content word that the older one lacks.
 * Only other wording ("name is", "is referred to as") is decided by the cosine.
 *
 * What the rules say of an older and a newer text:
 *   SAME       "I live in Oslo" / "The user lives in Oslo"
 *   CHANGED    "My favourite tea is Assam" / "… is Sencha"; "eats fish" / "doesn't eat fish"
 *   FULLER     "Has a dog" / "Has a dog called Rex": the newer one has all of the older one
 *   DIFFERENT  "Has 2 cats" / "Has 3 cats"
 *   UNSURE     one content word in the place of another, or another order: only the model can tell
 * FRAME_MAX bounds the table of the word-by-word comparison (65 × 65 bytes on the stack).
 * OTHER_WORDS is the number of new content words that a mere rewording may have.
 */
enum { WORDS_MAX = 4000, FRAME_MAX = 64, OTHER_WORDS = 1 };

/* --- reading --- */

/* Words that mean the same here, by their stems. */
static uint64_t term_of(str stem)
{
    static const struct {
        const char *word, *means;
    } folded[] = {
#define SAME_STEM(word, means) {word, means},
#include "lang/equivalence.def"
    };
    for (size_t i = 0; i < sizeof folded / sizeof *folded; i++)
        if (str_is(stem, folded[i].word))
            return str_hash(str_of(folded[i].means));
    return str_hash(stem);
}

static bool is_number(const struct word *w)
{
    return w->is_number || lexicon_is(w->text, LEX_NUMBER);
}

/* Words that models use for the user, and intensifiers, do not make a difference. */
static bool is_telling(const struct word *w)
{
    return !w->is_stop && !lexicon_is(w->text, LEX_USER | LEX_STRESS);
}

/* Words as they are written, in lower case and without punctuation at their ends. */
static struct term_set written_words(struct arena *a, str text)
{
    struct term_set out = {0};
    for (str rest = utf8_lower(a, text), word; rest.n;) {
        word = str_trim_end(str_cut(&rest, ' '), ".,;:!?");
        if (word.n)
            terms_add(a, &out, str_hash(word));
    }
    terms_sort(&out);
    return out;
}

/* "User's favorite color is blue": there is one favorite color. */
static void find_slot(struct arena *a, str text, struct saying *out)
{
    out->slot = slot_of(text, &out->value);
    str lower = utf8_lower(a, text);
    for (const char *const *f = favourites; *f && !out->slot.n; f++) {
        size_t from = str_find(lower, str_of(*f));
        if (from == lower.n)
            continue;
        str rest = str_sub(lower, from + strlen(*f), lower.n);
        size_t is = str_find(rest, S(" is "));
        if (is == rest.n)
            continue;
        out->slot = str_trim(str_sub(rest, 0, is));
        out->value = str_trim_end(str_trim(str_sub(rest, is + 4, rest.n)), ".!,");
    }
}

/* Read once per text and compared many times, so everything that a comparison needs is a sorted set
 * of hashes. s.all is the hash of all words in order: equal for texts that differ only in marks and
 * capitals. A text of WORDS_MAX words or more gets its bytes mixed in, as its end was not read. */
struct saying saying_of(struct arena *a, str text)
{
    struct words w = words_of(a, text, WORDS_MAX);
    struct saying s = {.plain = terms_with_room(a, w.n),
                       .telling = terms_with_room(a, w.n),
                       .written = written_words(a, text)};
    for (size_t i = 0; i < w.n; i++) {
        uint64_t term = term_of(w.v[i].stem);
        terms_add(a, &s.plain, term);
        s.all = s.all * 0x9E3779B97F4A7C15u + term;
        s.denials += lexicon_is(w.v[i].text, LEX_NEGATION) || /* "don't" is two words */
                     (str_is(w.v[i].text, "t") && i && lexicon_is(w.v[i - 1].text, LEX_NEGATED));
        if (!word_says_nothing(&w.v[i]))
            terms_add(a, &s.news, str_hash(utf8_lower(a, w.v[i].text)));
        if (is_telling(&w.v[i]))
            terms_add(a, &s.telling, term);
        if (is_number(&w.v[i]))
            terms_add(a, &s.numbers, term);
        if (w.v[i].is_name && is_telling(&w.v[i]))
            terms_add(a, &s.names, term);
    }
    if (w.n == WORDS_MAX)
        s.all ^= str_hash(text);
    terms_sort(&s.telling);
    terms_sort(&s.numbers);
    terms_sort(&s.names);
    terms_sort(&s.news);
    find_slot(a, text, &s);
    return s;
}

/* --- comparing --- */

double sayings_share(const struct saying *one, const struct saying *other)
{
    return terms_jaccard(&one->telling, &other->telling);
}

/* A name may be an ordinary word in the other text ("rose", at the beginning of a sentence), so it
 * is looked for among all telling words. */
static bool holds_names(const struct saying *one, const struct saying *other)
{
    return EVERY(i, one->names.n, terms_have(&other->telling, one->names.v[i]));
}

static bool has_numbers_of(const struct saying *one, const struct saying *other)
{
    return one->numbers.n == other->numbers.n &&
           terms_shared(&one->numbers, &other->numbers) == other->numbers.n;
}

bool sayings_agree(const struct saying *one, const struct saying *other)
{
    return one->denials % 2 == other->denials % 2 && has_numbers_of(one, other) &&
           holds_names(one, other) && holds_names(other, one);
}

/* Longest common subsequence, by words; rest, all 0 before, says how long it is of the rests from i
 * and k on, so rest[0][0] is its length. FRAME_MAX keeps it below 4,100 steps. */
static void measure_frames(const struct term_set *one, const struct term_set *other,
                           uint8_t (*rest)[FRAME_MAX + 1])
{
    for (size_t i = one->n; i-- > 0;)
        for (size_t k = other->n; k-- > 0;) {
            uint8_t skip = rest[i + 1][k] > rest[i][k + 1] ? rest[i + 1][k] : rest[i][k + 1];
            rest[i][k] = one->v[i] == other->v[k] ? (uint8_t)(rest[i + 1][k + 1] + 1) : skip;
        }
}

/* Whether, between common words, one text has a content word where the other has another one. */
static bool is_replaced(const struct saying *one, const struct saying *other)
{
    uint8_t rest[FRAME_MAX + 1][FRAME_MAX + 1] = {{0}};
    const struct term_set *x = &one->plain, *y = &other->plain;
    size_t i = 0, k = 0;
    bool mine = false, theirs = false;
    measure_frames(x, y, rest);
    size_t shorter = x->n < y->n ? x->n : y->n;
    if (2 * (size_t)rest[0][0] < shorter)
        return false;
    while (i < x->n || k < y->n) {
        if (i < x->n && k < y->n && x->v[i] == y->v[k]) {
            if (mine && theirs)
                return true;
            mine = theirs = false;
            i++, k++;
        } else if (k == y->n || (i < x->n && rest[i + 1][k] >= rest[i][k + 1])) {
            mine |= terms_have(&one->telling, x->v[i++]);
        } else {
            theirs |= terms_have(&other->telling, y->v[k++]);
        }
    }
    return mine && theirs;
}

/* Whether the words that both tell come in the same order. */
static bool is_in_order(const struct saying *one, const struct saying *other)
{
    uint64_t v[2][FRAME_MAX];
    size_t n[2] = {0, 0};
    const struct saying *of[2] = {one, other};
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < of[s]->plain.n; i++)
            if (terms_have(&one->telling, of[s]->plain.v[i]) &&
                terms_have(&other->telling, of[s]->plain.v[i]))
                v[s][n[s]++] = of[s]->plain.v[i];
    return n[0] != n[1] || !n[0] || !memcmp(v[0], v[1], n[0] * sizeof *v[0]);
}

/* One negation may cancel another: "doesn't eat animals, not even fish" is said of a vegetarian. */
static enum relation relation_by_words(const struct saying *newer, const struct saying *older)
{
    size_t shared = terms_shared(&newer->telling, &older->telling);
    bool only_adds = shared == older->telling.n && newer->telling.n > shared;
    if (newer->slot.n && str_eq(newer->slot, older->slot) &&
        !str_eq_nocase(newer->value, older->value))
        return CHANGED;
    if (newer->denials % 2 != older->denials % 2)
        return CHANGED;
    if (!sayings_agree(newer, older))
        return only_adds && has_numbers_of(newer, older) ? FULLER : DIFFERENT;
    if (newer->all == older->all)
        return SAME;
    /* What is too long to be held against each other word by word is not, unless it is equal. */
    bool is_long = newer->plain.n > FRAME_MAX || older->plain.n > FRAME_MAX;
    if (is_long || is_replaced(newer, older) || !is_in_order(newer, older))
        return UNSURE;
    return only_adds ? FULLER : newer->telling.n > shared + OTHER_WORDS ? UNSURE : SAME;
}

/* Dropping every line that shares more than 0.6 of its words with a stored line would lose a new
 * detail, a denial ("not") and another fact in the same words. So a line that only adds replaces
 * the stored line, a line that denies it does too, and a line that exchanges a word is a new
 * line. */
static enum relation relation_by_line(const struct saying *newer, const struct saying *older)
{
    size_t shared = terms_shared(&newer->written, &older->written);
    if (terms_jaccard(&newer->written, &older->written) <= 0.6)
        return DIFFERENT;
    if (!newer->denials != !older->denials)
        return CHANGED;
    if (shared == newer->written.n || terms_shared(&newer->news, &older->written) == newer->news.n)
        return SAME;
    return shared == older->written.n ? FULLER : DIFFERENT;
}

/* --- the band --- */

/* The model may confirm what is below the threshold for SAME. */
double same_least(const struct settings *s)
{
    bool asks = s->dedup_llm && s->dedup_llm_low < s->dedup_similarity;
    return asks ? s->dedup_llm_low : s->dedup_similarity;
}

/* What the words do not tell apart is the same from one cosine on, for the model from another. */
static enum relation relation_by_cosine(const struct likeness *by, enum relation words)
{
    const struct settings *s = by->settings;
    double same = by->with_model ? s->dedup_llm_high : s->dedup_similarity;
    if (words != SAME && words != UNSURE)
        return words;
    if (words == SAME && by->cosine >= same)
        return SAME;
    return by->with_model && by->cosine >= s->dedup_llm_low ? UNSURE : DIFFERENT;
}

/* The one door for all rules: by line (what is said to be compared with stored lines), by words
 * alone, or by cosine, which may only confirm or doubt what the words allow. */
enum relation relation_of(const struct saying *newer, const struct saying *older,
                          const struct likeness *by)
{
    if (by->by == BY_LINE)
        return relation_by_line(newer, older);
    if (by->by == BY_WORDS && sayings_share(newer, older) < by->settings->dedup_similarity)
        return DIFFERENT;
    enum relation words = relation_by_words(newer, older);
    return by->by == BY_VECTOR ? relation_by_cosine(by, words) : words;
}
