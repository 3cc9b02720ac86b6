/* standing.c - standing instructions: when one applies, and which a later one ends. */
#include "engine/questions/standing.h"

#include "engine/text/bytes.h"
#include "engine/text/form.h"
#include "engine/text/lexicon.h"
#include "lang/standing_lists.h"
#include "words/stem_table.h"

/* An instruction has a verb, what it is about, and perhaps a way ("as", "in") and a condition
 * ("when I ask about"): "asks to always | format | dates | as DD.MM. | when I ask about deadlines".
 * GENERAL words say no topic, in either language. */

enum { WORDS_MAX = 60 };

static const struct stem_row general[] = {
#define GENERAL(words) {1, words},
#include "lang/standing.def"
};

static bool is_topic(const struct word *w)
{
    return !w->is_stop && !stem_bits(STEM_TABLE(general), w->stem);
}

/* "when I ask", "whenever", "wenn ich"; at its end or, in front of a comma, at its begin. */
static bool opens_condition(str text, size_t at)
{
    bool is_word = at == 0 || text.p[at - 1] == ' ';
    const char *const *o = condition_openings;
    while (is_word && *o && !text_starts_nocase(str_sub(text, at, text.n), str_of(*o)))
        o++;
    return is_word && *o;
}

static bool shares_topic(const struct words *x, const struct words *y)
{
    return SOME(i, x->n, is_topic(&x->v[i]) && words_have_stem(y, x->v[i].stem));
}

struct standing standing_of_text(struct arena *a, str instruction)
{
    size_t at = 0;
    while (at < instruction.n && !opens_condition(instruction, at))
        at++;
    str rule = str_sub(instruction, 0, at), rest = str_sub(instruction, at, instruction.n);
    str condition = str_cut(&rest, ',');
    str said = str_sub(instruction, str_starts(instruction, S("asks to ")) ? 8 : 0, instruction.n);
    /* "When you write to me, be brief" has a condition, and is for every chat. */
    bool is_for_all = form_odds_of(FORM_TOPIC, said).by[0] < (condition.n ? -2.2 : 0);
    struct words topic = words_of(a, condition.n ? condition : said, is_for_all ? 0 : WORDS_MAX);
    for (; topic.n && !is_topic(topic.v); topic.v++)
        topic.n--;
    return (struct standing){
        .rule = words_of(a, at ? rule : rest, WORDS_MAX),
        .topic = topic,
        .topic_text = condition.n && topic.n ? str_sub(condition, topic.v->at, condition.n) : said,
        .near = condition.n ? 0.25f : 0.12f,
        .is_named = condition.n && topic.n,
        .takes_back = str_starts(instruction, S(STANDING_TAKEN_BACK)),
    };
}

enum standing_reach standing_reach(const struct standing *s, const struct words *q)
{
    if (!s->topic.n)
        return STANDING_ALWAYS;
    return shares_topic(&s->topic, q) ? STANDING_HERE : STANDING_OTHER;
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

/* Whether y is of all that x is of. */
static bool is_within(struct words x, const struct words *y)
{
    return shares_topic(&x, y) &&
           EVERY(i, x.n, !is_topic(&x.v[i]) || words_have_stem(y, x.v[i].stem));
}

bool standing_ends(const struct standing *newer, const struct standing *older)
{
    if (newer->takes_back)
        return shares_topic(&newer->rule, &older->rule);
    /* What it is for is part of what is asked for: two topics are two instructions. */
    bool by_topic = newer->is_named || older->is_named;
    const struct words *about = by_topic || newer->topic.n ? &newer->topic : &newer->rule;
    const struct words *of = by_topic || older->topic.n ? &older->topic : &older->rule;
    if (older->takes_back || (newer->topic.n + older->topic.n > 0 && !shares_topic(about, of)))
        return false;
    const struct words *x = &newer->rule, *y = &older->rule;
    bool declines_x = SOME(i, x->n, str_is_one_of(x->v[i].text, declining));
    bool declines_y = SOME(i, y->n, str_is_one_of(y->v[i].text, declining));
    struct words before_x = {x->v, way_of(x)}, before_y = {y->v, way_of(y)}; /* "dates as …" */
    bool differs_in_way = before_x.n < x->n && before_y.n < y->n && is_within(before_x, &before_y);
    return (asks_language(x) && asks_language(y)) || differs_in_way ||
           (declines_x != declines_y && is_within(*x, y));
}
