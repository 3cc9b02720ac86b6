/* features.c - features of a candidate as numbers, and their weighted sums. */
#include "engine/recall/features.h"

#include <math.h>

#include "core/text_annotations.h"
#include "engine/text/bytes.h"
#include "engine/text/rank.h"
#include "lang/features_lists.h"

/*
 * Each candidate becomes a vector of the numbers that feature_weights.def lists, mostly between 0
 * and 1, and two weighted sums are made of it (signals_weigh): one orders candidates of one
 * question, the other says how probable it is that the candidate answers. Both are fitted, for each
 * set of what recall may know (engine/gate/weight_sets.def), and stand in feature_weights.def
 * beside the signal's explanation; docs/research/trials/005 says what each brought.
 * So the names here must not change their meaning: that would be another model with old weights.
 */

const char *const signal_names[] = {
#define SIGNAL(name, sets, fit, help, ...) #name,
#include "engine/recall/feature_weights.def"
#undef SIGNAL
    NULL};

/* For tests and explanations; asserts that the name exists. */
double recalled_signal(const struct recalled *r, const char *name)
{
    int i = name_index(signal_names, str_of(name), -1);
    assert(i >= 0);
    return r->measured.signals[i];
}

static const struct signal_weights {
    double rank, sure, chat;
} signal_weights[][WEIGHT_SETS] = {
#define SIGNAL(name, sets, fit, help, ...) {__VA_ARGS__},
#include "engine/recall/feature_weights.def"
#undef SIGNAL
};

_Static_assert((int)SIGNAL_COUNT <= (int)SIGNALS_MAX,
               "struct recalled has no room for the signals");

/* --- what a text shows at a glance --- */

struct glance {
    size_t words, names, first_person;
    bool has_date, has_number, has_wish, has_limit;
    bool is_negated; /* the last word looked at */
};

enum { SHOWS_DATE = LEX_DATE | LEX_MONTH | LEX_WEEKDAY, SHOWS_NUMBER = LEX_NUMBER | LEX_QUANTITY };
#define SHOWS_LIMIT (LEX_LIMIT | LEX_NEGATION)

/* "Anna", not "EXIF" or "KeyError". */
static bool is_name(str word)
{
    return word.n > 1 && is_upper(word.p[0]) &&
           !SOME(i, word.n - 1, is_upper(word.p[i + 1]) || is_digit(word.p[i + 1]));
}

static void look_at(struct glance *g, str word, bool begins)
{
    bool digit = is_digit(word.p[0]);
    g->words++;
    g->names += !begins && is_name(word);
    unsigned classes = lexicon_classes(word);
    g->first_person += (classes & LEX_SELF) != 0;
    g->has_number |= digit || (classes & SHOWS_NUMBER);
    g->has_date |= digit || (classes & SHOWS_DATE);
    /* "Always give examples"; "I've always lived here" asks for nothing. */
    g->has_wish |=
        str_is_one_of(word, preference_words) || (begins && str_is_one_of(word, rule_openings));
    g->has_limit |= (classes & SHOWS_LIMIT) || (g->is_negated && str_is(word, "t"));
    g->is_negated = classes & LEX_NEGATED;
}

/* One pass over the beginning; the words index is not asked again. */
static struct glance glance_at(str text)
{
    enum { LOOKED_AT = 4000 };
    struct glance g = {0};
    bool begins = true;
    text.n = text.n < LOOKED_AT ? text.n : LOOKED_AT;
    for (size_t i = 0, end; i < text.n; i = end) {
        for (end = i; end < text.n && in_word(text.p[end]);)
            end++;
        if (end > i) {
            look_at(&g, str_sub(text, i, end), begins);
            begins = begins && str_is_one_of(str_sub(text, i, end), please_words);
        } else {
            begins |= char_is_one_of(text.p[i], ".!?\n");
            end++;
        }
    }
    return g;
}

static struct glance glance_noted(const struct asked_of *q, struct text_annotations *notes,
                                  str text)
{
    const struct glance *noted = annotation_find(notes, NOTE_GLANCE, text);
    if (noted)
        return *noted;
    struct glance *g = NEW(q->a, struct glance);
    *g = glance_at(text);
    annotation_add(notes, NOTE_GLANCE, text, (str){(char *)g, sizeof *g});
    return *g;
}

/* Ends in a question mark, whatever stands behind it in brackets. */
static bool is_question(str text)
{
    text = str_trim(text);
    if (str_ends(text, S("]"))) {
        size_t bracket = str_behind_last(text, '[');
        text = str_trim(str_sub(text, 0, bracket ? bracket - 1 : 0));
    }
    return str_ends(text, S("?"));
}

/* --- signals --- */

/* How well the words fit, here and around. */
static void of_words(const struct asked_of *q, const struct candidate *c, double *out)
{
    const struct scan *best = q->scan;
    out[SIGNAL_turn] = scan_share(c->turn, best->best_turn);
    out[SIGNAL_window] = scan_share(c->window, best->best_window);
    out[SIGNAL_wide] = scan_share(c->wide, best->best_window);
    out[SIGNAL_session] = scan_share(c->session, best->best_session);
    out[SIGNAL_previous] = scan_share(c->previous, best->best_turn);
    out[SIGNAL_next] = scan_share(c->next, best->best_turn);
    out[SIGNAL_share] = (double)c->share;
    out[SIGNAL_share_near] = (double)c->share_near;
    out[SIGNAL_turn_sum] = (double)c->turn / q->rarest;
    out[SIGNAL_unknown] = q->unknown;
    out[SIGNAL_dense] = (double)c->dense;
    out[SIGNAL_dense_window] = (double)c->dense_window;
    out[SIGNAL_tokens] = (double)c->tokens.own;
    out[SIGNAL_tokens_near] = (double)c->tokens.near;
    out[SIGNAL_tokens_rare] = (double)c->tokens.own_rare;
    out[SIGNAL_tokens_near_rare] = (double)c->tokens.near_rare;
    out[SIGNAL_tokens_before] = (double)c->tokens.before;
    out[SIGNAL_tokens_after] = (double)c->tokens.after;
}

/* What a text of SHORT words shows is worth less in a longer one, which shows everything. */
static void of_text(const struct asked_of *q, struct text_annotations *notes, str text,
                    int64_t created, double *out)
{
    enum { SHORT = 40 };
    struct glance g = glance_noted(q, notes, text);
    double worth = g.words > SHORT ? SHORT / (double)g.words : 1;
    out[SIGNAL_time] = query_has_time(q->query, created);
    out[SIGNAL_date] = q->query->wants_date && g.has_date ? worth : 0;
    out[SIGNAL_number] = q->query->wants_number && g.has_number ? worth : 0;
    out[SIGNAL_named] = q->query->wants_name ? fmin((double)g.names, 3) * worth : 0;
    out[SIGNAL_names] = fmin((double)g.names, 4) * worth;
    out[SIGNAL_first_person] = fmin((double)g.first_person, 3) * worth;
    out[SIGNAL_length] = log1p((double)g.words);
    out[SIGNAL_asks] = is_question(text);
    out[SIGNAL_wish] = g.has_wish && !q->query->asks_past;
    out[SIGNAL_limit] = g.has_limit && q->query->asks_advice ? worth : 0;
}

/* Whether any part of a name ("Ana" of "Ana Maria") is a word of the question. */
static bool names_person(const struct query *q, str name)
{
    while (name.n) {
        str part = str_cut(&name, ' ');
        if (part.n && SOME(w, q->n, str_eq_nocase(q->texts[w], part)))
            return true;
    }
    return false;
}

str speaker_asked(const struct query *q, const struct message *m, size_t n)
{
    str person = S("");
    for (size_t i = 0; i < n; i++) {
        if (!names_person(q, m[i].speaker) || str_eq(m[i].speaker, person))
            continue;
        if (person.n)
            return S("");
        person = m[i].speaker;
    }
    return person;
}

/* How much of a text asks: a page that ends with "Shall I go on?" is hardly a question. */
static double asking_share(str text)
{
    enum { SHORT = 240 };
    return !is_question(text) ? 0 : text.n > SHORT ? SHORT / (double)text.n : 1;
}

static void of_message(const struct asked_of *q, const struct message *m, double *out)
{
    of_text(q, m->notes, m->text, m->created, out);
    out[SIGNAL_speaker] = q->person.n && str_eq(m->speaker, q->person);
    out[SIGNAL_opening] = doc_position(m->doc) < 2;
    out[SIGNAL_chat] = !m->speaker.n;
    bool is_reply = !m->speaker.n && str_is(m->role, "assistant");
    out[SIGNAL_assistant] = is_reply ? 1 - q->query->asks_reply : 0;
    out[SIGNAL_asks_back] = out[SIGNAL_assistant] * asking_share(m->text);
    out[SIGNAL_wish] *= !is_reply;
    out[SIGNAL_limit] *= !is_reply;
}

static void of_memory(const struct asked_of *q, const struct memory *m, double *out)
{
    of_text(q, NULL, m->content, m->created, out);
    out[SIGNAL_is_memory] = 1;
    out[SIGNAL_chat] = q->is_chat; /* weighed like the messages beside it */
    out[SIGNAL_importance] = m->importance;
}

void signals_of(const struct asked_of *q, const struct candidate *c, const struct message *message,
                const struct memory *memory, str previous, double *out)
{
    assert(!message != !memory);
    memset(out, 0, sizeof *out * SIGNALS_MAX);
    if (message)
        of_message(q, message, out);
    else
        of_memory(q, memory, out);
    of_words(q, c, out);
    /* A model answers whatever it is asked; what the user answers it tells of itself. */
    double answers = (1 - out[SIGNAL_assistant]) * asking_share(previous);
    out[SIGNAL_answers] = answers * out[SIGNAL_previous];
    out[SIGNAL_answers_near] = answers * out[SIGNAL_tokens_before];
    out[SIGNAL_assistant_turn] = out[SIGNAL_assistant] * out[SIGNAL_turn];
}

/* Any number; only the order within one question means something. base has no part that is only of
 * chats. */
static double rank_of(enum weights weights, const double *signals, double *base)
{
    double all = 0, chat = signal_weights[SIGNAL_chat][weights].rank;
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        all += signal_weights[i][weights].rank * signals[i];
        chat += signal_weights[i][weights].chat * signals[i];
    }
    *base = all - signal_weights[SIGNAL_chat][weights].rank * signals[SIGNAL_chat];
    return *base + chat * signals[SIGNAL_chat];
}

/* An estimate without reading the text. */
static double promise_of(const struct asked_of *q, enum weights weights, const struct candidate *c)
{
    double base, signals[SIGNALS_MAX] = {0};
    of_words(q, c, signals);
    signals[SIGNAL_answers] = signals[SIGNAL_previous] / 2;
    signals[SIGNAL_opening] = !doc_is_memory(c->doc) && doc_position(c->doc) < 2;
    signals[SIGNAL_is_memory] = doc_is_memory(c->doc);
    return rank_of(weights, signals, &base);
}

size_t signals_most_promising(struct arena *a, const struct asked_of *q, enum weights weights,
                              struct candidate *v, size_t n, size_t most)
{
    struct ranked *order = ROOM_N(a, struct ranked, n + 1);
    const struct candidate *all = DUP_N(a, v, n, n);
    for (size_t i = 0; i < n; i++)
        order[i] = (struct ranked){promise_of(q, weights, &v[i]), v[i].doc, i};
    rank_sort(order, n);
    for (size_t i = 0; i < n && i < most; i++)
        v[i] = all[order[i].at];
    return n < most ? n : most;
}

struct weighed signals_weigh(enum weights weights, const double *signals)
{
    static const double constant[WEIGHT_SETS] = SURE_CONSTANT, slope[WEIGHT_SETS] = SURE_SLOPE;
    assert(weights < WEIGHT_SETS);
    double base, rank = rank_of(weights, signals, &base);
    double sum = constant[weights] + slope[weights] * (WEIGHTS_CHAT_ALONE(weights) ? base : rank);
    for (int i = 0; i < SIGNAL_COUNT; i++)
        sum += signal_weights[i][weights].sure * signals[i];
    return (struct weighed){rank, rank_logistic(sum)};
}
