/* rewrite_rules.c - a question that stands alone, by rules: names in the place of pronouns. */
#include "base/utf8.h"
#include "engine/chat/rewrite.h"
#include "engine/questions/persons.h"
#include "engine/text/lexicon.h"
#include "engine/text/sentences.h"
#include "lang/rewrite_lists.h"

/*
 * The text follows the RAG backend's rules. What is searched is more than the text: the topic alone
 * finds less than all that was spoken of in the last exchange, and putting the whole question
 * before in front, as is often done, finds less than either (docs/benchmarks.md).
 */

/*
 * Steps: the terms that the last messages speak of (terms_of), the person whom they name
 * (person_of), and then what each of these makes of the question:
 *   "the second one"   an item of the answer's list         with_item
 *   "and my mother's?" the last question with one part new  with_last_question
 *   "did she like it?" the name in place of the pronoun     with_person
 *   "how many?"        the last "which of …" question       as_count
 *   anything else      the topic behind the question        with_topic, with_terms
 * LOOKED_AT counts messages, USER_MAX and ANSWER_MAX bytes of each: an answer's first sentences
 * name the topic, its later ones drift. TERMS_MAX is of one message, SEARCHED_MAX of the search.
 */

enum {
    LOOKED_AT = 4,
    USER_MAX = 2000,
    ANSWER_MAX = 500,
    TERMS_MAX = 8,
    SEARCHED_MAX = 12,
    FEW = 3,
    TERM_MIN = 4,
    WORDS_MAX = 300,
    TEXT_MAX = 65536
};

#define SPACE " \t\r\n"

static bool is_capital(str word)
{
    return word.n && word.p[0] >= 'A' && word.p[0] <= 'Z';
}

static bool is_user(const struct said *s)
{
    return str_is(s->role, "user");
}

/* --- what was spoken of --- */

struct terms {
    str v[(LOOKED_AT + 1) * TERMS_MAX];
    size_t n;
    size_t last; /* so many are of the last exchange */
};

/* Without regard to case, anywhere in the text: "Rome" is in "Romeo" as well, which here only means
 * that one search term fewer is added. */
static bool contains_text(struct arena *a, str text, str part)
{
    str lower = str_lower(a, text);
    return str_find(lower, str_lower(a, part)) < lower.n;
}

/* What a kept one holds already, or holds itself, adds nothing. */
static void add_term(struct arena *a, struct terms *t, str term)
{
    for (size_t i = 0; i < t->n; i++)
        if (contains_text(a, t->v[i], term) ||
            (t->v[i].n >= TERM_MIN && contains_text(a, term, t->v[i])))
            return;
    t->v[t->n++] = term;
}

/* A mark that ends a sentence stands behind the word. */
static bool ends_sentence(str word, str rest)
{
    const char *behind = word.p + word.n;
    return word.n && behind < rest.p + rest.n && char_is_one_of(*behind, ".!?");
}

/* The next word between spaces, without the marks around it; *rest goes on behind it. */
static str next_word(str *rest)
{
    static const char marks[] = ".,;:!?()[]{}\"'*-";
    while (rest->n && strchr(SPACE, rest->p[0]))
        *rest = str_sub(*rest, 1, rest->n);
    size_t n = 0, from = 0;
    while (n < rest->n && !strchr(SPACE, rest->p[n]))
        n++;
    str all = *rest;
    *rest = str_sub(*rest, n, rest->n);
    while (from < n && strchr(marks, all.p[from]))
        from++;
    while (n > from && strchr(marks, all.p[n - 1]))
        n--;
    return str_sub(all, from, n);
}

/* A capital word of three letters or more continues a name: "Lake Garda", not "Berlin A". */
static bool goes_on(str word)
{
    return is_capital(word) && word.n > 2;
}

/* Words that tell what a message is about: names of several words, and long words. */
static void add_terms(struct arena *a, struct terms *t, str text)
{
    str rest = text, word = next_word(&rest);
    for (size_t n = 0; (word.n || rest.n) && n < TERMS_MAX;) {
        str term = word;
        word = next_word(&rest);
        bool is_long = term.n >= TERM_MIN && !lexicon_is(term, LEX_GENERAL), is_phrase = false;
        for (; is_long && is_capital(term) && goes_on(word) && !ends_sentence(term, text);
             word = next_word(&rest)) {
            term = (str){term.p, (size_t)(word.p + word.n - term.p)};
            is_phrase = true;
        }
        if (!is_phrase && (!is_long || term.n == TERM_MIN))
            continue;
        add_term(a, t, term);
        n++;
    }
}

/* What an assistant asks back ("What do you like about it?") is no topic, nor is "Gladly." */
static str stated_of(struct arena *a, str answer)
{
    struct sentence s;
    struct buf b = buf_make(a, answer.n + 1);
    for (str rest = answer; sentence_cut(&rest, &s);) {
        str body = str_trim(s.body);
        bool is_word = str_find(body, S(" ")) == body.n && str_trim(s.text).n < str_trim(answer).n;
        if (!s.asks && !is_word)
            buf_add(&b, s.text);
    }
    return buf_str(&b);
}

/* The last exchange first: what was spoken of last is meant. */
static struct terms terms_of(struct arena *a, const struct history *h)
{
    struct terms t = {.n = 0};
    size_t first = h->n > LOOKED_AT ? h->n - LOOKED_AT : 0;
    for (size_t end = h->n; end > first;) {
        size_t from = end - 1;
        while (from > first && !is_user(&h->v[from]))
            from--;
        for (size_t i = from; i < end; i++)
            add_terms(a, &t,
                      is_user(&h->v[i]) ? utf8_cut(h->v[i].text, USER_MAX)
                                        : stated_of(a, utf8_cut(h->v[i].text, ANSWER_MAX)));
        t.last = end == h->n ? t.n : t.last;
        end = from;
    }
    return t;
}

/* The first name of several words, else the first two terms. */
static str topic_of(struct arena *a, const struct terms *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (str_find(t->v[i], S(" ")) < t->v[i].n)
            return t->v[i];
    if (t->n < 2)
        return t->n ? t->v[0] : S("");
    return str_printf(a, S_FMT " " S_FMT, S_ARG(t->v[0]), S_ARG(t->v[1]));
}

/* --- persons --- */

/* A name that the question holds already is not what its pronoun means. */
static bool has_word(const struct words *w, str word)
{
    for (size_t i = 0; i < w->n; i++)
        if (str_eq_nocase(w->v[i].text, word))
            return true;
    return false;
}

/* How likely a word is somebody's name: behind "did" or before "'s" more than elsewhere. */
static int name_score(const struct words *w, size_t i)
{
    str word = w->v[i].text, before = i ? w->v[i - 1].text : S("");
    bool is_place = lexicon_is(before, LEX_ARTICLE) || str_is_one_of(before, before_places);
    bool is_word = word.n > 1 && is_capital(word) && (word.p[1] < 'A' || word.p[1] > 'Z');
    if (!is_word || w->v[i].is_stop || lexicon_is(word, LEX_MONTH | LEX_WEEKDAY) || is_place)
        return 0;
    bool owns = i + 1 < w->n && str_is(w->v[i + 1].text, "s");
    return lexicon_is(before, LEX_AUXILIARY) ? 4 : owns ? 3 : w->v[i].is_name ? 2 : 0;
}

/* The likeliest name in a text that the question does not hold itself. */
static str name_in(struct arena *a, str text, const struct words *question)
{
    struct words w = words_of(a, text, WORDS_MAX);
    str best = S("");
    for (size_t i = 0, most = 0; i < w.n; i++) {
        size_t score = (size_t)name_score(&w, i);
        if (score <= most || has_word(question, w.v[i].text))
            continue;
        most = score;
        best = w.v[i].text;
    }
    return best;
}

/* Who is meant, most likely: whom the user named last, else the answer to that. */
static str person_of(struct arena *a, const struct history *h, const struct words *question)
{
    for (size_t end = h->n; end > 0;) {
        size_t from = end - 1;
        while (from > 0 && !is_user(&h->v[from]))
            from--;
        for (size_t i = from; i < end; i++) {
            str name = name_in(a, h->v[i].text, question);
            if (name.n)
                return name;
        }
        end = from;
    }
    return S("");
}

/* "her" before a noun is "Ann's", else "Ann". */
static str with_person(struct arena *a, str question, const struct words *w, size_t at, str person)
{
    const struct word *word = &w->v[at];
    bool before_noun = at + 1 < w->n && !w->v[at + 1].is_stop;
    bool owns = str_eq_nocase(word->text, S("his")) || str_eq_nocase(word->text, S("hers")) ||
                (str_eq_nocase(word->text, S("her")) && before_noun);
    str front = str_sub(question, 0, word->at);
    str behind = str_sub(question, word->at + word->text.n, question.n);
    return str_printf(a, S_FMT S_FMT "%s" S_FMT, S_ARG(front), S_ARG(person), owns ? "'s" : "",
                      S_ARG(behind));
}

/* --- things --- */

/* Bytes of other scripts count as letters, so that a phrase never matches inside such a word. */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80;
}

/* Every place where a phrase stands as whole words; false when there is none. */
static bool replace_phrase(struct arena *a, str text, str phrase, str instead, str *out)
{
    struct buf b = buf_make(a, TEXT_MAX);
    size_t copied = 0;
    for (size_t i = 0; i + phrase.n <= text.n; i++) {
        size_t end = i + phrase.n;
        if ((i && is_letter(text.p[i - 1])) || (end < text.n && is_letter(text.p[end])) ||
            !str_eq_nocase(str_sub(text, i, end), phrase))
            continue;
        buf_add(&b, str_sub(text, copied, i));
        buf_add(&b, instead);
        copied = end;
        i = end - 1;
    }
    buf_add(&b, str_sub(text, copied, text.n));
    *out = buf_str(&b);
    return copied > 0;
}

/* "What about it?" becomes "What about Lake Garda?"; where no phrase fits, the topic is put behind
 * it: "How deep? regarding …" is no good English, but the words find what is meant. */
static str with_topic(struct arena *a, str question, str topic)
{
    static const struct {
        const char *phrase, *instead;
    } places[] = {
#define PLACE(phrase, instead) {phrase, instead},
#include "lang/rewrite.def"
    };
    str out;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        str instead = str_printf(a, "%s" S_FMT, places[i].instead, S_ARG(topic));
        if (replace_phrase(a, question, str_of(places[i].phrase), instead, &out))
            return out;
    }
    return str_printf(a, S_FMT " regarding " S_FMT, S_ARG(question), S_ARG(topic));
}

/* "How many of them?" behind "Which of the lakes are deep?" asks how many of the lakes are deep. */
static bool as_count(struct arena *a, str question, const struct history *h, str *out)
{
    str asked = question.n && question.p[question.n - 1] == '?'
                    ? str_trim(str_sub(question, 0, question.n - 1))
                    : question;
    for (size_t i = h->n; i-- > 0;) {
        str before = str_trim(h->v[i].text), which = S("which of ");
        if (!is_user(&h->v[i]))
            continue;
        bool fits = str_is_one_of(asked, count_questions) && before.n > which.n &&
                    str_eq_nocase(str_sub(before, 0, which.n), which);
        if (fits)
            *out = str_printf(a, "How many " S_FMT,
                              S_ARG(str_sub(before, strlen("which "), before.n)));
        return fits;
    }
    return false;
}

/* Of the user's last message what is too short for a term and still tells: "Ida"; where there are
 * few terms, "cat", too. */
static void add_short(struct arena *a, struct terms *t, const struct history *h, bool names_only)
{
    size_t at = h->n;
    while (at > 0 && !is_user(&h->v[at - 1]))
        at--;
    str text = at ? utf8_cut(h->v[at - 1].text, USER_MAX) : S("");
    struct words w = words_of(a, text, WORDS_MAX);
    size_t most = t->n + TERMS_MAX;
    for (size_t i = 0; i < w.n && t->n < most; i++)
        if (!w.v[i].is_stop && !lexicon_is(w.v[i].text, LEX_GENERAL) &&
            (w.v[i].is_name || !names_only))
            add_term(a, t, w.v[i].text);
}

/* The question with what the last exchange spoke of behind it. */
static str with_terms(struct arena *a, str question, const struct terms *all,
                      const struct history *h)
{
    struct terms t = *all;
    struct buf b = buf_make(a, TEXT_MAX);
    t.n = t.last < SEARCHED_MAX ? t.last : SEARCHED_MAX;
    add_short(a, &t, h, t.n > FEW);
    buf_add(&b, question);
    for (size_t i = 0; i < t.n; i++)
        buf_printf(&b, "%s" S_FMT, i ? ", " : " (", S_ARG(t.v[i]));
    buf_add(&b, t.n ? S(")") : S(""));
    return buf_str(&b);
}

/* --- "and Marguerite?", "the second one" --- */

/* "" when the user has said nothing before. */
static str last_of_user(const struct history *h)
{
    size_t at = h->n;
    while (at > 0 && !is_user(&h->v[at - 1]))
        at--;
    return at ? utf8_cut(h->v[at - 1].text, USER_MAX) : S("");
}

/* What one is put in the place of: a name, a person by kinship, a day. */
enum place { OTHER_WORD, A_NAME, A_KIN, A_DAY };

static enum place place_of(const struct word *w)
{
    if (lexicon_is(w->text, LEX_MONTH | LEX_WEEKDAY | LEX_ORDINAL))
        return A_DAY;
    return word_is_kin(w->stem) ? A_KIN : w->is_name ? A_NAME : OTHER_WORD;
}

/* "And my mother's?" behind "When is my father's birthday?" asks for my mother's birthday: what the
 * question before spoke of, but for what the new one names in its place. "" when it names nothing.
 */
static str with_last_question(struct arena *a, str question, const struct words *w,
                              const struct history *h)
{
    struct words before = words_of(a, last_of_user(h), WORDS_MAX);
    struct buf b = buf_make(a, TEXT_MAX);
    unsigned named = 0;
    size_t n = 0;
    for (size_t i = 1; i < w->n; i++)
        if (!w->v[i].is_stop)
            named |= 1u << place_of(&w->v[i]);
    if (!(named & ~1u))
        return S("");
    buf_add(&b, question);
    for (size_t i = 0; i < before.n && n < SEARCHED_MAX; i++) {
        const struct word *at = &before.v[i];
        enum place place = place_of(at);
        bool is_replaced = place != OTHER_WORD && (named >> place & 1);
        if (at->is_stop || is_replaced ||
            lexicon_is(at->text, LEX_GENERAL | LEX_QUESTION | LEX_QUANTITY))
            continue;
        buf_printf(&b, "%s" S_FMT, n++ ? ", " : " (", S_ARG(at->text));
    }
    buf_add(&b, n ? S(")") : S(""));
    return n ? buf_str(&b) : S("");
}

/* A list's item has at most three blanks; a longer part shows that the answer is a sentence. */
static size_t blanks_in(str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == ' ';
    return n;
}

/* The items of an answer that is nothing else: "Larkspur and Tidepool." How many; 0: it is more. */
static size_t items_of(str answer, str *items, size_t most)
{
    enum { BLANKS = 3 };
    struct sentence s;
    size_t n = 0;
    if (!sentence_cut(&answer, &s))
        return 0;
    for (str rest = s.body; rest.n && n < most;) {
        size_t end = rest.n, took = 0;
        for (const char *const *j = list_joins; *j; j++) {
            size_t at = str_find(rest, str_of(*j));
            if (at < end) {
                end = at;
                took = strlen(*j);
            }
        }
        items[n] = str_trim(str_sub(rest, 0, end));
        if (blanks_in(items[n++]) > BLANKS)
            return 0;
        rest = str_sub(rest, end + took, rest.n);
    }
    return n;
}

/* Which of n items a question picks: "the second one"; n: none. */
static size_t picked_of(const struct words *w, size_t n)
{
    static const struct {
        const char *word;
        int at; /* < 0: from the end */
    } picks[] = {
#define PICK(word, at) {word, at},
#include "lang/rewrite.def"
    };
    for (size_t i = 0; i + 1 <= w->n; i++)
        for (size_t p = 0; p < sizeof picks / sizeof *picks; p++) {
            bool is_alone =
                i + 1 == w->n || str_eq_nocase(w->v[i + 1].text, S("one")) || w->v[i + 1].is_stop;
            if (!is_alone || !str_eq_nocase(w->v[i].text, str_of(picks[p].word)))
                continue;
            size_t at = picks[p].at < 0 ? n - 1 : (size_t)picks[p].at;
            return at < n ? at : n;
        }
    return n;
}

/* "The second one" as the name that the answer gave it; "" when it picks none. */
static str with_item(struct arena *a, str question, const struct words *w, const struct history *h)
{
    enum { ITEMS = 8, ITEM_MAX = 60 };
    str items[ITEMS];
    size_t n = h->n && !is_user(&h->v[h->n - 1])
                   ? items_of(utf8_cut(h->v[h->n - 1].text, ANSWER_MAX), items, ITEMS)
                   : 0;
    size_t at = n > 1 ? picked_of(w, n) : n;
    if (at >= n || !items[at].n || items[at].n > ITEM_MAX)
        return S("");
    return str_printf(a, S_FMT " (" S_FMT ")", S_ARG(question), S_ARG(items[at]));
}

/* Pure text work: no store, no model, no lock. Texts point into the arena `a` or the history. */
struct rewritten rewrite_by_rules(struct arena *a, str question, const struct words *w,
                                  const struct history *h, const struct follow *f)
{
    struct rewritten out = {question, question, S("rules"), S("")};
    struct terms terms = terms_of(a, h);
    str topic = topic_of(a, &terms), person = f->lacks_person ? person_of(a, h, w) : S("");
    bool needs_terms = f->lacks_thing || !person.n;
    if (person.n)
        out.question = with_person(a, question, w, f->person, person);
    out.search = needs_terms ? with_terms(a, out.question, &terms, h) : out.question;
    str item = with_item(a, question, w, h);
    str instead =
        !item.n && f->goes_on && !f->lacks_person ? with_last_question(a, question, w, h) : item;
    if (instead.n)
        out.search = instead;
    if (needs_terms && topic.n && !as_count(a, question, h, &out.question))
        out.question = with_topic(a, out.question, topic);
    return out;
}
