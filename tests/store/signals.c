/* signals.c - turns that wait to be distilled: kept with the turn, claimed once, done with it. */
#include <pthread.h>

#include "lib/clock.h"
#include "lib/store.h"
#include "store/store.h"

enum { MINUTE = 60000 };

/* A question and its answer, which begin with the name, into a session. */
static void talk_in(struct ctx *ctx, struct store *s, struct pool_ref pool, const char *session,
                    const char *name, int64_t distil_at)
{
    struct message m[2];
    str text = str_printf(&ctx->arena, "%s is Ithaca", name);
    str answer = str_printf(&ctx->arena, "%s: I see", name);
    m[0] = said(str_printf(&ctx->arena, "%s-q", name).p, "user", text.p, 1000);
    m[1] = said(str_printf(&ctx->arena, "%s-a", name).p, "assistant", answer.p, 1000);
    struct bundle b = {.pool = pool,
                       .session = {.id = str_of(session)},
                       .messages = m,
                       .n_messages = 2,
                       .distil_at = distil_at};
    CHECK_OK(store_write(ctx, s, &b));
}

static void talk(struct ctx *ctx, struct store *s, const char *session, const char *name,
                 int64_t distil_at)
{
    talk_in(ctx, s, mine, session, name, distil_at);
}

/* The sessions that can be claimed now, in order, as "s1 s2". */
static str due(struct ctx *ctx, struct store *s, int64_t lease_ms)
{
    struct waiting_session *v;
    size_t n;
    struct buf b = buf_make(&ctx->arena, 10000);
    CHECK_OK(store_due_sessions(ctx, s, lease_ms, 100, &v, &n));
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s" S_FMT, i ? " " : "", S_ARG(v[i].session));
    return buf_str(&b);
}

static struct pending_signal *pending(struct ctx *ctx, struct store *s, const char *session,
                                      size_t expected)
{
    struct pending_signal *v;
    size_t n;
    CHECK_OK(store_signals(ctx, s, mine, str_of(session), 100, &v, &n));
    CHECK_INT(n, expected);
    return v;
}

static struct signal_stats stats_of(struct ctx *ctx, struct store *s, const struct pool_ref *pool)
{
    struct signal_stats out;
    CHECK_OK(store_signal_stats(ctx, s, pool, &out));
    return out;
}

static struct memory episode(const char *session, const char *content)
{
    struct memory m = fact("", session, content);
    m.layer = LAYER_EPISODE;
    m.type = TYPE_EPISODIC;
    m.session = str_of(session);
    m.origin = ORIGIN_DISTILLED;
    return m;
}

static enum status distil(struct ctx *ctx, struct store *s, struct memory *m, const int64_t *no,
                          size_t n)
{
    struct bundle b = {.pool = mine,
                       .session = {.id = m->session},
                       .memories = m,
                       .n_memories = 1,
                       .rule = PUT_REPLACE,
                       .distilled = no,
                       .n_distilled = n};
    return store_write(ctx, s, &b);
}

/* Makes an episode of all that waits in a session. */
static struct memory distil_all(struct ctx *ctx, struct store *s, const char *session,
                                const char *content)
{
    struct pending_signal *v;
    size_t n;
    int64_t no[100];
    struct memory m = episode(session, content);
    CHECK_OK(store_signals(ctx, s, mine, str_of(session), 100, &v, &n));
    for (size_t i = 0; i < n; i++)
        no[i] = v[i].no;
    CHECK_OK(distil(ctx, s, &m, no, n));
    return m;
}

static int64_t forget_id(struct ctx *ctx, struct store *s, const char *id)
{
    int64_t erased;
    struct forget what = {.pool = mine, .id = str_of(id)};
    CHECK_OK(store_forget(ctx, s, &what, &erased));
    return erased;
}

TEST(a_turn_is_a_signal_with_its_answer)
{
    PLACE(p);
    STORE(s, p);
    int64_t now = clock_ms();
    talk(ctx, s, "s1", "one", now);
    talk(ctx, s, "s1", "two", now);
    talk(ctx, s, "s1", "none", 0);
    struct pending_signal *v = pending(ctx, s, "s1", 2);
    CHECK_STR(v[0].message.text, S("one is Ithaca"));
    CHECK_STR(v[0].message.session, S("s1"));
    CHECK_STR(v[0].answer, S("one: I see"));
    CHECK_STR(v[1].answer, S("two: I see"));
    CHECK(v[0].no < v[1].no);
    struct signal_stats stats = stats_of(ctx, s, NULL);
    CHECK_INT(stats.signals, 2);
    CHECK_INT(stats.sessions, 1);
    CHECK_INT(stats.dead, 0);
    CHECK(stats.oldest >= now);
    CHECK_STR(stats.error, S(""));
    check_healthy(ctx, s);
}

TEST(a_retry_is_no_second_signal)
{
    PLACE(p);
    STORE(s, p);
    talk(ctx, s, "s1", "one", clock_ms());
    talk(ctx, s, "s1", "one", clock_ms());
    pending(ctx, s, "s1", 1);
}

/* Blank words, an echo without news, and a question behind which another one comes. */
TEST(only_what_the_user_said_is_a_signal)
{
    PLACE(p);
    STORE(s, p);
    struct message m[6];
    m[0] = said("m0", "user", " \n", 1000);
    m[1] = said("m1", "user", "remembered", 1000);
    m[1].is_echo = true;
    m[2] = said("m2", "user", "no answer", 1000);
    m[3] = said("m3", "user", "a tool", 1000);
    m[4] = said("m4", "assistant", " ", 1000);
    m[5] = said("m5", "assistant", "at last", 1000);
    struct bundle b = {.pool = mine,
                       .session = {.id = S("s1")},
                       .messages = m,
                       .n_messages = 6,
                       .distil_at = clock_ms()};
    CHECK_OK(store_write(ctx, s, &b));
    struct pending_signal *v = pending(ctx, s, "s1", 2);
    CHECK_STR(v[0].message.id, S("m2"));
    CHECK_STR(v[0].answer, S(""));
    CHECK_STR(v[1].answer, S("at last"));
}

TEST(what_is_written_later_waits_too)
{
    PLACE(p);
    STORE(s, p);
    struct message m = said("m1", "user", "later", 1000);
    struct bundle b = {.pool = mine,
                       .session = {.id = S("s1")},
                       .messages = &m,
                       .n_messages = 1,
                       .distil_at = clock_ms()};
    CHECK_OK(store_write_later(ctx, s, &b));
    CHECK_OK(store_flush(ctx, s));
    int64_t no = pending(ctx, s, "s1", 1)[0].no;
    struct memory e = episode("s1", "an episode");
    struct bundle done = {.pool = mine,
                          .session = {.id = S("s1")},
                          .memories = &e,
                          .n_memories = 1,
                          .distilled = &no,
                          .n_distilled = 1};
    CHECK_OK(store_write_later(ctx, s, &done));
    no = -1;
    CHECK_OK(store_flush(ctx, s));
    pending(ctx, s, "s1", 0);
}

TEST(a_session_is_due_in_time_or_when_another_begins)
{
    PLACE(p);
    STORE(s, p);
    int64_t later = clock_ms() + MINUTE;
    talk(ctx, s, "s1", "one", later);
    talk_in(ctx, s, other_space, "s9", "nine", later);
    CHECK_STR(due(ctx, s, MINUTE), S(""));
    talk(ctx, s, "s2", "two", later);
    CHECK_STR(due(ctx, s, MINUTE), S("s1"));
    talk(ctx, s, "s3", "three", later);
    CHECK_STR(due(ctx, s, MINUTE), S("s2"));
    talk(ctx, s, "s4", "four", 1);
    CHECK_STR(due(ctx, s, MINUTE), S("s4 s3"));
}

TEST(a_claim_is_ones_own_until_its_lease_is_over)
{
    PLACE(p);
    STORE(s, p);
    talk(ctx, s, "s1", "one", 1);
    CHECK_STR(due(ctx, s, MINUTE), S("s1"));
    CHECK_STR(due(ctx, s, MINUTE), S(""));
    talk(ctx, s, "s1", "two", 1);
    CHECK_STR(due(ctx, s, MINUTE), S(""));
    talk(ctx, s, "s2", "three", 1);
    CHECK_STR(due(ctx, s, -1), S("s2"));
    CHECK_STR(due(ctx, s, -1), S("s2"));
}

TEST(a_write_can_claim_what_it_writes)
{
    PLACE(p);
    STORE(s, p);
    struct message m = said("m1", "user", "one", 1000);
    struct bundle b = {.pool = mine,
                       .session = {.id = S("s1")},
                       .messages = &m,
                       .n_messages = 1,
                       .distil_at = 1,
                       .claim_ms = MINUTE};
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_STR(due(ctx, s, MINUTE), S(""));
    talk(ctx, s, "s2", "two", 1); /* another session hurries it, and it is claimed all the same */
    CHECK_STR(due(ctx, s, MINUTE), S("s2"));
    struct distil_end end = {.pool = mine, .session = S("s1")};
    CHECK_OK(store_end_distil(ctx, s, &end));
    CHECK_STR(due(ctx, s, MINUTE), S("s1"));
}

TEST(what_was_distilled_waits_no_more)
{
    PLACE(p);
    STORE(s, p);
    talk(ctx, s, "s1", "one", 1);
    CHECK_STR(due(ctx, s, MINUTE), S("s1"));
    int64_t first = pending(ctx, s, "s1", 1)[0].no;
    talk(ctx, s, "s1", "two", clock_ms() + MINUTE);
    struct memory e = episode("s1", "Ithaca it is");
    CHECK_OK(distil(ctx, s, &e, &first, 1));
    CHECK_STR(due(ctx, s, MINUTE), S("s1"));
    CHECK_STR(pending(ctx, s, "s1", 1)[0].message.id, S("two-q"));
    struct memory again = distil_all(ctx, s, "s1", "Ithaca and Troy");
    CHECK_STR(again.id, e.id);
    CHECK_STR(due(ctx, s, -1), S(""));
    CHECK_INT(stats_of(ctx, s, NULL).sessions, 0);
    CHECK_INT(find(ctx, s, mine, "troy").n, 1);
    check_healthy(ctx, s);
}

/* Whoever was slower than its lease writes nothing. */
TEST(a_signal_is_distilled_once)
{
    PLACE(p);
    STORE(s, p);
    talk(ctx, s, "s1", "one", 1);
    talk(ctx, s, "s1", "two", 1);
    struct pending_signal *v = pending(ctx, s, "s1", 2);
    int64_t no[] = {v[0].no, v[1].no};
    struct memory e = episode("s1", "quick");
    struct memory slow = episode("s1", "slow");
    CHECK_OK(distil(ctx, s, &e, no, 1));
    CHECK_STATUS(distil(ctx, s, &slow, no, 2), CONFLICT);
    ctx_clear_failure(ctx);
    pending(ctx, s, "s1", 1);
    CHECK_INT(find(ctx, s, mine, "slow").n, 0);
    slow.session = S("elsewhere");
    CHECK_STATUS(distil(ctx, s, &slow, no + 1, 1), CONFLICT);
    ctx_clear_failure(ctx);
    pending(ctx, s, "s1", 1);
    check_healthy(ctx, s);
}

static void end(struct ctx *ctx, struct store *s, struct distil_end how)
{
    how.pool = mine;
    how.session = S("s1");
    CHECK_OK(store_end_distil(ctx, s, &how));
}

TEST(a_failure_is_told_and_tried_again_in_time)
{
    PLACE(p);
    STORE(s, p);
    struct waiting_session *v;
    size_t n;
    int64_t later = clock_ms() + MINUTE;
    talk(ctx, s, "s1", "one", 1);
    CHECK_STR(due(ctx, s, MINUTE), S("s1"));
    end(ctx, s,
        (struct distil_end){.again_at = later,
                            .error = S("it said nothing"),
                            .is_answer_fault = true});
    CHECK_STR(due(ctx, s, MINUTE), S(""));
    talk(ctx, s, "s1", "two", 1);
    talk(ctx, s, "s2", "three", later);
    CHECK_STR(due(ctx, s, MINUTE), S(""));
    CHECK_STR(stats_of(ctx, s, &mine).error, S("it said nothing"));
    CHECK_INT(stats_of(ctx, s, &mine).signals, 3);
    end(ctx, s, (struct distil_end){.error = S("again nothing")});
    CHECK_OK(store_due_sessions(ctx, s, -1, 1, &v, &n));
    CHECK_INT(n, 1);
    CHECK_INT(v->tries, 2);
    CHECK(!v->is_answer_fault);
    CHECK_STR(v->pool.space, mine.space);
    end(ctx, s, (struct distil_end){.error = S("no more"), .is_dead = true});
    CHECK_STR(due(ctx, s, -1), S(""));
    CHECK_INT(stats_of(ctx, s, &mine).dead, 1);
    talk(ctx, s, "s1", "four", 1);
    CHECK_STR(due(ctx, s, -1), S("s2"));
    check_healthy(ctx, s);
}

TEST(signals_can_be_done_without_memories)
{
    PLACE(p);
    STORE(s, p);
    talk(ctx, s, "s1", "one", 1);
    talk(ctx, s, "s1", "two", 1);
    CHECK_STR(due(ctx, s, MINUTE), S("s1"));
    struct pending_signal *v = pending(ctx, s, "s1", 2);
    int64_t no[] = {v[0].no, v[1].no};
    end(ctx, s, (struct distil_end){.done = no, .n_done = 1});
    CHECK_STR(due(ctx, s, MINUTE), S("s1"));
    end(ctx, s, (struct distil_end){.done = no, .n_done = 2});
    CHECK_INT(stats_of(ctx, s, NULL).sessions, 0);
    end(ctx, s, (struct distil_end){.error = S("nothing is there")});
    CHECK_INT(stats_of(ctx, s, NULL).sessions, 0);
    check_healthy(ctx, s);
}

TEST(what_waits_can_be_asked_for)
{
    PLACE(p);
    STORE(s, p);
    int64_t later = clock_ms() + MINUTE, n;
    talk(ctx, s, "s1", "one", later);
    end(ctx, s, (struct distil_end){.error = S("dead"), .is_dead = true});
    talk_in(ctx, s, other_space, "s2", "two", later);
    talk_in(ctx, s, other_user, "s3", "three", later);
    CHECK_OK(store_flush_signals(ctx, s, mine, S("s2"), &n));
    CHECK_INT(n, 0);
    CHECK_OK(store_flush_signals(ctx, s, mine, S("s1"), &n));
    CHECK_INT(n, 1);
    CHECK_STR(due(ctx, s, MINUTE), S("s1"));
    CHECK_OK(store_flush_signals(ctx, s, (struct pool_ref){mine.user, S("")}, S(""), &n));
    CHECK_INT(n, 2);
    CHECK_STR(due(ctx, s, MINUTE), S("s2"));
}

/* --- forgetting --- */

TEST(a_forgotten_message_waits_no_more)
{
    PLACE(p);
    STORE(s, p);
    talk(ctx, s, "s1", "one", 1);
    talk(ctx, s, "s1", "two", 1);
    CHECK_INT(forget_id(ctx, s, "one-q"), 1);
    CHECK_STR(pending(ctx, s, "s1", 1)[0].message.id, S("two-q"));
    CHECK_INT(forget_id(ctx, s, "two-q"), 1);
    CHECK_INT(stats_of(ctx, s, NULL).sessions, 0);
    check_healthy(ctx, s);
}

/* What is with the model while a message is forgotten is not written: not even when the message was
 * only an answer. */
TEST(nothing_comes_back_from_a_model_that_was_asked_before)
{
    PLACE(p);
    STORE(s, p);
    talk(ctx, s, "s1", "one", 1);
    talk(ctx, s, "s1", "two", 1);
    CHECK_STR(due(ctx, s, MINUTE), S("s1"));
    struct pending_signal *v = pending(ctx, s, "s1", 2);
    int64_t no[] = {v[0].no, v[1].no};
    forget_id(ctx, s, "one-a");
    struct memory e = episode("s1", "it said that it sees");
    CHECK_STATUS(distil(ctx, s, &e, no, 2), CONFLICT);
    ctx_clear_failure(ctx);
    CHECK_STR(due(ctx, s, MINUTE), S("s1"));
    CHECK_STR(pending(ctx, s, "s1", 2)[0].answer, S(""));
    check_healthy(ctx, s);
}

TEST(an_episode_is_made_anew_without_what_was_forgotten)
{
    PLACE(p);
    STORE(s, p);
    talk(ctx, s, "s1", "one", 1);
    talk(ctx, s, "s1", "two", 1);
    talk(ctx, s, "s2", "three", 1);
    distil_all(ctx, s, "s1", "all of zanzibar");
    distil_all(ctx, s, "s2", "the other");
    struct memory whole = fact("", "", "a fact of zanzibar"), own = whole;
    whole.session = own.session = S("s1");
    whole.origin = own.origin = ORIGIN_DISTILLED;
    own.source = S("two-q");
    own.content = S("a fact with a source");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &whole));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &own));
    CHECK_INT(forget_id(ctx, s, "one-q"), 3);
    CHECK_INT(find(ctx, s, mine, "zanzibar").n, 0);
    CHECK_INT(find(ctx, s, mine, "source other").n, 2);
    CHECK_STR(pending(ctx, s, "s1", 1)[0].message.id, S("two-q"));
    CHECK_STR(due(ctx, s, MINUTE), S("")); /* an erasure is several transactions */
    fake_clock_set(clock_ms() + 2000);
    CHECK_STR(due(ctx, s, MINUTE), S("s1"));
    fake_clock_stop();
    check_healthy(ctx, s);
}

static void merge(struct ctx *ctx, struct store *s, str kept, str dropped)
{
    int64_t changed;
    struct merged merged = {kept, dropped, S("{\"both\":1}")};
    struct consolidation c = {.pool = mine, .merges = &merged, .n_merges = 1};
    CHECK_OK(store_consolidate(ctx, s, &c, &changed));
    CHECK_INT(changed, 1);
}

/* Three sessions in one episode: what any of them forgets, all are asked for again. */
TEST(a_merged_episode_goes_with_any_of_its_sessions)
{
    static const char *const gone[] = {"one-q", "two-q", "three-q", "s1", "s2", "s3"};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        PLACE(p);
        STORE(s, p);
        talk(ctx, s, "s1", "one", 1);
        talk(ctx, s, "s2", "two", 1);
        talk(ctx, s, "s3", "three", 1);
        struct memory a = distil_all(ctx, s, "s1", "zanzibar a");
        struct memory b = distil_all(ctx, s, "s2", "zanzibar b");
        struct memory c = distil_all(ctx, s, "s3", "zanzibar c");
        merge(ctx, s, b.id, a.id);
        merge(ctx, s, c.id, b.id);
        CHECK_INT(forget_id(ctx, s, gone[i]), i < 3 ? 4 : 5);
        CHECK_INT(find(ctx, s, mine, "zanzibar").n, 0);
        CHECK_INT(stats_of(ctx, s, &mine).sessions, 2);
        CHECK_INT(stats_of(ctx, s, &mine).signals, 2);
        check_healthy(ctx, s);
    }
}

/* A session goes on after its episode was merged into another's. */
TEST(a_merged_session_can_have_an_episode_again)
{
    PLACE(p);
    STORE(s, p);
    talk(ctx, s, "s1", "one", 1);
    talk(ctx, s, "s2", "two", 1);
    struct memory a = distil_all(ctx, s, "s1", "alpha"), b = distil_all(ctx, s, "s2", "beta");
    merge(ctx, s, b.id, a.id);
    talk(ctx, s, "s1", "three", 1);
    struct memory e = episode("s1", "gamma");
    e.id = a.id;
    int64_t no = pending(ctx, s, "s1", 1)[0].no;
    CHECK_OK(distil(ctx, s, &e, &no, 1));
    CHECK_INT(find(ctx, s, mine, "gamma").n, 1);
    CHECK_INT(find(ctx, s, mine, "alpha").n, 0);
    check_healthy(ctx, s);
}

TEST(a_forgotten_session_or_pool_waits_no_more)
{
    PLACE(p);
    STORE(s, p);
    int64_t erased;
    talk(ctx, s, "s1", "one", 1);
    talk(ctx, s, "s2", "two", 1);
    talk_in(ctx, s, other_user, "s3", "three", 1);
    struct forget session = {.pool = mine, .session = S("s1")};
    struct forget all = {.pool = mine, .everything = true};
    CHECK_OK(store_forget(ctx, s, &session, &erased));
    CHECK_INT(stats_of(ctx, s, &mine).sessions, 1);
    CHECK_OK(store_forget(ctx, s, &all, &erased));
    CHECK_INT(stats_of(ctx, s, &mine).signals, 0);
    CHECK_INT(stats_of(ctx, s, NULL).sessions, 1);
    CHECK_STR(due(ctx, s, MINUTE), S("s3"));
    check_healthy(ctx, s);
}

/* --- many --- */

enum { SESSIONS = 600, THREADS = 4 };

struct claimer {
    struct store *s;
    int n, doubles;
    char *claimed; /* by session, of all */
};

static void *claim_all(void *arg)
{
    struct claimer *c = arg;
    for (size_t n = 1; n;) {
        CLEANUP(ctx_free) struct ctx own = {0};
        struct waiting_session *v;
        if (store_due_sessions(&own, c->s, MINUTE, 16, &v, &n) != OK)
            abort();
        for (size_t i = 0; i < n; i++) {
            char *at = &c->claimed[strtol(v[i].session.p, NULL, 10)];
            c->doubles += __atomic_fetch_add(at, 1, __ATOMIC_RELAXED) != 0;
        }
        c->n += (int)n;
    }
    return NULL;
}

/* Two stores on one file are as two processes. */
TEST(no_session_is_claimed_twice)
{
    PLACE(p);
    STORE(s, p);
    STORE(s2, p);
    char claimed[SESSIONS] = {0};
    pthread_t threads[THREADS];
    struct claimer c[THREADS];
    int all = 0;
    for (int i = 0; i < SESSIONS; i++) {
        struct message m = {.text = S("Ithaca"), .role = S("user"), .created = 1};
        struct bundle b = {.pool = i % 2 ? mine : other_user,
                           .session = {.id = str_printf(&ctx->arena, "%d", i)},
                           .messages = &m,
                           .n_messages = 1,
                           .distil_at = 1 + i};
        CHECK_OK(store_write_later(ctx, s, &b));
    }
    CHECK_OK(store_flush(ctx, s));
    for (int i = 0; i < THREADS; i++) {
        c[i] = (struct claimer){i % 2 ? s : s2, 0, 0, claimed};
        CHECK(pthread_create(&threads[i], NULL, claim_all, &c[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        all += c[i].n;
        CHECK_INT(c[i].doubles, 0);
    }
    CHECK_INT(all, SESSIONS);
}

TEST(what_waits_to_be_asked_for_is_hurried_by_nobody)
{
    PLACE(p);
    STORE(s, p);
    int64_t n, later = clock_ms() + MINUTE, asked = clock_ms() + (int64_t)365 * 86400000;
    talk(ctx, s, "s1", "one", asked);
    talk(ctx, s, "s2", "two", later);
    CHECK_STR(due(ctx, s, MINUTE), S(""));
    talk(ctx, s, "s3", "three", asked);
    CHECK_STR(due(ctx, s, MINUTE), S(""));
    CHECK_OK(store_flush_signals(ctx, s, mine, S(""), &n));
    CHECK_INT(n, 3);
    CHECK_STR(due(ctx, s, MINUTE), S("s1 s2 s3"));
}

TEST(the_work_is_logged_with_its_end)
{
    PLACE(p);
    STORE(s, p);
    talk(ctx, s, "s1", "one", clock_ms());
    int64_t gone = -1, no = pending(ctx, s, "s1", 1)[0].no;
    struct work *v, done = {.pool = mine, .kind = S("distil"), .status = S("success")};
    struct memory m = episode("s1", "an episode");
    size_t n;
    struct bundle b = {.pool = mine,
                       .session = {.id = S("s1")},
                       .memories = &m,
                       .n_memories = 1,
                       .distilled = &gone,
                       .n_distilled = 1,
                       .work = &done};
    CHECK_STATUS(store_write(ctx, s, &b), CONFLICT);
    ctx_clear_failure(ctx);
    CHECK_OK(store_work_log(ctx, s, NULL, S("distil"), 10, &v, &n));
    CHECK_INT(n, 0);
    b.distilled = &no;
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_OK(store_work_log(ctx, s, NULL, S("distil"), 10, &v, &n));
    CHECK_INT(n, 1);
    talk(ctx, s, "s1", "two", clock_ms());
    struct work failed = {.pool = mine, .kind = S("distil"), .status = S("error")};
    struct distil_end end = {
        .pool = mine, .session = S("s1"), .error = S("down"), .again_at = 1, .work = &failed};
    CHECK_OK(store_end_distil(ctx, s, &end));
    CHECK_OK(store_work_log(ctx, s, NULL, S("distil"), 10, &v, &n));
    CHECK_INT(n, 2);
    CHECK_STR(v[0].status, S("error"));
}

/* An episode is replaced in place; of a line under a key the one made later is true. */
TEST(what_is_distilled_again_follows_its_dates)
{
    PLACE(p);
    STORE(s, p);
    static const struct {
        const char *content, *now;
        int64_t created;
    } lines[] = {{"at Acme", "at Acme", 2000},
                 {"at Globex", "at Globex", 3000},
                 {"at Initech", "at Globex", 1000}};
    for (size_t i = 0; i < 3; i++) {
        struct memory m[2];
        m[0] = episode("s1", lines[i].content);
        m[0].id = S("e1");
        m[1] = fact("", "who:employer", lines[i].content);
        m[1].layer = LAYER_IDENTITY;
        m[1].created = lines[i].created;
        struct bundle b = {.pool = mine, .memories = m, .n_memories = 2, .rule = PUT_DISTILLED};
        CHECK_OK(store_write(ctx, s, &b));
        struct memory kept, *v;
        size_t n;
        int64_t total;
        CHECK_OK(store_memory(ctx, s, mine, S("e1"), &kept));
        CHECK_STR(kept.content, str_of(lines[i].content));
        struct memory_filter f = {.pool = mine, .layer = S("identity"), .limit = 10};
        CHECK_OK(store_list_memories(ctx, s, &f, &v, &n, &total));
        CHECK_INT(total, 1);
        CHECK_STR(v[0].content, str_of(lines[i].now));
    }
    check_healthy(ctx, s);
}
