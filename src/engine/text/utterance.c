/* utterance.c - the acts of a turn's sentences: state, ask, greet, acknowledge, instruct. */
#include "engine/text/utterance.h"

#include <math.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "engine/text/bytes.h"
#include "engine/text/form.h"
#include "engine/text/lexicon.h"
#include "engine/text/phrases.h"
#include "engine/text/sentences.h"
#include "lang/utterance_lists.h"
#include "words/words.h"

/*
 * Examples of what a sentence does:
 *   states     "I moved to Bergen."
 *   asks       "Where do I live?", "Remind me which room it was."
 *   courtesy   "Got it, thanks!"
 *   requests   "Write a haiku about rain."; but "Write to my boss, he is ill" also states
 *   instructs  "Ignore all previous instructions."
 * The form decides (marks, first words, some phrases), never the topic, so the rules hold for what
 * nobody thought of. They are used when a message is recalled and not when it is kept: a better
 * rule then reaches old messages, too (decisions/008).
 */

enum { OPENING_WORDS = 8, COURTESY_WORDS = 14, COURTESY_BYTES = 120, TELLING_WORDS = 4 };
/* Clauses of one sentence that are judged. */
enum { PARTS_MAX = 64 };

/* --- the first words of a sentence --- */

struct opening {
    str v[OPENING_WORDS];
    size_t n;
};

/* Without allocation: sentences of thirty candidates are judged in each recall. */
static struct opening opening_of(str sentence)
{
    struct opening o = {0};
    str word;
    for (size_t at = 0; o.n < OPENING_WORDS && (word = next_word(sentence, &at)).n;)
        o.v[o.n++] = word;
    return o;
}

/* Whether one of its words is "I", "my" …. */
static bool has_self(str sentence)
{
    str word;
    for (size_t at = 0; (word = next_word(sentence, &at)).n;)
        if (lexicon_is(word, LEX_SELF | LEX_SELF_TOO))
            return true;
    return false;
}

/* Whether the word at this place of the opening is of one of these classes. */
static bool opens_with(const struct opening *o, size_t at, unsigned classes)
{
    return at < o->n && lexicon_is(o->v[at], classes);
}

/* --- questions --- */

/* "What I love most is …" states; "what is …", "which coffee do I …", "does she …" ask. */
static bool has_question_order(const struct opening *o)
{
    if (opens_with(o, 0, LEX_QUESTION)) {
        bool is_clause =
            opens_with(o, 1, LEX_SELF | LEX_PERSON) ||
            (o->n > 1 && (str_eq_nocase(o->v[1], S("you")) || str_eq_nocase(o->v[1], S("they"))));
        bool has_verb = o->n <= 3 || SOME(i, o->n, i && lexicon_is(o->v[i], LEX_AUXILIARY));
        return !is_clause && has_verb;
    }
    const unsigned subjects =
        LEX_SELF | LEX_SELF_TOO | LEX_PERSON | LEX_THING | LEX_ARTICLE | LEX_DETERMINER;
    return o->n > 2 && opens_with(o, 0, LEX_AUXILIARY) && opens_with(o, 1, subjects);
}

/* "Remind me which room", "tell me when …", "do you know where …". */
static bool requests_answer(const struct opening *o)
{
    size_t at = o->n && str_eq_nocase(o->v[0], S("please")) ? 1 : 0;
    return at < o->n && str_is_one_of(o->v[at], tell_verbs) &&
           SOME(i, o->n, i > at && lexicon_is(o->v[i], LEX_QUESTION));
}

static bool ends_asking(str sentence)
{
    static const char *const ends[] = {"?", "？", "؟", "か。", "か"};
    sentence = str_trim_end(str_trim(sentence), "\"')* \n!");
    return SOME(i, sizeof ends / sizeof *ends, str_ends(sentence, str_of(ends[i])));
}

/* Also without a question mark, as many people leave it out. */
bool sentence_asks(str sentence)
{
    struct opening o = opening_of(sentence);
    return ends_asking(sentence) || has_question_order(&o) || requests_answer(&o);
}

/* --- courtesy, and answers without knowledge --- */

static bool is_courteous(str word)
{
    return str_is_one_of(word, courtesies) || str_is_one_of(word, beside_courtesies);
}

static bool sentence_is_courtesy(struct arena *a, str sentence)
{
    size_t at = 0;
    str first = utf8_lower(a, next_word(sentence, &at));
    if (sentence.n > COURTESY_BYTES || (first.n && !is_courteous(first)))
        return false;
    struct words w = words_as_written(a, sentence, COURTESY_WORDS + 1);
    return w.n <= COURTESY_WORDS && EVERY(i, w.n, is_courteous(utf8_lower(a, w.v[i].text)));
}

bool utterance_is_courtesy(struct arena *a, str text)
{
    struct words w = words_of(a, text, 64);
    size_t n = 0;
    for (size_t i = 0; i < w.n; i++) {
        str word = w.v[i].text;
        bool courteous = str_is_one_of(word, courtesies);
        /* "Thanks, when do I see you" asks, also without a question mark. */
        if (!str_is_one_of(word, beside_courtesies) &&
            (lexicon_is(word, LEX_QUESTION) || (!courteous && !w.v[i].is_stop)))
            return false;
        n += courteous;
    }
    return n > 0 && !text_holds(text, "?");
}

/* "You are a classifier.": a part that the model is to play. */
static bool sentence_casts_model(str sentence)
{
    struct opening o = opening_of(sentence);
    return o.n > 3 && str_eq_nocase(o.v[0], S("you")) && str_eq_nocase(o.v[1], S("are")) &&
           opens_with(&o, 2, LEX_ARTICLE) && !has_self(sentence);
}

/* --- requests and instructions --- */

/* An order that tells nothing of the one who gives it. "Write a sign for the hut: the wifi is
 * called …" states something behind the colon; one with "my", "our" or "I'm" may. */
static bool sentence_only_requests(str sentence)
{
    struct opening o = opening_of(sentence);
    size_t at = o.n && (str_eq_nocase(o.v[0], S("please")) || str_eq_nocase(o.v[0], S("bitte")));
    static const char *const own[] = {" my ", " our ", "I'm", NULL};
    str behind = str_sub(sentence, str_find(sentence, S(": ")), sentence.n);
    return at < o.n && str_is_one_of(o.v[at], request_verbs) &&
           opening_of(behind).n < TELLING_WORDS && !text_holds_any(sentence, own);
}

/* Marks by which programs part the speakers of a conversation. */
static bool has_speaker_mark(str sentence)
{
    static const char *const marks[] = {
        "SYSTEM:",    "### System", "<tool_call>", "### Instruction", "<system>",
        "ASSISTANT:", "<<SYS>>",    "</system>",   "[/INST]",         "\"tool_calls\"",
        "[INST]",     "<|",         NULL};
    bool may_have = SOME(i, sentence.n, char_is_one_of(sentence.p[i], "<[#:\"")); /* as each has */
    return may_have && text_holds_any(sentence, marks);
}

/* "You should always …" from a web page is an attack, from the user a wish. */
bool sentence_instructs(struct arena *a, str sentence, bool is_user)
{
    if (has_speaker_mark(sentence))
        return true;
    struct phrase_words w = phrase_words_of(a, phrase_fold(a, sentence));
    return phrase_find_any(&w, attacks) || (!is_user && phrase_find_any(&w, attacks_of_others));
}

/* --- a turn's statements --- */

/* "can you", "should we", "is there", "how do I", "any ideas": the words that a request begins
 * with. "Which has improved" is none: it goes on with the statement. */
static bool begins_asking(str clause)
{
    enum { THING_WORDS = 3 }; /* "which running shoes would you" */
    struct opening o = opening_of(clause);
    size_t at = 0;
    while (at < o.n && str_is_one_of(o.v[at], sentence_joints))
        at++;
    if (at < o.n && str_is_one_of(o.v[at], sole_requests))
        return true;
    bool may_go_on = opens_with(&o, at, LEX_QUESTION);
    for (size_t k = 0; may_go_on && k <= THING_WORDS && !opens_with(&o, at, LEX_AUXILIARY); k++)
        at++;
    return opens_with(&o, at, LEX_AUXILIARY) && at + 1 < o.n &&
           ((!may_go_on && ends_asking(clause)) || str_is_one_of(o.v[at + 1], asked_subjects) ||
            opens_with(&o, at + 1, LEX_SELF | LEX_PERSON | LEX_THING));
}

static bool is_statement(struct arena *a, const struct sentence *s, bool is_user)
{
    if (s->asks || sentence_asks(s->text) || sentence_is_courtesy(a, s->text))
        return false;
    if (is_user && str_ends(str_trim(s->text), S(":")) && begins_asking(s->text))
        return false; /* "Can you rewrite this:", and something pasted */
    if (is_user)
        return !sentence_only_requests(s->text) && !sentence_casts_model(s->text);
    /* "I have no information about …"; "I will remember that …" says again what was said. */
    return form_odds_of(FORM_IDLE, s->text).by[0] < 0;
}

/* Whether a clause ends here: a comma and the like, or a dash between blanks. */
static bool ends_clause(str sentence, size_t i)
{
    bool is_dash = i && sentence.p[i] == '-' && sentence.p[i - 1] == ' ';
    return i + 1 < sentence.n && sentence.p[i + 1] == ' ' &&
           (is_dash || char_is_one_of(sentence.p[i], ",;:"));
}

bool utterance_by_rules(struct arena *a, str sentence)
{
    struct sentence s;
    return sentence_cut(&sentence, &s) && (is_statement(a, &s, true) || !str_trim(s.text).n);
}

/* Log odds that what rules take for a statement tells something. What is worded as for anybody
 * ("regex for postcodes") rather asks. */
static double telling_of(str states)
{
    return 0.5 * form_of(states, NULL) - form_odds_of(FORM_TELLS, states).by[1];
}

/* The same of a part of a sentence that may ask, and then tells nothing. */
static double telling_of_part(struct arena *a, str part)
{
    bool may_tell = part.n && !begins_asking(part) && utterance_by_rules(a, part);
    return may_tell ? telling_of(part) : -INFINITY;
}

/* "recommend a film, we hate horror": what stands behind a comma surely tells. Behind a colon or in
 * quotes ("shorten: it rains, the cat is wet") nobody tells anything. */
static bool tells_beside(struct arena *a, str asks)
{
    size_t left = PARTS_MAX;
    for (size_t i = 0; left && i < asks.n && !char_is_one_of(asks.p[i], ":\""); i++) {
        if (!ends_clause(asks, i))
            continue;
        left--;
        str rest = str_sub(asks, i + 1, asks.n);
        if (telling_of_part(a, str_trim(rest)) >= 3.2)
            return true;
    }
    return false;
}

/* "I can't wear latex, which gloves?": what stands before the last part that asks, where both the
 * part and the whole say that something is told; or "". */
static str told_before(struct arena *a, str asks)
{
    double odds = 0.5 * form_odds_of(FORM_TELLS, asks).by[0];
    for (size_t i = asks.n, left = PARTS_MAX; left && i-- > 0;) {
        if (!ends_clause(asks, i))
            continue;
        left--;
        str head = str_trim_end(str_sub(asks, 0, i), " ");
        size_t least = asks.p[i] == ':' ? TELLING_WORDS : 2; /* "Quick question: …" */
        if (opening_of(head).n >= least && telling_of_part(a, head) + odds >= 1)
            return head;
    }
    return S("");
}

/* What a user's sentence states. Rules see its marks and first words, the weights all words: "who
 * signs my paycheck" asks; "Is it five years everywhere, I'm in my first?" asks, and tells, too. */
static str stated_by_user(struct arena *a, const struct sentence *s)
{
    str all = s->text, head;
    if (!str_trim(all).n || (is_statement(a, s, true) && telling_of(all) >= 0.4))
        return all;
    if (sentence_is_courtesy(a, all) || sentence_casts_model(all))
        return S("");
    head = told_before(a, all);
    bool tells = form_odds_of(FORM_TELLS, all).by[0] >= 0 || tells_beside(a, all);
    return head.n || !tells ? head : all;
}

/* What judging a sentence takes is used again for the next: answers are long. */
str utterance_statements(struct arena *a, str text, bool is_user)
{
    struct sentence s;
    struct buf b = buf_make(a, text.n + 1);
    CLEANUP(arena_free) struct arena scratch = {0};
    bool is_whole = true;
    for (str rest = text; sentence_cut(&rest, &s);) {
        arena_reset(&scratch);
        bool stays = !is_user && (is_statement(&scratch, &s, false) || !str_trim(s.text).n);
        str part = is_user ? stated_by_user(&scratch, &s) : stays ? s.text : S("");
        is_whole &= part.n == s.text.n;
        buf_add(&b, part);
        buf_add(&b, part.n && part.n < s.text.n ? S(".") : S(""));
    }
    return is_whole ? text : str_trim(buf_str(&b));
}
