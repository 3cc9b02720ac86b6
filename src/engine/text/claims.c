/* claims.c - slots of a person or thing that clauses fill ("works for", "moved to"). */
#include "engine/text/claims.h"

#include "base/rule.h"
#include "engine/text/bytes.h"
#include "engine/text/lexicon.h"
#include "lang/claims_lists.h"
#include "lang/pronouns_lists.h"
#include "lang/slots_lists.h"
#include "words/stem_table.h"

/*
 * A clause fills at most one slot: "My brother works for Equinor now" fills the slot employer with
 * what follows "works for". The tables in lang/claims.def are looked up by the first word of a row
 * (one look-up for each word of the clause), and only then is the rest of the row compared. A row
 * may want words behind it ("moved to"), where "?" marks an optional word, "|" parts choices and
 * "*" is any word; or have its value in front, as before a German verb at the end of its clause.
 * Also read: whether the clause ends the slot ("quit", "no longer") or only supposes ("might").
 */
/* Words of a value, and how far apart the two halves of "no … longer" are. */
enum { VALUE_WORDS = 6, APART = 3, IDLE_BIT = 15, ENDS_AT = 16, SUPPOSES_BIT = 31 };
_Static_assert((int)SLOT_COUNT < (int)IDLE_BIT, "a slot has two bits of a row, and two are left");

static const struct row {
    enum slot slot;
    const char *words, *beside;
    bool is_before; /* the value stands in front */
} rows[] = {
#define FILLS(slot, words, behind) {SLOT_##slot, words, behind, false},
#define FILLED(slot, words, before) {SLOT_##slot, words, before, true},
#include "lang/claims.def"
};

/* Bits: slots that a word may begin, from ENDS_AT on those that it ends, and the two above. */
static const struct stem_row firsts[] = {
#define FILLS(slot, words, behind) {1u << SLOT_##slot, words},
#define FILLED(slot, words, before) {1u << SLOT_##slot, words},
#define ENDS(slot, words) {1u << (ENDS_AT + SLOT_##slot), words},
#define IDLE(words) {1u << IDLE_BIT, words},
#define SUPPOSES(words) {1u << SUPPOSES_BIT, words},
#include "lang/claims.def"
};

/* A person has one employer and may have two cars: of single slots a new value replaces the old. */
const struct slot_row slot_rows[] = {
#define SLOT(name, is_single, is_kept) {#name, is_single, is_kept},
#include "engine/text/claims.def"
    [SLOT_COUNT] = {"", false, false}};

/* --- one row --- */

static bool is_among(str list, str word, char between)
{
    while (list.n)
        if (str_eq_nocase(str_cut(&list, between), word))
            return true;
    return false;
}

/* Where the words that must stand behind the word at end; 0 when they do not stand there. */
static size_t behind_of(const struct words *w, size_t at, str pattern)
{
    size_t i = at + 1;
    /* "arbeitet nicht mehr bei": whether it is so is asked of the whole clause. */
    while (i < w->n && str_is_one_of(w->v[i].text, still_denied))
        i++;
    while (pattern.n) {
        str choice = str_cut(&pattern, ' ');
        bool optional = text_cut_front(&choice, S("?"));
        if (!choice.n)
            continue;
        /* "?*" gives way to what must follow it. */
        str next = pattern;
        next = str_cut(&next, ' ');
        bool is_any = str_is(choice, "*");
        bool gives_way = is_any && optional && i < w->n && is_among(next, w->v[i].text, '|');
        bool fits = i < w->n && !gives_way && (is_any || is_among(choice, w->v[i].text, '|'));
        if (!fits && !optional)
            return 0;
        i += fits;
    }
    return i;
}

/* The value in front, behind the last of these words. */
static bool value_before(const struct words *w, size_t at, str prepositions, struct claim *out)
{
    for (size_t i = at; i-- > 0;)
        if (is_among(prepositions, w->v[i].text, ' ')) {
            out->value = i + 1;
            out->end = at;
            return true;
        }
    return false;
}

/* Up to a word that joins clauses ("because"), at most VALUE_WORDS. */
static size_t value_end(const struct words *w, size_t from)
{
    size_t to = from;
    while (to < w->n && to < from + VALUE_WORDS &&
           !(to > from && lexicon_is(w->v[to].text, LEX_JOINT)))
        to++;
    return to;
}

/* "At night", "in peace". */
static bool is_idle(const struct words *w, const struct claim *c)
{
    size_t i = c->value;
    while (i < c->end && (w->v[i].is_stop || lexicon_is(w->v[i].text, LEX_ARTICLE)))
        i++;
    return i < c->end && (stem_bits(STEM_TABLE(firsts), w->v[i].stem) >> IDLE_BIT & 1);
}

/* "Moved to Wednesdays". */
static bool is_day_only(const struct words *w, const struct claim *c)
{
    enum { DAY = LEX_MONTH | LEX_MONTH_SHORT | LEX_WEEKDAY | LEX_DATE | LEX_NUMBER };
    bool has_day = false;
    for (size_t i = c->value; i < c->end; i++) {
        const struct word *v = &w->v[i];
        bool is_day = v->is_number || lexicon_is(v->text, DAY) || lexicon_is(v->stem, DAY);
        if (!is_day && !v->is_stop && !lexicon_is(v->text, LEX_ARTICLE))
            return false;
        has_day |= is_day;
    }
    return has_day;
}

/* Sets value and end, numbers of words; "works at night" fills nothing, as night is idle. */
static bool fills(const struct words *w, size_t at, const struct row *row, struct claim *out)
{
    if (!is_among(str_of(row->words), w->v[at].text, ' '))
        return false;
    if (row->is_before)
        return value_before(w, at, str_of(row->beside), out);
    size_t from = behind_of(w, at, str_of(row->beside));
    if (!from || from >= w->n)
        return false;
    out->value = from;
    out->end = value_end(w, from);
    return !is_idle(w, out) && !(row->slot == SLOT_home && is_day_only(w, out));
}

/* "city: Porto" has no verb; the label tells the slot. SLOT_COUNT: none. */
enum slot slot_of_label(str label)
{
    static const struct {
        enum slot slot;
        const char *words;
    } labels[] = {
#define LABEL(slot, words) {SLOT_##slot, words},
#include "lang/claims.def"
    };
    label = str_trim(label);
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if (is_among(str_of(labels[i].words), label, ' '))
            return labels[i].slot;
    return SLOT_COUNT;
}

/* Whose name it is must be said: "my name is", "I am called", "ich heiße". */
static bool is_own_name(const struct words *w, size_t at)
{
    enum { OWN = LEX_SELF | LEX_SELF_TOO | LEX_USER };
    bool is_noun = str_eq_nocase(w->v[at].text, S("name"));
    for (size_t i = at; i-- > 0 && i + 3 > at;)
        if (lexicon_is(w->v[i].text, OWN))
            return is_noun ? i + 1 == at || lexicon_is(w->v[i].text, LEX_USER)
                           : !lexicon_is(w->v[i].text, LEX_DETERMINER);
    return is_noun && at == 0;
}

/* "I", "we", "wir"; not "my". Who lives with the speaker moves with him. */
static bool is_mover(const struct word *w)
{
    return str_is_one_of(w->text, self_pronouns) || str_is_one_of(w->text, movers_too);
}

size_t claim_moved_thing(const struct words *w)
{
    static const struct stem_row moves[] = {
#define MOVED(words) {1, words},
#include "lang/claims.def"
    };
    size_t thing = w->n, move = 0;
    while (move < w->n && !stem_bits(STEM_TABLE(moves), w->v[move].stem))
        move++;
    if (move == w->n || is_mover(&w->v[move])) /* most lines speak of no move */
        return w->n;
    for (size_t i = 0; i < move; i++) {
        const struct word *v = &w->v[i];
        if (is_mover(v))
            return w->n;
        bool says = !v->is_stop && !v->is_number &&
                    !lexicon_is(v->text, LEX_STRESS | LEX_DATE | LEX_WEEKDAY | LEX_MONTH |
                                             LEX_SPAN | LEX_REPLY | LEX_GREETING);
        if (says && thing == w->n)
            thing = i;
    }
    return thing;
}

/* --- the clause --- */

static bool is_over(const struct words *w)
{
    static const char *const pairs[][2] = {
#define OVER(first, second) {first, second},
#include "lang/claims.def"
    };
    for (size_t i = 0; i + 1 < w->n; i++)
        for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
            if (is_among(str_of(pairs[p][0]), w->v[i].text, '|') &&
                SOME(k, w->n,
                     k > i && k <= i + APART && is_among(str_of(pairs[p][1]), w->v[k].text, '|')))
                return true;
    return false;
}

/* Ends are tried before rows: "quit" ends an employer and fills nothing. */
static void read_word(const struct words *w, size_t at, uint32_t bits, struct claim *out)
{
    for (int slot = 0; slot < SLOT_COUNT; slot++)
        if (bits >> (ENDS_AT + slot) & 1) {
            *out = (struct claim){.slot = (enum slot)slot, .at = at, .ends = true};
            return;
        }
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        if ((bits >> rows[r].slot & 1) && fills(w, at, &rows[r], out) &&
            (rows[r].slot != SLOT_name || is_own_name(w, at))) {
            out->slot = rows[r].slot;
            out->at = at;
            return;
        }
}

/* The first slot that a word fills or ends counts; slot is SLOT_COUNT where there is none. */
struct claim claim_of(const struct words *w)
{
    const struct stem_table *t = STEM_TABLE(firsts);
    struct claim out = {.slot = SLOT_COUNT};
    bool is_supposed = false;
    for (size_t i = 0; i < w->n && RULE("claims"); i++) {
        uint32_t bits = stem_bits(t, w->v[i].stem);
        is_supposed |= bits >> SUPPOSES_BIT & 1;
        if (out.slot == SLOT_COUNT && bits)
            read_word(w, i, bits, &out);
    }
    out.ends |= out.slot != SLOT_COUNT && is_over(w);
    out.is_supposed = is_supposed;
    return out;
}

/* --- lines of a model --- */

/* For distilled lines, which models write in few forms ("User's name is Ana", "Works at Equinor"):
 * two lines with the same slot and another value are a change, whatever their words share. the
 * claims above are what people write themselves, in more forms and languages. */

static str without_subject(str line)
{
    line = str_trim(line);
    for (const char *const *s = slot_subjects; *s; s++)
        if (text_cut_front(&line, str_of(*s)))
            return str_trim(line);
    return line;
}

str slot_of(str line, str *value)
{
    static const struct {
        const char *begins, *slot;
    } lines[] = {
#define BEGINS(begins, slot) {begins, #slot},
#include "lang/slots.def"
    };
    *value = without_subject(line);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (text_cut_front(value, str_of(lines[i].begins))) {
            *value = str_trim_end(str_trim(*value), ".!,");
            return value->n ? str_of(lines[i].slot) : S("");
        }
    return S("");
}
