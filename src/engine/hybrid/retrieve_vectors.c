/* retrieve_vectors.c - memories by vectors: Qdrant where it is used, else our own. */
#include <math.h>

#include "embed/embed.h"
#include "engine/hybrid/hybrid.h"
#include "engine/vectors/qdrant_sync.h"

enum {
    CATCH_UP = 64,      /* memories without a vector that get one before the search */
    WIDEN = 4,          /* times as many are read when too few of the nearest may be found */
    NEAREST_MAX = 10000 /* where widening ends */
};

/* A text at a right angle to the question is not near, however few texts the pool has. */
static const float least_cosine = 1e-4f;

/* With vectors for less than this share of the texts, vectors alone would hide the other texts. */
static const double enough_vectors = 0.9;

static int nearest_first(const void *a, const void *b)
{
    const struct retrieved *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return (x->memory.doc < y->memory.doc) - (x->memory.doc > y->memory.doc);
}

static void add_memory(struct retrieval *r, struct ranking *to, size_t *cap, const struct memory *m,
                       double score, const char *tier)
{
    to->v = arena_more(&r->ctx->arena, to->v, to->n, cap, sizeof *to->v);
    to->v[to->n++] = (struct retrieved){
        .memory = *m, .score = score, .tier = tier, .vector_score = score, .words_score = NAN};
}

/* --- Qdrant --- */

static enum status read_hit(struct retrieval *r, const struct engine_hit *hit, struct memory *out)
{
    enum status s = store_memory(r->ctx, r->e->store, r->whose, hit->id, out);
    if (!soft_if(r->ctx, s, NOT_FOUND))
        return s;
    *out = (struct memory){0};
    return OK;
}

/* As many as are wanted, or all that Qdrant has. The store decides which of them may be found, as
 * Qdrant follows it with a delay. */
static enum status ask_qdrant(struct retrieval *r, struct embedding *by, struct ranking *out)
{
    str session = r->in->scope == SCOPE_SESSION ? r->in->session : S("");
    for (size_t limit = r->nearest;; limit *= WIDEN) {
        struct engine_hit *hits;
        struct ranking found = {0};
        struct memory m;
        size_t n, cap = 0;
        TRY(mirror_search(r->ctx, r->e, r->whose, session, r->query, limit, by, &hits, &n));
        for (size_t i = 0; i < n && found.n < r->nearest; i++) {
            TRY(read_hit(r, &hits[i], &m));
            if (hits[i].score > 0 && retrieval_wants(r, &m))
                add_memory(r, &found, &cap, &m, hits[i].score, "qdrant");
        }
        *out = found;
        if (found.n == r->nearest || n < limit || limit >= NEAREST_MAX)
            return OK;
    }
}

static struct ranking by_qdrant(struct retrieval *r, struct retrieve_out *out)
{
    struct ranking found = {0};
    struct embedding by = {0};
    if (ask_qdrant(r, &by, &found) != OK) {
        retrieval_survive(r, "Qdrant");
        return (struct ranking){0};
    }
    if (!found.n) {
        retrieval_note(r, "Qdrant: it found nothing that may be shown");
        return found;
    }
    out->source = embed_source_names[by.source];
    out->model = by.model;
    out->store = "qdrant";
    return found;
}

/* With the setting auto, Qdrant is not asked while its circuit is open or its settings are not
 * complete; the fallback says so. */
static void say_why_unused(struct retrieval *r)
{
    struct engine_status status = {0};
    bool is_wanted = r->runtime->qdrant.enabled && r->runtime->memory.vector_store == VECTORS_AUTO;
    if (!is_wanted)
        return;
    mirror_status(r->ctx, r->e, false, &status);
    str why = status.qdrant.error;
    retrieval_note(r, "Qdrant: " S_FMT, S_ARG(why.n ? why : S("it has failed a moment ago")));
}

/* --- our own --- */

/* "static:potion-base-8M:256": the name of the source and of its model. */
static void name_source(str signature, struct retrieve_out *out)
{
    str model = signature, source = str_cut(&model, ':');
    while (model.n && model.p[model.n - 1] != ':')
        model.n--;
    int named = name_index(embed_source_names, source, -1);
    if (named >= 0)
        out->source = embed_source_names[named];
    out->model = str_sub(model, 0, model.n ? model.n - 1 : 0);
    out->store = "sqlite-vec";
}

/* The near ones of hits that may be found. */
static enum status read_near(struct retrieval *r, struct pool_ref pool,
                             const struct vector_hits *hits, struct ranking *out)
{
    struct arena *a = &r->ctx->arena;
    doc_id *docs = NEW_N(a, doc_id, hits->n + 1);
    double *cosines = NEW_N(a, double, hits->n + 1);
    struct memory *read = NEW_N(a, struct memory, hits->n + 1);
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < hits->n; i++) {
        if (!hits->v[i].is_near || hits->v[i].cosine < least_cosine)
            continue;
        docs[n] = hits->v[i].doc;
        cosines[n++] = (double)hits->v[i].cosine;
    }
    *out = (struct ranking){0};
    TRY(store_memories(r->ctx, r->e->store, pool, docs, n, read));
    for (size_t i = 0; i < n; i++)
        if (retrieval_wants(r, &read[i]))
            add_memory(r, out, &cap, &read[i], cosines[i], "vector");
    return OK;
}

static int by_doc(const void *a, const void *b)
{
    const struct vector_hit *x = a, *y = b;
    return (x->doc > y->doc) - (x->doc < y->doc);
}

/* When only few memories of a large pool may be found (one type, one session), the vectors of these
 * are compared, the newest first. Widening through all others would take seconds. */
static enum status search_wanted(struct retrieval *r, struct pool_ref pool,
                                 const struct question_vector *q, struct ranking *out,
                                 struct vector_hits *hits)
{
    struct memory_filter wanted = {.pool = pool,
                                   .type = r->in->type,
                                   .session =
                                       r->in->scope == SCOPE_SESSION ? r->in->session : S(""),
                                   .after = r->after,
                                   .limit = NEAREST_MAX};
    struct memory *v;
    size_t n, cap = 0;
    TRY(store_list_memories(r->ctx, r->e->store, &wanted, &v, &n, NULL));
    doc_id *docs = NEW_N(&r->ctx->arena, doc_id, n + 1);
    for (size_t i = 0; i < n; i++)
        docs[i] = v[i].doc;
    struct vector_find f = {.pool = pool,
                            .signature = q->signature,
                            .v = q->v,
                            .dimensions = q->dimensions,
                            .also = docs,
                            .n_also = n};
    TRY(store_search_vectors(r->ctx, r->e->store, &f, hits));
    *out = (struct ranking){0};
    for (size_t i = 0; i < n && hits->n; i++) {
        struct vector_hit key = {.doc = v[i].doc};
        const struct vector_hit *hit = bsearch(&key, hits->v, hits->n, sizeof key, by_doc);
        if (hit && hit->cosine >= least_cosine && retrieval_wants(r, &v[i]))
            add_memory(r, out, &cap, &v[i], (double)hit->cosine, "vector");
    }
    return OK;
}

/* As many of a pool as are wanted, or all that have a vector. */
static enum status search_pool(struct retrieval *r, struct pool_ref pool,
                               const struct question_vector *q, struct ranking *out,
                               struct vector_hits *hits)
{
    for (size_t nearest = r->nearest; nearest < NEAREST_MAX; nearest *= WIDEN) {
        struct vector_find f = {.pool = pool,
                                .signature = q->signature,
                                .v = q->v,
                                .dimensions = q->dimensions,
                                .nearest = nearest,
                                .memories = true};
        TRY(store_search_vectors(r->ctx, r->e->store, &f, hits));
        TRY(read_near(r, pool, hits, out));
        if (out->n >= r->nearest || hits->n < nearest)
            return OK;
    }
    return search_wanted(r, pool, q, out, hits);
}

static void say_why_none(struct retrieval *r, int64_t vectors, int64_t waiting)
{
    if (waiting)
        retrieval_note(r, "vectors: %lld texts here wait for theirs", (long long)waiting);
    else if (!vectors)
        retrieval_note(r, "vectors: this space has none");
    else
        retrieval_note(r, "vectors: none is near the query");
}

static enum status search_all(struct retrieval *r, const struct question_vector *q,
                              struct ranking *out)
{
    size_t cap = 0;
    int64_t vectors = 0, waiting = 0;
    *out = (struct ranking){0};
    for (size_t i = 0; i < r->n_pools; i++) {
        struct ranking near;
        struct vector_hits hits;
        TRY(search_pool(r, r->pools[i], q, &near, &hits));
        vectors += hits.vectors;
        waiting += hits.waiting;
        for (size_t k = 0; k < near.n; k++) {
            out->v = arena_more(&r->ctx->arena, out->v, out->n, &cap, sizeof *out->v);
            out->v[out->n++] = near.v[k];
        }
    }
    if (out->n)
        qsort(out->v, out->n, sizeof *out->v, nearest_first);
    else
        say_why_none(r, vectors, waiting);
    out->n = out->n < r->nearest ? out->n : r->nearest;
    r->is_partial = (double)vectors < enough_vectors * (double)(vectors + waiting);
    if (out->n && r->is_partial)
        retrieval_note(r, "vectors: %lld texts here wait for theirs", (long long)waiting);
    return OK;
}

static struct ranking by_own(struct retrieval *r, struct retrieve_out *out)
{
    struct question_vector q;
    struct ranking found;
    size_t share = r->n_pools ? CATCH_UP / r->n_pools : 0;
    for (size_t i = 0; i < r->n_pools && i < CATCH_UP; i++)
        vectors_catch_up(r->ctx, r->e, r->pools[i], share ? share : 1);
    vectors_of_question(r->ctx, r->e, r->query, &q);
    if (!q.v) {
        retrieval_note(r, "vectors: " S_FMT, S_ARG(q.without));
        return (struct ranking){0};
    }
    if (search_all(r, &q, &found) != OK) {
        retrieval_survive(r, "vectors");
        return (struct ranking){0};
    }
    if (found.n)
        name_source(q.signature, out);
    return found;
}

struct ranking retrieve_by_vectors(struct retrieval *r, struct retrieve_out *out)
{
    struct ranking found = {0};
    if (mirror_is_used(r->e))
        found = by_qdrant(r, out);
    else
        say_why_unused(r);
    return found.n ? found : by_own(r, out);
}
