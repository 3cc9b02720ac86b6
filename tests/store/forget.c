/* forget.c - forgetting reaches every copy, and nothing else. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "lib/clock.h"
#include "lib/store.h"
#include "store/store.h"

static int64_t forget(struct ctx *ctx, struct store *s, struct forget what)
{
    int64_t erased = -1;
    CHECK_OK(store_forget(ctx, s, &what, &erased));
    return erased;
}

/* A session of five messages, a fact from the second, and a receipt of another session that shows
 * it. */
static void talk(struct ctx *ctx, struct store *s, struct pool_ref pool, const char *session)
{
    struct message m[5];
    for (int i = 0; i < 5; i++)
        m[i] = (struct message){.id = str_printf(&ctx->arena, "%s-%d", session, i),
                                .role = S("user"),
                                .text = str_printf(&ctx->arena, "We sail to Ithaca, part %d", i),
                                .created = 1683553000000 + i,
                                .chain = 100 + (uint64_t)i};
    struct memory f = fact(str_printf(&ctx->arena, "%s-f", session).p, "", "sails to Ithaca");
    f.source = m[1].id;
    struct receipt_line line = {.kind = S("message"), .id = m[1].id};
    struct receipt r = {.id = str_printf(&ctx->arena, "%s-r", session),
                        .session = S("elsewhere"),
                        .lines = &line,
                        .n = 1};
    struct bundle b = {.pool = pool,
                       .session = {.id = str_of(session)},
                       .messages = m,
                       .n_messages = 5,
                       .memories = &f,
                       .n_memories = 1,
                       .receipt = &r};
    CHECK_OK(store_write(ctx, s, &b));
}

static bool has_receipt(struct ctx *ctx, struct store *s, struct pool_ref pool, const char *id)
{
    struct receipt r;
    enum status status = store_receipt(ctx, s, pool, str_of(id), &r);
    CHECK(status == OK || status == NOT_FOUND);
    ctx_clear_failure(ctx);
    return status == OK;
}

TEST(a_message_is_forgotten_with_what_came_from_it)
{
    PLACE(p);
    STORE(s, p);
    struct message m = said("new", "user", "Ithaca again", 5), *v;
    size_t n;
    talk(ctx, s, mine, "s1");
    talk(ctx, s, mine, "s2");
    CHECK_INT(forget(ctx, s, (struct forget){.pool = mine, .id = S("s1-1")}), 2);
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 10);
    CHECK(!has_receipt(ctx, s, mine, "s1-r") && has_receipt(ctx, s, mine, "s2-r"));
    check_healthy(ctx, s);
    /* What comes next does not take the number of what was forgotten. */
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    CHECK_INT(doc_position(m.doc), 5);
    CHECK_OK(store_session_messages(ctx, s, mine, S("s1"), 0, 10, &v, &n));
    CHECK_INT(n, 5);
    check_healthy(ctx, s);
}

TEST(a_memory_is_forgotten_and_its_message_stays)
{
    PLACE(p);
    STORE(s, p);
    talk(ctx, s, mine, "s1");
    struct receipt_line line = {.kind = S("memory"), .id = S("s1-f"), .source = S("s1-1")};
    struct receipt r = {.id = S("r9"), .lines = &line, .n = 1};
    CHECK_OK(store_write(ctx, s, &(struct bundle){.pool = mine, .receipt = &r}));
    CHECK_INT(forget(ctx, s, (struct forget){.pool = mine, .id = S("s1-f")}), 1);
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 5);
    CHECK(!has_receipt(ctx, s, mine, "r9") && has_receipt(ctx, s, mine, "s1-r"));
    check_healthy(ctx, s);
}

TEST(a_session_is_forgotten_by_its_name_or_as_an_id)
{
    PLACE(p);
    STORE(s, p);
    talk(ctx, s, mine, "s1");
    talk(ctx, s, mine, "s2");
    talk(ctx, s, mine, "s3");
    struct receipt r = {.id = S("own"), .session = S("s1")};
    struct memory learnt = fact("l1", "", "learnt in the first");
    learnt.session = S("s1");
    CHECK_OK(store_write(ctx, s, &(struct bundle){.pool = mine, .receipt = &r}));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &learnt));
    CHECK_INT(forget(ctx, s, (struct forget){.pool = mine, .session = S("s1")}), 7);
    CHECK_INT(forget(ctx, s, (struct forget){.pool = mine, .id = S("s3")}), 6);
    CHECK(!has_receipt(ctx, s, mine, "own") && !has_receipt(ctx, s, mine, "s1-r"));
    CHECK(has_receipt(ctx, s, mine, "s2-r"));
    CHECK_INT(find(ctx, s, mine, "ithaca learnt").n, 6);
    struct session *v;
    size_t n;
    int64_t total;
    CHECK_OK(store_sessions(ctx, s,
                            &(struct session_filter){.pool = mine, .offset = 0, .limit = 10}, &v,
                            &n, &total));
    CHECK_INT(total, 1);
    check_healthy(ctx, s);
}

TEST(the_receipt_of_a_forgotten_question_goes_with_it)
{
    PLACE(p);
    STORE(s, p);
    talk(ctx, s, mine, "s1");
    struct receipt r = {.id = S("own"), .session = S("other"), .chain = 103};
    CHECK_OK(store_write(ctx, s, &(struct bundle){.pool = mine, .receipt = &r}));
    CHECK_INT(forget(ctx, s, (struct forget){.pool = mine, .id = S("s1-3")}), 1);
    CHECK(!has_receipt(ctx, s, mine, "own"));
}

/* A model takes its time to answer, and the receipt comes behind it. */
TEST(a_receipt_that_comes_late_does_not_show_what_is_forgotten)
{
    PLACE(p);
    STORE(s, p);
    talk(ctx, s, mine, "s1");
    struct receipt_line lines[] = {{.kind = S("message"), .id = S("s1-2")},
                                   {.kind = S("memory"), .id = S("s1-f"), .source = S("s1-1")}};
    struct receipt r = {.id = S("late"), .block = S("sails to Ithaca"), .lines = lines, .n = 2},
                   other = {.id = S("other"), .lines = lines, .n = 1};
    CHECK_INT(forget(ctx, s, (struct forget){.pool = mine, .id = S("s1-f")}), 1);
    CHECK_OK(store_write(ctx, s, &(struct bundle){.pool = mine, .receipt = &r}));
    CHECK_OK(store_write(ctx, s, &(struct bundle){.pool = mine, .receipt = &other}));
    CHECK(!has_receipt(ctx, s, mine, "late"));
    CHECK(has_receipt(ctx, s, mine, "other"));
}

TEST(everything_of_a_pool_or_of_a_user)
{
    PLACE(p);
    STORE(s, p);
    int64_t erased;
    talk(ctx, s, mine, "s1");
    talk(ctx, s, mine, "s2");
    talk(ctx, s, other_space, "s1");
    talk(ctx, s, other_user, "s1");
    CHECK_INT(forget(ctx, s, (struct forget){.pool = mine, .everything = true}), 12);
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 0);
    CHECK_INT(find(ctx, s, other_space, "ithaca").n, 6);
    check_healthy(ctx, s);
    CHECK_STATUS(store_forget(ctx, s, &(struct forget){.pool = mine, .everything = true}, &erased),
                 NOT_FOUND);
    ctx_clear_failure(ctx);
    talk(ctx, s, mine, "s1");
    struct forget user = {.pool = mine, .everything = true, .all_spaces = true};
    CHECK_INT(forget(ctx, s, user), 12);
    CHECK_INT(find(ctx, s, other_space, "ithaca").n, 0);
    CHECK_INT(find(ctx, s, other_user, "ithaca").n, 6);
    check_healthy(ctx, s);
    struct store_stats stats;
    CHECK_OK(store_stats(ctx, s, &stats));
    CHECK_INT(stats.users, 1);
    CHECK_INT(stats.pools, 1);
    CHECK_INT(stats.messages, 5);
    CHECK_INT(stats.receipts, 1);
}

TEST(nothing_matches_in_another_pool)
{
    PLACE(p);
    STORE(s, p);
    int64_t erased;
    talk(ctx, s, mine, "s1");
    talk(ctx, s, other_user, "x1");
    const char *ids[] = {"s1", "s1-1", "s1-f", "s1-r", "nothing"};
    for (size_t i = 0; i < 5; i++) {
        CHECK_STATUS(store_forget(ctx, s,
                                  &(struct forget){.pool = other_user, .id = str_of(ids[i])},
                                  &erased),
                     NOT_FOUND);
        ctx_clear_failure(ctx);
    }
    CHECK_STATUS(store_forget(ctx, s, &(struct forget){.pool = other_user, .session = S("s1")},
                              &erased),
                 NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_STATUS(store_forget(ctx, s, &(struct forget){.pool = mine}, &erased), BAD_INPUT);
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 6);
    check_healthy(ctx, s);
}

/* So much that the words index is rewritten instead of mended. */
TEST(a_long_session_is_forgotten_in_batches)
{
    PLACE(p);
    STORE(s, p);
    enum { N = 1500 };
    struct message *m = NEW_N(&ctx->arena, struct message, N);
    struct message stays = said("stays", "user", "Ithaca stays", 1000),
                   goes = said("goes", "user", "Ithaca xylophone", 1000);
    for (int i = 0; i < N; i++)
        m[i] = (struct message){.id = str_printf(&ctx->arena, "m%d", i),
                                .text = str_printf(&ctx->arena, "Ithaca quetzal%d", i)};
    struct bundle b = {.pool = mine, .session = {.id = S("s1")}, .messages = m, .n_messages = N};
    CHECK_OK(say(ctx, s, mine, "s2", &stays));
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_INT(forget(ctx, s, (struct forget){.pool = mine, .session = S("s1")}), N);
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 1);
    CHECK(!place_holds(ctx, &p, S("uetzal")));
    check_healthy(ctx, s);
    CHECK_OK(say(ctx, s, mine, "s3", &goes));
    CHECK_INT(forget(ctx, s, (struct forget){.pool = mine, .id = S("goes")}), 1);
    CHECK(!place_holds(ctx, &p, S("xylophon")));
    check_healthy(ctx, s);
}

TEST(a_forgotten_text_stands_nowhere_in_the_files)
{
    PLACE(p);
    STORE(s, p);
    struct memory f = fact("f1", "", "the code is Quetzalcoatl"),
                  other = fact("f2", "", "Rumpelstilz");
    struct message m = said("m1", "user", "the code is Quetzalcoatl", 1000);
    struct receipt r = {.id = S("r1"), .session = S("s1"), .block = S("Quetzalcoatl")};
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    CHECK_OK(store_write(ctx, s, &(struct bundle){.pool = mine, .receipt = &r}));
    /* Enough besides it for the index to merge its parts. */
    for (int i = 0; i < 100; i++) {
        struct message x = {.id = str_printf(&ctx->arena, "x%d", i),
                            .text = str_printf(&ctx->arena, "filling word%d", i)};
        CHECK_OK(say(ctx, s, mine, "s2", &x));
    }
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &other));
    forget(ctx, s, (struct forget){.pool = mine, .id = S("f1")});
    forget(ctx, s, (struct forget){.pool = mine, .session = S("s1")});
    const char *traces[] = {"Quetzalcoatl", "quetzalcoatl", "uetzalcoatl"};
    for (size_t i = 0; i < 3; i++) {
        CHECK(!place_holds(ctx, &p, str_of(traces[i])));
    }
    CHECK(place_holds(ctx, &p, S("Rumpelstilz")));
    check_healthy(ctx, s);
}

/* Three of each type, and one of each is older than the others. */
static void keep_kinds(struct ctx *ctx, struct store *s, struct pool_ref pool)
{
    for (int i = 0; i < 12; i++) {
        struct memory m = fact(str_printf(&ctx->arena, "kind%d", i).p, "", "sails to Ithaca");
        m.type = (enum memory_type)(i % 4);
        m.created = i < 4 ? 1600000000000 : 1700000000000;
        CHECK_OK(keep(ctx, s, pool, PUT_SUPERSEDE, &m));
    }
}

TEST(memories_are_forgotten_by_type_and_age)
{
    PLACE(p);
    STORE(s, p);
    int64_t erased;
    keep_kinds(ctx, s, mine);
    keep_kinds(ctx, s, other_user);
    talk(ctx, s, mine, "s1");
    struct forget what = {.pool = mine, .memories = true, .type = S("episodic")};
    what.before = 1650000000000;
    CHECK_INT(forget(ctx, s, what), 1);
    what.before = 0;
    CHECK_INT(forget(ctx, s, what), 2);
    what = (struct forget){.pool = mine, .memories = true, .before = 1650000000000};
    CHECK_INT(forget(ctx, s, what), 3);
    CHECK_STATUS(store_forget(ctx, s, &what, &erased), NOT_FOUND);
    ctx_clear_failure(ctx);
    what.before = 0;
    CHECK_INT(forget(ctx, s, what), 7);
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 5); /* the messages */
    CHECK(!has_receipt(ctx, s, mine, "none") && has_receipt(ctx, s, mine, "s1-r"));
    CHECK_INT(find(ctx, s, other_user, "ithaca").n, 12);
    check_healthy(ctx, s);
    what.type = S("odd");
    CHECK_STATUS(store_forget(ctx, s, &what, &erased), BAD_INPUT);
    ctx_clear_failure(ctx);
    what = (struct forget){.pool = mine, .id = S("s1"), .type = S("factual")};
    CHECK_STATUS(store_forget(ctx, s, &what, &erased), BAD_INPUT);
}

/* More than a batch, closed ones among them, and so many that the index is rewritten. */
TEST(all_memories_are_forgotten_in_batches)
{
    PLACE(p);
    STORE(s, p);
    enum { N = 1500 };
    struct memory *m = NEW_N(&ctx->arena, struct memory, N);
    for (int i = 0; i < N; i++)
        m[i] = fact("", i % 3 ? "" : "same", str_printf(&ctx->arena, "Ithaca quetzal%d", i).p);
    struct bundle b = {.pool = mine, .memories = m, .n_memories = N};
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_INT(forget(ctx, s, (struct forget){.pool = mine, .memories = true}), N);
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 0);
    CHECK(!place_holds(ctx, &p, S("uetzal")));
    check_healthy(ctx, s);
}

/* Milliseconds of processor time that forgetting n memories takes. */
static double cost_of_forgetting(struct ctx *ctx, struct store *s, size_t n)
{
    enum { TOGETHER = 1000 };
    for (size_t at = 0; at < n; at += TOGETHER) {
        CLEANUP(ctx_free) struct ctx own = {0};
        struct memory *v = NEW_N(&own.arena, struct memory, TOGETHER);
        for (size_t i = 0; i < TOGETHER; i++)
            v[i] = fact(str_printf(&own.arena, "m%zu", at + i).p, "",
                        str_printf(&own.arena, "fact %zu of many", at + i).p);
        struct bundle b = {.pool = mine, .memories = v, .n_memories = TOGETHER, .rule = PUT_IMPORT};
        CHECK_OK(store_write(&own, s, &b));
    }
    clock_t began = clock();
    CHECK_INT(forget(ctx, s, (struct forget){.pool = mine, .memories = true}), n);
    return (double)(clock() - began) * 1000 / CLOCKS_PER_SEC;
}

/* Six times as many cost thirteen times as much when SQLite keeps what each page was, at each try.
 * Without that a busy machine may make one try cost more than nine times as much. */
TEST(forgetting_much_costs_no_more_for_each)
{
    enum { TRIES = 5 };
    PLACE(p);
    STORE(s, p);
    for (int i = 0; i < TRIES; i++) {
        double few = cost_of_forgetting(ctx, s, 2000), many = cost_of_forgetting(ctx, s, 12000);
        if (many <= few * 9)
            return;
        print_message("2000 cost %.0f ms, 12000 cost %.0f ms\n", few, many);
    }
    fail_msg("each of %d tries cost too much", TRIES);
}

/* What one write removes and sets goes and comes together, or not at all. */
TEST(a_bundle_erases_what_it_names_with_what_it_adds)
{
    PLACE(p);
    STORE(s, p);
    struct memory v[] = {fact("one", "city", "lives in Zanzibar"), fact("two", "tea", "likes tea"),
                         fact("", "", "")};
    struct memory got, next = fact("three", "city", "lives in Ulm");
    const str gone[] = {S("one"), S("nobody's")};
    for (int i = 0; i < 2; i++)
        CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &v[i]));
    struct bundle b = {
        .pool = mine, .memories = &v[2], .n_memories = 1, .erase = gone, .n_erase = 2};
    CHECK_STATUS(store_write(ctx, s, &b), BAD_INPUT);
    ctx_clear_failure(ctx);
    struct bundle theirs = {.pool = other_user, .erase = gone, .n_erase = 2};
    CHECK_OK(store_write(ctx, s, &theirs));
    CHECK_OK(store_memory(ctx, s, mine, S("one"), &got));
    b.memories = &next;
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_STATUS(store_memory(ctx, s, mine, S("one"), &got), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_OK(store_memory(ctx, s, mine, S("three"), &got));
    CHECK(!got.valid_to);
    CHECK_OK(store_memory(ctx, s, mine, S("two"), &got));
    CHECK(!place_holds(ctx, &p, S("Zanzibar")));
    check_healthy(ctx, s);
}

struct writing {
    struct store *s;
    atomic_bool is_ending;
    atomic_int n;
};

static void *write_on(void *arg)
{
    struct writing *w = arg;
    while (!atomic_load(&w->is_ending)) {
        CLEANUP(ctx_free) struct ctx own = {0};
        struct ctx *ctx = &own;
        struct memory m = fact("", "", "walks after lunch");
        CHECK_OK(keep(ctx, w->s, other_user, PUT_SUPERSEDE, &m));
        atomic_fetch_add(&w->n, 1);
    }
    return NULL;
}

/* How often another thread writes while N memories are erased. */
static int writes_meanwhile(struct ctx *ctx, struct store *s, struct writing *w)
{
    enum { N = 6000, TOGETHER = 1000 };
    struct memory *v = NEW_N(&ctx->arena, struct memory, TOGETHER);
    for (size_t at = 0; at < N; at += TOGETHER) {
        for (size_t i = 0; i < TOGETHER; i++)
            v[i] = fact("", "", str_printf(&ctx->arena, "fact %zu of many", at + i).p);
        CHECK_OK(
            store_write(ctx, s,
                        &(struct bundle){.pool = mine, .memories = v, .n_memories = TOGETHER}));
    }
    int before = atomic_load(&w->n);
    WAIT_FOR(atomic_load(&w->n) > before);
    before = atomic_load(&w->n);
    CHECK_INT(forget(ctx, s, (struct forget){.pool = mine, .memories = true}), N);
    return atomic_load(&w->n) - before;
}

/* In one transaction others would write once or twice meanwhile, at each try; in pieces they write
 * ten times unless the machine gives the thread no time. */
TEST(others_write_while_much_is_erased)
{
    enum { TRIES = 5 };
    PLACE(p);
    STORE(s, p);
    pthread_t thread;
    struct writing w = {.s = s};
    int meanwhile = 0;
    CHECK_INT(pthread_create(&thread, NULL, write_on, &w), 0);
    for (int i = 0; i < TRIES && meanwhile < 10; i++)
        meanwhile = writes_meanwhile(ctx, s, &w);
    atomic_store(&w.is_ending, true);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK(meanwhile >= 10);
    CHECK_INT(find(ctx, s, mine, "fact").n, 0);
    CHECK_INT(find(ctx, s, other_user, "walks").n, w.n);
    check_healthy(ctx, s);
}

/* Asks whether the store is sound, again and again. */
static void *check_on(void *arg)
{
    struct writing *w = arg;
    while (!atomic_load(&w->is_ending)) {
        CLEANUP(ctx_free) struct ctx own = {0};
        struct ctx *ctx = &own;
        str findings;
        enum status status = store_check(ctx, w->s, &findings);
        CHECK(status == TOO_BUSY || status == OK);
        CHECK(!findings.n);
        atomic_fetch_add(&w->n, 1);
    }
    return NULL;
}

/* Sessions of messages, each with a memory that comes of one. */
static void talk_much(struct ctx *ctx, struct store *s, struct pool_ref pool)
{
    for (int i = 0; i < 600; i++)
        talk(ctx, s, pool, str_printf(&ctx->arena, "s%d", i).p);
}

/* Each piece of an erasure leaves a store that is sound. */
TEST(a_store_is_not_called_damaged_while_much_is_erased)
{
    PLACE(p);
    STORE(s, p);
    pthread_t thread;
    struct writing w = {.s = s};
    talk_much(ctx, s, other_user);
    CHECK_INT(pthread_create(&thread, NULL, check_on, &w), 0);
    for (int i = 0; i < 3; i++) {
        talk_much(ctx, s, mine);
        int before = atomic_load(&w.n);
        WAIT_FOR(atomic_load(&w.n) > before);
        forget(ctx, s, (struct forget){.pool = mine, .everything = true});
    }
    atomic_store(&w.is_ending, true);
    CHECK_INT(pthread_join(thread, NULL), 0);
    check_healthy(ctx, s);
}
