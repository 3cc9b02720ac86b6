/* signals.c - what is known about a candidate, as numbers, and what they add up to. */
#include "engine/signals.h"

#include <math.h>

#include "engine/rank.h"

const char *const signal_names[] = {
#define SIGNAL(name, rank, sure, dense_rank, dense_sure, help) #name,
#include "engine/rank_weights.def"
#undef SIGNAL
    NULL};

static const double rank_weights[][2] = {
#define SIGNAL(name, rank, sure, dense_rank, dense_sure, help) {rank, dense_rank},
#include "engine/rank_weights.def"
#undef SIGNAL
};

static const double sure_weights[][2] = {
#define SIGNAL(name, rank, sure, dense_rank, dense_sure, help) {sure, dense_sure},
#include "engine/rank_weights.def"
#undef SIGNAL
};

_Static_assert((int)SIGNAL_COUNT <= (int)SIGNALS_MAX,
               "struct recalled has no room for the signals");

/* --- what a text shows at a glance --- */

struct glance {
    size_t words, names, first_person;
    bool has_date, has_number;
};

enum { SAYS_DATE = 1, SAYS_NUMBER = 2, SAYS_FIRST = 4, MARKED_MAX = 9 };

/* In the order of the alphabet, for the search by halves. */
static const struct marked {
    str word;
    int says;
} marked[] = {
#define DATE(w) {{w, sizeof w - 1}, SAYS_DATE},
#define NUMBER(w) {{w, sizeof w - 1}, SAYS_NUMBER},
#define FIRST(w) {{w, sizeof w - 1}, SAYS_FIRST},
#include "engine/marked_words.def"
#undef DATE
#undef NUMBER
#undef FIRST
};

static int by_word(const void *key, const void *entry)
{
    return str_cmp(*(const str *)key, ((const struct marked *)entry)->word);
}

/* Which lengths the marked words with each first letter have: most words of a text are of none. */
struct lengths {
    uint16_t of[32];
};

static struct lengths marked_lengths(bool only_first)
{
    struct lengths l = {{0}};
    for (size_t i = 0; i < sizeof marked / sizeof *marked; i++)
        if (!only_first || (marked[i].says & SAYS_FIRST))
            l.of[marked[i].word.p[0] & 31] |= (uint16_t)(1u << marked[i].word.n);
    return l;
}

static int says(str word, const struct lengths *l)
{
    char lower[MARKED_MAX];
    if (word.n > MARKED_MAX || !(l->of[word.p[0] & 31] >> word.n & 1))
        return 0;
    for (size_t i = 0; i < word.n; i++)
        lower[i] = (char)(word.p[i] >= 'A' && word.p[i] <= 'Z' ? word.p[i] + 32 : word.p[i]);
    str key = {lower, word.n};
    const struct marked *m =
        bsearch(&key, marked, sizeof marked / sizeof *marked, sizeof *marked, by_word);
    return m ? m->says : 0;
}

static bool in_word(unsigned char c)
{
    return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "Anna", not "EXIF" or "KeyError". */
static bool is_name(str word)
{
    bool name = word.n > 1 && word.p[0] >= 'A' && word.p[0] <= 'Z';
    for (size_t i = 1; i < word.n && name; i++)
        name = !(word.p[i] >= 'A' && word.p[i] <= 'Z') && !(word.p[i] >= '0' && word.p[i] <= '9');
    return name;
}

static void look_at(struct glance *g, str word, bool begins, const struct lengths *l)
{
    bool digit = word.p[0] >= '0' && word.p[0] <= '9';
    g->words++;
    g->names += !begins && is_name(word);
    int what = says(word, l);
    g->first_person += (what & SAYS_FIRST) != 0;
    g->has_number |= digit || (what & SAYS_NUMBER);
    g->has_date |= digit || (what & SAYS_DATE);
}

/* One pass over the beginning; the words index is not asked again. only_first: whether it holds a
 * date or a number does not matter. */
static struct glance glance_at(str text, bool only_first)
{
    enum { LOOKED_AT = 4000 };
    struct glance g = {0};
    struct lengths lengths = marked_lengths(only_first);
    bool begins = true;
    text.n = text.n < LOOKED_AT ? text.n : LOOKED_AT;
    for (size_t i = 0, end; i < text.n; i = end) {
        for (end = i; end < text.n && in_word((unsigned char)text.p[end]);)
            end++;
        if (end > i) {
            look_at(&g, str_sub(text, i, end), begins, &lengths);
            begins = false;
        } else {
            begins |= text.p[i] == '.' || text.p[i] == '!' || text.p[i] == '?' || text.p[i] == '\n';
            end++;
        }
    }
    return g;
}

/* Ends in a question mark, whatever stands behind it in brackets. */
static bool is_question(str text)
{
    text = str_trim(text);
    if (str_ends(text, S("]"))) {
        while (text.n && text.p[text.n - 1] != '[')
            text.n--;
        text = str_trim(str_sub(text, 0, text.n ? text.n - 1 : 0));
    }
    return str_ends(text, S("?"));
}

/* --- signals --- */

static double scaled(float score, float best)
{
    return best > 0 ? (double)score / (double)best : 0;
}

/* How well the words fit, here and around. */
static void of_words(const struct asked_of *q, const struct candidate *c, double *out)
{
    const struct scan *best = q->scan;
    out[SIGNAL_turn] = scaled(c->turn, best->best_turn);
    out[SIGNAL_window] = scaled(c->window, best->best_window);
    out[SIGNAL_wide] = scaled(c->wide, best->best_window);
    out[SIGNAL_session] = scaled(c->session, best->best_session);
    out[SIGNAL_previous] = scaled(c->previous, best->best_turn);
    out[SIGNAL_next] = scaled(c->next, best->best_turn);
    out[SIGNAL_share] = (double)c->share;
    out[SIGNAL_share_near] = (double)c->share_near;
    out[SIGNAL_turn_sum] = (double)c->turn / q->rarest;
    out[SIGNAL_unknown] = q->unknown;
    out[SIGNAL_dense] = (double)c->dense;
    out[SIGNAL_dense_window] = (double)c->dense_window;
}

/* What a text of SHORT words shows is worth less in a longer one, which shows everything. */
static void of_text(const struct asked_of *q, str text, double *out)
{
    enum { SHORT = 40 };
    struct glance g = glance_at(text, !q->query->wants_date && !q->query->wants_number);
    double worth = g.words > SHORT ? SHORT / (double)g.words : 1;
    out[SIGNAL_date] = q->query->wants_date && g.has_date ? worth : 0;
    out[SIGNAL_number] = q->query->wants_number && g.has_number ? worth : 0;
    out[SIGNAL_named] = q->query->wants_name ? fmin((double)g.names, 3) * worth : 0;
    out[SIGNAL_names] = fmin((double)g.names, 4) * worth;
    out[SIGNAL_first_person] = fmin((double)g.first_person, 3) * worth;
    out[SIGNAL_length] = log1p((double)g.words);
    out[SIGNAL_asks] = is_question(text);
}

bool names_person(const struct query *q, str name)
{
    while (name.n) {
        str part = str_cut(&name, ' ');
        for (size_t w = 0; w < q->n; w++)
            if (part.n && str_eq_nocase(q->texts[w], part))
                return true;
    }
    return false;
}

void signals_of(const struct asked_of *q, const struct candidate *c, const struct message *message,
                const struct memory *memory, str previous, double *out)
{
    int64_t created = message ? message->created : memory->created;
    memset(out, 0, sizeof *out * SIGNALS_MAX);
    of_words(q, c, out);
    of_text(q, message ? message->text : memory->content, out);
    out[SIGNAL_time] = query_has_time(q->query, created);
    out[SIGNAL_recent] = rank_decay(q->now - created, 90);
    if (message) {
        out[SIGNAL_speaker] = q->person.n && str_eq(message->speaker, q->person);
        out[SIGNAL_answers] = is_question(previous) ? out[SIGNAL_previous] : 0;
        out[SIGNAL_opening] = doc_position(c->doc) < 2;
    } else {
        out[SIGNAL_is_memory] = 1;
        out[SIGNAL_importance] = memory->importance;
    }
}

double signals_promise(const struct asked_of *q, enum weights weights, const struct candidate *c)
{
    double signals[SIGNALS_MAX] = {0};
    of_words(q, c, signals);
    signals[SIGNAL_answers] = signals[SIGNAL_previous] / 2;
    return signals_rank(weights, signals);
}

double signals_rank(enum weights weights, const double *signals)
{
    double sum = 0;
    for (int i = 0; i < SIGNAL_COUNT; i++)
        sum += rank_weights[i][weights] * signals[i];
    return sum;
}

double signals_sure(enum weights weights, const double *signals, double rank)
{
    static const double bias[] = {RANK_BIAS, DENSE_BIAS}, slope[] = {RANK_SLOPE, DENSE_SLOPE};
    double sum = bias[weights] + slope[weights] * rank;
    for (int i = 0; i < SIGNAL_COUNT; i++)
        sum += sure_weights[i][weights] * signals[i];
    return rank_logistic(sum);
}
