/* model_size.c - the size of a model, by its name, and the shares of its window. */
#include "engine/history.h"
#include "engine/text/bytes.h"
#include "engine/text/regex.h"

/* What a name that tells nothing stands for; shares never go below their floors. */
enum { FLOOR_SYSTEM = 200, FLOOR_HISTORY = 100, FLOOR_CHUNKS = 200, FLOOR_GENERATION = 256 };
/* The size of a model decides how much history and context it is given. Providers rarely say it, so
 * it is read from the name, in this order: "…:7b", "/…-70b", "8x7b" (one expert's size), a table of
 * known names, words such as "mini", else 3 billion parameters. */

static const double unknown = 3;

const char *const tier_names[] = {"tiny", "small", "medium", "large", NULL};

/* --- the name --- */

static const struct known_model {
    str name, part;
    double billions;
} known_models[] = {
#define MODEL(name, part, billions) {{name, sizeof name - 1}, {part, sizeof part - 1}, billions},
#include "engine/text/model_size.def"
#undef MODEL
};

/* A size behind a mark, a folder, or of one expert: of those ("8x7b") one or two work at a time. */
static bool says_size(str name, double *out)
{
#define SIZE "(\\d+(?:\\.\\d+)?)b"
    static const char *const regexes[] = {"[:_-]" SIZE, "/" SIZE "(?=[-_/.]|\\z)", "\\dx" SIZE};
    enum { SIZES = sizeof regexes / sizeof *regexes };
    struct pattern *const *patterns = patterns_of(regexes, SIZES, sizeof *regexes);
    struct match m;
    return SOME(i, SIZES, pattern_find(patterns[i], name, 0, &m) && str_num(m.group[1], out));
#undef SIZE
}

/* A row's name, and behind it its second part, if it has one ("gpt-5", "mini"). */
static bool holds(str name, const struct known_model *m)
{
    size_t at = str_find(name, m->name);
    if (at == name.n)
        return false;
    str rest = str_sub(name, at + m->name.n, name.n);
    return !m->part.n || str_find(rest, m->part) < rest.n;
}

/* The longest row that fits: "gpt-4o-mini" before "gpt-4o". */
static bool in_table(str name, double *out)
{
    size_t longest = 0;
    for (size_t i = 0; i < sizeof known_models / sizeof *known_models; i++) {
        const struct known_model *m = &known_models[i];
        if (m->name.n + m->part.n <= longest || !holds(name, m))
            continue;
        longest = m->name.n + m->part.n;
        *out = m->billions;
    }
    return longest;
}

/* What is left to a name without a size: a tag, or a word for it. */
static double by_word(str name)
{
    static const struct {
        const char *word;
        double billions;
        bool is_latest; /* of the tag "latest" alone */
    } said[] = {{"llama3.2", 3, true}, {"llama3.1", 8, true}, {"llama3:", 8, true},
                {"mistral", 7, true},  {"mini", 3.8, false},  {"medium", 14, false}};
    bool is_latest = text_holds(name, "latest");
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if ((is_latest || !said[i].is_latest) && text_holds(name, said[i].word))
            return said[i].billions;
    return unknown;
}

double model_billions(str model)
{
    char lower[200];
    str name = {lower, model.n < sizeof lower ? model.n : sizeof lower};
    double size;
    for (size_t i = 0; i < name.n; i++)
        lower[i] = ascii_lower(model.p[i]);
    bool is_told = says_size(name, &size) || in_table(name, &size);
    return is_told ? size : by_word(name);
}

enum model_tier tier_of_model(str model)
{
    double billions = model_billions(model);
    return billions < 3    ? TIER_TINY
           : billions < 9  ? TIER_SMALL
           : billions < 34 ? TIER_MEDIUM
                           : TIER_LARGE;
}

/* --- shares --- */

static int64_t part(int64_t window, int percent)
{
    return window * percent / 100;
}

static int64_t at_least(int64_t n, int64_t least)
{
    return n < least ? least : n;
}

/* Takes of *from what may go without coming below least; gives what is still wanted. */
static int64_t take(int64_t wanted, int64_t *from, int64_t least)
{
    int64_t most = *from > least ? *from - least : 0, taken = wanted < most ? wanted : most;
    *from -= taken;
    return wanted - taken;
}

/*
 * The sum is over the window only where the floors alone bring it there: a window of less than some
 * 1,300 tokens, or a system text that leaves less than the floors. Elsewhere a system text that is
 * larger than what history and chunks can give takes from history down to its floor, and then from
 * the answer; the RAG backend lets the sum grow there.
 */
struct shares shares_of(enum model_tier tier, int64_t window, int64_t system)
{
    static const struct {
        int system, history, chunks, generation;
    } percent[TIER_COUNT] = {{10, 10, 60, 20},
                             {10, 15, 55, 20},
                             {10, 15, 60, 15},
                             {10, 15, 60, 15}};
    enum { WINDOW_MAX = 1000000000 };
    int64_t w = window < 0 ? 0 : window < WINDOW_MAX ? window : WINDOW_MAX;
    struct shares s = {w,
                       part(w, percent[tier].system),
                       part(w, percent[tier].history),
                       part(w, percent[tier].chunks),
                       part(w, percent[tier].generation),
                       tier};
    if (system > s.system) {
        int64_t over = system - s.system, half = s.history - s.history / 2;
        s.system = system;
        over = take(over, &s.history, half);
        over = take(over, &s.chunks, FLOOR_CHUNKS);
        over = take(over, &s.history, FLOOR_HISTORY);
        take(over, &s.generation, FLOOR_GENERATION);
    }
    s.system = at_least(s.system, FLOOR_SYSTEM);
    s.history = at_least(s.history, FLOOR_HISTORY);
    s.chunks = at_least(s.chunks, FLOOR_CHUNKS);
    s.generation = at_least(s.generation, FLOOR_GENERATION);
    return s;
}
