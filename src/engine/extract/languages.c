/* languages.c - statements of people about themselves in other languages than English. */
#include "engine/extract/extract.h"

#include "engine/text/bytes.h"
#include "words/language.h"

/*
 * lang/statements.def has for each language some dozen heads ("ich wohne in …") and what parts
 * clauses. A head is tried only where a clause begins, so what is asked, wished or said of others
 * is no fact. The English table (clauses.c) knows far more forms; these are the commonest ones.
 */

/* Bytes of a value: longer ones are no names of things. */
enum { VALUE_MIN = 2, VALUE_MAX = 160 };

enum ending { ALONE, VALUE };

static const struct told_row {
    enum language language;
    const char *category;
    const char *key;
    enum ending ending;
    const char *head;
} rows[] = {
#define TELLS(LANGUAGE, CATEGORY, KEY, ENDING, HEAD) {LANGUAGE, #CATEGORY, KEY, ENDING, "\\G" HEAD},
#include "lang/statements.def"
};

/* What each language but English has, beside its rows. The first ones are looked for at one place,
 * the others anywhere behind it. */
enum guard {
    GUARD_LEADS,
    GUARD_SUPPOSES,
    GUARD_EMPTY,
    GUARD_KEY_HEAD,
    GUARD_SPLITS,
    GUARD_REPORTS,
    GUARD_KEY_TAIL,
    GUARDS
};
static const char *const guards[LANGUAGES][GUARDS] = {
#define GUARD(LANGUAGE, WHICH, REGEX)                                                              \
    [LANGUAGE][GUARD_##WHICH] = GUARD_##WHICH < GUARD_SPLITS ? "\\G(?:" REGEX ")" : REGEX,
#include "lang/statements.def"
};

static struct pattern *guard_of(enum language language, enum guard guard)
{
    assert(guards[language][guard]);
    return patterns_of(*guards, LANGUAGES * GUARDS, sizeof **guards)[language * GUARDS + guard];
}

/* A sentence, and where in it we are. */
struct reading {
    struct found *f;
    enum language language;
    str text, mask;
    size_t at;
};

static bool guard_find(const struct reading *r, enum guard guard, str text, size_t from,
                       struct match *out)
{
    return pattern_find(guard_of(r->language, guard), text, from, out);
}

static str trimmed(str s)
{
    return str_trim_end(str_trim(s), " ,;:.!");
}

/* Takes what the row says; end is where the clause ends. */
static bool take_told(struct reading *r, const struct told_row *row, const struct match *m,
                      size_t end)
{
    struct arena *a = &r->f->ctx->arena;
    bool is_note = !strcmp(row->category, "note");
    end = is_note ? r->text.n : row->ending == ALONE ? m->to : end;
    str value = trimmed(str_sub(r->text, m->to, end));
    bool is_no_value =
        !is_note && (value.n > VALUE_MAX || guard_find(r, GUARD_EMPTY, value, 0, NULL));
    if (row->ending == VALUE && (value.n < VALUE_MIN || is_no_value))
        return false;
    str content = is_note ? value : trimmed(str_sub(r->text, r->at, end));
    str thing = fact_thing(guard_of(r->language, GUARD_KEY_HEAD),
                           guard_of(r->language, GUARD_KEY_TAIL), 0, value);
    str key = fact_slug(a, fact_filled(a, row->key, m->group, thing));
    if (!key.n)
        return false;
    found_add(r->f, row->category, TYPE_FACTUAL,
              str_printf(a, "%s:" S_FMT, row->category, S_ARG(key)), fact_text(a, content));
    return true;
}

/* The first row that fits the clause from r->at to end. */
static bool take_clause(struct reading *r)
{
    struct pattern *const *heads = PATTERNS(rows, head);
    struct match m, split;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool is_tried = rows[i].language == r->language &&
                        (r->f->takes_notes || strcmp(rows[i].category, "note") != 0);
        if (!is_tried || !pattern_find(heads[i], r->mask, r->at, &m))
            continue;
        size_t end = guard_find(r, GUARD_SPLITS, r->mask, m.to, &split) ? split.from : r->text.n;
        if (take_told(r, &rows[i], &m, end))
            return true;
    }
    return false;
}

static void skip_leads(struct reading *r)
{
    struct match m;
    if (guard_find(r, GUARD_LEADS, r->mask, r->at, &m))
        r->at = m.to;
}

/* Other scripts tell their language; a sentence in Latin letters may be short, and the heads are
 * proof enough. */
static enum language language_of_sentence(struct arena *a, str text)
{
    for (size_t i = 0; i + 1 < text.n && i < 8; i++)
        if ((unsigned char)text.p[i] == 0xD0 || (unsigned char)text.p[i] == 0xD1)
            return RUSSIAN;
    return language_of(a, text, true);
}

/* The facts that the heads of one language find. */
static bool find_in_language(struct reading r, bool asks)
{
    struct match m;
    bool is_found = false;
    skip_leads(&r);
    if (guard_find(&r, GUARD_SUPPOSES, r.mask, r.at, NULL))
        return false;
    while (r.at < r.text.n) {
        bool is_last = !guard_find(&r, GUARD_SPLITS, r.mask, r.at, &m);
        is_found |= (!asks || !is_last) && take_clause(&r);
        if (is_last)
            return is_found;
        if (guard_find(&r, GUARD_REPORTS, str_sub(r.mask, r.at, m.from), 0, NULL))
            return is_found;
        r.at = m.to;
        skip_leads(&r);
    }
    return is_found;
}

/* "Trabajo de cocinero": the function words of a short sentence may be those of several languages,
 * its head is of one. */
bool languages_find(struct found *f, str text, str mask, bool asks)
{
    enum language likeliest = language_of_sentence(&f->ctx->arena, text);
    struct reading r = {f, likeliest, text, mask, 0};
    if (likeliest == ENGLISH)
        return false;
    bool is_found = find_in_language(r, asks);
    for (int i = GERMAN; i < RUSSIAN && likeliest < RUSSIAN && !is_found; i++) {
        r.language = (enum language)i;
        is_found = r.language != likeliest && find_in_language(r, asks);
    }
    return is_found;
}
