/* disk_fails.c - the 1st, 2nd, 3rd … write, sync or read fails, and nothing acknowledged is lost.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "disk.h"
#include "lib/store.h"
#include "store/store.h"
#include "words/words.h"

/* What the body did, and which of it was acknowledged. */
struct done {
    bool message, memory, forgotten, later, token, embedded, replaced;
};

static struct message turn(const char *id, const char *text)
{
    return said(id, "user", text, 1683553000000);
}

static bool went_well(struct ctx *ctx, enum status status)
{
    if (status != OK && status != STORAGE && status != TOO_BUSY)
        fail_msg("%s: %s", status_name(status), ctx->why);
    if (status != OK && !ctx->why[0])
        fail_msg("a failure without a word");
    ctx_clear_failure(ctx);
    return status == OK;
}

static const struct vector_set set = {{"fault:8", 7}, 8, true, 0};

/* Everything that waits gets the vector of its text. */
static enum status embed(struct ctx *ctx, struct store *s)
{
    struct unembedded *v;
    size_t n;
    TRY(store_unembedded(ctx, s, NULL, 100, &v, &n));
    struct vector_put put[100];
    for (size_t i = 0; i < n; i++)
        put[i] = (struct vector_put){v[i].no, v[i].doc,
                                     direction(ctx, str_hash(v[i].text), set.dimensions), 0};
    return store_put_vectors(ctx, s, set.signature, put, n);
}

/* How many vectors the pool has, and whether that of the text is one of them. */
static enum status look(struct ctx *ctx, struct store *s, const char *text, size_t *n,
                        bool *is_there)
{
    struct vector_hits hits;
    struct vector_find f = {.pool = mine,
                            .signature = set.signature,
                            .v = direction(ctx, str_hash(str_of(text)), set.dimensions),
                            .dimensions = set.dimensions,
                            .nearest = 100,
                            .messages = true,
                            .memories = true};
    TRY(store_search_vectors(ctx, s, &f, &hits));
    *n = hits.n;
    *is_there = false;
    for (size_t i = 0; i < hits.n; i++)
        *is_there |= hits.v[i].cosine > 0.999F;
    return OK;
}

static bool has_vector(struct ctx *ctx, struct store *s, const char *text)
{
    size_t n;
    bool is_there;
    CHECK_OK(look(ctx, s, text, &n, &is_there));
    return is_there;
}

/* Both turns of the session s4. */
static enum status replace(struct ctx *ctx, struct store *s, const char *word)
{
    struct message m[2];
    for (int i = 0; i < 2; i++)
        m[i] = turn(str_printf(&ctx->arena, "%s%d", word, i).p,
                    str_printf(&ctx->arena, "Ithaca %s %d", word, i).p);
    struct bundle b = {
        .pool = mine, .session = {.id = S("s4")}, .messages = m, .n_messages = 2, .replaces = true};
    return store_write(ctx, s, &b);
}

static void begin(struct ctx *ctx, struct store *s)
{
    struct message kept = turn("kept", "Ithaca kept"), doomed = turn("doomed", "Ithaca doomed");
    struct memory tea = fact("tea", "drink", "likes tea");
    CHECK_OK(say(ctx, s, mine, "s1", &kept));
    CHECK_OK(say(ctx, s, mine, "s2", &doomed));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &tea));
    CHECK_OK(store_begin_vectors(ctx, s, &set, false));
    CHECK_OK(embed(ctx, s));
    CHECK(has_vector(ctx, s, "Ithaca doomed") && has_vector(ctx, s, "likes tea"));
}

static struct done body(struct ctx *ctx, struct store *s)
{
    struct done d = {0};
    struct message m = turn("m1", "Ithaca one"), later = turn("m2", "Ithaca two");
    struct memory coffee = fact("coffee", "drink", "likes coffee");
    struct token token = {.id = S("t"), .hash = S("h"), .pool = mine};
    struct bundle b = {.pool = mine,
                       .session = {.id = S("s3")},
                       .messages = &later,
                       .n_messages = 1};
    int64_t erased;
    d.message = went_well(ctx, say(ctx, s, mine, "s1", &m));
    d.memory = went_well(ctx, keep(ctx, s, mine, PUT_SUPERSEDE, &coffee));
    d.embedded = went_well(ctx, embed(ctx, s));
    struct forget what = {.pool = mine, .session = S("s2")};
    d.forgotten = went_well(ctx, store_forget(ctx, s, &what, &erased));
    d.replaced = went_well(ctx, replace(ctx, s, "present"));
    d.token = went_well(ctx, store_put_token(ctx, s, &token));
    d.later = went_well(ctx, store_write_later(ctx, s, &b));
    d.later &= went_well(ctx, store_flush(ctx, s));
    return d;
}

static bool is_there(struct ctx *ctx, struct store *s, const char *session)
{
    struct message *v;
    size_t n;
    CHECK_OK(store_session_messages(ctx, s, mine, str_of(session), 0, 10, &v, &n));
    return n > 0;
}

/* Acknowledged is there; what failed is there whole or not at all. */
static void check_kept(struct ctx *ctx, struct store *s, struct done d)
{
    struct memory tea, coffee;
    struct token token;
    bool has_coffee = store_memory(ctx, s, mine, S("coffee"), &coffee) == OK;
    ctx_clear_failure(ctx);
    bool has_token = store_find_token(ctx, s, S("h"), &token) == OK;
    ctx_clear_failure(ctx);
    CHECK_OK(store_memory(ctx, s, mine, S("tea"), &tea));
    CHECK_INT(find(ctx, s, mine, "kept").n, 1);
    CHECK(!d.message || find(ctx, s, mine, "one").n == 1);
    CHECK(!d.memory || has_coffee);
    CHECK((tea.valid_to != 0) == has_coffee);
    CHECK_INT(find(ctx, s, mine, "tea").n, !has_coffee);
    CHECK_INT(find(ctx, s, mine, "coffee").n, has_coffee);
    CHECK(!d.forgotten || !is_there(ctx, s, "s2"));
    CHECK_INT(find(ctx, s, mine, "doomed").n, is_there(ctx, s, "s2"));
    CHECK_INT(has_vector(ctx, s, "Ithaca doomed"), is_there(ctx, s, "s2"));
    CHECK_INT(has_vector(ctx, s, "likes tea"), !has_coffee);
    CHECK(!d.embedded || !d.message || has_vector(ctx, s, "Ithaca one"));
    CHECK(!d.embedded || !d.memory || has_vector(ctx, s, "likes coffee"));
    bool is_present = find(ctx, s, mine, "present").n > 0;
    CHECK(!d.replaced || is_present);
    CHECK_INT(find(ctx, s, mine, "present").n, is_present ? 2 : 0);
    CHECK_INT(find(ctx, s, mine, "former").n, is_present ? 0 : 2);
    CHECK(!d.token || has_token);
    CHECK(!d.later || is_there(ctx, s, "s3"));
    CHECK_INT(find(ctx, s, mine, "two").n, is_there(ctx, s, "s3"));
    check_healthy(ctx, s);
}

/* The body with the nth step failing; false when it ran to the end without meeting the fault. */
static bool round_with(struct ctx *ctx, enum disk_fault fault, int nth, bool for_good)
{
    PLACE(p);
    struct done d;
    bool failed;
    {
        STORE(s, p);
        begin(ctx, s);
        CHECK_OK(replace(ctx, s, "former"));
        disk_fail(fault, nth, for_good);
        d = body(ctx, s);
        failed = disk_mend();
        if (!failed)
            CHECK(d.message && d.memory && d.forgotten && d.token && d.later && d.embedded &&
                  d.replaced);
        /* The same store goes on when the disk does. */
        struct message after = turn("after", "Ithaca behind");
        CHECK_OK(say(ctx, s, mine, "s9", &after));
        CHECK_OK(store_ping(ctx, s));
        check_kept(ctx, s, d);
    }
    STORE(s, p);
    CHECK_INT(find(ctx, s, mine, "behind").n, 1);
    check_kept(ctx, s, d);
    return failed;
}

static void each(enum disk_fault fault, bool for_good)
{
    disk_install();
    bool failed = true;
    int nth = 0;
    for (; failed && nth < 2000; nth += FAULT_STEP) {
        CLEANUP(ctx_free) struct ctx own = {0};
        failed = round_with(&own, fault, nth, for_good);
    }
    CHECK(nth > 3 && nth < 2000);
}

TEST(each_write_fails_once)
{
    each(DISK_WRITE_FAILS, false);
}

TEST(each_write_and_all_after_it_fail)
{
    each(DISK_WRITE_FAILS, true);
}

TEST(the_disk_is_full_from_each_write_on)
{
    each(DISK_IS_FULL, true);
}

TEST(each_sync_fails)
{
    each(DISK_SYNC_FAILS, false);
    each(DISK_SYNC_FAILS, true);
}

/* Opens and searches with the nth read failing: an answer is right, or there is none. */
static bool search_with(struct ctx *ctx, const struct place *p, int nth)
{
    struct store *s;
    struct word_hits hits = {0};
    struct store_settings settings = {.path = str_of(p->path)};
    str stem = words_of(&ctx->arena, S("ithaca"), 1).v[0].stem;
    disk_fail(DISK_READ_FAILS, nth, false);
    if (!went_well(ctx, store_open(ctx, &settings, &s)))
        return disk_mend();
    if (went_well(ctx, store_search_words(ctx, s, mine, &stem, 1, false, 10, &hits)))
        CHECK_INT(hits.n, 2);
    size_t n;
    bool is_near;
    if (went_well(ctx, look(ctx, s, "likes tea", &n, &is_near)))
        CHECK(n == 3 && is_near);
    bool failed = disk_mend();
    CHECK_OK(look(ctx, s, "likes tea", &n, &is_near));
    CHECK(n == 3 && is_near);
    CHECK_OK(store_search_words(ctx, s, mine, &stem, 1, false, 10, &hits));
    CHECK_INT(hits.n, 2);
    store_close(s);
    return failed;
}

TEST(each_read_fails)
{
    disk_install();
    PLACE(p);
    {
        STORE(s, p);
        begin(ctx, s);
    }
    bool failed = true;
    int nth = 0;
    for (; failed && nth < 1000; nth += FAULT_STEP) {
        CLEANUP(ctx_free) struct ctx own = {0};
        failed = search_with(&own, &p, nth);
    }
    CHECK(nth > 10 && nth < 1000);
}

static void say_later(struct ctx *ctx, struct store *s, const char *id, const char *text)
{
    struct message m = turn(id, text);
    struct receipt r = {.id = str_of(id)};
    struct bundle b = {
        .pool = mine, .session = {.id = S("s5")}, .messages = &m, .n_messages = 1, .receipt = &r};
    CHECK_OK(store_write_later(ctx, s, &b));
}

/* Also what was queued while the sync of another write was under way. */
TEST(what_was_queued_is_read_while_the_disk_syncs)
{
    disk_install();
    PLACE(p);
    STORE(s, p);
    CHECK_OK(store_flush(ctx, s));
    disk_hold_syncs(true);
    say_later(ctx, s, "q1", "Ithaca one");
    CHECK_OK(store_settle_pool(ctx, s, mine, 5000));
    CHECK_INT(find(ctx, s, mine, "one").n, 1);
    say_later(ctx, s, "q2", "Ithaca two");
    CHECK_OK(store_settle_pool(ctx, s, mine, 5000));
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 2);
    CHECK_OK(store_settle_pool(ctx, s, other_user, 0));
    disk_hold_syncs(false);
    CHECK_OK(store_flush(ctx, s));
    check_healthy(ctx, s);
}

struct reading {
    struct store *s;
    atomic_bool has_ended;
};

static void *read_receipt(void *arg)
{
    struct reading *r = arg;
    CLEANUP(ctx_free) struct ctx own = {0};
    struct ctx *ctx = &own;
    struct receipt receipt;
    CHECK_OK(store_receipt(ctx, r->s, mine, S("q1"), &receipt));
    atomic_store(&r->has_ended, true);
    return NULL;
}

TEST(a_receipt_that_is_found_is_durable)
{
    disk_install();
    PLACE(p);
    STORE(s, p);
    CHECK_OK(store_flush(ctx, s));
    disk_hold_syncs(true);
    say_later(ctx, s, "q1", "Ithaca one");
    CHECK_OK(store_settle_pool(ctx, s, mine, 5000));
    struct reading r = {.s = s};
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, read_receipt, &r), 0);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    CHECK(!atomic_load(&r.has_ended));
    disk_hold_syncs(false);
    CHECK_INT(pthread_join(thread, NULL), 0);
}

struct putting {
    struct store *s;
    struct vector_put put;
    atomic_bool has_ended;
};

static void *put_vector(void *arg)
{
    struct putting *p = arg;
    CLEANUP(ctx_free) struct ctx own = {0};
    struct ctx *ctx = &own;
    CHECK_OK(store_put_vectors(ctx, p->s, set.signature, &p->put, 1));
    atomic_store(&p->has_ended, true);
    return NULL;
}

/* Chats would wait behind such a sync for what they said last. */
TEST(vectors_are_read_while_the_disk_syncs_and_are_durable_when_their_maker_goes_on)
{
    disk_install();
    PLACE(p);
    STORE(s, p);
    struct memory m = fact("m1", "", "Ithaca is an island");
    struct unembedded *u;
    size_t n;
    CHECK_OK(store_begin_vectors(ctx, s, &set, true));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    CHECK_OK(store_unembedded(ctx, s, NULL, 10, &u, &n));
    CHECK_INT(n, 1);
    disk_hold_syncs(true);
    const float *v = direction(ctx, 1, set.dimensions);
    struct putting put = {.s = s, .put = {.no = u->no, .doc = u->doc, .v = v}};
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, put_vector, &put), 0);
    for (int i = 0; n && i < 5000; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        CHECK_OK(store_unembedded(ctx, s, NULL, 10, &u, &n));
    }
    CHECK_INT(n, 0);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    CHECK(!atomic_load(&put.has_ended));
    disk_hold_syncs(false);
    CHECK_INT(pthread_join(thread, NULL), 0);
}

TEST(an_acknowledged_write_survives_a_power_cut)
{
    enum { N = 30 };
    disk_install();
    PLACE(p);
    PLACE(after);
    disk_remember();
    STORE(s, p);
    for (int i = 0; i < N; i++) {
        struct message m = {.id = str_printf(&ctx->arena, "m%d", i), .text = S("Ithaca")};
        CHECK_OK(say(ctx, s, mine, "s1", &m));
        if (i % 10 == 5) {
            int64_t erased;
            struct forget what = {.pool = mine, .id = str_printf(&ctx->arena, "m%d", i - 1)};
            CHECK_OK(store_forget(ctx, s, &what, &erased));
        }
        disk_cut_power(p.path, after.path);
        remove(str_printf(&ctx->arena, "%s-shm", after.path).p);
        struct store *left;
        CHECK_OK(store_open(ctx, &(struct store_settings){.path = str_of(after.path)}, &left));
        CHECK_INT(find(ctx, left, mine, "ithaca").n, i + 1 - (i + 5) / 10);
        check_healthy(ctx, left);
        store_close(left);
    }
}
