/* standing.c - standing instructions: when one applies, and which a later one ends. */
#include "engine/questions/standing.h"

#include "lang/standing_lists.h"
#include "words/stem_table.h"

/*
 * An instruction has a verb, what it is about, and perhaps a way ("as", "in") and a condition
 * ("when I ask about"): "asks to always | format | dates | as DD.MM. | when I ask about deadlines".
 * GENERAL words say no topic, in either language.
 */

enum { WORDS_MAX = 60 };

static const struct stem_row general[] = {
#define GENERAL(words) {1, words},
#include "lang/standing.def"
};

static bool is_topic(const struct word *w)
{
    const struct stem_table *t = stem_table_of(general, sizeof general / sizeof *general);
    return !w->is_stop && !stem_bits(t, w->stem);
}

/* Where the condition begins: "when I ask", "whenever", "wenn ich"; else the end. */
static size_t condition_at(str text)
{
    size_t at = text.n;
    for (size_t i = 0; i < text.n; i++)
        for (const char *const *o = condition_openings; text.p[i] == ' ' && *o && at == text.n;
             o++) {
            str opening = str_of(*o);
            if (i + opening.n <= text.n && str_eq_nocase(str_sub(text, i, i + opening.n), opening))
                at = i;
        }
    return at;
}

static bool shares_topic(const struct words *x, const struct words *y)
{
    for (size_t i = 0; i < x->n; i++)
        if (is_topic(&x->v[i]) && SOME(k, y->n, str_eq(x->v[i].stem, y->v[k].stem)))
            return true;
    return false;
}

struct standing standing_of_text(struct arena *a, str instruction)
{
    size_t at = condition_at(instruction);
    return (struct standing){
        .rule = words_of(a, str_sub(instruction, 0, at), WORDS_MAX),
        .condition = words_of(a, str_sub(instruction, at, instruction.n), WORDS_MAX),
        .takes_back = str_starts(instruction, S(STANDING_TAKEN_BACK)),
    };
}

enum standing_reach standing_reach(const struct standing *s, const struct words *q)
{
    if (!s->condition.n)
        return STANDING_ALWAYS;
    return shares_topic(&s->condition, q) ? STANDING_HERE : STANDING_OTHER;
}

/* The word behind the way ("in", "as", "auf") where it ends the instruction; n: there is none. */
static size_t way_of(const struct words *w)
{
    for (size_t i = 1; i + 1 < w->n; i++)
        if (str_is_one_of(w->v[i].text, way_openings))
            return i + 1;
    return w->n;
}

/* "in German", "auf Englisch": one word with a capital at the end, which is the language. */
static bool asks_language(const struct words *w)
{
    size_t at = way_of(w);
    return at + 1 == w->n && w->v[at].text.p[0] >= 'A' && w->v[at].text.p[0] <= 'Z';
}

/* The same topic up to the way, which differs: "format dates as …". */
static bool differs_in_way(const struct words *x, const struct words *y)
{
    size_t x_way = way_of(x), y_way = way_of(y), topics = 0;
    if (x_way == x->n || y_way == y->n)
        return false;
    for (size_t i = 0; i < x_way; i++) {
        bool is_there = SOME(k, y_way, str_eq(x->v[i].stem, y->v[k].stem));
        if (is_topic(&x->v[i]) && !is_there)
            return false;
        topics += is_topic(&x->v[i]);
    }
    return topics > 0;
}

/* A condition is part of what is asked for: two conditions are two instructions. */
static bool has_same_condition(const struct standing *x, const struct standing *y)
{
    return (!x->condition.n && !y->condition.n) || shares_topic(&x->condition, &y->condition);
}

bool standing_ends(const struct standing *newer, const struct standing *older)
{
    if (newer->takes_back)
        return shares_topic(&newer->rule, &older->rule);
    if (older->takes_back || !has_same_condition(newer, older))
        return false;
    return (asks_language(&newer->rule) && asks_language(&older->rule)) ||
           differs_in_way(&newer->rule, &older->rule);
}
