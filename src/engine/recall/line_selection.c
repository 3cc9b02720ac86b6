/* line_selection.c - Decides whether memory speaks, and how sure a line must then be. */
#include "engine/recall/line_selection.h"

#include <math.h>

#include "base/rule.h"
#include "engine/recall/features.h"
#include "engine/text/form.h"
#include "engine/text/rank.h"

/* What a question asks for. */
enum breadth_of { ONE_THING, SEVERAL, ALL_THAT_WAS_SAID, BREADTHS_OF };

/* How much of what is probably needed a block is to hold, and at what price (decisions/008). In
 * other languages than English the ranking is less sure, and who asks for several things, or for
 * all that was said of one, needs room (trials 084 and 107). */
static const struct breadth {
    double coverage;
    struct line_budget tokens[BREADTHS_OF][2]; /* in English and in others; with the frame; -1: as
                                                  many as a chat may get */
} breadths[] = {
    [COVERAGE_LEAN] = {0.85, {[0 ... BREADTHS_OF - 1] = {{200, 200, 0}, {200, 200, 0}}}},
    [COVERAGE_BALANCED] = {0.975,
                           {[ONE_THING] = {{170, 540, 0.000625}, {220, 760, 0.00043}},
                            [SEVERAL] = {{400, 560, 0.0002}, {400, 760, 0.0002}},
                            [ALL_THAT_WAS_SAID] = {{170, 600, 0.00065}, {220, 760, 0.00043}}}},
    [COVERAGE_FULL] = {0.99, {[0 ... BREADTHS_OF - 1] = {{-1, -1, 0}, {-1, -1, 0}}}}};

/* Conversations of people: their lines are short and their ranking is sure. */
static const double people_coverage = 0.92;

/* A line of this score speaks for itself, whatever the wording of the question. */
static const double line_sure = 0.3;

/* A line that is less probable than this is never given for the sake of the coverage. */
static const double worth_least = 0.004;

/* What one space holds of the question. */
static struct gate_evidence evidence_in(struct finder *f, const struct finder *space)
{
    struct gate_result *v = NEW_N(&f->ctx->arena, struct gate_result, f->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        if (f->n_spaces == 1 || str_eq(f->found[i].space, space->in->pool.space))
            v[n++] = (struct gate_result){.doc = f->found[i].by->doc,
                                          .text = found_text(&f->found[i]),
                                          .score = f->found[i].score,
                                          .cosine = (double)f->found[i].by->dense,
                                          .tokens = (double)f->found[i].by->tokens.near_rare};
    const struct gate_in in = {f->in->question, &space->asked, v, n};
    return gate_evidence_of(&f->ctx->arena, &in);
}

/* The same words said before, and what a model said, are near in meaning and no reason to speak. */
static double best_score(const struct finder *f, bool by_line)
{
    double best = 0;
    for (const struct recalled *r = f->found; r < f->found + f->n; r++) {
        bool is_no_reason = (!by_line || weights_by_encoder(f->how.weighed)) && !r->is_memory &&
                            (r->measured.signals[SIGNAL_assistant] > 0 ||
                             str_eq_nocase(str_trim(r->message.text), str_trim(f->in->question)));
        best = is_no_reason ? best : fmax(best, r->score);
    }
    return best;
}

/* Of the space that promises most. What says about the same is as sure as it is near. */
static double probability_of(struct finder *f, struct gate_evidence *out)
{
    double most = -1;
    if (!SOME(i, f->n, f->found[i].score > 0)) /* what shares but a name with the question */
        return 0;
    for (size_t i = 0; i < f->n_spaces; i++) {
        struct gate_evidence e = evidence_in(f, &f->spaces[i]);
        double probability = gate_probability(f->spaces[i].how.weighed, &e);
        if (probability > most)
            *out = e;
        most = fmax(most, probability);
    }
    if (!weights_by_encoder(f->how.weighed) && !gate_is_fitted_for(f->in->question))
        most = fmax(most, best_score(f, false));
    for (size_t i = 0; i < f->n; i++)
        if (f->found[i].by->dense >= FOUND_SAME && !weights_by_encoder(f->how.weighed))
            most = fmax(most, f->found[i].score);
    return most;
}

/* What a line needs once memory speaks: less than the best, and less than the threshold. */
static double least_of_line(const struct finder *f, double threshold, double best)
{
    double beside = GATE_BESIDE * (f->asked.aggregation ? GATE_OF_BROAD : 1);
    return f->how.steps.strategy == STRATEGY_SEMANTIC ? threshold : beside * fmin(threshold, best);
}

/* A phrase lowers it, or the caller. */
static double lowered(const struct finder *f, struct gate gate, bool by_line, double threshold)
{
    if (f->in->bar > 0)
        return threshold * f->in->bar;
    if (gate.section == GATE_NONE || (gate.is_weak && !by_line))
        return threshold;
    if (gate.is_weak || (gate.is_time && !by_line)) /* by meaning alone the wording is not asked */
        return threshold * (gate.is_weak ? GATE_OF_USER : GATE_OF_TIME);
    return threshold * GATE_ASKED;
}

/* Of conversations of people, whom a question names; the wording is fitted to chats. */
static bool is_of_people(const struct finder *f)
{
    return f->n && !f->found[0].is_memory && f->found[0].message.speaker.n;
}

/* The least probability of an answer: the surer the wording asks for something told, the less is
 * enough, in a pool of any size (trial 091). If it asks rather than not, the usual one is; and a
 * fifth in a small pool, if a phrase or a sure line asks: there a line too many costs little. */
static double least_probability(const struct finder *f, const struct gate_evidence *e,
                                double threshold, bool is_asked)
{
    static const double sure = 0.9, weight = 0.6;
    /* 0 in a pool of 200 texts and more, 1 in one of 75 and fewer */
    double small = fmin(fmax(5 * e->signals[GATE_small] - 1, 0), 1);
    double personal = gate_personal(f->how.weighed, e);
    double lacks = (sure - log(personal / (1 - personal))) / weight;
    double by_wording = 1 / (1 + (1 - threshold) / threshold * exp(-lacks));
    double by_evidence = is_asked                        ? threshold * (1 - 0.8 * small)
                         : personal >= 0.5 + 0.1 * small ? threshold
                                                         : 1;
    return fmin(by_wording, by_evidence);
}

/* "probability of an answer 0.006, 0.050 needed …". usual: what is needed whatever the wording. */
static str gate_reason(struct arena *a, struct gate gate, double probability, double threshold,
                       double usual, str unsaid)
{
    enum { REASON_MAX = 1000 };
    struct buf b = buf_make(a, REASON_MAX);
    if (gate.section != GATE_NONE && !gate.is_weak)
        buf_printf(&b, "%s (\"" S_FMT "\"), ", gate.is_time ? "names a time" : "asks for memory",
                   S_ARG(gate.phrase));
    buf_printf(&b, "probability of an answer %.3f, %.3f needed", probability, threshold);
    if (probability < threshold && threshold > usual)
        buf_printf(&b, "; reads like a question without need of memory");
    else if (probability < threshold && unsaid.n)
        buf_printf(&b, "; nobody here said " S_FMT, S_ARG(unsaid));
    return buf_str(&b);
}

/* The question as a whole must need what was told, and reach the threshold; once memory speaks,
 * lines may be less sure. */
struct verdict verdict_of(struct finder *f, struct gate gate, bool tells)
{
    struct arena *a = &f->ctx->arena;
    struct gate_evidence *evidence = NEW(a, struct gate_evidence);
    if (f->in->by.strategy == STRATEGY_RECENT)
        return (struct verdict){S("newest"), S("the newest, whatever is asked"), .is_sure = true};
    if (!f->in->gate)
        return (struct verdict){S("all"), S("no gate was asked for"), .is_sure = true};
    if (!f->n)
        return (struct verdict){S("none"), S("nothing was found"), .least = 2};
    const double usual = f->e->settings->gate_threshold;
    bool by_cosine = f->how.steps.strategy == STRATEGY_SEMANTIC;
    double threshold = by_cosine ? fmin(GATE_COSINE * usual, 1) : usual;
    /* Where the caller sets the bar, each line is held against it; what only tells asks nothing. */
    bool by_line = tells || by_cosine || f->in->bar > 0;
    const double best = best_score(f, by_line);
    struct verdict v = {.probability = by_line ? best : probability_of(f, evidence),
                        .evidence = by_line ? NULL : evidence->signals};
    bool by_wording = RULE("wording") && !by_line && !is_of_people(f);
    bool is_asked = best >= line_sure || (gate.section != GATE_NONE && !gate.is_weak);
    v.is_sure = v.probability >= threshold;
    threshold = lowered(f, gate, by_line, threshold);
    double needed = by_wording ? least_probability(f, evidence, threshold, is_asked) : threshold;
    bool speaks = v.probability >= needed;
    v.is_sure &= speaks;
    v.reason = gate_reason(a, gate, v.probability, needed, threshold, evidence->unsaid);
    v.decision = !speaks                     ? S("none")
                 : gate.section == GATE_NONE ? S("memory")
                                             : str_of(gate_section_names[gate.section]);
    v.least = speaks ? least_of_line(f, by_line ? threshold : usual, best) : 2;
    v.by_worth = f->in->bar <= 0 && (!by_line || weights_by_encoder(f->how.weighed));
    return v;
}

/* --- one line beside others --- */

/* "I see.": found for its neighbours' words alone, and too short to say something of its own. */
static bool is_mere_neighbour(const struct finder *f, size_t i)
{
    const double telling = f->how.weighed == OTHER_LANGUAGE ? 4 : 8; /* words that say something */
    const double *signals = f->found[i].measured.signals;
    return f->in->gate && f->found[i].by && signals[SIGNAL_share] == 0 &&
           f->found[i].by->dense < FOUND_CLOSE && signals[SIGNAL_length] < log1p(telling);
}

bool lines_is_again(const struct finder *f, size_t i)
{
    const struct recalled *v = f->found;
    return SOME(k, i,
                v[k].by &&
                    (found_is_noted_from(&v[i], &v[k]) || found_is_noted_from(&v[k], &v[i])));
}

enum line_signal {
#define LINE_SIGNAL(name, help, ...) LINE_##name,
#include "engine/recall/line_weights.def"
#undef LINE_SIGNAL
    LINE_SIGNALS
};

static const double line_weights[][WEIGHT_SETS] = {
#define LINE_SIGNAL(name, help, ...) {__VA_ARGS__},
#include "engine/recall/line_weights.def"
#undef LINE_SIGNAL
};

/* How probable it is that this line is needed, which stands at the last of the places that were
 * looked at so far, with the best rank among them. */
static double worth_of(enum weights weights, const struct recalled *r, size_t places,
                       double best_rank)
{
    static const double sure_most = 1 - 1e-9, sure_least = 1e-4;
    double sure = fmin(fmax(r->score, sure_least), sure_most), sum = 0;
    assert(places);
    const double signals[LINE_SIGNALS] = {
        [LINE_constant] = 1,
        [LINE_sure] = log(sure / (1 - sure)),
        [LINE_behind] = fmin(r->measured.rank - best_rank, 0),
        [LINE_place] = log1p((double)(places - 1)),
        [LINE_assistant] = r->measured.signals[SIGNAL_assistant],
        [LINE_cosine] = r->measured.signals[SIGNAL_dense],
    };
    for (int i = 0; i < LINE_SIGNALS; i++)
        sum += line_weights[i][weights] * signals[i];
    return rank_logistic(sum);
}

/* Of each line that the question found, and their sum: as many lines as are probably needed. */
static double weigh_lines(struct finder *f)
{
    size_t places = 0;
    double best_rank = -INFINITY, sum = 0;
    for (size_t i = 0; i < f->n; i++) {
        struct recalled *r = &f->found[i];
        if (!r->by || r->score <= 0 || is_mere_neighbour(f, i))
            continue;
        bool is_again = places && lines_is_again(f, i);
        places += !is_again;
        best_rank = fmax(best_rank, r->measured.rank);
        r->measured.worth = worth_of(f->how.weighed, r, places, best_rank);
        sum += is_again ? 0 : r->measured.worth;
    }
    return sum;
}

struct line_budget lines_budget(const struct finder *f, int64_t budget)
{
    bool is_other = f->how.weighed == OTHER_LANGUAGE;
    const struct breadth *breadth = &breadths[engine_runtime(f->e)->coverage];
    enum breadth_of asked = f->asked.aggregation     ? ALL_THAT_WAS_SAID
                            : f->asked.is_of_several ? SEVERAL
                                                     : ONE_THING;
    struct line_budget b = breadth->tokens[asked][is_other];
    /* what is given though no question found it has no worth of its own */
    bool is_broad = b.most < 0 || f->in->bar > 0 || is_of_people(f) ||
                    f->in->by.strategy == STRATEGY_RECENT ||
                    (f->n && !SOME(i, f->n, f->found[i].by));
    if (is_broad || (budget >= 0 && budget < b.sure))
        b.sure = budget;
    if (is_broad || (budget >= 0 && budget < b.most))
        b.most = budget;
    return b;
}

size_t lines_within(const struct finder *f, const struct sized_line *v, size_t n,
                    struct line_budget b)
{
    int64_t sum = 0;
    size_t i = 0;
    for (; i < n; sum += v[i++].tokens) {
        bool fits = b.sure < 0 || !i || sum + v[i].tokens <= b.sure;
        bool is_worth = f->found[v[i].at].measured.worth >= b.price * (double)v[i].tokens;
        if (!fits && !(is_worth && sum + v[i].tokens <= b.most))
            break;
    }
    return i;
}

static double coverage_asked(const struct finder *f)
{
    bool is_wide = f->asked.aggregation || f->asked.is_of_several;
    enum coverage asked = is_wide ? COVERAGE_FULL : engine_runtime(f->e)->coverage;
    return is_of_people(f) ? people_coverage : breadths[asked].coverage;
}

/* What the caller's bar or a source beside the question has brought is held against the least score
 * alone. The first line may be as little sure as the verdict says. */
void lines_select(struct finder *f, const struct verdict *v)
{
    double all = weigh_lines(f), given = 0, enough = coverage_asked(f);
    for (size_t i = 0; i < f->n; i++) {
        struct recalled *r = &f->found[i];
        bool is_weighed = v->by_worth && r->by;
        bool is_wanted = is_weighed && r->measured.worth >= worth_least && given < enough * all;
        /* without the encoder the worth is less sure: what reaches the bar goes in as well */
        if (!is_weighed || !weights_by_encoder(f->how.weighed))
            is_wanted |= r->score >= v->least && !is_mere_neighbour(f, i);
        r->state = is_wanted && v->least <= 1 ? LINE_CHOSEN : LINE_FOUND;
        if (is_wanted && is_weighed && !lines_is_again(f, i))
            given += r->measured.worth;
    }
}

str lines_covered(const struct finder *f, const struct verdict *v)
{
    double all = 0, given = 0;
    for (size_t i = 0; i < f->n; i++) {
        const struct recalled *r = &f->found[i];
        if (lines_is_again(f, i))
            continue;
        all += r->measured.worth;
        given += r->state == LINE_INJECTED ? r->measured.worth : 0;
    }
    if (!v->by_worth || given <= 0)
        return S("");
    return str_printf(&f->ctx->arena,
                      "; covers %.0f %% of what is probably needed (%.0f %% asked)%s",
                      100 * given / all, 100 * coverage_asked(f),
                      f->asked.is_of_several ? "; asks for several things, so more is told" : "");
}
