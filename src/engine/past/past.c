/* past.c - memories as they were true at a time, for a recall that asks how it was then. */
#include "engine/past/past.h"

#include "core/index.h"

/*
 * Recall reads memories by three calls of the store. These stand in front of them and give what the
 * store would have given at that time, so that the rest of recall needs not know of it.
 */

/* Closed memories that are looked at. Each costs a few microseconds a question. */
enum { ONCE_TRUE_MAX = 5000, COUNT_MAX = 15 };

/* As it was: open, and as old as it was said until then. */
static void see_then(const struct past *past, struct memory *m)
{
    if (!past->at || !m->id.n)
        return;
    if (m->valid_to > past->at) {
        m->valid_to = 0;
        m->superseded_by = S("");
    }
    if (m->created > past->at && m->valid_from && m->valid_from <= past->at)
        m->created = m->valid_from;
}

enum status past_open(struct ctx *ctx, struct engine *e, struct pool_ref pool, int64_t at,
                      struct past *out)
{
    *out = (struct past){.ctx = ctx, .e = e, .pool = pool, .at = at};
    if (!at)
        return OK;
    TRY(store_once_true(ctx, e->store, pool, at, ONCE_TRUE_MAX, &out->v, &out->n));
    for (size_t i = 0; i < out->n; i++)
        see_then(out, &out->v[i]);
    return OK;
}

/* --- by words --- */

ORDER(by_doc, struct word_hit, UP(doc));

static int times_in(const struct words *w, str stem)
{
    int n = 0;
    for (size_t i = 0; i < w->n && n < COUNT_MAX; i++)
        n += str_eq(w->v[i].stem, stem);
    return n;
}

/* False when none of the stems stands in it. */
static bool hit_of(struct arena *a, const struct memory *m, const str *stems, size_t n,
                   struct word_hit *out)
{
    struct index_text text = index_of_memory(a, m);
    bool any = false;
    *out = (struct word_hit){.doc = m->doc};
    for (size_t i = 0; i < n; i++) {
        int own = stems[i].n ? times_in(&text.own, stems[i]) : 0;
        int label = stems[i].n ? times_in(&text.label, stems[i]) : 0;
        out->counts[i] = (uint8_t)(own | label << 4);
        any |= out->counts[i] != 0;
    }
    return any;
}

/* Both are ascending; what is in the index is as it stands there. */
static void merge_hits(struct arena *a, struct word_hits *hits, const struct word_hit *more,
                       size_t n_more, size_t n_stems)
{
    struct word_hit *v = NEW_N(a, struct word_hit, hits->n + n_more + 1);
    size_t n = 0, i = 0, k = 0;
    while (i < hits->n || k < n_more) {
        doc_id left = i < hits->n ? hits->v[i].doc : INT64_MAX;
        doc_id right = k < n_more ? more[k].doc : INT64_MAX;
        v[n++] = left <= right ? hits->v[i] : more[k];
        for (size_t w = 0; w < n_stems && right < left; w++)
            hits->found[w] += more[k].counts[w] && hits->found[w] != UINT32_MAX;
        i += left <= right;
        k += right <= left;
    }
    hits->v = v;
    hits->n = n;
}

enum status past_words(const struct past *past, bool memories_only, const str *stems, size_t n,
                       size_t max, struct word_hits *out)
{
    struct arena *a = &past->ctx->arena;
    assert(n <= QUERY_WORDS_MAX);
    TRY(store_search_words(past->ctx, past->e->store, past->pool, stems, n, memories_only, max,
                           out));
    struct word_hit *more = NEW_N(a, struct word_hit, past->n + 1);
    size_t n_more = 0;
    for (size_t i = 0; i < past->n; i++)
        n_more += hit_of(a, &past->v[i], stems, n, &more[n_more]);
    SORT(more, n_more, by_doc);
    if (n_more)
        merge_hits(a, out, more, n_more, n);
    return OK;
}

/* --- read and listed --- */

enum status past_memories(const struct past *past, const doc_id *docs, size_t n, struct memory *out)
{
    TRY(store_memories(past->ctx, past->e->store, past->pool, docs, n, out));
    for (size_t i = 0; i < n; i++)
        see_then(past, &out[i]);
    return OK;
}

static bool is_listed(const struct memory_filter *f, const struct memory *m)
{
    return (!f->layer.n || str_is(f->layer, layer_names[m->layer])) &&
           (!f->type.n || str_is(f->type, type_names[m->type])) &&
           (!f->session.n || str_eq(f->session, m->session)) &&
           (!f->after || m->created >= f->after);
}

ORDER(newest_first, struct memory, DOWN(created) ?: DOWN(doc));

enum status past_list(const struct past *past, const struct memory_filter *f, struct memory **out,
                      size_t *n)
{
    struct memory_filter then = *f;
    then.pool = past->pool;
    if (past->at)
        then.before = past->at + 1;
    TRY(store_list_memories(past->ctx, past->e->store, &then, out, n, NULL));
    if (!past->n)
        return OK;
    *out = DUP_N(&past->ctx->arena, *out, *n, *n + past->n);
    for (size_t i = 0; i < past->n; i++)
        if (is_listed(f, &past->v[i]))
            (*out)[(*n)++] = past->v[i];
    SORT(*out, *n, newest_first);
    *n = *n < f->limit ? *n : f->limit;
    return OK;
}
