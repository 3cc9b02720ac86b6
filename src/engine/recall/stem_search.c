/* stem_search.c - a search beside the question's own: what holds some stems, best first. */
#include "engine/recall/stem_search.h"

#include "engine/text/rank.h"

/* Of equal worth the newest first. */
ORDER(best_first, struct stem_hit, DOWN(worth) ?: DOWN(doc));

static void weigh_stems(const struct word_hits *hits, size_t n, double *worth)
{
    int64_t all = hits->messages + hits->memories;
    for (size_t w = 0; w < n; w++)
        worth[w] = rank_idf(all, hits->found[w] == UINT32_MAX ? all : hits->found[w]);
}

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

/* The documents of one more search beside those of others, both ascending: each once, with the sum
 * of its worths. */
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
    size_t found = 0;
    struct stem_hit *v = NULL;
    if (n > QUERY_WORDS_MAX)
        TRY(store_ask_words(f->ctx, f->e->store, f->in->pool, stems, n, f->in->only.memories,
                            most.searched));
    for (size_t at = 0; at < n; at += QUERY_WORDS_MAX) {
        size_t some = n - at < QUERY_WORDS_MAX ? n - at : QUERY_WORDS_MAX;
        double worths[QUERY_WORDS_MAX];
        struct word_hits hits;
        TRY(past_words(f->ctx, f->e, f->in->pool, &f->past, f->in->only.memories, stems + at, some,
                       most.searched, &hits));
        weigh_stems(&hits, some, worths);
        v = join_hits(a, v, &found, &hits, worths, some);
    }
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
