/* clauses.c - statements of people about themselves: sentences, clauses, and our own table. */
#include "engine/extract/extract.h"

#include <utf8proc.h>

#include "base/rule.h"
#include "base/utf8.h"
#include "engine/text/bytes.h"
#include "engine/text/claims.h"
#include "engine/text/content_key.h"
#include "engine/text/form.h"
#include "engine/text/lexicon.h"
#include "engine/text/sentences.h"
#include "words/words.h"

/* Bytes of a key, facts of a note, and how far shared subjects and words of reporting reach:
 * people's sentences are shorter, and no text can make the work grow with its square. */
enum {
    NOTES_TEXT_MAX = 2000,
    WISHES_TEXT_MAX = 200,
    KEY_MAX = 80,
    KEPT_IN_NOTE = 8,
    SUBJECT_MAX = 2000,
    REPORT_MAX = 24,
    TAKES_BACK_FROM = 2 /* log odds: "you can call me back" takes nothing back */
};

/* A head is tried where a clause begins, nowhere else. */
static const struct fact_row {
    const char *category;
    enum memory_type type;
    const char *key, *head, *say;
} fact_rows[] = {
#define FACT(CATEGORY, TYPE, KEY, HEAD, SAY) {#CATEGORY, TYPE, KEY, "\\G" HEAD, SAY},
#include "lang/patterns.def"
};

enum clause_pattern {
#define CLAUSE(NAME, REGEX) CLAUSE_##NAME,
#include "lang/patterns.def"
};
static const char *const clause_regexes[] = {
#define CLAUSE(NAME, REGEX) REGEX,
#include "lang/patterns.def"
};

/* Some text as written, and the same with what is quoted blanked out. Patterns look at the mask, so
 * that nobody's quoted words are taken for the user's; facts are cut from the text. */
struct piece {
    str text, mask;
};

/* Both halves have the same length, so offsets of a match in the mask are places in the text. */
static struct piece piece_sub(struct piece p, size_t from, size_t to)
{
    return (struct piece){str_sub(p.text, from, to), str_sub(p.mask, from, to)};
}

static struct pattern *clause(enum clause_pattern which)
{
    return patterns_of(clause_regexes, sizeof clause_regexes / sizeof *clause_regexes,
                       sizeof *clause_regexes)[which];
}

static bool clause_find(enum clause_pattern which, str text, size_t from, struct match *out)
{
    return pattern_find(clause(which), text, from, out);
}

/* --- keys and contents --- */

str fact_slug(struct arena *a, str text)
{
    struct buf b = buf_make(a, KEY_MAX + 8);
    for (size_t i = 0, n; i < text.n && b.n < KEY_MAX; i += n) {
        int32_t c = utf8_at(text, i, &n);
        /* "+" and "#" part C from C++ and C#; emoji are kept, too. */
        if (c == '+' || c == '#' || utf8_is_letter(c) || utf8_is_digit(c) ||
            utf8proc_category(c) == UTF8PROC_CATEGORY_SO)
            utf8_add(&b, utf8proc_tolower(c));
        else if (b.n > 0 && b.p[b.n - 1] != '_')
            buf_byte(&b, '_');
    }
    return str_trim_end(buf_str(&b), "_");
}

str fact_thing(struct pattern *head, struct pattern *tail, size_t from, str text)
{
    struct match m;
    str thing = text;
    if (pattern_find(tail, thing, from, &m))
        thing.n = m.from;
    if (pattern_find(head, thing, 0, &m))
        thing = str_sub(thing, m.to, thing.n);
    return str_trim(thing).n ? thing : text;
}

static str thing_of(str text)
{
    return fact_thing(clause(CLAUSE_KEY_HEAD), clause(CLAUSE_KEY_TAIL), 1, text);
}

str fact_filled(struct arena *a, const char *template, const str groups[PATTERN_GROUPS], str x)
{
    struct buf b = buf_make(a, EXTRACT_TEXT_MAX * 4);
    for (const char *c = template; *c; c++) {
        if (*c != '{') {
            buf_byte(&b, *c);
            continue;
        }
        assert(c[1] == 'x' || (c[1] >= '0' && c[1] < '0' + PATTERN_GROUPS));
        buf_add(&b, c[1] == 'x' ? x : groups[c[1] - '0']);
        c += 2;
    }
    return fact_text(a, buf_str(&b));
}

/* Without punctuation at the ends, and without a bracket that was opened elsewhere. */
static struct piece trim_piece(struct piece p)
{
    p = piece_sub(p, 0, str_trim_end(p.text, " \t,;:!.*").n);
    while (p.text.n && char_is_one_of(p.text.p[0], " \t,;:*"))
        p = piece_sub(p, 1, p.text.n);
    if (str_ends(p.text, S(")")) && !text_holds(p.text, "("))
        return trim_piece(piece_sub(p, 0, p.text.n - 1));
    return p;
}

/* --- clauses --- */

static void take_sentence(struct found *f, struct piece s, bool asks);

/* One statement as a row of the table found it. */
struct statement {
    const struct fact_row *row;
    str groups[PATTERN_GROUPS];
    struct piece x; /* what follows the head */
};

/* "My dog …" is kept as "my dog …": contents are put into lines where they do not begin. */
static str inside_line(struct arena *a, str content)
{
    if (!str_starts(content, S("My ")) && !str_starts(content, S("Our ")))
        return content;
    return str_printf(a, "%c" S_FMT, content.p[0] + 32, S_ARG(str_sub(content, 1, content.n)));
}

static struct memory *add_statement(struct found *f, const struct statement *s)
{
    struct arena *a = &f->ctx->arena;
    str key = fact_slug(a, fact_filled(a, s->row->key, s->groups, thing_of(s->x.text)));
    str content = fact_filled(a, s->row->say, s->groups, s->x.text);
    return found_add(f, s->row->category, s->row->type,
                     str_printf(a, "%s:" S_FMT, s->row->category, S_ARG(key)),
                     inside_line(a, content));
}

/* A note is kept whole. When it states one thing that the table knows, it has that thing's key. */
static void add_note(struct found *f, struct statement *s)
{
    struct memory *m;
    struct found inner = *f;
    inner.n = 0;
    inner.room = KEPT_IN_NOTE;
    inner.v = NULL;
    if (f->room > KEPT_IN_NOTE) /* a note about a note needs no third look */
        take_sentence(&inner, s->x, false);
    for (size_t i = 0; i < inner.n; i++) {
        str content = inner.n == 1 ? fact_text(&f->ctx->arena, s->x.text) : inner.v[i].content;
        m = found_add(f, inner.v[i].category.p, inner.v[i].type, inner.v[i].key, content);
        if (m && m->importance < ASKED_FOR)
            m->importance = m->salience = ASKED_FOR;
    }
    if (inner.n != 1)
        add_statement(f, s);
}

/* "Remember that …": kept whole, whatever it says. */
static bool is_note(const struct fact_row *row)
{
    return !strcmp(row->category, "note");
}

/* What asks something of the reader, which may be any reader of a document. */
static bool is_request(const struct fact_row *row)
{
    return is_note(row) || !strcmp(row->category, "instruction");
}

/* "Remember the milk on Friday" is meant for whoever keeps notes; good advice among other sentences
 * is meant for another person. */
static bool is_for_us(struct found *f, str note)
{
    if (clause_find(CLAUSE_OTHERS, note, 0, NULL))
        return false;
    bool is_opening = f->opens && !clause_find(CLAUSE_NOBODY, note, 0, NULL);
    return is_opening || clause_find(CLAUSE_OWN, note, 0, NULL);
}

/* Whether a reader who was not there knows what is meant. One likes the sea, and all know which;
 * what one has decided on is one of several. */
static bool is_clear(const struct fact_row *row, str told)
{
    if (!is_request(row) && clause_find(CLAUSE_YOU, told, 0, NULL))
        return false;
    if (clause_find(CLAUSE_WEAK, told, 0, NULL) || clause_find(CLAUSE_LOST, told, 0, NULL))
        return false;
    bool is_choice = !strcmp(row->category, "decision");
    return (!is_choice && clause_find(CLAUSE_ALONE, told, 0, NULL)) ||
           !clause_find(CLAUSE_WHICH, told, 0, NULL);
}

/* Takes what the row says of the clause; returns where the clause ends. */
static size_t take_row(struct found *f, struct piece s, size_t at, const struct fact_row *row,
                       const struct match *m)
{
    struct statement st = {.row = row};
    struct match cut;
    assert(s.text.n == s.mask.n && at <= m->to && m->to <= s.text.n);
    bool has_rest = strstr(row->say, "{x}") != NULL;
    size_t end = m->to;
    if (is_note(row))
        end = s.text.n;
    else if (has_rest)
        end = clause_find(CLAUSE_CUT, s.mask, m->to, &cut) ? cut.from : s.text.n;
    st.x = trim_piece(piece_sub(s, m->to, end));
    st.groups[0] = str_sub(s.text, at, m->to);
    for (int i = 1; i < PATTERN_GROUPS; i++)
        if (m->group[i].n)
            st.groups[i] = (str){s.text.p + (m->group[i].p - s.mask.p), m->group[i].n};
    if (is_note(row) && st.x.text.n && is_for_us(f, st.x.mask))
        add_note(f, &st);
    else if (!is_note(row) && (!has_rest || is_clear(row, st.x.mask)))
        add_statement(f, &st);
    return end;
}

/* Whether a clause that fills a slot names one who, or which, can. */
static bool names_value(enum slot slot, str clause, str value)
{
    bool names_one = slot == SLOT_employer || slot == SLOT_school || slot == SLOT_partner;
    return !clause_find(CLAUSE_WEAK, value, 0, NULL) && !clause_find(CLAUSE_YOU, value, 0, NULL) &&
           !(names_one && clause_find(CLAUSE_NO_NAME, value, 0, NULL)) &&
           !(slot == SLOT_school && clause_find(CLAUSE_NO_SCHOOL, value, 0, NULL)) &&
           !(slot == SLOT_partner && clause_find(CLAUSE_SEEING, clause, 0, NULL));
}

/* What no row of the table knows: a slot that the clause fills, of the user's or of one who is
 * named by "my" ("my sister", "my colleague Priya"). */
static bool take_claim(struct found *f, struct piece s, size_t *at)
{
    enum { WORDS_MAX = 24, SUBJECT_WORDS = 4 };
    struct arena *a = &f->ctx->arena;
    struct match m, cut;
    if (!clause_find(CLAUSE_SAYER, s.mask, *at, &m))
        return false;
    size_t end = clause_find(CLAUSE_CUT, s.mask, m.to, &cut) ? cut.from : s.text.n;
    struct piece clause = trim_piece(piece_sub(s, *at, end));
    struct words w = words_of(a, clause.mask, WORDS_MAX);
    struct claim claim = claim_of(&w);
    bool is_told = claim.slot != SLOT_COUNT && slot_rows[claim.slot].is_kept && !claim.ends &&
                   !claim.is_supposed && claim.value < claim.end && claim.at <= SUBJECT_WORDS &&
                   claim.at > 0;
    if (!is_told || !names_value(claim.slot, clause.mask,
                                 str_sub(clause.mask, w.v[claim.value].at, clause.mask.n)))
        return false;
    const struct word *last = &w.v[claim.at - 1];
    str subject = lexicon_is(w.v[0].text, LEX_DETERMINER)
                      ? str_sub(clause.text, w.v[0].text.n, last->at + last->text.n)
                      : S("");
    str value = str_sub(clause.text, w.v[claim.value].at, clause.text.n);
    value = str_cut(&value, ',');
    const struct slot_row *row = &slot_rows[claim.slot];
    str key = str_printf(a, S_FMT " %s " S_FMT, S_ARG(subject), row->name,
                         S_ARG(row->is_single ? S("") : thing_of(value)));
    found_add(f, "entity", TYPE_FACTUAL, str_printf(a, "entity:" S_FMT, S_ARG(fact_slug(a, key))),
              inside_line(a, fact_text(a, clause.text)));
    *at = end;
    return true;
}

/* The statement that begins here, if there is one; *at goes to its end. */
static bool take_clause(struct found *f, struct piece s, size_t *at)
{
    struct match m;
    if (!clause_find(CLAUSE_START, s.mask, *at, &m))
        return false;
    struct pattern *const *heads = PATTERNS(fact_rows, head);
    for (size_t i = 0; i < sizeof fact_rows / sizeof *fact_rows; i++) {
        bool is_tried = f->takes_notes || !is_request(&fact_rows[i]);
        if (is_tried && pattern_find(heads[i], s.mask, *at, &m)) {
            *at = take_row(f, s, *at, &fact_rows[i], &m);
            return true;
        }
    }
    return take_claim(f, s, at);
}

/* Behind words that only lead in, as CLAUSE_LEAD lists them. */
static size_t after_lead(struct piece s, size_t at)
{
    struct match m;
    return clause_find(CLAUSE_LEAD, s.mask, at, &m) ? m.to : at;
}

/* "and hate dogs" behind a statement of the user's, as "I hate dogs". */
static bool with_subject(struct found *f, struct piece *s, size_t at)
{
    struct match m;
    if (!clause_find(CLAUSE_ELIDED, s->mask, at, &m) || s->text.n - m.to > SUBJECT_MAX)
        return false;
    struct piece rest = piece_sub(*s, m.to, s->text.n);
    s->text = str_printf(&f->ctx->arena, "I " S_FMT, S_ARG(rest.text));
    s->mask = str_printf(&f->ctx->arena, "I " S_FMT, S_ARG(rest.mask));
    return true;
}

static void take_sentence(struct found *f, struct piece s, bool asks)
{
    struct match m;
    if (languages_find(f, s.text, s.mask, asks))
        return;
    size_t at = after_lead(s, 0);
    if (clause_find(CLAUSE_REQUEST, s.mask, at, &m)) {
        at = m.to;
        asks = false;
    }
    if (asks) {
        if (clause_find(CLAUSE_ASKS, s.mask, at, NULL) ||
            !clause_find(CLAUSE_STATED, s.mask, at, &m))
            return;
        s = piece_sub(s, 0, m.from);
    }
    if (clause_find(CLAUSE_SUPPOSED, s.mask, at, NULL))
        return;
    while (at < s.text.n) {
        if (take_clause(f, s, &at) && with_subject(f, &s, at)) {
            at = 0;
            continue;
        }
        if (!clause_find(CLAUSE_BOUNDARY, s.mask, at, &m))
            return;
        str just_before = str_sub(s.mask, m.from > REPORT_MAX ? m.from - REPORT_MAX : 0, m.from);
        if (clause_find(CLAUSE_REPORTED, just_before, 0, NULL))
            return;
        at = after_lead(s, m.to);
    }
}

/* --- sentences --- */

/* Quoted bytes become 1, which no pattern matches: at most 500 with the mark behind them, so that
 * no text makes the work grow with its square. The quotation marks stay. An apostrophe opens only
 * behind a blank, and closes not inside a word. */
static struct piece mask_line(struct arena *a, str line)
{
    struct pattern *quotation =
        PATTERN("(?s)(?|\"(.{0,499}?)\"|`(.{0,499}?)`|“(.{0,497}?)”|„(.{0,497}?)“|"
                "«(.{0,498}?)»|「(.{0,497}?)」|"
                "(?<![^ \\t(:,])'(.{0,499}?)'(?![A-Za-z\\x80-\\xFF]))");
    struct match m;
    str mask = str_dup(a, line);
    for (size_t at = 0; pattern_find(quotation, line, at, &m); at = m.to)
        memset((char *)mask.p + (m.group[1].p - line.p), 1, m.group[1].n);
    return (struct piece){line, mask};
}

/* "Hi", "hello there". */
static bool is_greeting(str text)
{
    str rest = str_trim(text), first = str_cut(&rest, ' ');
    return lexicon_is(first, LEX_GREETING) &&
           (!rest.n || str_eq_nocase(str_trim(rest), S("there")));
}

/* Cuts the first sentence off *rest, a greeting with the one behind; asks when it is a question. */
static struct piece cut_sentence(struct piece *rest, bool *asks)
{
    struct sentence s;
    str left = rest->mask;
    bool is_cut = sentence_cut(&left, &s);
    if (is_cut && is_greeting(s.body) && left.n &&
        str_starts(str_sub(s.text, s.body.n, s.text.n), S("!")))
        sentence_cut(&left, &s);
    size_t end = (size_t)(s.body.p + s.body.n - rest->mask.p);
    struct piece first = piece_sub(*rest, 0, end);
    *rest = piece_sub(*rest, rest->mask.n - left.n, rest->text.n);
    *asks = s.asks;
    return first;
}

/* --- lines --- */

/* Code, quotations, headings, and what another speaker said in a pasted conversation; of an
 * indented line any text that is no item of a list. The line is not blank. */
static bool is_foreign(str line)
{
    struct pattern *opening =
        PATTERN("\\G(?:(?:\t|    )\\s*+[^-*+0-9]|\\s*+(?:[>#|]|//|/\\*|\\$ \\s*+\\S|"
                "(?:assistant|ai|system|chatgpt|claude|bot):))");
    return pattern_find(opening, line, 0, NULL);
}

/* Without the mark of a list's item. */
static str without_mark(str line)
{
    struct match m;
    line = str_trim(line);
    bool is_item = pattern_find(PATTERN("\\G(?:\\d+[.)] |[-*+] |•)"), line, 0, &m);
    return is_item ? str_trim(str_sub(line, m.to, line.n)) : line;
}

/* What the user wishes of every answer, where no pattern knows the sentence: as it was said. */
static void take_wish(struct found *f, str sentence)
{
    struct arena *a = &f->ctx->arena;
    struct form_odds odds = form_odds_of(FORM_WISH, sentence);
    bool takes_back = odds.by[1] >= 0;
    if (odds.by[0] < (takes_back ? TAKES_BACK_FROM : 0))
        return;
    str content = fact_text(a, sentence), key = content_key(a, content);
    if (takes_back)
        content = str_printf(a, STANDING_TAKEN_BACK ": " S_FMT, S_ARG(content));
    found_add(f, STANDING_CATEGORY, TYPE_PROCEDURAL,
              str_printf(a, STANDING_CATEGORY ":" S_FMT, S_ARG(key)), content);
}

/* False when the rest of the text is something to work on and not the user's own words. */
static bool take_line(struct found *f, str line)
{
    struct match m;
    bool asks;
    struct piece rest = mask_line(&f->ctx->arena, one_line(&f->ctx->arena, without_mark(line)));
    if (clause_find(CLAUSE_MATERIAL, rest.mask, 0, NULL))
        return false;
    while (rest.text.n) {
        struct piece s = cut_sentence(&rest, &asks);
        if (clause_find(CLAUSE_FRAME, s.mask, 0, NULL))
            return false;
        bool takes_back = clause_find(CLAUSE_RETRACTS, s.mask, 0, &m);
        f->n = takes_back && !m.from ? f->n_before : f->n;
        size_t before = f->added;
        f->n_before = f->n;
        if (!takes_back || !m.from)
            take_sentence(f, s, asks);
        if (f->added == before && f->takes_wishes && !takes_back && RULE("wishes"))
            take_wish(f, s.text);
        f->opens = false;
    }
    return true;
}

/* Documents are full of "note that"; in a long text only its first and last line are taken to speak
 * to us. */
void statements_find(struct found *f, str text)
{
    bool is_short = text.n <= NOTES_TEXT_MAX;
    f->takes_wishes = text.n <= WISHES_TEXT_MAX;
    for (bool is_first = true; text.n; is_first = false) {
        str line = str_cut(&text, '\n');
        f->opens = is_first || !str_trim(text).n;
        f->takes_notes = is_short || f->opens;
        if (str_trim(line).n && !is_foreign(line) && !take_line(f, line))
            return;
    }
}
