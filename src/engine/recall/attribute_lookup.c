/* attribute_lookup.c - Finds what the user stated of an attribute that a question asks for. */
#include "engine/recall/attribute_lookup.h"

#include "base/utf8.h"
#include "core/tokens.h"
#include "engine/gate/evidence.h"
#include "engine/recall/stem_search.h"
#include "engine/recall/subject.h"
#include "engine/text/attributes.h"
#include "engine/text/claims.h"
#include "engine/text/sentences.h"

/* Documents taken from the index for each search, read of them, given; bytes of a message that are
 * looked at. */
enum {
    HITS_MAX = 4000,
    READ = 40,
    GIVEN = 6,
    GIVEN_HEALTH = 3,
    GIVEN_ADVICE = 4,
    GIVEN_FAR = 1,
    LONG = 2000,
    ASKED_WORDS = 60
};

/* Tokens of what is given beside a request for advice. */
enum { ADVICE_TOKENS = 60 };

/*
 * An attribute is searched by the words that tell of it (attributes_stems): "Where do I live?"
 * looks for the words by which people tell of a home. It is a search of its own, beside the
 * ranking, whose weights were fitted without it. Only statements of the user and facts count, and
 * only about the one whom the question is about (subject.c). READ texts at most are read;
 * ADVICE_TOKENS keeps advice from filling the block with what is merely interesting.
 */
struct wanted {
    uint32_t attributes;
    size_t most;
    int64_t tokens; /* < 0: no bound */
    str why;
    size_t far;   /* so many that are not near to the request */
    bool of_food; /* of health only what one may eat and drink */
};

/* --- what was found --- */

/* What the question itself found surely, or another search of this file, is not given twice. */
static bool is_there(const struct finder *f, const struct added_lines *out,
                     const struct recalled *r)
{
    const struct recalled *same = recalled_find(f->found, f->n, r);
    for (size_t i = 0; i < out->n; i++)
        if (recalled_is(&out->v[i], r) || str_eq(found_text(&out->v[i]), found_text(r)))
            return true;
    return same && !out->is_alone && same->by && same->score >= f->e->settings->gate_threshold;
}

/* "Choir has moved" tells nobody's home, unless the question speaks of what has moved. */
static uint32_t told_in(struct finder *f, const struct words *w, str text)
{
    uint32_t told = attributes_told(w);
    size_t thing = claim_moved_thing(w);
    if (thing < w->n) {
        struct words q = words_of(&f->ctx->arena, f->in->question, ASKED_WORDS);
        bool is_asked = false;
        for (size_t i = 0; i < q.n; i++)
            for (size_t k = 0; k <= thing; k++)
                is_asked |= !q.v[i].is_stop && str_eq(q.v[i].stem, w->v[k].stem);
        if (!is_asked)
            told &= ~ATTRIBUTE_BIT(home);
    }
    return told | attributes_told_so(&f->ctx->arena, text);
}

/* The sentence of a text that tells of what is wanted, of the one whom the question is about; ""
 * where none does. */
static str telling_in(struct finder *f, const struct wanted *want, str text)
{
    enum { SENTENCE_WORDS = 120 };
    struct arena *a = &f->ctx->arena;
    uint32_t labelled = attributes_labelled(a, text);
    struct sentence s;
    struct attribute_sentence of = {.wanted = want->attributes,
                                    .is_for_request = want->tokens >= 0};
    for (str rest = utf8_cut(text, LONG); sentence_cut(&rest, &s);) {
        struct words w = words_of(a, s.text, SENTENCE_WORDS);
        uint32_t told = labelled ? labelled : told_in(f, &w, s.text);
        of.sentence = s.text;
        of.before = str_sub(text, 0, (size_t)(s.text.p - text.p));
        if (want->of_food && !(told & ATTRIBUTE_BIT(diet)) && !attributes_of_food(&w))
            continue;
        if ((told & want->attributes) && subject_fits(a, f->in->question, &of))
            return str_trim(s.text);
    }
    return S("");
}

/* What a fact says, or the user himself; "" of anything else. */
static str told_text(struct finder *f, struct recalled *r)
{
    if (!r->is_memory)
        return found_stated(f, r);
    bool is_fact = r->memory.layer == LAYER_FACT || r->memory.layer == LAYER_IDENTITY;
    return is_fact && r->memory.origin != ORIGIN_TOOL && find_shows(f, r) ? r->memory.content
                                                                          : S("");
}

/* What is near to a request was found for it, and has some worth there. Most illnesses and diets
 * that have none bear on something else (decisions/008). By words alone nothing tells. */
static bool is_far(const struct finder *f, const struct wanted *want, const struct recalled *r)
{
    static const double near_worth = 0.012;
    if (want->tokens < 0 || !weights_by_encoder(f->how.weighed) ||
        !gate_is_fitted_for(f->in->question))
        return false;
    const struct recalled *same = recalled_find(f->found, f->n, r);
    return !same || !same->by || same->measured.worth < near_worth;
}

/* What was taken of it so far. */
struct taken {
    size_t n, far;
    int64_t tokens;
};

/* Whether there was room for it. */
static bool take(const struct finder *f, const struct wanted *want, const struct recalled *r,
                 struct taken *taken, struct added_lines *out)
{
    taken->tokens += tokens_of(found_text(r));
    if (taken->n == want->most || (want->tokens >= 0 && taken->tokens > want->tokens))
        return false;
    struct recalled *added = &out->v[out->n++];
    *added = *r;
    added->score = f->e->settings->gate_threshold;
    added->why = want->why;
    taken->n++;
    return true;
}

static enum status take_told(struct finder *f, const struct wanted *want, const str *stems,
                             size_t n_stems, struct taken *taken, struct added_lines *out)
{
    size_t n;
    struct stem_hit *hits;
    struct recalled *read;
    TRY(stems_search(f, stems, n_stems, (struct stem_bounds){HITS_MAX, READ}, &hits, &n));
    TRY(stems_read(f, hits, n, &read));
    for (size_t i = 0; i < n && taken->n < want->most; i++) {
        struct recalled *r = &read[i];
        bool far = is_far(f, want, r);
        if (far && taken->far == want->far)
            continue;
        r->part.telling = telling_in(f, want, told_text(f, r));
        if (!r->part.telling.n || is_there(f, out, r))
            continue;
        if (!take(f, want, r, taken, out))
            break;
        taken->far += far;
    }
    return OK;
}

/* Words that tell of it first; then what tells of it by its form, whose words are common. */
static enum status find_told(struct finder *f, const struct wanted *want, struct added_lines *out)
{
    struct arena *a = &f->ctx->arena;
    struct taken taken = {0};
    size_t n;
    const str *stems = attributes_stems(a, want->attributes, &n);
    TRY(take_told(f, want, stems, n, &taken, out));
    stems = attributes_sought(a, want->attributes, &n);
    return n && taken.n < want->most ? take_told(f, want, stems, n, &taken, out) : OK;
}

/* --- what is wanted --- */

static str names_of(struct arena *a, uint32_t attributes)
{
    str names = S("");
    for (int i = 0; i < ATTRIBUTE_COUNT; i++)
        if (attributes & 1u << i)
            names =
                str_printf(a, S_FMT "%s%s", S_ARG(names), names.n ? ", " : "", attribute_names[i]);
    return names;
}

/* Health and diet for requests about food, medicine and the like, personal facts for requests for
 * advice, and the attribute that is asked for. All but the last stand in front of the other lines
 * (n_first), as a model must not miss an allergy. */
enum status attribute_lookup(struct finder *f, bool is_alone, struct added_lines *out)
{
    struct arena *a = &f->ctx->arena;
    str question = f->in->question;
    uint32_t personal = ATTRIBUTE_BIT(home) | ATTRIBUTE_BIT(children) | ATTRIBUTE_BIT(marriage) |
                        ATTRIBUTE_BIT(job);
    *out = (struct added_lines){.is_alone = is_alone};
    if (!f->in->gate || f->in->only.turns || f->in->by.strategy == STRATEGY_RECENT)
        return OK;
    struct bearing bears = bearing_of(a, question);
    bool on_life = bears.on_advice && !bears.on_taste;
    uint32_t asked = attributes_asked(a, question);
    if (!asked && !bears.on_health && !on_life)
        return OK;
    out->v = NEW_N(a, struct recalled, GIVEN_HEALTH + GIVEN_ADVICE + GIVEN + 1);
    out->reason = S("facts that bear on the request");
    bool is_request = bears.on_advice || f->asked.query.asks_advice;
    if (bears.on_health)
        TRY(find_told(f,
                      &(struct wanted){ATTRIBUTE_BIT(health) | ATTRIBUTE_BIT(diet), GIVEN_HEALTH,
                                       4 * ADVICE_TOKENS, S("health and safety bear on it"),
                                       is_request ? GIVEN_FAR : 0, bears.on_food},
                      out));
    if (on_life)
        TRY(find_told(f,
                      &(struct wanted){personal, GIVEN_ADVICE, ADVICE_TOKENS,
                                       S("it bears on a request for advice"), GIVEN_FAR},
                      out));
    out->n_first = out->n;
    for (size_t i = 0; i < out->n; i++)
        out->v[i].origin = LINE_SIDE_NOTE;
    if (!asked)
        return OK;
    str why = str_printf(a, "tells of what is asked for: " S_FMT, S_ARG(names_of(a, asked)));
    TRY(find_told(f, &(struct wanted){asked, GIVEN, -1, why}, out));
    for (size_t i = out->n_first; i < out->n; i++)
        out->v[i].origin = LINE_BY_ATTRIBUTE;
    if (out->n > out->n_first)
        out->reason = str_printf(a, "asks for " S_FMT, S_ARG(names_of(a, asked)));
    return OK;
}
