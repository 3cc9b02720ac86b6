/* stem_search.c - a search beside the question's own: what holds some stems, best first. */
#include "engine/recall/stem_search.h"

#include <stdlib.h>

#include "engine/recall/rank.h"

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

/* The sum of the idf of the stems that stand in the document; mentions (high bits) do not count. */
static double worth_of(const struct word_hit *hit, const struct word_hits *hits, size_t n)
{
    double worth = 0;
    int64_t all = hits->messages + hits->memories;
    for (size_t w = 0; w < n; w++)
        if (hit->counts[w] & 15)
            worth += rank_idf(all, hits->found[w] == UINT32_MAX ? all : hits->found[w]);
    return worth;
}

/* The store takes at most QUERY_WORDS_MAX stems, so more are searched in groups and summed up. *out
 * has each document once, best first. */
enum status stems_search(struct finder *f, const str *stems, size_t n, size_t most,
                         struct stem_hit **out, size_t *n_out)
{
    struct arena *a = &f->ctx->arena;
    size_t cap = 1, kept = 0;
    struct stem_hit *v = NEW_N(a, struct stem_hit, cap);
    *n_out = 0;
    for (size_t at = 0; at < n; at += QUERY_WORDS_MAX) {
        size_t some = n - at < QUERY_WORDS_MAX ? n - at : QUERY_WORDS_MAX;
        struct word_hits hits;
        TRY((f->in->memories_only ? store_search_memory_words
                                  : store_search_words)(f->ctx, f->e->store, f->in->pool,
                                                        stems + at, some, most, &hits));
        for (size_t i = 0; i < hits.n; i++) {
            v = arena_more(a, v, *n_out, &cap, sizeof *v);
            v[(*n_out)++] = (struct stem_hit){hits.v[i].doc, worth_of(&hits.v[i], &hits, some)};
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
