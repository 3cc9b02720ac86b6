/* evidence.c - the probability that the candidates answer the question at all. */
#include "engine/gate/evidence.h"

#include <math.h>

#include "base/utf8.h"
#include "engine/gate/rarity.h"
#include "engine/questions/snippet.h"
#include "engine/text/bytes.h"
#include "engine/text/form.h"
#include "engine/text/lexicon.h"
#include "lang/evidence_lists.h"

/*
 * Each line has a score of its own, but a line of a foreign pool may look as good as one that
 * answers. The question as a whole tells more: which of its words nobody here ever said, whether
 * rare words of it stand together, whether a word comes up in a few conversations only, as topics
 * do, or in all of them. gate_weights.def names these signals; docs/research/trials/046 says more.
 *
 * A word is kept as one bit, so that a window of messages is a few ORs and its worth two look-ups.
 */

/* Bytes of a question that are looked at. Texts that are read for words and for phrases, bytes and
 * words of each, how far apart two words of a phrase may be, and how much longer than its stem a
 * word is; what a word of a label counts. */
enum {
    QUESTION_MAX = 2000,
    EXACT_IN = 5,
    RESULTS = 10,
    LOOKED_AT = 1200,
    APART = 2,
    TEXT_WORDS = 250,
    ENDING_MOST = 4
};
static const double label_worth = 0.18;

const char *const gate_signal_names[] = {
#define GATE_SIGNAL(name, sets, help, ...) #name,
#include "engine/gate/gate_weights.def"
#undef GATE_SIGNAL
    NULL};

static const double gate_weights[][WEIGHT_SETS] = {
#define GATE_SIGNAL(name, sets, help, ...) {__VA_ARGS__},
#include "engine/gate/gate_weights.def"
#undef GATE_SIGNAL
};

/* A word of the question in this pool. */
struct asked_word {
    str text, stem;
    double worth; /* weight times rarity in English */
    double rarity;
    int place; /* among the words of the question; -1: it does not stand there */
    bool is_name, is_unsaid;
    int64_t docs, sessions, last_session; /* that say it */
};

/* Words as bits. */
struct sight {
    doc_id doc;
    uint16_t own, label;
};

struct gate_look {
    const struct gate_in *in;
    str question;
    double pool; /* texts in it, at least 1 */
    struct asked_word words[QUERY_WORDS_MAX];
    size_t n;
    struct sight *sights;
    size_t n_sights;
    double all, best; /* worth of the question, and of the most that one message holds */
    double *out;
};

_Static_assert(QUERY_WORDS_MAX <= 16, "struct sight has a bit for each word");

/* --- the words of the question --- */

static bool is_in_word(char c)
{
    return in_word(c) || c == '\'';
}

/* Cuts the next word from the front of *rest; false: there is none. */
static bool cut_word(str *rest, str *out)
{
    size_t from = 0, to;
    while (from < rest->n && !is_in_word(rest->p[from]))
        from++;
    for (to = from; to < rest->n && is_in_word(rest->p[to]);)
        to++;
    *out = str_sub(*rest, from, to);
    *rest = str_sub(*rest, to, rest->n);
    return out->n;
}

/* A capital that no beginning of a sentence explains. */
static bool is_name_at(str question, str word)
{
    bool is_capital = word.n && is_upper(word.p[0]);
    if (!is_capital || word.p < question.p || word.p >= question.p + question.n)
        return is_capital;
    size_t at = (size_t)(word.p - question.p);
    while (at > 0 && question.p[at - 1] == ' ')
        at--;
    return at > 0 && !char_is_one_of(question.p[at - 1], ".!?\n");
}

static int place_in(str question, str word)
{
    str rest = question, each;
    for (int place = 0; cut_word(&rest, &each); place++)
        if (word.p >= each.p && word.p < each.p + each.n)
            return place;
    return -1;
}

static void look_at_words(struct gate_look *l)
{
    const struct query *q = &l->in->asked->query;
    double unsaid = 0, rarity = 0;
    for (l->n = 0; l->n < q->n; l->n++) {
        size_t i = l->n;
        struct asked_word *w = &l->words[i];
        *w = (struct asked_word){.text = q->texts[i], .stem = q->stems[i], .last_session = -1};
        w->rarity = word_rarity(w->text);
        w->is_unsaid = l->in->asked->words.found[i] == 0;
        w->is_name = is_name_at(l->question, w->text);
        w->place = place_in(l->question, w->text);
        w->worth = w->rarity * (double)l->in->asked->weights[i];
        l->all += w->is_unsaid ? w->rarity * l->in->asked->rarest : w->worth;
        rarity += w->rarity;
        unsaid += w->is_unsaid;
        l->out[GATE_known_names] += w->is_name && !w->is_unsaid;
    }
    l->out[GATE_size] = log(l->pool);
    l->out[GATE_unsaid] = unsaid * l->pool / (l->pool + 50);
    l->out[GATE_rarity] = l->n ? rarity / (double)l->n : 0;
}

/* --- what the pool says of them --- */

/* by_rarity: of words by their worth; else by their weight in the pool alone. */
static double worth_of(const struct gate_look *l, const struct sight *s, bool by_rarity)
{
    double worth = 0;
    for (size_t i = 0; i < l->n; i++) {
        double of_word = by_rarity ? l->words[i].worth : (double)l->in->asked->weights[i];
        worth += (s->own >> i & 1) ? of_word : (s->label >> i & 1) * label_worth * of_word;
    }
    return worth;
}

/* A memory is a conversation of its own. */
static struct sight sight_of(struct gate_look *l, const struct word_hit *hit)
{
    struct sight s = {.doc = hit->doc};
    int64_t session = doc_is_memory(hit->doc) ? hit->doc : doc_session(hit->doc);
    for (size_t i = 0; i < l->n; i++) {
        struct asked_word *w = &l->words[i];
        bool is_own = hit->counts[i] & 15;
        s.own |= (uint16_t)(is_own << i);
        s.label |= (uint16_t)((hit->counts[i] >> 4 != 0) << i);
        w->docs += is_own;
        w->sessions += is_own && w->last_session != session;
        w->last_session = is_own ? session : w->last_session;
    }
    return s;
}

/* The most that one message holds of what the question is about. The same words are worth the same,
 * so only those that were not seen yet are added up. */
static void look_at_hits(struct gate_look *l, struct arena *a)
{
    const struct word_hits *hits = &l->in->asked->words;
    struct sight last = {0};
    l->sights = NEW_N(a, struct sight, hits->n + 1);
    for (size_t h = 0; h < hits->n; h++) {
        struct sight s = sight_of(l, &hits->v[h]);
        l->sights[l->n_sights++] = s;
        if (s.own != last.own || s.label != last.label)
            l->best = fmax(l->best, worth_of(l, &s, true));
        last = s;
    }
    l->out[GATE_cover] = l->all > 0 ? l->best / l->all : 0;
}

/* The words of a message and of those around it: so many before, one after; at is the first that
 * may be near. */
static struct sight sight_around(const struct gate_look *l, size_t at, doc_id doc, int before)
{
    struct sight all = {.doc = doc};
    for (size_t i = at; i < l->n_sights && l->sights[i].doc <= doc + 1; i++) {
        bool is_near = l->sights[i].doc >= doc - before && !doc_is_memory(doc);
        if (!is_near && l->sights[i].doc != doc)
            continue;
        all.own |= l->sights[i].own;
        all.label |= l->sights[i].label;
    }
    return all;
}

/* The most that any place in a conversation holds, and what the best result and its neighbours
 * hold. Any window can be moved until a hit begins it. */
static void look_at_windows(struct gate_look *l)
{
    double plain = 0, best = 0;
    uint16_t last = 0;
    for (size_t i = 0; i < l->n; i++)
        plain += l->words[i].is_unsaid ? l->in->asked->rarest : (double)l->in->asked->weights[i];
    for (size_t h = 0; h < l->n_sights; h++) {
        doc_id doc = l->sights[h].doc;
        struct sight s = sight_around(l, h, doc_is_memory(doc) ? doc : doc + 2, 2);
        if (s.own == last)
            continue;
        last = s.own;
        best = fmax(best, worth_of(l, &s, false));
    }
    l->out[GATE_window] = plain > 0 ? best / plain : 0;
    if (!l->in->n || l->all <= 0)
        return;
    doc_id doc = l->in->v[0].doc;
    struct sight s =
        sight_around(l, doc_place(l->sights, l->n_sights, sizeof *l->sights, doc - 2), doc, 2);
    l->out[GATE_first] = worth_of(l, &s, true) / l->all;
}

/* A topic is talked about in few conversations, and often there. */
static void look_at_topics(struct gate_look *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct asked_word *w = &l->words[i];
        if (!w->docs || w->is_name)
            continue;
        double often = log(((double)w->docs + 0.5) / ((double)w->sessions + 0.5));
        l->out[GATE_topics] += often * w->rarity;
        l->out[GATE_topic] = fmax(l->out[GATE_topic], often);
    }
}

/* Centres of three messages, how many hold a word and how many hold two. */
struct counts {
    double of[QUERY_WORDS_MAX], both[QUERY_WORDS_MAX][QUERY_WORDS_MAX];
};

static void count_centre(struct counts *c, unsigned words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!(words >> i & 1))
            continue;
        c->of[i]++;
        for (size_t k = i + 1; k < n; k++)
            c->both[i][k] += words >> k & 1;
    }
}

static void count_pairs(const struct gate_look *l, struct counts *c)
{
    unsigned no_names = 0;
    doc_id next = INT64_MIN;
    for (size_t i = 0; i < l->n; i++)
        no_names |= (unsigned)!l->words[i].is_name << i;
    for (size_t i = 0; i < l->n_sights; i++) {
        doc_id doc = l->sights[i].doc;
        bool is_alone = doc_is_memory(doc);
        doc_id from = is_alone ? doc : doc - 1, to = is_alone ? doc : doc + 1;
        for (doc_id d = from < next ? next : from; d <= to; d++)
            count_centre(c, sight_around(l, i < 2 ? 0 : i - 2, d, 1).own & no_names, l->n);
        next = to + 1;
    }
}

/* Whether words of the question stand together more often than by chance. */
static void look_at_pairs(struct gate_look *l, struct arena *a)
{
    struct counts *c = NEW(a, struct counts);
    double sum = 0, pairs = 0;
    count_pairs(l, c);
    for (size_t i = 0; i < l->n; i++)
        for (size_t k = i + 1; k < l->n; k++) {
            double chance = c->of[i] * c->of[k] / l->pool;
            if (chance <= 0)
                continue;
            pairs++;
            sum += log((c->both[i][k] + 0.5) / (chance + 0.5)) *
                   sqrt(l->words[i].rarity * l->words[k].rarity);
        }
    l->out[GATE_together] = pairs > 0 ? sum / pairs : 0;
}

/* --- what the texts say --- */

/* Which words of the question stand where: a bit for each, by place in the text. */
static size_t forms_in(const struct gate_look *l, str text, uint16_t *forms)
{
    str word;
    size_t n = 0;
    for (; n < TEXT_WORDS && cut_word(&text, &word); n++) {
        forms[n] = 0;
        for (size_t i = 0; i < l->n; i++)
            if (l->words[i].place >= 0 && !l->words[i].is_name)
                forms[n] |= (uint16_t)(word_goes_on(word, l->words[i].stem, ENDING_MOST) << i);
    }
    return n;
}

/* Whether the second follows the first at once, or after one word. */
static bool follows_in(const uint16_t *forms, size_t n, size_t first, size_t second)
{
    for (size_t at = 0; at < n; at++)
        for (size_t to = at + 1; (forms[at] >> first & 1) && to < n && to <= at + APART; to++)
            if (forms[to] >> second & 1)
                return true;
    return false;
}

/* Neighbours in the question that are neighbours in the text: "support group". */
static double phrases_in(const struct gate_look *l, str text)
{
    uint16_t forms[TEXT_WORDS];
    double worth = 0;
    size_t n = forms_in(l, text, forms);
    for (size_t i = 0; i < l->n; i++)
        for (size_t k = 0; k < l->n; k++) {
            int apart = l->words[k].place - l->words[i].place;
            if (i != k && l->words[i].place >= 0 && apart >= 1 && apart <= APART &&
                follows_in(forms, n, i, k))
                worth += l->words[i].worth + l->words[k].worth;
        }
    return worth;
}

static double exact_in(const struct gate_look *l, struct arena *a, str text)
{
    double worth = 0;
    str lower = str_lower(a, text);
    for (size_t i = 0; i < l->n; i++) {
        const struct asked_word *w = &l->words[i];
        if (w->worth > 0 && str_find(lower, str_lower(a, w->text)) < lower.n)
            worth += w->worth;
    }
    return worth;
}

static double log_odds(double p)
{
    static const double least = 1e-6;
    return log(fmax(p, least) / (1 - fmin(p, 1 - least)));
}

static void look_at_results(struct gate_look *l, struct arena *a)
{
    double score = 0, exact = 0, phrase = 0, *out = l->out;
    for (size_t i = 0; i < l->in->n && i < RESULTS; i++) {
        const struct gate_result *r = &l->in->v[i];
        str text = utf8_cut(r->text, LOOKED_AT);
        score = fmax(score, r->score);
        out[GATE_cosine] = fmax(out[GATE_cosine], r->cosine);
        out[GATE_tokens] = fmax(out[GATE_tokens], r->tokens);
        if (i < EXACT_IN)
            exact = fmax(exact, exact_in(l, a, text));
        phrase = fmax(phrase, phrases_in(l, text));
    }
    out[GATE_score] = log_odds(score);
    out[GATE_exact] = l->all > 0 ? exact / l->all : 0;
    out[GATE_phrase] = phrase / l->in->asked->rarest;
}

/* --- the whole --- */

/* Rare words alone: that nobody said "mention" means nothing. */
static str unsaid_words(struct arena *a, const struct gate_look *l)
{
    enum { NAMED = 3, UNSAID_MAX = 400 };
    static const double rare = 0.5;
    struct buf b = buf_make(a, UNSAID_MAX);
    for (size_t i = 0, n = 0; i < l->n && n < NAMED; i++)
        if (l->words[i].is_unsaid && l->words[i].rarity >= rare)
            buf_printf(&b, "%s\"" S_FMT "\"", n++ ? ", " : "", S_ARG(l->words[i].text));
    return buf_str(&b);
}

/* "me" is as common in requests: "tell me a joke". */
bool gate_is_first_person(str question)
{
    str rest = utf8_cut(question, QUESTION_MAX), word;
    while (cut_word(&rest, &word)) {
        str front = str_sub(word, 0, str_find(word, S("'")));
        if (lexicon_is(front, LEX_SELF | LEX_SELF_TOO) && !str_is_one_of(front, self_of_requests))
            return true;
    }
    return false;
}

/* Half of the words of an English question are among the commonest of English. A single word says
 * nothing as a whole. */
bool gate_is_fitted_for(str question)
{
    enum { WORDS_MAX = 60 };
    str rest = utf8_cut(question, QUESTION_MAX), word;
    int words = 0, common = 0;
    while (words < WORDS_MAX && cut_word(&rest, &word)) {
        str front = str_sub(word, 0, str_find(word, S("'")));
        if (str_has_digit(front))
            continue;
        words++;
        common += front.n == 1 || word_is_common(front);
    }
    return words > 1 && 2 * common >= words;
}

/* In a small pool little stands together and no topic comes back, so the rest says more. Requests
 * that tell nothing make none large (trial 102); of 100 texts and fewer all count. */
static void look_again_small(double *out, double pool, double idle)
{
    pool = fmax(pool * (1 - idle), fmin(pool, 100));
    out[GATE_small] = 50 / (pool + 50);
    out[GATE_small_cover] = out[GATE_small] * out[GATE_cover];
    out[GATE_small_exact] = out[GATE_small] * out[GATE_exact];
    out[GATE_small_phrase] = out[GATE_small] * out[GATE_phrase];
    out[GATE_small_unsaid] = out[GATE_small] * out[GATE_unsaid];
    out[GATE_small_self] = out[GATE_small] * out[GATE_self];
}

struct gate_evidence gate_evidence_of(struct arena *a, const struct gate_in *in)
{
    struct gate_evidence e = {0};
    const struct query *q = &in->asked->query;
    const struct word_hits *words = &in->asked->words;
    struct gate_look l = {.in = in,
                          .question = utf8_cut(in->question, QUESTION_MAX),
                          .pool = fmax((double)(words->messages + words->memories), 1),
                          .out = e.signals};
    look_at_words(&l);
    look_at_hits(&l, a);
    look_at_windows(&l);
    look_at_topics(&l);
    look_at_pairs(&l, a);
    look_at_results(&l, a);
    e.signals[GATE_self] = gate_is_first_person(in->question);
    e.signals[GATE_when] = q->wants_date;
    e.signals[GATE_digits] = SOME(i, q->n, str_has_digit(q->texts[i]));
    e.signals[GATE_form] = form_of(l.question, in->asked->vector);
    look_again_small(e.signals, l.pool, in->asked->idle);
    e.unsaid = unsaid_words(a, &l);
    return e;
}

/* Half of the questions of the fit can be answered; of messages to a model far fewer. */
double gate_probability(enum weights weights, const struct gate_evidence *e)
{
    static const double constant[WEIGHT_SETS] = GATE_CONSTANT;
    double self = weights == WITH_ENCODER ? e->signals[GATE_self] : 0; /* measured with it alone */
    double sum = constant[weights] - log(GATE_OTHERS(e->signals[GATE_small], self));
    for (size_t i = 0; i < GATE_SIGNALS; i++)
        sum += gate_weights[i][weights] * e->signals[i];
    return 1 / (1 + exp(-sum));
}

/* Of rows of the table: a signal of the evidence; PERSONAL_CONSTANT; or PERSONAL_ANSWER, what
 * gate_probability says. */
enum { PERSONAL_CONSTANT = -1, PERSONAL_ANSWER = GATE_SIGNALS };

double gate_personal(enum weights weights, const struct gate_evidence *e)
{
    static const struct {
        int signal;
        double weights[WEIGHT_SETS];
    } rows[] = {
#define PERSONAL(name, signal, help, ...) {signal, {__VA_ARGS__}},
#include "engine/gate/personal_weights.def"
#undef PERSONAL
    };
    double sum = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int s = rows[i].signal;
        double x = s == PERSONAL_CONSTANT ? 1
                   : s == PERSONAL_ANSWER ? log_odds(gate_probability(weights, e))
                                          : e->signals[s];
        sum += rows[i].weights[weights] * x;
    }
    return 1 / (1 + exp(-sum));
}
