/* grounding.c - the support of a line in the user's words, and of a summary in the talk. */
#include "engine/distil/grounding.h"
#include "engine/distil/prompt.h"
#include "engine/text/lexicon.h"
#include "engine/text/sentences.h"
#include "lang/grounding_lists.h"
#include "words/words.h"

/*
 * Shared words are a sign and no proof: an honest paraphrase may share few, and a line in another
 * language hardly any. So they decide how far a line is trusted, and never whether a session is
 * done. What only others said, or the user only asked, is another matter: that is a sign against.
 *
 * Example: the user says "I moved to Bergen and work as a carpenter there." The line "User lives in
 * Bergen" is full support: all of its telling words ("Bergen") are the user's. "User owns a
 * workshop" is weak: nothing speaks against it, nothing for it. "User works for Equinor", where
 * only the assistant said "Equinor", is none. decisions/014 has the three grades and what was
 * measured on 66 lines.
 *
 * TOLD_MAX bounds the words of a session, LINE_WORDS those of a line, NAME_LEAST the letters that
 * two names must share from the beginning on to be one ("Postgres", "PostgreSQL").
 */
enum { TOLD_MAX = 50000, LINE_WORDS = 100, SENTENCE_WORDS = 400, NAME_LEAST = 5 };

/* --- words --- */

static bool tells(const struct word *w)
{
    return !word_says_nothing(w) && !str_is_one_of(w->text, german_glue) &&
           !str_is_one_of(w->text, romance_glue) && !str_is_one_of(w->text, common_verbs);
}

/* Guesses by counting function words. Good enough to know whether capitals mean names. */
static void add_tongue(struct tongue *t, const struct words *w)
{
    for (size_t i = 0; i < w->n; i++) {
        t->german += str_is_one_of(w->v[i].text, german_glue);
        t->romance += str_is_one_of(w->v[i].text, romance_glue);
        t->english += w->v[i].is_stop;
    }
}

/* German writes every noun like a name. */
static bool is_german(const struct tongue *t)
{
    return t->german > t->romance && 2 * t->german >= t->english;
}

/* --- the user's words --- */

/* "Should I sell my boat?" is a question and still tells that there is a boat. */
static bool speaks_of_self(struct arena *a, str sentence)
{
    struct words w = words_of(a, sentence, LINE_WORDS);
    return lexicon_in(&w, LEX_SELF | LEX_SELF_TOO);
}

/* A question to somebody else says nothing about the user ("Do you like figs?"). This gives the
 * sentences of a text that are such questions, or the others. */
static str sentences_of(struct arena *a, str text, bool are_questions)
{
    struct buf b = buf_make(a, 2 * text.n + 2);
    while (text.n) {
        str first = first_sentences(text, 1);
        bool is_question = str_ends(first, S("?")) && !speaks_of_self(a, first);
        if (is_question == are_questions) {
            buf_add(&b, first);
            buf_byte(&b, '\n');
        }
        text = str_trim(str_sub(text, (size_t)(first.p + first.n - text.p), text.n));
    }
    return buf_str(&b);
}

static void add_words(struct arena *a, struct term_set *t, const struct words *w)
{
    for (size_t i = 0; i < w->n && t->n < TOLD_MAX; i++)
        terms_add(a, t, str_hash(w->v[i].stem));
}

/* " word word ": so that a quote can be looked for, whatever its marks and capitals. */
static str plain_text(struct arena *a, const struct words *w)
{
    struct buf b = buf_make(a, SIZE_MAX);
    buf_byte(&b, ' ');
    for (size_t i = 0; i < w->n; i++) {
        buf_add(&b, w->v[i].stem);
        buf_byte(&b, ' ');
    }
    return buf_str(&b);
}

ORDER(by_text, str, str_cmp(*x, *y));

/* Each stem once, in order, for words that are only akin. */
static void add_stems(struct arena *a, struct told_words *told, const struct words *w)
{
    for (size_t i = 0; i < w->n && told->stems.n < TOLD_MAX; i++)
        if (w->v[i].stem.n >= 3)
            ARENA_ADD(a, told->stems.v, told->stems.n, told->cap) = w->v[i].stem;
}

static void sort_stems(struct told_words *told)
{
    size_t kept = 0;
    SORT(told->stems.v, told->stems.n, by_text);
    for (size_t i = 0; i < told->stems.n; i++)
        if (!kept || !str_eq(told->stems.v[i], told->stems.v[kept - 1]))
            told->stems.v[kept++] = told->stems.v[i];
    told->stems.n = kept;
}

/* Of one turn: what the user stated (said), only asked (asked), and what the answer says (heard).
 * The sets must stay apart, since a word's weight as evidence depends on who said it. */
static void add_turn(struct arena *a, struct told_words *told, const struct pending_signal *turn,
                     size_t at)
{
    str text = turn->message.text;
    if (str_find(text, S("?")) < text.n) {
        struct words asked = words_of(a, sentences_of(a, text, true), TOLD_MAX);
        add_words(a, &told->asked, &asked);
        text = sentences_of(a, text, false);
    }
    struct words w = words_of(a, text, TOLD_MAX - told->said.n);
    struct words heard = words_of(a, turn->answer, TOLD_MAX);
    add_tongue(&told->tongue, &w);
    add_words(a, &told->said, &w);
    add_words(a, &told->heard, &heard);
    add_words(a, &told->each[at], &w);
    add_stems(a, told, &w);
    terms_sort(&told->each[at]);
    told->plain[at] = plain_text(a, &w);
}

/* Built once for a session and used for each of its lines. Stored identity lines count as said, so
 * a line that repeats a known fact needs no new evidence. */
struct told_words told_words_of(struct arena *a, const struct distilling *d)
{
    struct told_words told = {.each = NEW_N(a, struct term_set, d->n),
                              .plain = NEW_N(a, str, d->n),
                              .n = d->n};
    for (size_t i = 0; i < d->n; i++)
        add_turn(a, &told, &d->signals[i], i);
    for (size_t i = 0; i < d->n_identity; i++) {
        struct words known = words_of(a, d->identity[i].content, LINE_WORDS);
        add_words(a, &told.said, &known);
        add_stems(a, &told, &known);
    }
    sort_stems(&told);
    terms_sort(&told.said);
    terms_sort(&told.asked);
    terms_sort(&told.heard);
    return told;
}

/* --- lines --- */

/* "heisst" and "heisse", "trabaja" and "trabajo", "Postgres" and "PostgreSQL": two thirds of the
 * longer one are the same from the beginning on. Of names one has to begin with the other. */
static bool is_akin(str one, str other, bool is_name, size_t least)
{
    size_t n = 0, longer = one.n > other.n ? one.n : other.n;
    size_t shorter = one.n < other.n ? one.n : other.n;
    while (n < shorter && one.p[n] == other.p[n])
        n++;
    if (is_name && n == shorter && n >= NAME_LEAST)
        return true;
    return n >= least && 3 * n >= 2 * longer && (!is_name || n + 2 >= shorter);
}

/* What of a line is where. */
struct tally {
    size_t telling, said, asked;   /* asked: only in questions to someone else */
    size_t heard_names, new_names; /* names and numbers: only of the assistant, of nobody */
    size_t new_nouns;              /* of German, that nobody said: one may be a name */
};

static struct tally tally_of(const struct told_words *told, const struct words *w)
{
    struct tally t = {0};
    struct tongue tongue = {0};
    add_tongue(&tongue, w);
    size_t least = tongue.german || tongue.romance ? 3 : 4;
    bool nouns_are_names =
        !is_german(&tongue) && !(is_german(&told->tongue) && tongue.english <= 1);
    for (size_t i = 0; i < w->n; i++) {
        const struct word *word = &w->v[i];
        if (!tells(word))
            continue;
        uint64_t stem = str_hash(word->stem);
        bool is_name = word->is_number || (word->is_name && nouns_are_names);
        t.telling++;
        /* Linear in the session's stems: a line has few words and a session some hundreds. */
        if (terms_have(&told->said, stem) ||
            (!word->is_number &&
             SOME(k, told->stems.n, is_akin(told->stems.v[k], word->stem, is_name, least))))
            t.said++;
        else if (terms_have(&told->asked, stem))
            t.asked++;
        else if (terms_have(&told->heard, stem))
            t.heard_names += is_name;
        else if (is_name)
            t.new_names++;
        else
            t.new_nouns += word->is_name;
    }
    return t;
}

/* Whether the user said it in these words, two at least. */
static bool is_quoted(struct arena *a, const struct told_words *told, str quote)
{
    struct words w = words_of(a, quote, SENTENCE_WORDS);
    str plain = plain_text(a, &w);
    return w.n >= 2 && SOME(i, told->n, str_find(told->plain[i], plain) < told->plain[i].n);
}

/* A line that ends in a question mark has no support. Quotes count only when the user said them
 * word for word (is_quoted), because the quote comes from the same model as the line. */
enum support support_of(struct arena *a, const struct told_words *told, str line, str quote)
{
    struct words w = words_of(a, line, LINE_WORDS);
    struct tally t = tally_of(told, &w);
    if (str_ends(str_trim(line), S("?")) || t.heard_names || (t.asked && 2 * t.asked >= t.telling))
        return SUPPORT_NONE;
    bool is_half = 2 * t.said >= t.telling + (t.new_nouns > 0) || is_quoted(a, told, quote);
    return t.said && is_half && !t.asked && !t.new_names ? SUPPORT_FULL : SUPPORT_WEAK;
}

/* The turn that shares most telling words with the line. */
struct shared {
    size_t turn, words, telling;
};

static struct shared most_shared(struct arena *a, const struct told_words *told, str line)
{
    struct words w = words_of(a, line, LINE_WORDS);
    struct shared best = {0};
    for (size_t k = 0; k < w.n; k++)
        best.telling += tells(&w.v[k]);
    for (size_t i = 0; i < told->n; i++) {
        size_t words = 0;
        for (size_t k = 0; k < w.n; k++)
            words += tells(&w.v[k]) && terms_have(&told->each[i], str_hash(w.v[k].stem));
        if (words > best.words)
            best = (struct shared){i, words, best.telling};
    }
    return best;
}

bool is_said_now(struct arena *a, const struct told_words *told, str line)
{
    struct shared best = most_shared(a, told, line);
    return best.words && 2 * best.words >= best.telling;
}

size_t teller_of(struct arena *a, const struct told_words *told, str line)
{
    assert(told->n > 0);
    return most_shared(a, told, line).turn;
}

/* --- summaries --- */

/* The words of the whole conversation, also the assistant's. */
struct heard {
    struct term_set words;
    size_t n, stops;
};

static void add_heard(struct arena *a, struct heard *h, str text)
{
    struct words w = words_of(a, text, TOLD_MAX);
    add_words(a, &h->words, &w);
    h->n += w.n;
    for (size_t i = 0; i < w.n; i++)
        h->stops += w.v[i].is_stop;
}

static struct heard heard_of(struct arena *a, const struct distilling *d)
{
    struct heard h = {0};
    for (size_t i = 0; i < d->n; i++) {
        add_heard(a, &h, d->signals[i].message.text);
        add_heard(a, &h, d->signals[i].answer);
    }
    for (size_t i = 0; i < d->n_identity; i++)
        add_heard(a, &h, d->identity[i].content);
    if (d->before)
        add_heard(a, &h, d->before->content);
    terms_sort(&h.words);
    return h;
}

/*
 * Measured on a public benchmark of long conversations: three questions and answers about a session
 * share at least 0.54 of their content words with it, and one alone at least a third (98 of 100).
 * With a session of other people, three share less than a third (93 of 100), and so does one (80 of
 * 100). So a summary with less than a third is kept and not trusted. Two kinds cannot be judged:
 * short summaries, and those of a conversation in another language.
 */
enum summary_fit summary_fit(struct arena *a, const struct distilling *d, str summary)
{
    enum { TELLING_LEAST = 6 };
    struct words w = words_of(a, summary, 10 * LINE_WORDS);
    struct heard said = heard_of(a, d), asked = {0};
    size_t telling = 0, found = 0, repeated = 0, stops = 0;
    add_heard(a, &asked, str_of(distil_instructions));
    terms_sort(&asked.words);
    for (size_t i = 0; i < w.n; i++) {
        stops += w.v[i].is_stop;
        if (!tells(&w.v[i]) || w.v[i].is_number)
            continue;
        uint64_t stem = str_hash(w.v[i].stem);
        telling++;
        found += terms_have(&said.words, stem);
        repeated += terms_have(&asked.words, stem);
    }
    bool is_foreign =
        said.stops * w.n * 2 < stops * said.n || stops * said.n * 2 < said.stops * w.n;
    if (telling >= TELLING_LEAST && 5 * repeated >= 4 * telling && repeated > found)
        return SUMMARY_COPIED;
    bool is_judged = telling >= TELLING_LEAST && !is_foreign;
    return is_judged && 3 * found < telling ? SUMMARY_DOUBTFUL : SUMMARY_FITS;
}
