/* line_selection.c - Decides whether memory speaks, and how sure a line must then be. */
#include "engine/recall/line_selection.h"

#include <math.h>

#include "core/settings.h"
#include "engine/gate/evidence.h"
#include "engine/gate/rarity.h"
#include "engine/recall/clause_parse.h"
#include "engine/recall/features.h"
#include "engine/text/lexicon.h"
#include "engine/text/rank.h"

/*
 * Once memory speaks, each line must be worth its room: as probable as this to be needed, by
 * line_weights.def. What people say to each other is short, and its neighbours tell more. What is
 * said to an assistant needs more: most in a pool of fifty texts, which has enough for noise, and
 * few lines of one thing. A question for all that was said of something needs less (decisions/054).
 */
static const double people_least = 0.03, chat_least = 0.045, small_more = 0.08, broad_share = 0.4;

/* Of that, for what says more of the question than the lines above it, or that something has
 * changed since. */
static const double more_share = 1.0 / 3;

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
    const struct gate_in in = {.question = f->in->question,
                               .query = &space->asked.query,
                               .hits = &space->asked.words,
                               .weights = space->asked.weights,
                               .rarest = space->asked.rarest,
                               .v = v,
                               .n = n};
    return gate_evidence_of(&f->ctx->arena, &in);
}

/* What shares but a name with the question scores nothing. */
static bool is_any_answer(const struct finder *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->found[i].score > 0)
            return true;
    return false;
}

/* Of the space that promises most. What says about the same is as sure as it is near. */
static double probability_of(struct finder *f, struct gate_evidence *out)
{
    double most = -1;
    if (!is_any_answer(f))
        return 0;
    for (size_t i = 0; i < f->n_spaces; i++) {
        struct gate_evidence e = evidence_in(f, &f->spaces[i]);
        double probability = gate_probability(f->spaces[i].how.weighed, &e);
        if (probability > most)
            *out = e;
        most = fmax(most, probability);
    }
    for (size_t i = 0; i < f->n; i++)
        if (f->found[i].by->dense >= FOUND_SAME && f->how.weighed != WITH_ENCODER)
            most = fmax(most, f->found[i].score);
    return most;
}

/* The same words said before, and what a model said, are near in meaning and no reason to speak. */
static bool is_no_reason(const struct finder *f, const struct recalled *r)
{
    return f->how.weighed == WITH_ENCODER && !r->is_memory &&
           (r->measured.signals[SIGNAL_assistant] > 0 ||
            str_eq_nocase(str_trim(r->message.text), str_trim(f->in->question)));
}

static double best_score(const struct finder *f)
{
    double best = 0;
    for (size_t i = 0; i < f->n; i++)
        if (!is_no_reason(f, &f->found[i]))
            best = fmax(best, f->found[i].score);
    return best;
}

/* By meaning alone a score is a cosine; where the caller sets the bar, each line is held against
 * it; and other languages have no weights. */
static bool is_by_line(const struct finder *f)
{
    return f->how.steps.strategy == STRATEGY_SEMANTIC || f->in->bar > 0 ||
           !gate_is_fitted_for(f->in->question);
}

/* What a line needs once memory speaks: less than the best, and less than the threshold. */
static double least_of_line(const struct finder *f, double threshold, double best)
{
    double beside = GATE_BESIDE * (f->asked.aggregation ? broad_share : 1);
    return f->how.steps.strategy == STRATEGY_SEMANTIC ? threshold : beside * fmin(threshold, best);
}

/* A phrase lowers it, or the caller. */
static double lowered(const struct finder *f, struct gate gate, bool by_line, double threshold)
{
    if (f->in->bar > 0)
        return threshold * f->in->bar;
    if (gate.section == GATE_NONE || (gate.is_weak && !by_line))
        return threshold;
    if (gate.is_time && !by_line)
        return threshold * GATE_OF_TIME;
    return threshold * (gate.is_weak ? GATE_OF_USER : GATE_ASKED);
}

/* In other languages nothing but the words tells that a question may be about what was told. */
static bool is_of_speaker(const struct finder *f)
{
    return f->how.steps.strategy != STRATEGY_SEMANTIC && f->in->bar <= 0 &&
           !gate_is_fitted_for(f->in->question) && gate_is_first_person(f->in->question);
}

/* The question as a whole must reach the threshold; once memory speaks, lines may be less sure. */
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
    double threshold = usual, best = best_score(f);
    if (f->how.steps.strategy == STRATEGY_SEMANTIC)
        threshold = fmin(GATE_COSINE * threshold, 1);
    bool by_line = tells || is_by_line(f); /* what only tells asks nothing */
    struct verdict v = {.probability = by_line ? best : probability_of(f, evidence),
                        .evidence = by_line ? NULL : evidence->signals};
    v.is_sure = v.probability >= threshold;
    threshold = lowered(f, gate, by_line, threshold);
    if (gate.section == GATE_NONE && !tells && is_of_speaker(f))
        threshold *= GATE_OF_SPEAKER;
    v.reason = gate_reason(a, gate, v.probability, threshold, evidence->unsaid);
    bool speaks = v.probability >= threshold;
    bool is_named = gate.section != GATE_NONE;
    v.decision = !speaks    ? S("none")
                 : is_named ? str_of(gate_section_names[gate.section])
                            : S("memory");
    v.least = speaks ? least_of_line(f, by_line ? threshold : usual, best) : 2;
    v.is_sure &= speaks;
    v.by_worth = f->in->bar <= 0;
    return v;
}

/* --- one line beside others --- */

/* "I see.": found for its neighbours' words alone, and too short to say something of its own. */
static bool is_mere_neighbour(const struct finder *f, size_t i)
{
    enum { TELLING = 8 }; /* words of a turn that says something by itself */
    const double *signals = f->found[i].measured.signals;
    return f->in->gate && f->found[i].by && signals[SIGNAL_share] == 0 &&
           f->found[i].by->dense < FOUND_CLOSE && signals[SIGNAL_length] < log1p(TELLING);
}

/* What was looked at so far, of what the question found. */
struct looked_at {
    size_t places, taken;
    double best_rank;
    uint32_t words;  /* of the question that the lines taken say, a bit for each */
    int64_t created; /* of the first of them */
};

static uint32_t words_said(const struct finder *f, size_t i)
{
    uint32_t words = 0;
    for (size_t w = 0; w < f->asked.query.n; w++)
        words |= (uint32_t)((f->found[i].by->own[w] & 15) != 0) << w;
    return words;
}

/* "Does my crown come before his cataract?": of two things asked for, what is said of one stands
 * far behind what is said of the other. */
static bool says_more(const struct finder *f, const struct looked_at *l, size_t i)
{
    static const float much = 0.2f;
    uint32_t more = words_said(f, i) & ~l->words;
    float all = 0, adds = 0;
    for (size_t w = 0; w < f->asked.query.n; w++) {
        all += f->asked.words.found[w] ? f->asked.weights[w] : 0;
        adds += (more >> w & 1) ? f->asked.weights[w] : 0;
    }
    return adds >= much * all && adds > 0;
}

/* A name, or a word that is rare in English. */
static bool shares_word(struct arena *a, str x, str y)
{
    enum { LOOKED_AT = 120 };
    static const double rare = 0.3;
    struct words v = words_of(a, x, LOOKED_AT), w = words_of(a, y, LOOKED_AT);
    for (size_t i = 0; i < v.n; i++)
        for (size_t k = 0; k < w.n && !v.v[i].is_stop; k++)
            if (str_eq(v.v[i].stem, w.v[k].stem) &&
                (v.v[i].is_name || word_rarity(v.v[i].text) >= rare))
                return true;
    return false;
}

/* "I had the date wrong, Nora's thing is the 18th" shares little with "when is Nora getting
 * married?", and is worth more than what it corrects. */
static bool says_change(struct finder *f, const struct looked_at *l, size_t i)
{
    struct arena *a = &f->ctx->arena;
    struct recalled *r = &f->found[i];
    bool is_of_one = false;
    if (recalled_created(r) <= l->created)
        return false;
    for (size_t k = 0; k < i && !is_of_one; k++)
        is_of_one = f->found[k].by && f->found[k].state == LINE_CHOSEN &&
                    shares_word(a, found_text(&f->found[k]), found_text(r));
    if (!is_of_one)
        return false;
    struct clause_parse *read = ROOM_N(a, struct clause_parse, 1);
    clause_parse_noted(a, r->is_memory ? NULL : r->message.notes, found_text(r), read);
    return read->changes;
}

/* A memory and the message that it was noted from take one place. */
static bool is_said_above(const struct finder *f, size_t i)
{
    const struct recalled *r = &f->found[i];
    for (size_t k = 0; k < i; k++) {
        const struct recalled *above = &f->found[k];
        if (f->found[k].by && above->is_memory != r->is_memory &&
            (r->is_memory ? str_eq(r->memory.source, above->message.id)
                          : str_eq(r->message.id, above->memory.source)))
            return true;
    }
    return false;
}

enum line_signal {
#define LINE_SIGNAL(name, help, w) LINE_##name,
#include "engine/recall/line_weights.def"
#undef LINE_SIGNAL
    LINE_SIGNALS
};

/* How probable it is that one more line is needed. */
static double worth_of(const struct recalled *r, const struct looked_at *l)
{
    static const double weights[] = {
#define LINE_SIGNAL(name, help, w) w,
#include "engine/recall/line_weights.def"
#undef LINE_SIGNAL
    };
    static const double sure_most = 1 - 1e-9;
    double sure = fmin(r->score, sure_most), sum = 0;
    const double signals[LINE_SIGNALS] = {
        [LINE_constant] = 1,
        [LINE_sure] = log(sure / (1 - sure)),
        [LINE_behind] = fmin(r->measured.rank - l->best_rank, 0),
        [LINE_place] = log1p((double)(l->places - 1)),
    };
    for (int i = 0; i < LINE_SIGNALS; i++)
        sum += weights[i] * signals[i];
    return rank_logistic(sum);
}

static bool is_of_people(const struct recalled *r)
{
    return !r->is_memory && r->message.speaker.n;
}

static double least_worth(const struct finder *f, const struct recalled *r)
{
    enum { SMALL = 50 }; /* texts */
    double texts = (double)(f->asked.words.messages + f->asked.words.memories);
    double small = texts > SMALL ? SMALL / texts : texts / SMALL;
    double least = is_of_people(r) ? people_least : chat_least + small_more * small;
    return least * (f->asked.aggregation ? broad_share : 1);
}

/* The first line may be as little sure as the verdict says. */
static bool is_wanted(struct finder *f, const struct verdict *v, struct looked_at *l, size_t i)
{
    struct recalled *r = &f->found[i];
    if (is_mere_neighbour(f, i))
        return false;
    if (f->how.weighed != WITH_ENCODER || !f->found[i].by || !v->by_worth)
        return r->score >= v->least;
    if (r->score <= 0)
        return false;
    l->places += !is_said_above(f, i);
    if (l->places == 1)
        l->best_rank = fmax(l->best_rank, r->measured.rank);
    r->measured.worth = worth_of(r, l);
    double least = least_worth(f, r);
    if (l->places == 1 && r->score >= v->least)
        return true;
    return r->measured.worth >= least || (l->taken && !is_of_people(r) && !f->asked.aggregation &&
                                          r->measured.worth >= least * more_share &&
                                          (says_more(f, l, i) || says_change(f, l, i)));
}

void lines_select(struct finder *f, const struct verdict *v)
{
    struct looked_at l = {.best_rank = -INFINITY};
    for (size_t i = 0; i < f->n; i++) {
        struct recalled *r = &f->found[i];
        bool is_worth_it = is_wanted(f, v, &l, i);
        r->state = is_worth_it && v->least <= 1 ? LINE_CHOSEN : LINE_FOUND;
        if (!is_worth_it || !f->found[i].by)
            continue;
        l.created = l.taken++ ? l.created : recalled_created(r);
        l.words |= words_said(f, i);
    }
}
