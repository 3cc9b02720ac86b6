/* attribute_lookup.c - Finds what was told of an attribute that is asked for, or of a name. */
#include "engine/recall/attribute_lookup.h"

#include <math.h>

#include "base/utf8.h"
#include "core/tokens.h"
#include "engine/recall/line_selection.h"
#include "engine/recall/subject.h"
#include "engine/text/attributes.h"
#include "engine/text/claims.h"
#include "engine/text/lexicon.h"
#include "engine/text/rank.h"
#include "engine/text/sentences.h"

/* Documents taken from the index for each search, read of them; bytes of a message and words of a
 * question that are looked at. Lines that are given, and tokens of those beside a request for
 * advice. */
enum { HITS_MAX = 4000, READ = 40, LONG = 2000, ASKED_WORDS = 60 };
enum { GIVEN = 6, GIVEN_HEALTH = 3, GIVEN_ADVICE = 4, GIVEN_FAR = 1, ADVICE_TOKENS = 60 };

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
    int64_t tokens; /* < 0: no bound, as the question asks for it */
    str why;
    size_t far;   /* so many that are not near to the request */
    bool of_food; /* of health only what one may eat and drink */
};

/* --- documents that hold some stems --- */

struct stem_hit {
    doc_id doc;
    double worth;
};

/* Of equal worth the newest first. */
ORDER(best_first, struct stem_hit, DOWN(worth) ?: DOWN(doc));

/* The sum of the idf of the stems that stand in the document; mentions (high bits) do not count.
 * Most stems stand in few documents, so eight are ruled out at once. */
static double worth_of(const struct word_hit *hit, const double *worths, size_t n)
{
    double worth = 0;
    static_assert(QUERY_WORDS_MAX % sizeof(uint64_t) == 0, "counts are looked at in eights");
    for (size_t from = 0; from < n; from += sizeof(uint64_t)) {
        uint64_t eight;
        memcpy(&eight, hit->counts + from, sizeof eight);
        for (size_t w = from; eight && w < from + sizeof eight && w < n; w++)
            if (hit->counts[w] & 15)
                worth += worths[w];
    }
    return worth;
}

/* The documents of another search beside others', both ascending: each once, its worths added. */
static struct stem_hit *join_hits(struct arena *a, const struct stem_hit *v, size_t *n,
                                  const struct word_hits *more, const double *worths,
                                  size_t n_worths)
{
    struct stem_hit *out = ROOM_N(a, struct stem_hit, *n + more->n + 1);
    size_t i = 0, k = 0, found = 0;
    while (i < *n || k < more->n) {
        struct stem_hit *hit = &out[found++];
        doc_id left = i < *n ? v[i].doc : INT64_MAX;
        doc_id right = k < more->n ? more->v[k].doc : INT64_MAX;
        *hit = left <= right ? v[i++] : (struct stem_hit){.doc = right};
        if (right <= left)
            hit->worth += worth_of(&more->v[k++], worths, n_worths);
    }
    *n = found;
    return out;
}

/* The best READ in front and in order. */
static size_t put_best_first(struct stem_hit *v, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        struct stem_hit hit = v[i];
        if (kept == READ && best_first(&hit, &v[kept - 1]) > 0)
            continue;
        kept += kept < READ;
        size_t at = kept - 1;
        for (; at && best_first(&hit, &v[at - 1]) < 0; at--)
            v[at] = v[at - 1];
        v[at] = hit;
    }
    return kept;
}

/* The best READ documents that hold a stem, each once, with the worth of all that it holds; of
 * stems with more documents than are searched the commonest are skipped. The store takes at most
 * QUERY_WORDS_MAX stems, so more are searched in groups and summed up. */
static enum status search_stems(struct finder *f, const str *stems, size_t n, struct stem_hit **out,
                                size_t *n_out)
{
    size_t found = 0;
    struct stem_hit *v = NULL;
    if (n > QUERY_WORDS_MAX)
        TRY(store_ask_words(f->ctx, f->e->store, f->in->pool, stems, n, f->in->only.memories,
                            HITS_MAX));
    for (size_t at = 0; at < n; at += QUERY_WORDS_MAX) {
        size_t some = n - at < QUERY_WORDS_MAX ? n - at : QUERY_WORDS_MAX;
        double worths[QUERY_WORDS_MAX];
        struct word_hits hits;
        TRY(past_words(&f->past, f->in->only.memories, stems + at, some, HITS_MAX, &hits));
        int64_t all = hits.messages + hits.memories;
        for (size_t w = 0; w < some; w++)
            worths[w] = rank_idf(all, hits.found[w] == UINT32_MAX ? all : hits.found[w]);
        v = join_hits(&f->ctx->arena, v, &found, &hits, worths, some);
    }
    *n_out = put_best_first(v, found);
    *out = v;
    return OK;
}

/* In the order of the hits. A document that was erased meanwhile has an empty id. */
static enum status read_hits(struct finder *f, const struct stem_hit *hits, size_t n,
                             struct recalled **out)
{
    struct arena *a = &f->ctx->arena;
    doc_id *docs = NEW_N(a, doc_id, n + 1), *of_memories = NEW_N(a, doc_id, n + 1);
    struct message *messages = NEW_N(a, struct message, n + 1);
    struct memory *memories = NEW_N(a, struct memory, n + 1);
    *out = NEW_N(a, struct recalled, n + 1);
    size_t messages_n = 0, memories_n = 0, m = 0, k = 0;
    for (size_t i = 0; i < n; i++)
        if (doc_is_memory(hits[i].doc))
            of_memories[memories_n++] = hits[i].doc;
        else
            docs[messages_n++] = hits[i].doc;
    TRY(store_messages(f->ctx, f->e->store, f->in->pool, docs, messages_n, messages));
    TRY(past_memories(&f->past, of_memories, memories_n, memories));
    for (size_t i = 0; i < n; i++)
        (*out)[i] = doc_is_memory(hits[i].doc)
                        ? (struct recalled){.is_memory = true, .memory = memories[k++]}
                        : (struct recalled){.message = messages[m++]};
    return OK;
}

/* --- what was found --- */

/* What the question itself found surely, or another search of this file, is not given twice. */
static bool is_there(const struct finder *f, const struct added_lines *out,
                     const struct recalled *r)
{
    const struct recalled *same = recalled_find(f->found, f->n, r);
    bool is_sure = same && same->by && same->score >= f->e->settings->gate_threshold;
    return (is_sure && !out->is_alone) ||
           SOME(i, out->n,
                recalled_is(&out->v[i], r) || str_eq(found_text(&out->v[i]), found_text(r)));
}

/* "Choir has moved" tells nobody's home, unless the question speaks of what has moved. */
static uint32_t told_in(struct finder *f, const struct words *w, str text)
{
    uint32_t told = attributes_told(w);
    size_t thing = claim_moved_thing(w);
    if (thing < w->n) {
        struct words q = words_of(&f->ctx->arena, f->in->question, ASKED_WORDS);
        const struct words moved = {w->v, thing + 1};
        if (!SOME(i, q.n, !q.v[i].is_stop && words_have_stem(&moved, q.v[i].stem)))
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

static enum status take_told(struct finder *f, const struct wanted *want, struct strs stems,
                             struct taken *taken, struct added_lines *out)
{
    size_t n;
    struct stem_hit *hits;
    struct recalled *read;
    TRY(search_stems(f, stems.v, stems.n, &hits, &n));
    TRY(read_hits(f, hits, n, &read));
    for (size_t i = 0; i < n && taken->n < want->most; i++) {
        struct recalled *r = &read[i];
        bool far = is_far(f, want, r);
        if (far && taken->far == want->far)
            continue;
        r->part.telling = telling_in(f, want, told_text(f, r));
        if (!r->part.telling.n || is_there(f, out, r))
            continue;
        taken->tokens += tokens_of(found_text(r));
        if (want->tokens >= 0 && taken->tokens > want->tokens)
            break;
        r->score = f->e->settings->gate_threshold;
        r->why = want->why;
        r->origin = want->tokens >= 0 ? LINE_SIDE_NOTE : LINE_BY_ATTRIBUTE;
        out->v[out->n++] = *r;
        taken->n++;
        taken->far += far;
    }
    return OK;
}

/* Words that tell of it first; then what tells of it by its form, whose words are common. */
static enum status find_told(struct finder *f, const struct wanted *want, struct added_lines *out)
{
    struct arena *a = &f->ctx->arena;
    struct taken taken = {0};
    TRY(take_told(f, want, attributes_stems(a, want->attributes), &taken, out));
    struct strs sought = attributes_sought(a, want->attributes);
    return sought.n && taken.n < want->most ? take_told(f, want, sought, &taken, out) : OK;
}

/* --- what is wanted --- */

static str names_of(struct arena *a, uint32_t attributes)
{
    str all = S("");
    for (int i = 0; i < ATTRIBUTE_COUNT; i++)
        if (attributes & 1u << i)
            all = str_printf(a, S_FMT "%s%s", S_ARG(all), all.n ? ", " : "", attribute_names[i]);
    return all;
}

/* What bears on a request stands in front of the other lines (n_first), as a model must not miss an
 * allergy; behind it what tells of the attribute that is asked for. */
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
    if (!asked)
        return OK;
    str why = str_printf(a, "tells of what is asked for: " S_FMT, S_ARG(names_of(a, asked)));
    TRY(find_told(f, &(struct wanted){asked, GIVEN, -1, why}, out));
    if (out->n > out->n_first)
        out->reason = str_printf(a, "asks for " S_FMT, S_ARG(names_of(a, asked)));
    return OK;
}

/* --- what a name leads to --- */

/* Names that are followed, and documents with one that are looked at and read; words of a line. The
 * least worth of a line whose names are followed, and of what a name then leads to. */
enum { LEADS_MAX = 8, LEAD_HITS = 300, LEADS_READ = 4, LINE_WORDS = 120 };
static const double leading_worth = 0.1, led_worth = 0.05;

/* Names in lines that are probably needed, with the worth of these; the question says none. */
struct leads {
    str names[LEADS_MAX];
    double worth[LEADS_MAX];
    size_t n;
};

static void note_leads(struct arena *a, const struct words *asked, const struct recalled *r,
                       struct leads *out)
{
    const unsigned others = LEX_MONTH | LEX_MONTH_SHORT | LEX_WEEKDAY | LEX_SELF | LEX_SELF_TOO;
    struct words w = words_of(a, found_text(r), LINE_WORDS);
    for (const struct word *x = w.v; x < w.v + w.n && out->n < LEADS_MAX; x++) {
        bool is_known =
            words_have_stem(asked, x->stem) || SOME(i, out->n, str_eq(out->names[i], x->stem));
        if (!x->is_name || x->is_stop || x->stem.n < 3 || is_known || lexicon_is(x->text, others))
            continue;
        out->names[out->n] = x->stem;
        out->worth[out->n++] = r->measured.worth;
    }
}

/* The worth of the line that leads there, shared among all that its name leads to. */
static double worth_led(const struct leads *l, const struct word_hits *hits, const uint8_t *counts)
{
    double worth = 0;
    for (size_t i = 0; i < l->n; i++)
        if ((counts[i] & 15) && hits->found[i] > 1 && hits->found[i] != UINT32_MAX)
            worth = fmax(worth, l->worth[i] / (hits->found[i] - 1));
    return worth;
}

enum status name_lookup(struct finder *f, struct added_lines *out)
{
    struct arena *a = &f->ctx->arena;
    struct words asked = words_of(a, f->in->question, ASKED_WORDS);
    struct leads leads = {0};
    struct word_hits hits;
    struct recalled *read;
    size_t n = 0;
    *out = (struct added_lines){.v = NEW(a, struct recalled)};
    for (const struct recalled *r = f->found; r < f->found + f->n; r++)
        if (r->state == LINE_CHOSEN && r->by && r->measured.worth >= leading_worth &&
            (r->is_memory || str_is(r->message.role, "user")))
            note_leads(a, &asked, r, &leads);
    if (!leads.n)
        return OK;
    TRY(past_words(&f->past, f->in->only.memories, leads.names, leads.n, LEAD_HITS, &hits));
    struct stem_hit *v = ROOM_N(a, struct stem_hit, hits.n + 1);
    for (size_t i = 0; i < hits.n; i++) {
        v[n] = (struct stem_hit){hits.v[i].doc, worth_led(&leads, &hits, hits.v[i].counts)};
        n += v[n].worth >= led_worth;
    }
    n = put_best_first(v, n);
    TRY(read_hits(f, v, n < LEADS_READ ? n : LEADS_READ, &read));
    for (size_t i = 0; i < n && i < LEADS_READ && !out->n; i++) {
        const struct recalled *same = recalled_find(f->found, f->n, &read[i]);
        bool is_given =
            same && (same->state == LINE_CHOSEN || lines_is_again(f, (size_t)(same - f->found)));
        if (is_given || !told_text(f, &read[i]).n)
            continue;
        read[i].score = f->e->settings->gate_threshold;
        read[i].measured.worth = v[i].worth / 2;
        read[i].origin = LINE_BY_NAME;
        read[i].why = S("tells of a name in another line");
        out->v[out->n++] = read[i];
    }
    return OK;
}
