/* candidates.c - finds, describes and ranks the candidates of a question. */
#include "engine/recall/candidates.h"
#include "engine/vectors/embed_queue.h"

#include <math.h>

#include "base/utf8.h"
#include "engine/recall/features.h"
#include "engine/recall/outside_rankers.h"
#include "engine/recall/supersession.h"
#include "engine/text/rank.h"

/* The newest documents where each word has too many; those described, how many times as many and
 * how many at most; those read, with vectors and by words alone; the nearest by the encoder;
 * messages that the reader has; vectors made before a search that is no chat's; times the limit
 * compared with each other, and enough to look no further; bytes of a text that are compared. */
enum {
    NEWEST = 2000,
    CANDIDATES = 100,
    WITH_TOKENS = 200,
    WIDEN = 5,
    CANDIDATES_MAX = 2500,
    READ = 120,
    READ_BY_WORDS = 50,
    NEAREST_BY_ENCODER = 60,
    SEEN_MAX = 100,
    CATCH_UP = 64,
    DIVERSE = 3,
    ENOUGH = 2,
    COMPARED = 2000,
    WAITING_COUNTED = 1000, /* the store counts what waits for a vector no further */
};

/* Vectors of less than this share of a pool would favour what has one. The encoder's are guessed
 * where they are missing; from a half on it finds about what words alone do (decisions/006). */
static const double enough_vectors = 0.9, enough_by_encoder = 0.5;

/* A text at a right angle to the question is not near to it. */
static const float least_cosine = 1e-4f;

/* The texts of the candidates. */
struct fetched {
    doc_id *docs; /* of the messages, ascending */
    struct message *messages;
    str *given; /* of each message, what a chat may be given of it */
    size_t n;
    struct memory *memories; /* in the order of the candidates */
};

/* One search at work. */
struct search {
    struct finder *f;
    size_t limit, most; /* results, candidates by words */
    bool is_wide;       /* the first look found too few that may be shown */
    struct question_vector asks;
    struct vector_hits near;
    struct vector_hit *beside; /* of Qdrant */
    size_t n_beside;
    struct scan scan;
    struct candidate *v;
    size_t n, cap;
    struct asked_of asked;
    struct fetched read;
    size_t idle; /* candidates that were left out, as they state nothing */
};

static enum status late(struct ctx *ctx)
{
    return ctx_has_time(ctx) ? OK : fail(ctx, TIMED_OUT, "recall exceeded its time limit");
}

/* --- by words --- */

static enum status search_words(struct search *s)
{
    struct finder *f = s->f;
    const struct recall_in *in = f->in;
    const struct query *q = &f->asked.query;
    struct word_hits *words = &f->asked.words;
    TRY(past_words(&f->past, in->only.memories, q->stems, q->n, FOUND_HITS_MAX, words));
    /* A word that stands nearly everywhere tells nothing beside others, and all where alone. */
    bool is_any_common = SOME(w, q->n, words->found[w] == UINT32_MAX);
    if (!words->n && is_any_common)
        TRY(store_search_newest_words(f->ctx, f->e->store, in->pool, q->stems, q->n,
                                      in->only.memories, NEWEST, words));
    /* Memories have the greatest numbers, so they stand at the end. */
    while (in->only.turns && words->n && doc_is_memory(words->v[words->n - 1].doc))
        words->n--;
    int64_t all = words->memories + (in->only.memories ? 0 : words->messages);
    bool by_english = s->asks.tokens.n > 0; /* the other weights were fitted without */
    double unknown = scan_weigh(words, by_english ? q->texts : NULL, q->n, all, f->asked.weights);
    s->scan = scan_hits(&f->ctx->arena, words, f->asked.weights, q->n, s->most);
    s->v = s->scan.v;
    s->n = s->cap = s->scan.n;
    s->asked = (struct asked_of){
        .a = &f->ctx->arena,
        .query = q,
        .scan = &s->scan,
        .rarest = f->asked.rarest = rank_idf(all, 1),
        .unknown = unknown,
    };
    return late(f->ctx);
}

ORDER(by_doc, doc_id, (*x > *y) - (*x < *y));

/* Whether it is among n of these, which ascend. */
static bool is_among(const doc_id *docs, size_t n, doc_id doc)
{
    return bsearch(&doc, docs, n, sizeof doc, by_doc);
}

/* --- by vectors --- */

static bool by_cosine(const struct finder *f)
{
    return f->how.steps.strategy == STRATEGY_SEMANTIC;
}

static doc_id *docs_of(const struct search *s)
{
    doc_id *docs = ROOM_N(&s->f->ctx->arena, doc_id, s->n + 1);
    for (size_t i = 0; i < s->n; i++)
        docs[i] = s->v[i].doc;
    qsort(docs, s->n, sizeof *docs, by_doc);
    return docs;
}

/* One that the words have not found. */
static void add_candidate(struct search *s, doc_id doc)
{
    ARENA_ADD(&s->f->ctx->arena, s->v, s->n, s->cap) = scan_candidate(&s->scan, doc);
}

/* Messages that the reader has in front of it are near to its question, too, and take no place. */
static size_t seen(const struct search *s)
{
    return s->f->in->seen.n < SEEN_MAX ? s->f->in->seen.n : SEEN_MAX;
}

static size_t nearest_of(const struct search *s)
{
    size_t usual = (size_t)s->f->e->settings->vec_top_k;
    if (s->asks.tokens.n && usual < NEAREST_BY_ENCODER)
        usual = NEAREST_BY_ENCODER;
    return s->is_wide ? s->most : usual + seen(s);
}

/* The nearest, and the cosines of what the words have found. */
static enum status nearest(struct search *s, const doc_id *also)
{
    struct finder *f = s->f;
    const struct vector_find find = {
        .pool = f->in->pool,
        .signature = s->asks.signature,
        .v = s->asks.v,
        .dimensions = s->asks.dimensions,
        .nearest = nearest_of(s),
        .messages = !f->in->only.memories,
        .memories = !f->in->only.turns,
        .also = also,
        .n_also = s->n,
    };
    return store_search_vectors(f->ctx, f->e->store, &find, &s->near);
}

/* Puts the nearest beside the candidates of the words. */
static void add_nearest(struct search *s, const doc_id *also)
{
    size_t n_words = s->n;
    for (size_t i = 0; i < s->near.n; i++) {
        const struct vector_hit *near = &s->near.v[i];
        if (near->is_near && near->cosine >= least_cosine && !is_among(also, n_words, near->doc))
            add_candidate(s, near->doc);
    }
    for (size_t i = 0; i < s->n; i++) {
        struct candidate *c = &s->v[i];
        const struct vector_hit key = {.doc = c->doc}, *hit = NULL;
        if (s->near.n)
            hit = bsearch(&key, s->near.v, s->near.n, sizeof key, by_doc);
        c->dense = hit ? hit->cosine : 0;
        c->dense_window = hit ? (doc_is_memory(c->doc) ? hit->cosine : hit->window) : 0;
    }
}

/* Puts what Qdrant found beside the others. Its cosines are by another model's vectors. */
static void add_beside(struct search *s)
{
    struct finder *f = s->f;
    for (size_t i = 0; i < s->n_beside; i++) {
        const struct vector_hit *near = &s->beside[i];
        size_t at = 0;
        while (at < s->n && s->v[at].doc != near->doc)
            at++;
        if (at == s->n)
            add_candidate(s, near->doc);
        struct candidate *c = &s->v[at];
        c->dense = c->dense_window = fmaxf(c->dense, near->cosine);
        c->beside = near->cosine;
    }
    if (s->n_beside)
        f->how.steps.strategy = f->in->by.strategy;
}

/* Whether enough of the pool has a vector; else f->without says how much has. Some texts can have
 * none and wait for none. */
static bool is_covered(struct search *s)
{
    struct finder *f = s->f;
    int64_t made = s->near.vectors, texts = made + s->near.waiting;
    int64_t all = f->asked.words.messages + f->asked.words.memories;
    if (s->near.waiting >= WAITING_COUNTED && all > texts)
        texts = all;
    double enough = s->asks.tokens.n ? enough_by_encoder : enough_vectors;
    if (made && (double)made >= enough * (double)texts)
        return true;
    if (texts)
        f->how.without = str_printf(&f->ctx->arena, "%lld of %lld texts have a vector yet",
                                    (long long)made, (long long)texts);
    return false;
}

/* Puts all that is wanted (see find_wanted) beside the others. */
static enum status add_wanted(struct search *s)
{
    doc_id *also = docs_of(s), *docs;
    size_t n, n_words = s->n;
    TRY(find_wanted(s->f, &docs, &n));
    for (size_t i = 0; i < n; i++)
        if (!is_among(also, n_words, docs[i]))
            add_candidate(s, docs[i]);
    return OK;
}

/* By meaning alone, what is near; else also what has words of the question around it. Of the rest
 * one is always the nearest. A chat's gate judges that by itself, a search shows what it finds. */
static void keep_related(struct search *s)
{
    struct finder *f = s->f;
    size_t kept = 0;
    bool is_strict = weights_by_encoder(f->how.weighed) && !by_cosine(f);
    float distant = gate_is_fitted_for(f->in->question) ? FOUND_DISTANT : -1;
    float least = !is_strict ? least_cosine : f->in->by.is_patient ? FOUND_CLOSE : distant;
    for (size_t i = 0; i < s->n; i++) {
        const struct candidate *c = &s->v[i];
        bool takes_words = !by_cosine(f) || !f->how.vectors.n;
        bool has_words = takes_words && (c->share > 0 || c->share_near > 0);
        if (has_words || c->dense >= least)
            s->v[kept++] = *c;
    }
    s->n = kept;
}

/* Reading a candidate costs most, and what is known by now tells most of it; but not whether it is
 * from the time that the question names, which says much. */
static void leave_unlikely_out(struct search *s)
{
    struct finder *f = s->f;
    bool by_words = f->how.weighed == WORDS_ALONE;
    size_t read = by_words ? READ_BY_WORDS : READ;
    size_t most = (DIVERSE * s->limit < read ? read : DIVERSE * s->limit) + seen(s);
    if (s->n > most && !s->is_wide && !(by_words && f->asked.query.times.n))
        s->n = signals_most_promising(&f->ctx->arena, &s->asked, f->how.weighed, s->v, s->n, most);
}

/* How well each candidate fits token by token. The words of the question weigh as in the search by
 * words; one that nobody says weighs like the rarest, as it may be said in other words. */
static enum status match_tokens(struct search *s)
{
    struct finder *f = s->f;
    double weights[QUERY_WORDS_MAX];
    struct token_match *found = NEW_N(&f->ctx->arena, struct token_match, s->n + 1);
    const struct query *q = &f->asked.query;
    const struct token_asked asked = {f->in->pool, &s->asks.tokens, q->texts, weights, q->n};
    const doc_id *docs = docs_of(s);
    for (size_t w = 0; w < q->n; w++)
        weights[w] = f->asked.words.found[w] ? (double)f->asked.weights[w] : s->asked.rarest;
    TRY(token_match(f->ctx, f->e, &asked, docs, s->n, found));
    for (size_t i = 0; i < s->n; i++) {
        const doc_id *at = bsearch(&s->v[i].doc, docs, s->n, sizeof *docs, by_doc);
        assert(at);
        s->v[i].tokens = found[at - docs];
        if (!(found[at - docs].own > 0))
            candidate_guess_meaning(&s->v[i]);
    }
    f->how.weighed = gate_is_fitted_for(f->in->question) ? WITH_ENCODER : OTHER_LANGUAGE;
    return OK;
}

static void ask_vector(struct search *s)
{
    struct finder *f = s->f;
    if (f->in->by.words_only)
        return;
    if (!f->in->gate || f->in->by.is_patient)
        vectors_catch_up(f->ctx, f->e, f->in->pool, CATCH_UP);
    vectors_of_question(f->ctx, f->e, f->in->pool, f->in->question, &s->asks);
    f->asked.vector = s->asks.tokens.n ? s->asks.v : NULL;
}

/* What fails here leaves what the words have found. */
static enum status search_vectors(struct search *s)
{
    struct finder *f = s->f;
    bool only = f->in->by.strategy == STRATEGY_SEMANTIC;
    f->how.vectors = S("");
    f->how.by_words = s->asks.without;
    f->how.steps.strategy = STRATEGY_HYBRID;
    /* Nobody misses what nobody has chosen. */
    f->how.without = s->asks.signature.n || only ? s->asks.without : S("");
    s->near = (struct vector_hits){0};
    f->how.weighed = WORDS_ALONE;
    if (!s->asks.v) {
        leave_unlikely_out(s);
        return late(f->ctx);
    }
    doc_id *also = docs_of(s);
    if (nearest(s, also) != OK) {
        f->how.by_words = f->how.without = ctx_take_why(f->ctx);
        return late(f->ctx);
    }
    bool is_enough = is_covered(s);
    f->how.by_words =
        is_enough || f->how.without.n ? f->how.without : S("no text here has a vector");
    if (!is_enough && !(only && s->near.vectors))
        return late(f->ctx);
    f->how.vectors = s->asks.signature;
    f->how.steps.strategy = is_enough ? f->in->by.strategy : STRATEGY_HYBRID;
    add_nearest(s, also);
    f->how.weighed = WITH_VECTORS;
    if (s->asks.tokens.n && s->n)
        TRY(match_tokens(s));
    if (f->how.steps.strategy == STRATEGY_HYBRID)
        leave_unlikely_out(s);
    return late(f->ctx);
}

/* --- a closer look --- */

/* The messages of the candidates, and those before that may be the question they answer. */
static enum status fetch(struct search *s)
{
    struct finder *f = s->f;
    struct arena *a = &f->ctx->arena;
    doc_id *docs = NEW_N(a, doc_id, 2 * s->n + 1), *memories = NEW_N(a, doc_id, s->n + 1);
    size_t n_memories = 0, n = 0, kept = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct candidate *c = &s->v[i];
        if (doc_is_memory(c->doc))
            memories[n_memories++] = c->doc;
        else
            docs[n++] = c->doc;
        if (c->previous > 0)
            docs[n++] = c->doc - 1;
    }
    qsort(docs, n, sizeof *docs, by_doc);
    for (size_t i = 0; i < n; i++)
        if (!kept || docs[kept - 1] != docs[i])
            docs[kept++] = docs[i];
    s->read.docs = docs;
    s->read.n = kept;
    s->read.messages = ROOM_N(a, struct message, kept + 1);
    s->read.given = NEW_N(a, str, kept + 1);
    s->read.memories = ROOM_N(a, struct memory, n_memories + 1);
    TRY(store_messages(f->ctx, f->e->store, f->in->pool, docs, kept, s->read.messages));
    TRY(past_memories(&f->past, memories, n_memories, s->read.memories));
    return late(f->ctx);
}

static const struct message *message_of(const struct search *s, doc_id doc)
{
    const doc_id *at = bsearch(&doc, s->read.docs, s->read.n, sizeof *s->read.docs, by_doc);
    return at ? &s->read.messages[at - s->read.docs] : NULL;
}

/* Takes the messages out of the candidates of which a chat may be given nothing, and notes which
 * part of what the user said they are. Not for a search, which finds all of them. */
static void leave_idle_out(struct search *s)
{
    struct finder *f = s->f;
    double said = 1, tells = 1;
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct message *m = message_of(s, s->v[i].doc);
        str given = m ? found_quotable(f, m).text : S("");
        bool is_kept = !m || given.n, is_own = !m || str_is(m->role, "user");
        if (m)
            s->read.given[m - s->read.messages] = given;
        if (is_kept)
            s->v[kept++] = s->v[i];
        said += is_own;
        tells += is_own && is_kept;
    }
    f->asked.idle = 1 - tells / said;
    s->idle = s->n - kept;
    s->n = kept;
    if (s->idle)
        scan_measure(&s->scan, s->v, s->n);
}

/* What says about the same is sure, whatever its words; the encoder's weights know that. By meaning
 * alone the cosine counts, where there is one. */
static double score_of(const struct finder *f, const struct candidate *c, double sure)
{
    double cosine = (double)c->dense;
    if (by_cosine(f) && c->dense >= least_cosine)
        return cosine;
    bool is_same = c->dense >= FOUND_SAME && !weights_by_encoder(f->how.weighed);
    return is_same ? fmax(sure, cosine) : sure;
}

static void add(struct search *s, const struct candidate *c, const struct message *m,
                const struct memory *memory, str before)
{
    struct finder *f = s->f;
    assert(!m != !memory && f->n < s->n);
    struct recalled *r = &f->found[f->n];
    *r = (struct recalled){.is_memory = !m, .by = c};
    if (m) {
        r->message = *m;
        r->part.quotable = s->read.given[m - s->read.messages];
    } else
        r->memory = *memory;
    if (!find_wants(f, r))
        return;
    signals_of(&s->asked, c, m, memory, before, r->measured.signals);
    bool is_beside = f->how.weighed == WORDS_ALONE && c->dense > 0;
    enum weights weights = is_beside ? WITH_VECTORS : f->how.weighed;
    struct weighed weighed = signals_weigh(weights, r->measured.signals);
    r->score = score_of(f, c, weighed.sure);
    r->measured.cosine = (double)(c->beside > 0 ? c->beside : c->dense);
    r->measured.rank = by_cosine(f) ? r->score : weighed.rank;
    f->n++;
}

static void judge(struct search *s)
{
    struct finder *f = s->f;
    size_t memory = f->n = 0;
    f->found = ROOM_N(&f->ctx->arena, struct recalled, s->n + 1);
    s->asked.person = speaker_asked(&f->asked.query, s->read.messages, s->read.n);
    s->asked.is_chat = SOME(i, s->read.n, !s->read.messages[i].speaker.n);
    for (size_t i = 0; i < s->n; i++) {
        struct candidate *c = &s->v[i];
        const struct message *m = message_of(s, c->doc);
        const struct message *before = c->previous > 0 ? message_of(s, c->doc - 1) : NULL;
        add(s, c, m, m ? NULL : &s->read.memories[memory++], before ? before->text : S(""));
    }
}

/* --- the order --- */

/* The first of the best places of which the tombstones leave something; their number. */
static size_t best_places(const struct search *s, struct ranked *places)
{
    const struct finder *f = s->f;
    size_t kept = 0;
    for (size_t i = 0; i < f->n; i++)
        places[i] = (struct ranked){f->found[i].measured.rank, f->found[i].by->doc, i};
    rank_sort(places, f->n);
    for (size_t i = 0; i < f->n && kept < DIVERSE * s->limit; i++)
        if (find_shows(f, &f->found[places[i].at]))
            places[kept++] = places[i];
    return kept;
}

/* Best first, and what repeats a better one further down. Keeps the best `limit`. */
static void order(struct search *s)
{
    struct arena *a = &s->f->ctx->arena;
    struct finder *f = s->f;
    struct ranked *places = ROOM_N(a, struct ranked, f->n + 1);
    size_t n = best_places(s, places);
    double *ranks = NEW_N(a, double, n + 1);
    str *texts = NEW_N(a, str, n + 1);
    size_t *by = NEW_N(a, size_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        ranks[i] = places[i].rank;
        texts[i] = utf8_cut(found_text(&f->found[places[i].at]), COMPARED);
    }
    rank_diversify(a, ranks, texts, n, by_cosine(f) ? 0 : s->limit, by);
    n = n < s->limit ? n : s->limit;
    struct recalled *found = ROOM_N(a, struct recalled, n + 1);
    for (size_t i = 0; i < n; i++) {
        assert(places[by[i]].at < f->n);
        found[i] = f->found[places[by[i]].at];
    }
    f->found = found;
    f->n = n;
}

/* --- the whole of it --- */

/* Whether looking at more candidates could find more: of some kinds of search most of what is near
 * may not be found. */
static bool may_find_more(const struct search *s)
{
    const struct finder *f = s->f;
    bool is_picky = f->in->only.type.n || f->in->only.layer.n || f->in->only.after ||
                    f->in->only.as_of || s->idle || f->in->scope == SCOPE_SESSION;
    bool more_words = s->scan.n == s->most, more_near = s->near.n >= nearest_of(s);
    return is_picky && f->n < ENOUGH * s->limit && s->most < CANDIDATES_MAX &&
           (more_words || more_near);
}

enum status find_answers(struct finder *f, size_t limit)
{
    struct search s = {.f = f, .limit = limit};
    ask_vector(&s);
    if (f->tombstones.n && supersession_asks_past(&f->ctx->arena, f->in->question))
        tombstones_lift(&f->tombstones, 1 << BAR_SUPERSEDED, INT64_MIN);
    s.beside = nearest_beside(f, (size_t)f->e->settings->vec_top_k, &s.n_beside);
    s.most = s.asks.tokens.n ? WITH_TOKENS : CANDIDATES;
    for (bool more = true; more; s.most *= WIDEN, s.is_wide = true) {
        TRY(search_words(&s));
        if (s.most >= CANDIDATES_MAX)
            TRY(add_wanted(&s));
        TRY(search_vectors(&s));
        add_beside(&s);
        if (by_cosine(f) || weights_by_encoder(f->how.weighed) || s.most >= CANDIDATES_MAX)
            keep_related(&s);
        TRY(fetch(&s));
        if (f->in->gate)
            leave_idle_out(&s);
        judge(&s);
        more = may_find_more(&s);
    }
    order(&s);
    return OK;
}
