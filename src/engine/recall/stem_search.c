/* stem_search.c - a search beside the question's own: what holds some stems, best first. */
#include "engine/recall/stem_search.h"

#include <assert.h>
#include <stdlib.h>

#include "engine/text/rank.h"

/* Of equal worth the newest first. */
static int best_first(const void *a, const void *b)
{
    const struct stem_hit *x = a, *y = b;
    if (x->worth != y->worth)
        return x->worth < y->worth ? 1 : -1;
    return (x->doc < y->doc) - (x->doc > y->doc);
}

static int by_doc(const void *a, const void *b)
{
    const struct stem_hit *x = a, *y = b;
    return (x->doc > y->doc) - (x->doc < y->doc);
}

static void weigh_stems(const struct word_hits *hits, size_t n, double *worth)
{
    int64_t all = hits->messages + hits->memories;
    for (size_t w = 0; w < n; w++)
        worth[w] = rank_idf(all, hits->found[w] == UINT32_MAX ? all : hits->found[w]);
}

/* The sum of the idf of the stems that stand in the document; mentions (high bits) do not count. */
static double worth_of(const struct word_hit *hit, const double *worths, size_t n)
{
    double worth = 0;
    for (size_t w = 0; w < n; w++)
        if (hit->counts[w] & 15)
            worth += worths[w];
    return worth;
}

/* Each document once: of several searches their worths are added. One search gives each once. */
static size_t join_same(struct stem_hit *v, size_t n)
{
    size_t kept = 0;
    if (n)
        qsort(v, n, sizeof *v, by_doc);
    for (size_t i = 0; i < n; i++) {
        if (kept && v[kept - 1].doc == v[i].doc)
            v[kept - 1].worth += v[i].worth;
        else
            v[kept++] = v[i];
    }
    return kept;
}

/* The best `most` in front and in order: few of many are read. */
static size_t put_best_first(struct stem_hit *v, size_t n, size_t most)
{
    size_t kept = 0;
    assert(most);
    for (size_t i = 0; i < n; i++) {
        struct stem_hit hit = v[i];
        if (kept == most && best_first(&hit, &v[kept - 1]) > 0)
            continue;
        kept += kept < most;
        size_t at = kept - 1;
        for (; at && best_first(&hit, &v[at - 1]) < 0; at--)
            v[at] = v[at - 1];
        v[at] = hit;
    }
    return kept;
}

/* The store takes at most QUERY_WORDS_MAX stems, so more are searched in groups and summed up. *out
 * has each document once, best first. */
enum status stems_search(struct finder *f, const str *stems, size_t n, struct stem_bounds most,
                         struct stem_hit **out, size_t *n_out)
{
    struct arena *a = &f->ctx->arena;
    size_t cap = 1, found = 0;
    struct stem_hit *v = NEW_N(a, struct stem_hit, cap);
    for (size_t at = 0; at < n; at += QUERY_WORDS_MAX) {
        size_t some = n - at < QUERY_WORDS_MAX ? n - at : QUERY_WORDS_MAX;
        double worths[QUERY_WORDS_MAX];
        struct word_hits hits;
        TRY(past_words(f->ctx, f->e, f->in->pool, &f->past, f->in->memories_only, stems + at, some,
                       most.searched, &hits));
        weigh_stems(&hits, some, worths);
        for (size_t i = 0; i < hits.n; i++) {
            v = arena_more(a, v, found, &cap, sizeof *v);
            v[found++] = (struct stem_hit){hits.v[i].doc, worth_of(&hits.v[i], worths, some)};
        }
    }
    if (n > QUERY_WORDS_MAX)
        found = join_same(v, found);
    *n_out = put_best_first(v, found, most.given);
    *out = v;
    return OK;
}

/* In the order of the hits. A document that was erased meanwhile has an empty id. */
enum status stems_read(struct finder *f, const struct stem_hit *hits, size_t n,
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
    TRY(past_memories(f->ctx, f->e, f->in->pool, &f->past, docs, memories_n, memories));
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
