/* verdict.c - whether what was found answers the question at all, and what a line needs then. */
#include "engine/recall/verdict.h"

#include <math.h>

#include "core/settings.h"
#include "engine/gate/evidence.h"
#include "engine/recall/features.h"
#include "engine/recall/reading.h"

/* Of what goes in beside the best, a question for all that was said of something needs this share.
 */
static const double broad_beside = 0.4;

/* Beside the best line, what was said to an assistant needs this share of its score. What a model
 * said, which is long and rarely the answer, needs more; what people said to each other needs less,
 * as its scores lie closer together, and neighbours tell more. */
static const double answer_beside = 0.3, people_beside = 0.03;
/* By how many went in: the more there are, the less one more is worth its room. */
static const double chat_beside[] = {0.08, 0.08, 0.08, 0.08, 0.2, 0.3, 0.45, 0.6};

/* What says more of the question than the lines above it, or that something has changed since. */
static const double more_beside = 0.02;

/* Where no line is sure, one beside the best needs so many times as much, and at most that. */
static const double weak_times = 2, weak_most = 0.9;

/* What one space holds of the question. */
static struct gate_evidence evidence_in(struct finder *f, const struct finder *space)
{
    struct gate_result *v = NEW_N(&f->ctx->arena, struct gate_result, f->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        if (f->n_spaces == 1 || str_eq(f->found[i].space, space->in->pool.space))
            v[n++] = (struct gate_result){.doc = f->of[i]->doc,
                                          .text = found_text(&f->found[i]),
                                          .score = f->found[i].score,
                                          .cosine = (double)f->of[i]->dense,
                                          .tokens = (double)f->of[i]->tokens.near_rare};
    const struct gate_in in = {.question = f->in->question,
                               .query = &space->query,
                               .hits = &space->words,
                               .weights = space->weights,
                               .rarest = space->rarest,
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
        double probability = gate_probability(f->spaces[i].weighed, &e);
        if (probability > most)
            *out = e;
        most = fmax(most, probability);
    }
    for (size_t i = 0; i < f->n; i++)
        if (f->of[i]->dense >= FOUND_SAME && f->weighed != WITH_ENCODER)
            most = fmax(most, f->found[i].score);
    return most;
}

/* The same words said before, and what a model said, are near in meaning and no reason to speak. */
static bool is_no_reason(const struct finder *f, const struct recalled *r)
{
    return f->weighed == WITH_ENCODER && !r->is_memory &&
           (r->signals[SIGNAL_assistant] > 0 ||
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
    return f->steps.strategy == STRATEGY_SEMANTIC || f->in->bar > 0 ||
           !gate_is_fitted_for(f->in->question);
}

/* What a line needs once memory speaks: less than the best, and less than the threshold. */
static double least_of_line(const struct finder *f, double threshold, double best)
{
    double beside = GATE_BESIDE * (f->broad ? broad_beside : 1);
    return f->steps.strategy == STRATEGY_SEMANTIC ? threshold : beside * fmin(threshold, best);
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
    return f->steps.strategy != STRATEGY_SEMANTIC && f->in->bar <= 0 &&
           !gate_is_fitted_for(f->in->question) && gate_is_first_person(f->in->question);
}

/* The question as a whole must reach the threshold; once memory speaks, lines may be less sure. */
struct verdict verdict_of(struct finder *f, struct gate gate, bool tells)
{
    struct arena *a = &f->ctx->arena;
    struct gate_evidence *evidence = NEW(a, struct gate_evidence);
    if (f->in->strategy == STRATEGY_RECENT)
        return (struct verdict){S("newest"), S("the newest, whatever is asked"), .is_sure = true};
    if (!f->in->gate)
        return (struct verdict){S("all"), S("no gate was asked for"), .is_sure = true};
    if (!f->n)
        return (struct verdict){S("none"), S("nothing was found"), .least = 2};
    const double usual = f->e->settings->gate_threshold;
    double threshold = usual, best = best_score(f);
    if (f->steps.strategy == STRATEGY_SEMANTIC)
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
    v.is_weak = best < usual;
    v.best = f->in->bar > 0 ? 0 : best;
    return v;
}

/* --- one line beside others --- */

/* "I see.": found for its neighbours' words alone, and too short to say something of its own. */
bool verdict_is_mere_neighbour(const struct finder *f, size_t i)
{
    enum { TELLING = 8 }; /* words of a turn that says something by itself */
    const double *signals = f->found[i].signals;
    return f->in->gate && f->of[i] && signals[SIGNAL_share] == 0 && f->of[i]->dense < FOUND_CLOSE &&
           signals[SIGNAL_length] < log1p(TELLING);
}

static uint32_t words_said(const struct finder *f, size_t i)
{
    uint32_t words = 0;
    for (size_t w = 0; w < f->query.n; w++)
        words |= (uint32_t)((f->of[i]->own[w] & 15) != 0) << w;
    return words;
}

void verdict_note(const struct finder *f, struct said_so_far *said, size_t i)
{
    const struct recalled *r = &f->found[i];
    if (!f->of[i])
        return;
    if (!said->lines++)
        said->created = r->is_memory ? r->memory.created : r->message.created;
    said->words |= words_said(f, i);
}

/* "Does my crown come before his cataract?": of two things asked for, what is said of one stands
 * far behind what is said of the other. */
static bool says_more(const struct finder *f, const struct said_so_far *said, size_t i)
{
    static const float much = 0.2f;
    uint32_t more = words_said(f, i) & ~said->words;
    float all = 0, adds = 0;
    for (size_t w = 0; w < f->query.n; w++) {
        all += f->words.found[w] ? f->weights[w] : 0;
        adds += (more >> w & 1) ? f->weights[w] : 0;
    }
    return adds >= much * all && adds > 0;
}

/* "I had the date wrong, Nora's thing is the 18th" shares little with "when is Nora getting
 * married?", and is worth more than what it corrects. */
static bool says_change(struct finder *f, const struct said_so_far *said, size_t i)
{
    struct recalled *r = &f->found[i];
    int64_t created = r->is_memory ? r->memory.created : r->message.created;
    struct reading *read;
    if (created <= said->created || !(words_said(f, i) || f->of[i]->dense >= FOUND_CLOSE))
        return false;
    read = ROOM_N(&f->ctx->arena, struct reading, 1);
    reading_noted(&f->ctx->arena, r->is_memory ? NULL : r->message.notes, found_text(r), read);
    return read->changes;
}

double verdict_needs(struct finder *f, const struct verdict *v, const struct said_so_far *said,
                     size_t i)
{
    enum { PLACES = sizeof chat_beside / sizeof *chat_beside };
    const struct recalled *r = &f->found[i];
    if (f->weighed != WITH_ENCODER || !f->of[i])
        return v->least;
    bool is_answer = !r->is_memory && r->signals[SIGNAL_assistant] > 0;
    bool is_of_people = !r->is_memory && r->message.speaker.n;
    double beside = is_of_people ? people_beside : is_answer ? answer_beside : chat_beside[0];
    if (!is_of_people && !is_answer && !f->broad) {
        beside = chat_beside[said->lines < PLACES ? said->lines : PLACES - 1];
        if (v->is_weak)
            beside = fmin(weak_times * beside, weak_most);
        if (r->score < v->best * beside && r->score >= v->best * more_beside &&
            (says_more(f, said, i) || says_change(f, said, i)))
            beside = more_beside;
    }
    return fmax(v->least, v->best * beside);
}
