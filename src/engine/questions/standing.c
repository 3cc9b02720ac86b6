/* standing.c - standing instructions: when one applies, and which a later one ends. */
#include "engine/questions/standing.h"

#include "base/stem_table.h"

/*
 * An instruction has a verb, what it is about, and perhaps a way ("as", "in") and a condition
 * ("when I ask about"): "asks to always | format | dates | as DD.MM. | when I ask about deadlines".
 * GENERAL words say no topic, in either language.
 */

enum { WORDS_MAX = 60 };

static const struct stem_row general[] = {
    {1, "asks ask always never ever from now on again may need not take takes instruction back "
        "stop using adding including writing giving answering replying putting calling please "
        "any more anymore longer use include give write answer respond reply add put keep show "
        "provide make mention answers replies responses answer response every all each"},
    {1, "immer nie niemals wieder mehr nicht keine kein keinen bitte ab jetzt künftig zukunft von "
        "nun an nur noch antworte antworten schreib schreibe schreiben verwende verwenden benutze "
        "benutzen nutze nutzen gib geben füge mache machen zeige"},
};

static bool is_topic(const struct word *w)
{
    const struct stem_table *t = stem_table_of(general, sizeof general / sizeof *general);
    return !w->is_stop && !stem_bits(t, w->stem);
}

/* Where the condition begins: "when I ask", "whenever", "wenn ich"; else the end. */
static size_t condition_at(str text)
{
    static const char *const openings[] = {" when i ",   " when we ",  " whenever ",     " if i ",
                                           " wenn ich ", " wenn wir ", " every time i ", NULL};
    size_t at = text.n;
    for (size_t i = 0; i < text.n; i++)
        for (const char *const *o = openings; *o && at == text.n; o++) {
            str opening = str_of(*o);
            if (i + opening.n <= text.n && str_eq_nocase(str_sub(text, i, i + opening.n), opening))
                at = i;
        }
    return at;
}

static bool shares_topic(const struct words *x, const struct words *y)
{
    for (size_t i = 0; i < x->n; i++)
        for (size_t k = 0; k < y->n && is_topic(&x->v[i]); k++)
            if (str_eq(x->v[i].stem, y->v[k].stem))
                return true;
    return false;
}

enum standing_reach standing_reach(struct arena *a, str instruction, const struct words *q)
{
    size_t at = condition_at(instruction);
    if (at == instruction.n)
        return STANDING_ALWAYS;
    struct words condition = words_of(a, str_sub(instruction, at, instruction.n), WORDS_MAX);
    return shares_topic(&condition, q) ? STANDING_HERE : STANDING_OTHER;
}

bool standing_takes_back(str instruction)
{
    return str_starts(instruction, S("takes an instruction back"));
}

/* The word behind the way ("in", "as", "auf") where it ends the instruction; n: there is none. */
static size_t way_of(const struct words *w)
{
    static const char *const ways[] = {"in", "as", "auf", "als", NULL};
    for (size_t i = 1; i + 1 < w->n; i++)
        if (str_is_one_of(w->v[i].text, ways))
            return i + 1;
    return w->n;
}

static bool is_capital(const struct word *w)
{
    return w->text.p[0] >= 'A' && w->text.p[0] <= 'Z';
}

/* "in German", "auf Englisch": one word with a capital at the end, which is the language. */
static bool asks_language(const struct words *w)
{
    size_t at = way_of(w);
    return at + 1 == w->n && is_capital(&w->v[at]);
}

/* The same topic up to the way, which differs: "format dates as …". */
static bool differs_in_way(const struct words *x, const struct words *y)
{
    size_t x_way = way_of(x), y_way = way_of(y), topics = 0;
    struct words x_front = {x->v, x_way}, y_front = {y->v, y_way};
    if (x_way == x->n || y_way == y->n)
        return false;
    for (size_t i = 0; i < x_front.n; i++) {
        bool is_there = false;
        if (!is_topic(&x_front.v[i]))
            continue;
        for (size_t k = 0; k < y_front.n; k++)
            is_there |= str_eq(x_front.v[i].stem, y_front.v[k].stem);
        if (!is_there)
            return false;
        topics++;
    }
    return topics > 0;
}

/* A condition is part of what is asked for: two conditions are two instructions. */
static bool has_same_condition(struct arena *a, str x, str y)
{
    str x_when = str_sub(x, condition_at(x), x.n), y_when = str_sub(y, condition_at(y), y.n);
    struct words w = words_of(a, x_when, WORDS_MAX), v = words_of(a, y_when, WORDS_MAX);
    return (!x_when.n && !y_when.n) || shares_topic(&w, &v);
}

bool standing_ends(struct arena *a, str newer, str older)
{
    str newer_rule = str_sub(newer, 0, condition_at(newer));
    str older_rule = str_sub(older, 0, condition_at(older));
    struct words n = words_of(a, newer_rule, WORDS_MAX), o = words_of(a, older_rule, WORDS_MAX);
    if (standing_takes_back(newer))
        return shares_topic(&n, &o);
    if (standing_takes_back(older) || !has_same_condition(a, newer, older))
        return false;
    return (asks_language(&n) && asks_language(&o)) || differs_in_way(&n, &o);
}
