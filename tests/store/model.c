/* model.c - a long random life of a store beside a plain list that knows what should be found. */
#include <math.h>

#include "lib/store.h"
#include "store/store.h"

enum {
    DIMENSIONS = 16,
    POOLS = 3,
    SESSIONS = 4,
    KEYS = 6,
    WORDS = 40,
    THINGS_MAX = 40000,
    LONGEST = 120
};

/* A message or memory as it should be: one bit for each word in it. */
struct thing {
    str id;
    doc_id doc;
    uint64_t words;
    int pool, session, key; /* key -1: a message; from KEYS on: an episode */
    str source;
    bool is_there, is_open;
    bool is_said, waits; /* a message of the user; it waits to be distilled */
};

struct life {
    struct ctx *ctx;
    struct store *s;
    struct thing *v;
    size_t n;
    uint64_t random;
    int64_t steps;
};

static unsigned some(struct life *l, unsigned below)
{
    l->random ^= l->random << 13;
    l->random ^= l->random >> 7;
    l->random ^= l->random << 17;
    return (unsigned)(l->random >> 33) % below;
}

static struct pool_ref pool_of(int i)
{
    static const char *const spaces[POOLS] = {"a", "b", "c"};
    return (struct pool_ref){i < 2 ? S("anna") : S("ben"), str_of(spaces[i])};
}

static str text_of(struct life *l, uint64_t *words)
{
    struct buf b = buf_make(&l->ctx->arena, 1000);
    *words = 0;
    for (unsigned i = 1 + some(l, 6); i; i--) {
        unsigned word = some(l, 1 + some(l, WORDS)); /* low ones are common */
        *words |= (uint64_t)1 << word;
        buf_printf(&b, "zq%u the ", word);
    }
    return buf_str(&b);
}

static str session_of(struct life *l, int i)
{
    return str_printf(&l->ctx->arena, "session%d", i);
}

static struct thing *add(struct life *l, struct thing t)
{
    CHECK(l->n < THINGS_MAX);
    t.is_there = t.is_open = true;
    l->v[l->n] = t;
    return &l->v[l->n++];
}

/* A thing that is there, or NULL. */
static struct thing *any(struct life *l, int pool, bool memory)
{
    for (int tries = 0; l->n && tries < 50; tries++) {
        struct thing *t = &l->v[some(l, (unsigned)l->n)];
        if (t->is_there && t->pool == pool && (t->key >= 0) == memory)
            return t;
    }
    return NULL;
}

static void talk(struct life *l, int pool)
{
    static struct message m[LONGEST];
    struct ctx *ctx = l->ctx;
    size_t n = 1 + some(l, some(l, 10) ? 8 : LONGEST), first = l->n;
    int session = (int)some(l, SESSIONS);
    bool distils = some(l, 2);
    for (size_t i = 0; i < n; i++) {
        struct thing t = {.pool = pool, .session = session, .key = -1, .is_said = some(l, 2)};
        t.id = str_printf(&ctx->arena, "m%zu", l->n);
        t.waits = t.is_said && distils;
        m[i] = (struct message){.id = t.id, .text = text_of(l, &t.words), .created = 1};
        m[i].role = t.is_said ? S("user") : S("assistant");
        add(l, t);
    }
    struct bundle b = {.pool = pool_of(pool),
                       .session = {.id = session_of(l, session)},
                       .messages = m,
                       .n_messages = n,
                       .distil_at = distils};
    CHECK_OK(store_write(ctx, l->s, &b));
    for (size_t i = 0; i < n; i++)
        l->v[first + i].doc = m[i].doc;
}

static struct thing *open_with_key(struct life *l, int pool, int key)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->v[i].pool == pool && l->v[i].key == key && l->v[i].is_there && l->v[i].is_open)
            return &l->v[i];
    return NULL;
}

static void learn(struct life *l, int pool)
{
    struct ctx *ctx = l->ctx;
    struct thing t = {.pool = pool, .session = -1, .key = (int)some(l, KEYS)};
    struct thing *from = any(l, pool, false), *old = open_with_key(l, pool, t.key);
    struct memory m = fact("", str_printf(&ctx->arena, "key%d", t.key).p, "");
    enum put_rule rule = some(l, 2) ? PUT_SUPERSEDE : PUT_REPLACE;
    m.id = t.id = str_printf(&ctx->arena, "f%zu", l->n);
    str text = text_of(l, &t.words);
    /* Of another step, another text: what is said again under its key is not added. */
    m.content = str_printf(&ctx->arena, S_FMT "n%lld", S_ARG(text), (long long)l->steps);
    m.source = t.source = from ? from->id : S("");
    CHECK_OK(keep(ctx, l->s, pool_of(pool), rule, &m));
    t.doc = m.doc;
    if (old && rule == PUT_REPLACE) {
        CHECK_STR(m.id, old->id);
        old->words = t.words;
        old->source = t.source;
        return;
    }
    if (old)
        old->is_open = false;
    add(l, t);
}

/* A session lost a message: what was made of it as a whole goes, and it waits anew. */
static int64_t lose_episode(struct life *l, int pool, int session)
{
    int64_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        struct thing *t = &l->v[i];
        bool is_it = t->pool == pool && t->session == session && t->key >= KEYS && t->is_there;
        t->is_there &= !is_it;
        n += is_it;
    }
    for (size_t i = 0; n && i < l->n; i++)
        if (l->v[i].pool == pool && l->v[i].session == session && l->v[i].is_there)
            l->v[i].waits = l->v[i].is_said;
    return n;
}

/* Takes out of the list what matches, and what came from it; the count. */
static int64_t take_out(struct life *l, int pool, str id, int session)
{
    int64_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        struct thing *t = &l->v[i];
        bool hit = id.n ? str_eq(t->id, id) : session < 0 || t->session == session;
        if (!t->is_there || t->pool != pool || !hit)
            continue;
        t->is_there = false;
        n++;
        for (size_t k = 0; t->key < 0 && k < l->n; k++) {
            struct thing *child = &l->v[k];
            bool came = child->pool == pool && str_eq(child->source, t->id) && child->is_there;
            child->is_there &= !came;
            n += came;
        }
        if (id.n && t->key < 0)
            n += lose_episode(l, pool, t->session);
    }
    return n;
}

static void forget(struct life *l, int pool)
{
    struct ctx *ctx = l->ctx;
    unsigned how = some(l, 12);
    struct thing *t = any(l, pool, how < 5);
    struct forget what = {.pool = pool_of(pool)};
    int session = (int)some(l, SESSIONS);
    int64_t erased = 0, expected;
    if (!t)
        return;
    if (how < 10)
        what.id = t->id;
    else if (how < 11)
        what.session = session_of(l, session);
    else
        what.everything = true;
    expected = take_out(l, pool, what.id, what.session.n ? session : -1);
    enum status status = store_forget(ctx, l->s, &what, &erased);
    CHECK(status == OK || (status == NOT_FOUND && !expected));
    ctx_clear_failure(ctx);
    CHECK_INT(erased, expected);
}

static void search(struct life *l, int pool)
{
    struct ctx *ctx = l->ctx;
    struct word_hits hits;
    str stems[4];
    uint64_t asked[4];
    size_t n = 1 + some(l, 4), found = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned word = some(l, WORDS);
        stems[i] = str_printf(&ctx->arena, "zq%u", word);
        asked[i] = (uint64_t)1 << word;
    }
    CHECK_OK(store_search_words(ctx, l->s, pool_of(pool), stems, n, false, 1 << 20, &hits));
    for (size_t i = 0; i < l->n; i++) {
        const struct thing *t = &l->v[i];
        size_t low = 0, high = hits.n;
        while (low < high) {
            size_t mid = (low + high) / 2;
            if (hits.v[mid].doc < t->doc)
                low = mid + 1;
            else
                high = mid;
        }
        const struct word_hit *hit =
            low < hits.n && hits.v[low].doc == t->doc ? &hits.v[low] : NULL;
        bool should = false, lives = t->is_there && t->is_open && t->pool == pool;
        for (size_t k = 0; lives && k < n; k++) {
            should |= (t->words & asked[k]) != 0;
            CHECK(!(t->words & asked[k]) == !(hit && hit->counts[k]));
        }
        CHECK(should == (hit != NULL));
        found += should;
    }
    CHECK_INT(hits.n, found);
}

/* --- vectors --- */

static const struct vector_set set = {{"model:16", 8}, DIMENSIONS, false, 0};

static struct thing *thing_of(struct life *l, doc_id doc)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->v[i].doc == doc)
            return &l->v[i];
    return NULL;
}

static void embed(struct life *l)
{
    struct ctx *ctx = l->ctx;
    struct unembedded *v;
    size_t n;
    CHECK_OK(store_unembedded(ctx, l->s, NULL, 1 + some(l, 300), &v, &n));
    struct vector_put *put = NEW_N(&ctx->arena, struct vector_put, n + 1);
    for (size_t i = 0; i < n; i++) {
        const struct thing *t = thing_of(l, v[i].doc);
        CHECK(t && t->is_there && t->is_open);
        put[i] = (struct vector_put){v[i].no, v[i].doc, direction(ctx, t->words, DIMENSIONS), 0};
    }
    CHECK_OK(store_put_vectors(ctx, l->s, set.signature, put, n));
}

static void search_vectors(struct life *l, int pool)
{
    struct ctx *ctx = l->ctx;
    struct pool_ref ref = pool_of(pool);
    struct vector_stats stats;
    struct vector_hits hits;
    struct vector_find f = {.pool = ref,
                            .signature = set.signature,
                            .v = direction(ctx, some(l, 1000), DIMENSIONS),
                            .dimensions = DIMENSIONS,
                            .nearest = THINGS_MAX,
                            .messages = true,
                            .memories = true};
    int64_t live = 0;
    CHECK_OK(store_search_vectors(ctx, l->s, &f, &hits));
    CHECK_OK(store_vector_stats(ctx, l->s, &ref, &stats));
    for (size_t i = 0; i < l->n; i++)
        live += l->v[i].pool == pool && l->v[i].is_there && l->v[i].is_open;
    CHECK_INT((int64_t)hits.n + stats.waiting, live);
    CHECK_INT(hits.n, stats.rows);
    for (size_t i = 0; i < hits.n; i++) {
        const struct thing *t = thing_of(l, hits.v[i].doc);
        CHECK(t && t->pool == pool && t->is_there && t->is_open);
        const float *v = direction(ctx, t->words, DIMENSIONS);
        double cosine = 0;
        for (size_t k = 0; k < DIMENSIONS; k++)
            cosine += (double)v[k] * (double)f.v[k];
        CHECK(fabs(cosine - (double)hits.v[i].cosine) < 1e-5);
    }
}

/* --- distilling --- */

static size_t count_session(const struct life *l, int pool, int session, bool waits)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        const struct thing *t = &l->v[i];
        n += t->pool == pool && t->session == session && t->key < 0 && t->is_there &&
             (t->waits || !waits);
    }
    return n;
}

/* What waits in a session is what should, in order. */
static struct pending_signal *pending(struct life *l, int pool, int session, size_t *n)
{
    struct ctx *ctx = l->ctx;
    struct pending_signal *v;
    str name = session_of(l, session);
    CHECK_OK(store_signals(ctx, l->s, pool_of(pool), name, THINGS_MAX, &v, n));
    CHECK_INT(*n, count_session(l, pool, session, true));
    for (size_t i = 0; i < *n; i++) {
        const struct thing *t = thing_of(l, v[i].message.doc);
        CHECK(t && t->pool == pool && t->session == session && t->waits);
        CHECK(!i || v[i - 1].message.doc < v[i].message.doc);
    }
    return v;
}

static enum status write_episode(struct life *l, int pool, struct memory *m,
                                 const struct pending_signal *v, size_t n)
{
    int64_t *no = NEW_N(&l->ctx->arena, int64_t, n);
    for (size_t i = 0; i < n; i++)
        no[i] = v[i].no;
    struct bundle b = {.pool = pool_of(pool),
                       .session = {.id = m->session},
                       .memories = m,
                       .n_memories = 1,
                       .rule = PUT_REPLACE,
                       .distilled = no,
                       .n_distilled = n};
    return store_write(l->ctx, l->s, &b);
}

/* Some of what waits becomes an episode, unless the session lost something meanwhile. */
static void distil(struct life *l, int pool)
{
    struct ctx *ctx = l->ctx;
    size_t n;
    struct thing t = {.pool = pool, .session = (int)some(l, SESSIONS)}, *old;
    struct pending_signal *v = pending(l, pool, t.session, &n);
    if (!n)
        return;
    n = 1 + some(l, (unsigned)n);
    size_t before = count_session(l, pool, t.session, false);
    if (some(l, 4) == 0)
        forget(l, pool);
    bool lost = count_session(l, pool, t.session, false) != before;
    t.key = KEYS + t.session;
    t.id = str_printf(&ctx->arena, "f%zu", l->n);
    struct memory m = fact(t.id.p, str_printf(&ctx->arena, "key%d", t.key).p, "");
    str text = text_of(l, &t.words);
    m.content = str_printf(&ctx->arena, S_FMT "n%zu", S_ARG(text), l->n);
    m.session = session_of(l, t.session);
    m.layer = LAYER_EPISODE;
    old = open_with_key(l, pool, t.key);
    CHECK_STATUS(write_episode(l, pool, &m, v, n), lost ? CONFLICT : OK);
    ctx_clear_failure(ctx);
    for (size_t i = 0; !lost && i < n; i++)
        thing_of(l, v[i].message.doc)->waits = false;
    t.doc = m.doc;
    if (!lost && old)
        old->words = t.words;
    else if (!lost)
        add(l, t);
}

static void step(struct life *l)
{
    int pool = (int)some(l, POOLS);
    unsigned what = some(l, 27);
    if (what < 7)
        talk(l, pool);
    else if (what < 12)
        learn(l, pool);
    else if (what < 15)
        forget(l, pool);
    else if (what < 20)
        search(l, pool);
    else if (what < 22)
        embed(l);
    else if (what < 25)
        distil(l, pool);
    else
        search_vectors(l, pool);
    l->steps++;
}

static void live(struct ctx *ctx, uint64_t seed, int64_t steps)
{
    PLACE(p);
    struct life l = {.ctx = ctx, .random = seed};
    l.v = NEW_N(&ctx->arena, struct thing, THINGS_MAX);
    for (int part = 0; part < 4; part++) {
        STORE(s, p);
        l.s = s;
        CHECK_OK(store_begin_vectors(ctx, s, &set, part == 2));
        for (int64_t i = 0; i < steps / 4; i++)
            step(&l);
        for (int pool = 0; pool < POOLS; pool++) {
            size_t n;
            search(&l, pool), search_vectors(&l, pool);
            for (int session = 0; session < SESSIONS; session++)
                pending(&l, pool, session, &n);
        }
        check_healthy(ctx, s);
    }
}

TEST(a_random_life)
{
    const char *again = getenv("SEED"); /* of a run that failed */
    uint64_t seed = again ? strtoull(again, NULL, 10) : (uint64_t)clock_mono_us() | 1;
    printf("seed %llu\n", (unsigned long long)seed);
    live(ctx, seed, 600);
}

TEST(the_same_random_life)
{
    live(ctx, 88172645463325252ULL, 1200);
}
