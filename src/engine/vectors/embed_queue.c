/* embed_queue.c - makes vectors of questions in chats, and of stored texts in the background. */
#include "engine/vectors/embed_queue.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/workers.h"
#include "embed/encoder.h"

/*
 * Stored texts wait in a queue of the store until the background makes their vectors. A question in
 * a chat is embedded at once, or not at all: within the deadline words alone must still find
 * something. So it loads no model from disk, begins no set, and has a circuit breaker of its own.
 *
 * All vectors of a store are of one set: one source, model, length and precision, named by a
 * signature such as "static:table:256". Another source begins another set, which replaces the old
 * one; until it is made, recall goes on by words. Failures are told apart: a source that is down
 * (breaker), a text that it refuses (halving a batch finds it; it is tried again twice, then given
 * up), and vectors of another length (the status asks for a reindex).
 */
enum { BATCH_MAX = 512 };

/* A text of the encoder takes some milliseconds of a core, which chats need more. So the background
 * makes few texts at a time while there are chats, and stops between two layers while a question is
 * searched for. It does not stop for ever: chats without a pause slow it down. */
enum { FEW = 4, GIVES_WAY_MS = 50 };

/* Texts of one call: a table needs microseconds for a text, a transformer milliseconds. */
static const size_t batch_of[] = {[EMBED_REMOTE] = 64,
                                  [EMBED_STATIC] = BATCH_MAX,
                                  [EMBED_TRANSFORMERS] = 16,
                                  [EMBED_ENCODER] = 16};

/* --- what is chosen --- */

str maker_of(str signature)
{
    return str_sub(signature, 0, str_behind_last(signature, ':'));
}

struct chosen chosen_of(struct ctx *ctx, struct engine *e)
{
    struct chosen c = {.signature = e->settings->vectors ? embed_signature(ctx, e->embed) : S("")};
    str rest = c.signature, name = str_cut(&rest, ':');
    c.maker = maker_of(c.signature);
    c.source = (enum embed_source)name_index(embed_source_names, name, EMBED_NONE);
    return c;
}

str no_source(struct ctx *ctx, struct engine *e)
{
    struct embed_status status;
    if (!e->settings->vectors)
        return S("vectors are switched off");
    embed_status(ctx, e->embed, &status);
    return status.reason;
}

/* Whether this process has had an answer of this source: then no model needs loading any more. */
static bool is_warm(const struct engine *e, const struct chosen *c)
{
    return e->vectors.warm == str_hash(c->maker);
}

/* --- a question --- */

/* Why not to try, or NULL. asks: who has a view of the store. The encoder is loaded in some 80 ms,
 * once, but not for a pool without vectors. */
static const char *reason_to_wait(struct ctx *ctx, struct ctx *asks, struct engine *e,
                                  const struct pool_ref *pool, const struct chosen *c)
{
    struct vector_stats kept;
    struct vector_set set;
    bool is_cold = ctx->deadline_us && c->source != EMBED_REMOTE && !is_warm(e, c);
    if (!soft(asks, store_vector_set(asks, e->store, &set)))
        return "the vectors cannot be read";
    bool is_set = set.dimensions && str_eq(maker_of(set.signature), c->maker);
    if (is_cold && is_set && c->source == EMBED_ENCODER)
        is_set = soft(asks, store_vector_stats(asks, e->store, pool, &kept)) && kept.rows;
    return !is_set                                 ? "there are no vectors of this source yet"
           : is_cold && c->source != EMBED_ENCODER ? "the model is not loaded yet"
                                                   : NULL;
}

/* A static table gives zeros for a text of unknown words: near to nothing. */
static bool is_null(const struct embedding *v)
{
    return !SOME(i, v->dimensions, v->v[i] != 0);
}

/* One text, under the breaker for questions, which is not that of the queue. */
static enum status ask_source(struct ctx *ctx, struct engine *e, const struct chosen *c, str text,
                              struct embedding *out)
{
    int64_t ticket;
    assert(c->source != EMBED_NONE && text.n);
    TRY(dependency_begin(ctx, &e->vectors.questions, &ticket));
    enum status s = embed_texts(ctx, e->embed, &text, 1, out);
    dependency_end(ctx, &e->vectors.questions, ticket, s);
    TRY(s);
    e->vectors.warm = str_hash(c->maker);
    return is_null(out) ? fail(ctx, NOT_FOUND, "the model knows no word of the question") : OK;
}

static void find_vector(struct ctx *ctx, struct ctx *asks, struct engine *e,
                        const struct pool_ref *pool, str text, struct question_vector *out)
{
    struct chosen c = chosen_of(ctx, e);
    struct embedding v;
    out->signature = c.signature;
    if (c.source == EMBED_ENCODER && !encoder_reads(text)) {
        out->without = S("the encoder reads Latin letters, and the question is in another script");
        return;
    }
    if (!c.source) {
        out->without = no_source(ctx, e);
        return;
    }
    const char *why = reason_to_wait(ctx, asks, e, pool, &c);
    if (!why && (c.source == EMBED_ENCODER || c.source == EMBED_STATIC))
        store_view_pause(asks, e->store);
    else if (!why)
        store_view_rest(asks, e->store); /* such a model takes its time */
    if (why || ask_source(ctx, e, &c, text, &v) != OK) {
        out->without = str_of(why ? why : ctx->why);
        return;
    }
    out->v = v.v;
    out->dimensions = v.dimensions;
    out->tokens = v.tokens;
    out->signature = embedding_signature(ctx, &v);
}

/* At most half of the time that is left: the rest is for the search by words. */
void vectors_of_question(struct ctx *ctx, struct engine *e, struct pool_ref pool, str text,
                         struct question_vector *out)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, ctx_half_ms(ctx));
    struct question_vector found = {0};
    find_vector(&own, ctx, e, &pool, text, &found);
    *out = found;
    STRS_DUP(&ctx->arena, &out->signature, &out->without);
    size_t n = found.tokens.n, bytes = n * ENCODER_KEPT;
    out->tokens.v = DUP_N(&ctx->arena, found.tokens.v, bytes, bytes + 1);
    out->tokens.ids = DUP_N(&ctx->arena, found.tokens.ids, n, n + 1);
    if (found.v)
        out->v = DUP_N(&ctx->arena, found.v, found.dimensions, found.dimensions);
}

/* --- what is kept --- */

/* Pauses before a text refused alone is tried again; then it has no vector until a reindex. */
static const int64_t again_ms[] = {10000, 60000};
enum { AGAIN = sizeof again_ms / sizeof *again_ms };

/* One batch on its way from the queue to the store. */
struct batch {
    struct engine *e;
    bool gives_way; /* to chats: nobody waits for it */
    const struct vector_set *set;
    struct vector_put *put; /* vectors and failures so far */
    size_t n, room;
    bool is_stale; /* the source was changed during this batch */
};

static enum status in_trouble(struct engine *e, enum trouble what, enum status s)
{
    if (s != OK)
        e->vectors.trouble = what;
    return s;
}

/* Asks with a random text, which no cache can answer. */
static enum status probe_source(struct ctx *ctx, struct engine *e, struct embedding *out)
{
    str id = id_random(&ctx->arena);
    str text = str_printf(&ctx->arena, "Is anyone there? " S_FMT, S_ARG(id));
    return in_trouble(e, TROUBLE_SOURCE, embed_texts(ctx, e->embed, &text, 1, out));
}

/* One number for signature and precision, never 0. */
static uint64_t mark_of(const struct vector_set *set)
{
    return str_hash(set->signature) * 2 + set->is_int8 + 1;
}

/* Beginning a set erases the old one, so one thread of the process does it at a time. The source
 * may have been asked for long, and another thread of ours may have begun the set. Two processes on
 * one store with different sources would replace each other's set for ever, so the process whose
 * set was replaced stops. */
static enum status begin_alone(struct ctx *ctx, struct engine *e, const struct vector_set *set,
                               bool anew)
{
    struct vector_set now;
    HOLD(&e->vectors.beginning);
    TRY(in_trouble(e, TROUBLE_STORE, store_vector_set(ctx, e->store, &now)));
    if (!anew && now.dimensions == set->dimensions && now.is_int8 == set->is_int8 &&
        str_eq(now.signature, set->signature)) {
        e->vectors.begun = mark_of(set);
        return OK;
    }
    assert(set->dimensions > 0 && set->signature.n);
    if (!anew && e->vectors.begun == mark_of(set)) {
        e->vectors.trouble = TROUBLE_OTHER;
        return fail(ctx, CONFLICT,
                    "another process with this database uses another embedding source");
    }
    TRY(in_trouble(e, TROUBLE_STORE, store_begin_vectors(ctx, e->store, set, anew)));
    log_event(LOG_INFO, "vectors.begun", "signature=\"" S_FMT "\" int8=%d", S_ARG(set->signature),
              set->is_int8);
    e->vectors.begun = mark_of(set);
    return OK;
}

/* Makes sure that the store's set is the chosen source's. The probe costs a call of the source only
 * when the set is another's or a local model is not loaded yet. The encoder's set is known without
 * it; it is loaded where something is kept, as with a question loading takes all the time of it. */
enum status vectors_ready(struct ctx *ctx, struct engine *e, const struct chosen *c, bool anew,
                          struct vector_set *out)
{
    struct embedding v;
    struct vector_set set;
    struct vector_stats kept = {0};
    bool is_encoder = c->source == EMBED_ENCODER, is_cold = !is_warm(e, c);
    bool is_int8 = is_encoder || e->settings->vec_quantization == QUANTIZE_INT8;
    if (is_encoder && is_cold)
        TRY(in_trouble(e, TROUBLE_STORE, store_vector_stats(ctx, e->store, NULL, &kept)));
    if (is_encoder && !kept.rows) {
        *out = (struct vector_set){c->signature, ENCODER_SPACE, true, 0};
        return begin_alone(ctx, e, out, anew);
    }
    TRY(in_trouble(e, TROUBLE_STORE, store_vector_set(ctx, e->store, &set)));
    bool is_same = !anew && set.dimensions && set.is_int8 == is_int8 &&
                   str_eq(maker_of(set.signature), c->maker);
    if (!is_same || (c->source != EMBED_REMOTE && is_cold)) {
        TRY(probe_source(ctx, e, &v));
        e->vectors.warm = str_hash(maker_of(embedding_signature(ctx, &v)));
        set = (struct vector_set){embedding_signature(ctx, &v), v.dimensions, is_int8, 0};
    }
    TRY(begin_alone(ctx, e, &set, anew));
    *out = set;
    return OK;
}

static void put_vector(struct batch *b, const struct unembedded *u, const struct embedding *v,
                       int64_t again_at)
{
    struct vector_put put = {.no = u->no, .doc = u->doc, .again_at = again_at};
    assert(b->n < b->room);
    if (v && !is_null(v)) {
        put.v = v->v;
        put.tokens = (str){(const char *)v->tokens.v, v->tokens.n * ENCODER_KEPT};
    }
    b->put[b->n++] = put;
}

/* Vectors of another source or length are not for this set. */
static enum status check_made(struct ctx *ctx, struct batch *b, const struct embedding *v)
{
    str made = embedding_signature(ctx, v);
    if (str_eq(made, b->set->signature))
        return OK;
    b->is_stale = !str_eq(maker_of(made), maker_of(b->set->signature));
    if (b->is_stale)
        return fail(ctx, CONFLICT, "the embedding source was changed during this call");
    b->e->vectors.trouble = TROUBLE_LENGTH;
    return fail(ctx, UPSTREAM,
                "the embedding source returns %zu dimensions, stored vectors have %zu",
                v->dimensions, b->set->dimensions);
}

/* Texts that follow each other in one conversation, from the first on. */
static size_t row_of(const struct unembedded *u, size_t n)
{
    size_t row = 1;
    while (row < n && !doc_is_memory(u->doc) && u[row].doc == u->doc + (doc_id)row &&
           doc_session(u[row].doc) == doc_session(u->doc))
        row++;
    return row;
}

/* How many of a full batch are read now: its last conversation may go on behind it. Half of a turn
 * would be read without the other, and its vectors would depend on what else waited. */
static size_t whole_rows(const struct unembedded *u, size_t n)
{
    size_t last = 0;
    for (size_t i = 0; i < n; i += row_of(u + i, n - i))
        last = i;
    return last && !doc_is_memory(u[last].doc) ? last : n;
}

/* "Anna: text". Who speaks says whom "I" means. */
static str labelled(struct arena *a, const struct message *m, str text)
{
    str who = m->speaker.n ? m->speaker : m->role;
    return m->id.n ? str_printf(a, S_FMT ": " S_FMT, S_ARG(who), S_ARG(text)) : text;
}

/* One row of a conversation, with what was said before it; or a memory. */
static enum status read_row(struct ctx *ctx, struct engine *e, const struct unembedded *u, size_t n,
                            struct embedding *out)
{
    struct arena *a = &ctx->arena;
    if (doc_is_memory(u->doc))
        return embed_texts(ctx, e->embed, &u->text, 1, out);
    doc_id *docs = NEW_N(a, doc_id, n + 1);
    struct message *m = NEW_N(a, struct message, n + 1);
    str *texts = NEW_N(a, str, n);
    size_t before = doc_position(u->doc) > 0;
    for (size_t i = 0; i < n + before; i++)
        docs[i] = u->doc + (doc_id)i - (doc_id)before;
    TRY(store_messages(ctx, e->store, u->pool, docs, n + before, m));
    for (size_t i = 0; i < n; i++)
        texts[i] = labelled(a, &m[i + before], u[i].text);
    str first = before ? labelled(a, m, m->is_echo ? m->says : m->text) : S("");
    return embed_following(ctx, e->embed, first, texts, n, out);
}

static void give_way(struct ctx *ctx, const struct engine *e)
{
    ctx->first = &e->work.asking;
    ctx->yields_until_us = clock_mono_us() + GIVES_WAY_MS * 1000;
    ctx_give_way(ctx);
}

/* The encoder reads texts together that belong together; to others each is one of its own. */
static enum status read_texts(struct ctx *ctx, struct batch *b, const struct unembedded *u,
                              size_t n, struct embedding *out)
{
    if (b->gives_way)
        give_way(ctx, b->e);
    if (!str_starts(b->set->signature, S("encoder:"))) {
        str *texts = NEW_N(&ctx->arena, str, n);
        for (size_t i = 0; i < n; i++)
            texts[i] = u[i].text;
        return in_trouble(b->e, TROUBLE_SOURCE, embed_texts(ctx, b->e->embed, texts, n, out));
    }
    for (size_t i = 0, row; i < n; i += row) {
        row = row_of(u + i, n - i);
        if (i && b->gives_way)
            give_way(ctx, b->e);
        TRY(in_trouble(b->e, TROUBLE_SOURCE, read_row(ctx, b->e, u + i, row, out + i)));
    }
    return OK;
}

/* All vectors or none: one failure may be the fault of one text of many. */
static enum status make_together(struct ctx *ctx, struct batch *b, const struct unembedded *u,
                                 size_t n)
{
    struct embedding *v = NEW_N(&ctx->arena, struct embedding, n);
    TRY(read_texts(ctx, b, u, n, v));
    TRY(check_made(ctx, b, &v[0]));
    for (size_t i = 0; i < n; i++)
        put_vector(b, &u[i], &v[i], 0);
    return OK;
}

/* Whether the texts of a batch may be the fault, or their number; then another may succeed. */
static bool may_be_texts(const struct ctx *ctx, const struct batch *b, enum status s)
{
    bool is_slow = ctx->detail == EMBED_TIMEOUT && ctx_has_time(ctx);
    return s != OK && !b->is_stale && (ctx->detail == EMBED_REQUEST_FAILED || is_slow);
}

/* A refused batch is halved until each refused text is found. Only called when the source is known
 * to answer: a source that is down would be asked once for each text. */
static enum status make_apart(struct ctx *ctx, struct batch *b, const struct unembedded *u,
                              size_t n)
{
    enum status s = make_together(ctx, b, u, n);
    if (!may_be_texts(ctx, b, s))
        return s;
    soft(ctx, s);
    if (n == 1) {
        bool again = u->tries >= 0 && u->tries < AGAIN;
        if (!again)
            log_event(LOG_WARN, "vectors.given_up", "doc=%lld", (long long)u->doc);
        put_vector(b, u, NULL, again ? clock_ms() + again_ms[u->tries] : 0);
        return OK;
    }
    TRY(make_apart(ctx, b, u, n / 2));
    return make_apart(ctx, b, u + n / 2, n - n / 2);
}

/* A probe tells a source that refuses everything from one that refuses some of these texts. */
static enum status make_batch(struct ctx *ctx, struct batch *b, const struct unembedded *u,
                              size_t n)
{
    struct embedding v;
    enum status s = make_together(ctx, b, u, n);
    if (!may_be_texts(ctx, b, s))
        return s;
    str why = ctx_take_why(ctx);
    if (!soft(ctx, probe_source(ctx, b->e, &v)))
        return fail(ctx, s, S_FMT, S_ARG(why));
    return make_apart(ctx, b, u, n);
}

/* What was made is stored also when a later text failed. */
static enum status try_some(struct ctx *ctx, struct engine *e, const struct chosen *c,
                            const struct pool_ref *pool, size_t *max)
{
    struct vector_set set;
    struct unembedded *u;
    size_t n;
    TRY(vectors_ready(ctx, e, c, false, &set));
    size_t limit = *max < batch_of[c->source] ? *max : batch_of[c->source];
    bool gives_way = !pool && c->source != EMBED_REMOTE;
    if (gives_way && limit > FEW && engine_has_chats(e))
        limit = FEW;
    TRY(in_trouble(e, TROUBLE_STORE, store_unembedded(ctx, e->store, pool, limit, &u, &n)));
    *max = limit - n;
    if (!n)
        return OK;
    if (!*max && c->source == EMBED_ENCODER)
        n = whole_rows(u, n);
    struct batch b = {.e = e,
                      .gives_way = gives_way,
                      .set = &set,
                      .put = NEW_N(&ctx->arena, struct vector_put, n),
                      .room = n};
    enum status s = make_batch(ctx, &b, u, n);
    if (b.n)
        TRY(in_trouble(e, TROUBLE_STORE,
                       store_put_vectors(ctx, e->store, set.signature, b.put, b.n)));
    if (b.is_stale)
        soft(ctx, s);
    return b.is_stale ? OK : s;
}

/* One batch of at most *max texts; *max becomes the room that was left in it. */
static enum status make_some(struct ctx *ctx, struct engine *e, const struct pool_ref *pool,
                             size_t *max)
{
    struct chosen c = chosen_of(ctx, e);
    int64_t ticket;
    if (!c.source || !soft(ctx, dependency_begin(ctx, &e->vectors.making, &ticket)))
        return OK;
    enum status s = try_some(ctx, e, &c, pool, max);
    dependency_end(ctx, &e->vectors.making, ticket, s);
    if (s == OK)
        e->vectors.trouble = TROUBLE_NONE;
    return s;
}

/* *more only after a full batch: the next call would find work. */
enum status engine_embed_some(struct ctx *ctx, struct engine *e, bool *more)
{
    (void)engine_runtime(e); /* sees what another process has changed, also without requests */
    size_t room = BATCH_MAX;
    enum status s = make_some(ctx, e, NULL, &room);
    *more = s == OK && !room;
    return s;
}

/* While the source was asked, another thread may have begun the set, and made the vectors too. */
static bool sees_set(struct ctx *ctx, struct engine *e)
{
    struct vector_set seen;
    uint64_t begun = e->vectors.begun;
    return !begun || (soft(ctx, store_vector_set(ctx, e->store, &seen)) && mark_of(&seen) == begun);
}

void vectors_catch_up(struct ctx *ctx, struct engine *e, struct pool_ref pool, size_t max)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, ctx_half_ms(ctx));
    size_t room = max;
    if (max && make_some(&own, e, &pool, &room) != OK)
        log_event(LOG_DEBUG, "vectors.late", "id=%s why=\"%s\"", own.id, own.why);
    if (room < max || !sees_set(ctx, e))
        store_view_rest(ctx, e->store); /* what was made is read */
}
