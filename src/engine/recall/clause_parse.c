/* clause_parse.c - Parses a line into clauses: whom they are about and what they say. */
#include "engine/recall/clause_parse.h"

#include <assert.h>

#include "base/utf8.h"
#include "engine/recall/supersession.h"
#include "engine/text/attributes.h"
#include "engine/text/lexicon.h"
#include "engine/text/phrases.h"
#include "lang/pronouns_lists.h"
#include "lang/reading_lists.h"
#include "words/stem_table.h"

/* Bytes of a line that are looked at. */
enum { LINE_MAX = 600 };

/* --- the tables of words --- */

enum {
    IS_FUNCTION = 1,
    IS_LIST = 2,
    IS_KIN = 4,
    IS_LIST_OF_ONE = 8,
    ENDS_FRONT_OF = 16,
    DENIES_IT = 32,
    IS_DATE = 64
};

/* The bits of a word by its stem, from lang/currency.def. IS_LIST is a verb that takes many values
 * ("like", "speak"), so another value replaces nothing; IS_LIST_OF_ONE is one only where the
 * speaker is the subject; ENDS_FRONT_OF ends what stands in front of it, as German verbs at the end
 * of a clause do. */
static unsigned known_as(str stem)
{
    static const struct stem_row rows[] = {
#define FUNCTION(words) {IS_FUNCTION, words},
#define LISTS(words) {IS_LIST, words},
#define KIN(words) {IS_KIN, words},
#define DATES(words) {IS_DATE, words},
#define LISTS_OF_ONE(words) {IS_LIST_OF_ONE, words},
#define ENDS_FRONT(words) {ENDS_FRONT_OF, words},
#define DENIES(words) {DENIES_IT, words},
#include "lang/currency.def"
    };
    return stem_bits(stem_table_of(rows, sizeof rows / sizeof *rows), stem);
}

/* is: what its stem is known as, classes: those of its text. */
static bool is_date_by(const struct word *w, unsigned is, unsigned classes)
{
    return w->is_number || (is & IS_DATE) ||
           (classes & (LEX_MONTH | LEX_MONTH_SHORT | LEX_WEEKDAY | LEX_NUMBER));
}

static bool word_is_date(const struct word *w)
{
    return is_date_by(w, known_as(w->stem), lexicon_classes(w->text));
}

bool supersession_is_kin(str stem)
{
    return known_as(stem) & IS_KIN;
}

/* --- phrases --- */

static const char *const changes[] = {
#define CHANGES(phrase) phrase,
#include "lang/currency.def"
    NULL};
static const char *const present[] = {
#define PRESENT(phrase) phrase,
#include "lang/currency.def"
    NULL};
static const char *const adds[] = {
#define ADDS(phrase) phrase,
#include "lang/currency.def"
    NULL};
static const char *const passes[] = {
#define PASSES(phrase) phrase,
#include "lang/currency.def"
    NULL};
static const char *const ends_next[] = {
#define ENDS_NEXT(phrase) phrase,
#include "lang/currency.def"
    NULL};
static const char *const parts[] = {
#define PARTS(phrase) phrase,
#include "lang/currency.def"
    NULL};
static const char *const ends_subject[] = {
#define ENDS_SUBJECT(phrase) phrase,
#include "lang/currency.def"
    NULL};

/* "I", "wir"; not "my". */
bool word_is_speaker(str word)
{
    return str_is_one_of(word, self_pronouns);
}

/* A word that cannot be the subject of a clause. */
static bool is_plain(const struct word *w)
{
    return w->is_stop || word_is_date(w) ||
           lexicon_is(w->text, LEX_PREPOSITION | LEX_STRESS | LEX_SELF | LEX_SELF_TOO | LEX_JOINT);
}

static void set_other(struct clause *c, const struct word *w)
{
    c->subject = OTHER;
    c->who = str_hash(w->stem);
}

/* "My cousin Jorun". */
static void read_name(struct clause *c, size_t at)
{
    if (at < c->w.n && c->w.v[at].is_name && !c->dates[at])
        c->name = str_hash(c->w.v[at].stem);
}

/* "My brother", "my phone". */
static void read_possessed(struct clause *c, size_t at)
{
    enum { NEAR = 4 };
    for (size_t i = at + 1; i < c->w.n && i <= at + NEAR; i++)
        if (known_as(c->w.v[i].stem) & IS_KIN) {
            set_other(c, &c->w.v[i]);
            read_name(c, i + 1);
            return;
        }
    c->owns_subject = true;
    bool is_english = !lexicon_is(c->w.v[at].text, LEX_SELF_TOO); /* German nouns have capitals */
    for (size_t i = at + 2; is_english && i < c->w.n && i <= at + 3 && !c->name; i++)
        if (!c->w.v[i - 1].is_stop)
            read_name(c, i); /* "our goat Clementine" */
}

/* "She", "it", "sie", "elle": whom the clause before was about. */
bool word_is_pronoun(str word)
{
    return lexicon_is(word, LEX_PERSON | LEX_THING) || str_is_one_of(word, other_pronouns);
}

/* Who or what the clause is about. before: of the clause in front, for "she". */
static void read_subject(struct clause *c, const struct clause *before)
{
    enum { LOOKED_AT = 7 };
    bool is_behind = false; /* a verb or a thing: a name there is no subject any more */
    for (size_t i = 0; i < c->w.n && i < LOOKED_AT; i++) {
        const struct word *w = &c->w.v[i];
        if (word_is_speaker(w->text))
            return;
        if (lexicon_is(w->text, LEX_SELF | LEX_SELF_TOO)) {
            read_possessed(c, i);
            return;
        }
        if (lexicon_is(w->text, LEX_USER)) { /* so memories call the speaker */
            if (i + 1 < c->w.n && str_is(c->w.v[i + 1].text, "s"))
                read_possessed(c, i + 1);
            return;
        }
        if (before && i == 0 && word_is_pronoun(w->text)) {
            c->subject = before->subject;
            c->who = before->who;
            return;
        }
        if (w->is_name && !c->dates[i] && !is_behind) {
            bool is_joined = i + 2 < c->w.n && word_is_speaker(c->w.v[i + 2].text);
            if (!is_joined)
                set_other(c, w);
            return;
        }
        bool opens = i == 0 && c->w.n > 2 && !is_plain(w) && w->text.p[0] >= 'A' &&
                     w->text.p[0] <= 'Z' && !attributes_told(&(struct words){&c->w.v[i], 1}) &&
                     !(known_as(w->stem) & IS_FUNCTION);
        if (opens && !(c->w.n > 2 && word_is_speaker(c->w.v[2].text))) {
            set_other(c, w);
            return;
        }
        bool is_user = i + 1 < c->w.n && lexicon_is(c->w.v[i + 1].text, LEX_USER);
        if (i == 0 && lexicon_is(w->text, LEX_ARTICLE) && c->w.n > 1 && !is_user) {
            set_other(c, &c->w.v[1]);
            c->is_thing = true;
            return;
        }
        is_behind |= c->tells[i];
    }
}

/* "Ana and Ben …" */
static bool has_several(const struct words *w)
{
    for (size_t i = 1; i + 1 < w->n; i++)
        if (lexicon_is(w->v[i].text, LEX_JOINT) || str_eq_nocase(w->v[i].text, S("und")) ||
            str_is(w->v[i].text, "et") || str_is(w->v[i].text, "y") || str_is(w->v[i].text, "e"))
            return true;
    return false;
}

/* One pass fills what every rule of supersession.c asks for, since a clause is compared many times.
 */
static void read_words(struct arena *a, struct clause *c)
{
    c->telling = terms_with_room(a, c->w.n);
    c->all = terms_with_room(a, c->w.n);
    for (size_t i = 0; i < c->w.n; i++) {
        const struct word *w = &c->w.v[i];
        unsigned is = known_as(w->stem), classes = lexicon_classes(w->text);
        c->terms[i] = str_hash(w->stem);
        c->names[i] = w->is_name;
        c->dates[i] = is_date_by(w, is, classes);
        c->tells[i] = !c->dates[i] && !(classes & LEX_USER) && !w->is_stop &&
                      (!(is & IS_FUNCTION) || w->is_name);
        c->is_list |= (is & IS_LIST) != 0 || (classes & LEX_PAST) || str_is(w->text, "called") ||
                      str_is(w->text, "named");
        c->is_list_of_one |= (is & IS_LIST_OF_ONE) != 0;
        c->denies |= (is & DENIES_IT) ||
                     (i && str_is(w->text, "t") && lexicon_is(c->w.v[i - 1].text, LEX_NEGATED));
        c->has_date |= c->dates[i];
        c->has_name |= w->is_name && !c->dates[i];
        terms_add(a, &c->all, c->terms[i]);
        c->marks |= term_mark(c->terms[i]);
        if (c->tells[i])
            terms_add(a, &c->telling, c->terms[i]);
    }
    terms_sort(&c->all);
    terms_sort(&c->telling);
    c->told = attributes_told(&c->w);
    c->has_several = has_several(&c->w);
}

static void read_claim(struct arena *a, struct clause *c)
{
    if (!c->is_label)
        c->claim = claim_of(&c->w);
    bool is_of_thing = c->subject == OWN && claim_moved_thing(&c->w) < c->w.n;
    if (is_of_thing && c->claim.slot == SLOT_home && !c->is_label) {
        c->claim = (struct claim){.slot = SLOT_COUNT};
        c->told &= ~ATTRIBUTE_BIT(home);
    }
    c->value = terms_with_room(a, c->w.n);
    bool is_figure = false; /* then "euros" is no part of it */
    for (size_t i = c->claim.value; i < c->claim.end; i++)
        is_figure |= c->claim.slot == SLOT_price && c->dates[i];
    for (size_t i = c->claim.value; i < c->claim.end; i++)
        if (c->dates[i] || (c->tells[i] && !is_figure))
            terms_add(a, &c->value, c->terms[i]);
    terms_sort(&c->value);
}

/* The first topic behind a byte of the clause. */
static uint64_t topic_behind(const struct clause *c, size_t at)
{
    for (size_t i = 0; i < c->w.n; i++)
        if (c->w.v[i].at >= at && c->tells[i] && !(known_as(c->w.v[i].stem) & IS_LIST))
            return c->terms[i];
    return 0;
}

/* "I stopped smoking". */
static bool read_stop(struct clause *c)
{
    for (size_t i = 0; i + 1 < c->w.n; i++) {
        str word = c->w.v[i].text;
        if ((str_eq_nocase(word, S("stopped")) || str_eq_nocase(word, S("quit"))) &&
            str_ends(c->w.v[i + 1].text, S("ing"))) {
            c->ended = topic_behind(c, c->w.v[i + 1].at);
            return true;
        }
    }
    return false;
}

/* "Ich habe den Polo verkauft". */
static bool read_end_in_front(struct clause *c)
{
    for (size_t i = c->w.n; i-- > 1;) {
        if (!(known_as(c->w.v[i].stem) & ENDS_FRONT_OF))
            continue;
        for (size_t k = i; k-- > 0 && !c->ended;)
            if (c->tells[k])
                c->ended = c->terms[k];
        return c->ended != 0;
    }
    return false;
}

/* "Noa and I broke up": what was said of the one is over. */
static bool read_parting(struct clause *c, const struct phrase_words *p)
{
    if (!phrase_find_any(p, parts, NULL))
        return false;
    for (size_t i = 0; i < c->w.n && !c->ended; i++)
        if (c->tells[i] && c->w.v[i].text.p[0] >= 'A' && c->w.v[i].text.p[0] <= 'Z')
            c->ended = c->terms[i];
    c->ends_name = c->ended != 0;
    return c->ended;
}

/* "I gave up fencing", "fencing is cancelled", "… made me dizzy, it was replaced". */
static void read_end(struct clause *c, const struct clause *before, const struct phrase_words *p,
                     str folded)
{
    str found;
    if (read_stop(c) || read_end_in_front(c) || read_parting(c, p))
        return;
    bool is_it = before && lexicon_is(c->w.v[0].text, LEX_THING);
    if ((is_it || c->subject == OTHER) && phrase_find_any(p, ends_subject, NULL))
        c->ended = topic_behind(is_it ? before : c, 0);
    else if (phrase_find_any(p, ends_next, &found))
        c->ended = topic_behind(c, (size_t)(found.p - folded.p) + found.n);
    for (size_t i = 1; i < c->w.n && c->ended; i++) /* "I got rid of the Berlingo" */
        c->ends_name |= c->terms[i] == c->ended && c->names[i] && !c->dates[i];
}

static bool ends_clause(str text, size_t i)
{
    if ((text.p[i] >= '@' && (unsigned char)text.p[i] < 0x80) || text.p[i] == ' ')
        return false; /* most are letters */
    bool blank = i + 1 >= text.n || text.p[i + 1] == ' ' || text.p[i + 1] == '\n';
    return char_is_one_of(text.p[i], ";\n") || (char_is_one_of(text.p[i], ".,:!?") && blank) ||
           str_starts(str_sub(text, i, text.n), S("\u2014"));
}

static bool is_joint(str word)
{
    return str_is_one_of(word, clause_joints);
}

/* Whether it says something by itself: "my cat is called Mo", not "my wife Noa". */
static bool has_verb(const struct words *w)
{
    for (size_t i = 0; i < w->n; i++) {
        str text = w->v[i].text;
        if (word_is_speaker(text) || lexicon_is(text, LEX_AUXILIARY) ||
            (i && i + 1 < w->n && str_is_one_of(text, subject_verbs)))
            return true;
    }
    return false;
}

/* "… and I live in Ghent", "… and my dog is called Rex". */
static bool opens_clause(const struct words *w)
{
    enum { NEAR = 5 };
    if (w->n < 3 || word_is_speaker(w->v[0].text))
        return w->n >= 3;
    if (!lexicon_is(w->v[0].text, LEX_SELF | LEX_SELF_TOO))
        return false;
    struct words near = {w->v + 1, w->n - 1 < NEAR ? w->n - 1 : NEAR};
    return has_verb(&near);
}

/* Those of the line's words that stand in these bytes of it, at most WORDS: a part of the list. A
 * line is split once, as its clauses end where no word is. */
static struct words words_within(const struct words *line, size_t from, size_t to)
{
    size_t first = 0, end;
    while (first < line->n && line->v[first].at < from)
        first++;
    for (end = first; end < line->n && end - first < WORDS && line->v[end].at < to;)
        end++;
    return (struct words){line->v + first, end - first};
}

/* The same as a text of its own: the first word begins a sentence. */
static struct words clause_words(struct arena *a, const struct words *line, size_t from, size_t to)
{
    struct words part = words_within(line, from, to);
    struct words out = {NEW_N(a, struct word, part.n + 1), part.n};
    for (size_t i = 0; i < part.n; i++) {
        out.v[i] = part.v[i];
        out.v[i].at -= (uint32_t)from;
        out.v[i].is_name &= i > 0;
    }
    return out;
}

/* Where the next clause begins, if a joint at this byte parts two of them; else 0. */
static size_t clause_behind(const struct words *line, str text, size_t from, size_t i)
{
    str rest = str_sub(text, i + 1 < text.n ? i + 1 : text.n, text.n), joint = rest;
    if (i == text.n || text.p[i] != ' ')
        return 0;
    joint = str_cut(&rest, ' ');
    if (!is_joint(joint) || !rest.n)
        return 0;
    size_t next = (size_t)(rest.p - text.p);
    struct words before = words_within(line, from, i);
    struct words behind = words_within(line, next, text.n);
    return has_verb(&before) && opens_clause(&behind) ? next : 0;
}

/* A line of a profile is one clause, its value behind the label. */
static bool read_label(struct clause *c, str text)
{
    str rest = text, label = str_cut(&rest, ':');
    enum slot slot = rest.n ? slot_of_label(label) : SLOT_COUNT;
    if (slot == SLOT_COUNT || c->w.n < 2)
        return false;
    c->is_label = true;
    c->claim = (struct claim){.slot = slot, .value = 1, .end = c->w.n};
    c->tells[0] = false;
    return true;
}

static void begin_clause(struct arena *a, struct clause *c, struct words w)
{
    *c = (struct clause){.w = w,
                         .terms = ROOM_N(a, uint64_t, w.n),
                         .tells = ROOM_N(a, bool, w.n),
                         .dates = ROOM_N(a, bool, w.n),
                         .names = ROOM_N(a, bool, w.n)};
}

/* "I'm kinda worried about X" and "… about Y" are not one sentence with another value. */
static bool is_passing(struct arena *a, str clause)
{
    struct phrase_words p = phrase_words_of(a, phrase_fold(a, clause));
    return phrase_find_any(&p, passes, NULL);
}

/* In this order: words, subject, claim, end. Each uses what those before it have found; an end is
 * looked for only in lines with a word of change. */
static void read_clause(struct arena *a, struct clause_parse *r, struct words w, str text)
{
    assert(r->n < CLAUSES);
    struct clause *c = &r->v[r->n];
    if (!w.n || (r->passes && is_passing(a, text)))
        return;
    begin_clause(a, c, w);
    read_words(a, c);
    if (!read_label(c, text))
        read_subject(c, r->n ? c - 1 : NULL);
    c->is_list |= c->is_list_of_one && !c->is_thing && !c->owns_subject;
    read_claim(a, c);
    r->is_supposed |= c->claim.is_supposed;
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

/* Most lines hold none, and no phrase has to be looked for. Stop words count where a phrase has no
 * others ("any more"). */
static bool holds_cue(const struct words *w)
{
    static const struct stem_row rows[] = {
#define CHANGES(phrase) {1, phrase},
#define PRESENT(phrase) {1, phrase},
#include "lang/currency.def"
    };
    const struct stem_table *cues = stem_table_of(rows, sizeof rows / sizeof *rows);
    for (size_t i = 0; i < w->n; i++)
        if (w->v[i].is_stop ? str_is_one_of(w->v[i].stem, lone_cues)
                            : stem_bits(cues, w->v[i].stem))
            return true;
    return false;
}

/* At most CLAUSES clauses of the first LINE_MAX bytes: a longer text is a document and no
 * statement. */
void clause_parse_of(struct arena *a, str text, struct clause_parse *r)
{
    size_t from = 0;
    memset(r, 0, offsetof(struct clause_parse, v));
    text = utf8_cut(text, LINE_MAX);
    str rest = text;
    bool is_label = slot_of_label(str_cut(&rest, ':')) != SLOT_COUNT && rest.n;
    struct phrase_words p = phrase_words_of(a, phrase_fold(a, text));
    struct words w = words_of(a, text, LINE_MAX);
    bool may_change = holds_cue(&w);
    r->changes = may_change && phrase_find_any(&p, changes, NULL);
    r->is_present = may_change && phrase_find_any(&p, present, NULL);
    r->adds = phrase_find_any(&p, adds, NULL);
    r->passes = phrase_find_any(&p, passes, NULL);
    bool is_joined = false;
    for (size_t i = 0; i <= text.n && r->n < CLAUSES; i++) {
        size_t next = is_label ? 0 : clause_behind(&w, text, from, i);
        if (i == text.n || next || (!is_label && ends_clause(text, i))) {
            size_t before = r->n;
            read_clause(a, r, clause_words(a, &w, from, i), str_sub(text, from, i));
            for (size_t k = before; k < r->n; k++)
                r->v[k].joined = is_joined || next;
            is_joined = next > 0;
            from = next ? next : i + 1;
        }
    }
    terms_sort(&r->telling);
}

/* --- as a note --- */

/*
 * A reading with its arrays behind it, each at a multiple of ALIGN: pointers are places from the
 * begin of the note, and only so many clauses as there are. A note is read in place.
 */
enum { ALIGN = 8 };

/* Copies an array behind what is there and makes a place of its address, or the other way round. */
struct walk {
    char *note;
    size_t at;
    bool is_read;
};

static size_t rounded(size_t bytes)
{
    return (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static void pass_array(struct walk *w, void *pointer, size_t bytes)
{
    char *from, *to = w->note + w->at;
    memcpy(&from, pointer, sizeof from);
    if (!w->is_read && bytes)
        memcpy(to, from, bytes);
    if (w->is_read)
        memcpy(pointer, &to, sizeof to);
    w->at += rounded(bytes);
}

static void pass_set(struct walk *w, struct term_set *t)
{
    pass_array(w, &t->v, t->n * sizeof *t->v);
}

static void pass_arrays(struct walk *w, struct clause_parse *r)
{
    pass_set(w, &r->telling);
    for (size_t i = 0; i < r->n; i++) {
        struct clause *c = &r->v[i];
        c->w.v = w->is_read ? NULL : c->w.v;
        pass_array(w, &c->terms, c->w.n * sizeof *c->terms);
        pass_array(w, &c->tells, c->w.n * sizeof *c->tells);
        pass_array(w, &c->dates, c->w.n * sizeof *c->dates);
        pass_array(w, &c->names, c->w.n * sizeof *c->names);
        pass_set(w, &c->all);
        pass_set(w, &c->telling);
        pass_set(w, &c->value);
    }
}

static size_t head_of(const struct clause_parse *r)
{
    return rounded(offsetof(struct clause_parse, v) + r->n * sizeof *r->v);
}

static size_t bytes_of(const struct clause_parse *r)
{
    size_t bytes = head_of(r) + rounded(r->telling.n * sizeof *r->telling.v);
    for (size_t i = 0; i < r->n; i++) {
        const struct clause *c = &r->v[i];
        size_t terms = c->w.n + c->all.n + c->telling.n + c->value.n;
        bytes += terms * sizeof *c->terms + 3 * rounded(c->w.n * sizeof *c->tells);
    }
    return bytes;
}

void clause_parse_noted(struct arena *a, struct text_annotations *notes, str text,
                        struct clause_parse *r)
{
    const struct clause_parse *noted = annotation_find(notes, NOTE_READING, text);
    if (noted) {
        memcpy(r, noted, head_of(noted));
        pass_arrays(&(struct walk){(char *)noted, head_of(noted), true}, r);
        return;
    }
    clause_parse_of(a, text, r);
    if (!notes)
        return;
    size_t bytes = bytes_of(r);
    char *note = arena_room(a, bytes);
    memcpy(note, r, head_of(r));
    pass_arrays(&(struct walk){note, head_of(r), false}, r);
    annotation_add(notes, NOTE_READING, text, (str){note, bytes});
}
