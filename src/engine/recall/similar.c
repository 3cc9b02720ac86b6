/* similar.c - memories by likeness to a text: cosines, words and recall as one measure. */
#include <math.h>

#include "engine/recall/candidates.h"
#include "engine/state/state.h"
#include "engine/text/attributes.h"
#include "engine/text/lexicon.h"
#include "engine/text/rank.h"
#include "engine/vectors/embed_queue.h"
#include "words/words.h"

/* Memories that are counted; the nearest that are looked at first, how many times as many next, and
 * where that ends; how many are read at once. */
enum { MOST = 1000, NEAREST = 100, WIDEN = 4, NEAREST_MAX = 12800, PAGE = 200 };
enum { HITS_MAX = 100000, CATCH_UP = 64, RANKED = 100, QUESTION_WORDS = 100 };

/*
 * The interfaces that search by similarity have defaults of 0.6 and 0.7, made for the cosines of
 * great models. A question shares few words with its answer, and a small model gives the two a
 * cosine of 0.4. So what recall is sure of counts as more than the defaults, and what recall is not
 * sure of as less. Sure is twice what a chat's gate asks. Of a question about the user it is once,
 * for what holds half of the question: other questions may be about anything. The encoder knows
 * what a question is about, so with it it is once, too.
 */
static const double sure_alike = 0.7, unsure_alike = 0.55, sure_gates = 2;

/* In a small pool recall is sure enough for a chat of the only memory with a word of the question.
 * Alike is only what holds this share of the question's weight, or is close to it in meaning. */
static const double least_share = 0.3, half_share = 0.45;

/* --- candidates --- */

struct likely {
    doc_id doc;
    double similarity;
};

struct looking {
    struct ctx *ctx;
    struct engine *e;
    const struct similar_in *in;
    struct recall_in ask; /* the same as a question */
    struct finder finder;
    bool is_about_user;   /* the question says "my", "we", "ich" */
    struct likely *words; /* by doc */
    size_t n_words;
    struct likely *all; /* the most alike first, and the latest of those that are equally alike */
    size_t n, cap;
    struct similar *found;
    size_t n_found;
};

/* Three sources fill two lists: words (by document) gets the share of the text's weight and what
 * recall is sure of, all gets the nearest by vectors; a memory in both has the greater similarity.
 * The lists are then read in order of similarity until MOST may be shown. Where many of the nearest
 * may not be shown, the search widens by WIDEN. */
ORDER(by_doc, struct likely, UP(doc));

ORDER(most_alike, struct likely, DOWN(similarity) ?: DOWN(doc));

/* Never at 0: add_rest lists those, where the caller asks for them. */
static bool is_alike(const struct looking *l, double similarity)
{
    return similarity > 0 && similarity >= l->in->least;
}

/* The share of the text's weight whose words a memory holds. A word that no memory holds weighs
 * like the rarest: a question about something else that is asked in the same words is not alike. */
static enum status look_by_words(struct looking *l)
{
    const struct query q = l->finder.asked.query;
    struct word_hits hits;
    double weights[QUERY_WORDS_MAX], all = 0;
    TRY(store_search_words(l->ctx, l->e->store, l->in->pool, q.stems, q.n, true, HITS_MAX, &hits));
    for (size_t w = 0; w < q.n; w++) {
        bool is_left_out = hits.found[w] == UINT32_MAX;
        int64_t found = hits.found[w] ? hits.found[w] : 1;
        all += weights[w] = is_left_out ? 0 : rank_idf(hits.memories, found);
    }
    l->words = NEW_N(&l->ctx->arena, struct likely, hits.n + 1);
    for (size_t i = 0; i < hits.n; i++) {
        double held = 0;
        for (size_t w = 0; w < q.n; w++)
            held += hits.v[i].counts[w] ? weights[w] : 0;
        double share = all > 0 ? held / all : 0;
        l->words[l->n_words++] = (struct likely){hits.v[i].doc, share < 1 ? share : 1};
    }
    return OK;
}

/* Maps recall's probability to the scale that clients expect: below what is enough to less than
 * unsure_alike, from there on to sure_alike and up to 1. */
static double alike_when_sure(const struct looking *l, double sure, double share)
{
    bool is_half = l->is_about_user && share >= half_share;
    double gates = is_half || weights_by_encoder(l->finder.how.weighed) ? 1 : sure_gates;
    double enough = fmin(gates * l->e->settings->gate_threshold, 1);
    if (sure < enough)
        return unsure_alike * sure / enough;
    return enough < 1 ? sure_alike + (1 - sure_alike) * (sure - enough) / (1 - enough) : sure_alike;
}

/* The entry of a document that the words found, or NULL. */
static struct likely *worded(const struct looking *l, doc_id doc)
{
    struct likely key = {.doc = doc};
    return l->n_words ? bsearch(&key, l->words, l->n_words, sizeof key, by_doc) : NULL;
}

/* Whether half of the question's words name the attribute that it asks for: "Is my cat allergic to
 * chicken?" asks for something else, too. */
static bool asks_attribute(const struct looking *l)
{
    struct arena *a = &l->ctx->arena;
    const struct query *q = &l->finder.asked.query;
    size_t named = 0;
    struct strs stems = attributes_stems(a, attributes_asked(a, l->in->query));
    for (size_t w = 0; w < q->n; w++)
        named += strs_have(&stems, q->stems[w]);
    return named && 2 * named >= q->n;
}

/* Sorted by document, the greater similarity of two. */
static size_t each_once(struct likely *v, size_t n)
{
    size_t kept = 0;
    SORT(v, n, by_doc);
    for (size_t i = 0; i < n; i++) {
        if (kept && v[kept - 1].doc == v[i].doc)
            v[kept - 1].similarity = fmax(v[kept - 1].similarity, v[i].similarity);
        else
            v[kept++] = v[i];
    }
    return kept;
}

/* Raises what recall is surer of than the shared words show, and what a chat is given in whatever
 * words, as it tells of what is asked for. */
static enum status look_by_recall(struct looking *l)
{
    struct finder *f = &l->finder;
    struct recall_in chat = l->ask;
    struct recall_out given;
    size_t n = l->n_words;
    if (!f->asked.query.n)
        return OK;
    chat.gate = true;
    chat.budget_tokens = -1;
    TRY(find_recalled(l->ctx, l->e, &chat, &given));
    TRY(find_answers(f, RANKED));
    struct likely *v = l->words = DUP_N(&l->ctx->arena, l->words, n, n + f->n + given.n + 1);
    for (size_t i = 0; i < f->n; i++) {
        const struct recalled *r = &f->found[i];
        const struct likely *known = worded(l, r->memory.doc);
        double share = known ? known->similarity : 0;
        /* A cosine counts as it is. */
        bool is_cosine = !weights_by_encoder(f->how.weighed) && r->score <= r->measured.cosine;
        if (!is_cosine && (r->by->dense >= FOUND_CLOSE || share >= least_share))
            v[n++] = (struct likely){r->memory.doc, alike_when_sure(l, r->score, share)};
    }
    for (size_t i = 0; asks_attribute(l) && i < given.n; i++)
        if (given.v[i].state == LINE_INJECTED && given.v[i].origin == LINE_BY_ATTRIBUTE)
            v[n++] = (struct likely){given.v[i].memory.doc, sure_alike};
    l->n_words = each_once(v, n);
    return OK;
}

/* Similarities of rounding errors over 1 are 1. */
static void add(struct looking *l, doc_id doc, double similarity)
{
    ARENA_ADD(&l->ctx->arena, l->all, l->n, l->cap) =
        (struct likely){doc, similarity < 1 ? similarity : 1};
}

/* Puts the nearest beside what the words found; *more: others may be near enough. A failure changes
 * neither. */
static enum status look_by_vectors(struct looking *l, const struct question_vector *q,
                                   size_t nearest, bool *more)
{
    size_t n = l->n_words < MOST ? l->n_words : MOST, near = 0;
    doc_id *also = NEW_N(&l->ctx->arena, doc_id, n + 1);
    struct vector_hits hits;
    bool is_all_alike = true;
    for (size_t i = 0; i < n; i++)
        also[i] = l->words[l->n_words - n + i].doc;
    const struct vector_find f = {.pool = l->in->pool,
                                  .signature = q->signature,
                                  .v = q->v,
                                  .dimensions = q->dimensions,
                                  .nearest = nearest,
                                  .memories = true,
                                  .also = also,
                                  .n_also = n};
    TRY(store_search_vectors(l->ctx, l->e->store, &f, &hits));
    for (size_t i = 0; i < hits.n; i++) {
        double cosine = (double)hits.v[i].cosine;
        struct likely *known = worded(l, hits.v[i].doc);
        near += hits.v[i].is_near;
        is_all_alike &= !hits.v[i].is_near || is_alike(l, cosine);
        if (known)
            known->similarity = cosine > known->similarity ? cosine : known->similarity;
        else if (is_alike(l, cosine))
            add(l, hits.v[i].doc, cosine);
    }
    *more = is_all_alike && near >= nearest;
    return OK;
}

/* --- those that may be found --- */

/* Only what may be shown counts towards the total. */
static void show(struct looking *l, const struct memory *m, double similarity)
{
    struct recalled r = {.is_memory = true, .memory = *m};
    assert(l->n_found < MOST);
    if (find_shows(&l->finder, &r))
        l->found[l->n_found++] = (struct similar){r.memory, similarity};
}

/* PAGE memories at once, in the order of similarity, until MOST may be shown. */
static enum status read(struct looking *l)
{
    doc_id docs[PAGE];
    l->n_found = 0;
    SORT(l->all, l->n, most_alike);
    for (size_t from = 0; from < l->n && l->n_found < MOST; from += PAGE) {
        size_t n = l->n - from < PAGE ? l->n - from : PAGE;
        struct memory *page = NEW_N(&l->ctx->arena, struct memory, PAGE);
        for (size_t i = 0; i < n; i++)
            docs[i] = l->all[from + i].doc;
        TRY(store_memories(l->ctx, l->e->store, l->in->pool, docs, n, page));
        for (size_t i = 0; i < n && l->n_found < MOST; i++)
            show(l, &page[i], l->all[from + i].similarity);
    }
    return OK;
}

/* Without a vector of the text the words are all there is. */
static enum status look(struct looking *l)
{
    struct question_vector q;
    bool more = true;
    vectors_catch_up(l->ctx, l->e, l->in->pool, CATCH_UP);
    vectors_of_question(l->ctx, l->e, l->in->pool, l->in->query, &q);
    for (size_t nearest = NEAREST; more && nearest < NEAREST_MAX; nearest *= WIDEN) {
        l->n = 0;
        more = false;
        if (q.v)
            soft(l->ctx, look_by_vectors(l, &q, nearest, &more));
        for (size_t i = 0; i < l->n_words; i++)
            if (is_alike(l, l->words[i].similarity))
                add(l, l->words[i].doc, l->words[i].similarity);
        TRY(read(l));
        more &= l->n_found < MOST;
    }
    return OK;
}

/* Nothing is less alike than 0: then those that have nothing in common follow, the newest first. */
static enum status add_rest(struct looking *l)
{
    struct memory *v;
    size_t n, found = l->n_found;
    const struct memory_filter f = {.pool = l->in->pool, .after = l->in->after, .limit = MOST};
    if (l->in->least > 0 || found == MOST)
        return OK;
    TRY(store_list_memories(l->ctx, l->e->store, &f, &v, &n, NULL));
    for (size_t i = 0; i < n && l->n_found < MOST; i++)
        if (!SOME(k, found, l->found[k].memory.doc == v[i].doc))
            show(l, &v[i], 0);
    return OK;
}

ORDER(newest_of_alike, struct similar,
      DOWN(similarity) ?: DOWN(memory.created) ?: DOWN(memory.doc));

enum status engine_similar(struct ctx *ctx, struct engine *e, const struct similar_in *in,
                           struct similar **out, size_t *n, int64_t *total)
{
    struct looking l = {.ctx = ctx,
                        .e = e,
                        .in = in,
                        .ask = {.pool = in->pool,
                                .question = in->query,
                                .only.memories = true,
                                .only.after = in->after},
                        .found = NEW_N(&ctx->arena, struct similar, MOST)};
    engine_catch_up(ctx, e, in->pool);
    STORE_VIEW(view, ctx, e->store);
    TRY(find_open(ctx, e, &l.ask, &l.finder));
    struct words asked = words_of(&ctx->arena, in->query, QUESTION_WORDS);
    l.is_about_user = lexicon_in(&asked, LEX_SELF | LEX_SELF_TOO);
    TRY(look_by_words(&l));
    TRY(look_by_recall(&l));
    TRY(look(&l));
    TRY(add_rest(&l));
    SORT(l.found, l.n_found, newest_of_alike);
    size_t from = in->offset < l.n_found ? in->offset : l.n_found;
    *out = l.found + from;
    *n = 0;
    for (size_t i = from; i < l.n_found && i - from < in->limit; i++)
        if (engine_memory_for_model(ctx, e, in->pool, &l.found[i].memory))
            (*out)[(*n)++] = l.found[i];
    *total = (int64_t)l.n_found;
    return OK;
}
