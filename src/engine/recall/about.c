/* about.c - what the user told of an attribute that a question asks for, in whatever words. */
#include "engine/recall/about.h"

#include <stdlib.h>

#include "core/tokens.h"
#include "engine/recall/given.h"
#include "engine/recall/rank.h"
#include "engine/recall/subject.h"
#include "engine/text/attributes.h"

/* Documents taken from the index for each search, read of them, given; a message longer than that
 * (bytes) tells of more than itself. */
enum { HITS_MAX = 4000, READ = 40, GIVEN = 6, GIVEN_HEALTH = 3, GIVEN_ADVICE = 4, LONG = 600 };

/* Tokens of what is given beside a request for advice. */
enum { ADVICE_TOKENS = 60 };

struct wanted {
    uint32_t attributes;
    size_t most;
    int64_t tokens; /* < 0: no bound */
    str why;
};

struct hit {
    doc_id doc;
    double worth;
};

static int best_first(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;
    if (x->worth != y->worth)
        return x->worth < y->worth ? 1 : -1;
    return (x->doc < y->doc) - (x->doc > y->doc);
}

static int by_doc(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;
    return (x->doc > y->doc) - (x->doc < y->doc);
}

static double worth_of(const struct word_hit *hit, const struct word_hits *hits, size_t n)
{
    double worth = 0;
    int64_t all = hits->messages + hits->memories;
    for (size_t w = 0; w < n; w++)
        if (hit->counts[w] & 15)
            worth += rank_idf(all, hits->found[w] == UINT32_MAX ? all : hits->found[w]);
    return worth;
}

/* One document for each that holds a word, with the worth of all of its words. */
static enum status search_stems(struct finder *f, const str *stems, size_t n, struct hit **out,
                                size_t *n_out)
{
    struct arena *a = &f->ctx->arena;
    size_t cap = 1, kept = 0;
    struct hit *v = NEW_N(a, struct hit, cap);
    *n_out = 0;
    for (size_t at = 0; at < n; at += QUERY_WORDS_MAX) {
        size_t some = n - at < QUERY_WORDS_MAX ? n - at : QUERY_WORDS_MAX;
        struct word_hits hits;
        TRY((f->in->memories_only ? store_search_memory_words
                                  : store_search_words)(f->ctx, f->e->store, f->in->pool,
                                                        stems + at, some, HITS_MAX, &hits));
        for (size_t i = 0; i < hits.n; i++) {
            v = arena_more(a, v, *n_out, &cap, sizeof *v);
            v[(*n_out)++] = (struct hit){hits.v[i].doc, worth_of(&hits.v[i], &hits, some)};
        }
    }
    if (*n_out)
        qsort(v, *n_out, sizeof *v, by_doc);
    for (size_t i = 0; i < *n_out; i++) {
        if (kept && v[kept - 1].doc == v[i].doc)
            v[kept - 1].worth += v[i].worth;
        else
            v[kept++] = v[i];
    }
    if (kept)
        qsort(v, kept, sizeof *v, best_first);
    *n_out = kept;
    *out = v;
    return OK;
}

/* --- what was found --- */

static bool is_there(const struct finder *f, const struct about *out, const struct recalled *r)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->found[i].is_memory == r->is_memory &&
            (r->is_memory ? str_eq(f->found[i].memory.id, r->memory.id)
                          : str_eq(f->found[i].message.id, r->message.id)))
            return f->found[i].score >= f->e->settings->gate_threshold;
    for (size_t i = 0; i < out->n; i++)
        if (str_eq(found_text(&out->v[i]), found_text(r)))
            return true;
    return false;
}

/* Whether a text tells of what is wanted, of the one whom the question is about. */
static bool tells_of(struct finder *f, const struct wanted *want, str text)
{
    enum { WORDS = 120 };
    /* One's boss is another word for one's manager, and not another subject. */
    bool is_role = want->attributes & (ATTRIBUTE_BIT(boss) | ATTRIBUTE_BIT(doctor));
    struct words w = words_of(&f->ctx->arena, text, WORDS);
    return text.n && text.n <= LONG && (attributes_told(&w) & want->attributes) &&
           subject_fits(&f->ctx->arena, f->in->question, text, is_role || want->tokens >= 0);
}

static bool is_told(struct finder *f, const struct wanted *want, struct recalled *r)
{
    if (r->is_memory)
        return find_wants(f->in, &f->bars, NULL, &r->memory) && r->memory.origin != ORIGIN_TOOL &&
               (r->memory.layer == LAYER_FACT || r->memory.layer == LAYER_IDENTITY) &&
               tells_of(f, want, r->memory.content);
    if (!r->message.id.n || !str_is(r->message.role, "user") || r->message.speaker.n ||
        !find_wants(f->in, &f->bars, &r->message, NULL))
        return false;
    r->given = found_given(f, &r->message).text;
    return tells_of(f, want, r->given);
}

static enum status read_hits(struct finder *f, const struct hit *hits, size_t n,
                             struct recalled **out)
{
    struct arena *a = &f->ctx->arena;
    doc_id *docs = NEW_N(a, doc_id, n + 1);
    struct message *messages = NEW_N(a, struct message, n + 1);
    struct memory *memories = NEW_N(a, struct memory, n + 1);
    *out = NEW_N(a, struct recalled, n + 1);
    size_t messages_n = 0, memories_n = 0, m = 0, k = 0;
    for (size_t i = 0; i < n; i++)
        if (!doc_is_memory(hits[i].doc))
            docs[messages_n++] = hits[i].doc;
    TRY(store_messages(f->ctx, f->e->store, f->in->pool, docs, messages_n, messages));
    for (size_t i = 0; i < n; i++)
        if (doc_is_memory(hits[i].doc))
            docs[memories_n++] = hits[i].doc;
    TRY(store_memories(f->ctx, f->e->store, f->in->pool, docs, memories_n, memories));
    for (size_t i = 0; i < n; i++) {
        bool is_memory = doc_is_memory(hits[i].doc);
        (*out)[i].is_memory = is_memory;
        if (is_memory)
            (*out)[i].memory = memories[k++];
        else
            (*out)[i].message = messages[m++];
    }
    return OK;
}

static enum status find_told(struct finder *f, const struct wanted *want, struct about *out)
{
    size_t n_stems, n, taken = 0;
    struct hit *hits;
    struct recalled *read;
    int64_t tokens = 0;
    const str *stems = attributes_stems(&f->ctx->arena, want->attributes, &n_stems);
    TRY(search_stems(f, stems, n_stems, &hits, &n));
    n = n < READ ? n : READ;
    TRY(read_hits(f, hits, n, &read));
    for (size_t i = 0; i < n && taken < want->most; i++) {
        struct recalled *r = &read[i];
        if (!is_told(f, want, r) || is_there(f, out, r))
            continue;
        tokens += tokens_of(found_text(r));
        if (want->tokens >= 0 && tokens > want->tokens)
            break;
        r->score = f->e->settings->gate_threshold;
        r->why = want->why;
        out->v[out->n++] = *r;
        taken++;
    }
    return OK;
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

enum status about_find(struct finder *f, struct about *out)
{
    struct arena *a = &f->ctx->arena;
    str question = f->in->question;
    uint32_t personal = ATTRIBUTE_BIT(home) | ATTRIBUTE_BIT(diet) | ATTRIBUTE_BIT(children) |
                        ATTRIBUTE_BIT(marriage) | ATTRIBUTE_BIT(job) | ATTRIBUTE_BIT(wishes);
    *out = (struct about){0};
    if (!f->in->gate || f->in->turns_only || f->in->strategy == STRATEGY_RECENT)
        return OK;
    struct bearing bears = bearing_of(a, question);
    uint32_t asked = attributes_asked(a, question);
    if (!asked && !bears.on_health && !bears.on_advice)
        return OK;
    out->v = NEW_N(a, struct recalled, GIVEN_HEALTH + GIVEN_ADVICE + GIVEN + 1);
    out->reason = S("facts that bear on the request");
    if (bears.on_health || bears.on_advice)
        TRY(find_told(f,
                      &(struct wanted){ATTRIBUTE_BIT(health) | ATTRIBUTE_BIT(diet), GIVEN_HEALTH,
                                       4 * ADVICE_TOKENS, S("health and safety bear on it")},
                      out));
    if (bears.on_advice)
        TRY(find_told(f,
                      &(struct wanted){personal, GIVEN_ADVICE, ADVICE_TOKENS,
                                       S("it bears on a request for advice")},
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
