/* replace.c - a session or memory in place of itself, and claims that end with their process. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/store.h"
#include "store/store.h"

enum { MINUTE = 60000 };

static struct bundle session_of(struct ctx *ctx, const char *session, const char *const *texts,
                                size_t n)
{
    struct message *v = NEW_N(&ctx->arena, struct message, n);
    for (size_t i = 0; i < n; i++) {
        const str parts[] = {str_of(session), str_of(texts[i])};
        v[i] = said("", "user", texts[i], 1000);
        v[i].id = id_of(&ctx->arena, parts, 2);
    }
    return (struct bundle){.pool = mine,
                           .session = {.id = str_of(session)},
                           .messages = v,
                           .n_messages = n,
                           .replaces = true,
                           .distil_at = 1};
}

static str due(struct ctx *ctx, struct store *s)
{
    struct waiting_session *v;
    size_t n;
    struct buf b = buf_make(&ctx->arena, 1000);
    CHECK_OK(store_due_sessions(ctx, s, MINUTE, 100, &v, &n));
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s" S_FMT, i ? " " : "", S_ARG(v[i].session));
    return buf_str(&b);
}

/* The texts of a session, as "one | two". */
static str texts_of(struct ctx *ctx, struct store *s, const char *session)
{
    struct message *v;
    size_t n;
    struct buf b = buf_make(&ctx->arena, 1000);
    CHECK_OK(store_session_messages(ctx, s, mine, str_of(session), 0, 100, &v, &n));
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s" S_FMT, i ? " | " : "", S_ARG(v[i].text));
    return buf_str(&b);
}

static int64_t first_signal(struct ctx *ctx, struct store *s, const char *session)
{
    struct pending_signal *v;
    size_t n;
    CHECK_OK(store_signals(ctx, s, mine, str_of(session), 100, &v, &n));
    CHECK(n > 0);
    return v->no;
}

static const char *const old[] = {"Ithaca one", "Ithaca two", "Ithaca three"};
static const char *const new[] = {"Troy one", "Ithaca two"};

TEST(a_session_is_replaced_with_all_that_came_of_it)
{
    PLACE(p);
    STORE(s, p);
    struct bundle first = session_of(ctx, "s1", old, 3), again = session_of(ctx, "s1", new, 2);
    struct bundle other = session_of(ctx, "s2", new, 1);
    CHECK_OK(store_write(ctx, s, &first));
    CHECK_OK(store_write(ctx, s, &other));
    struct memory distilled = fact("f1", "", "Ithaca was seen");
    distilled.session = S("s1");
    struct memory quoted = fact("f2", "", "Ithaca was quoted");
    quoted.source = first.messages[1].id;
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &distilled));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &quoted));
    CHECK_OK(store_write(ctx, s, &again));
    CHECK(!again.in_work);
    CHECK_STR(texts_of(ctx, s, "s1"), S("Troy one | Ithaca two"));
    CHECK_STR(texts_of(ctx, s, "s2"), S("Troy one"));
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 1);
    CHECK_INT(find(ctx, s, mine, "troy").n, 2);
    struct signal_stats stats;
    CHECK_OK(store_signal_stats(ctx, s, &mine, &stats));
    CHECK_INT(stats.signals, 3);
    CHECK_INT(stats.sessions, 2);
    check_healthy(ctx, s);
}

TEST(what_is_in_work_for_another_is_not_begun_twice)
{
    PLACE(p);
    STORE(s, p);
    struct bundle first = session_of(ctx, "s1", old, 3);
    first.claim_ms = MINUTE;
    CHECK_OK(store_write(ctx, s, &first));
    CHECK(!first.in_work);
    int64_t no = first_signal(ctx, s, "s1");
    struct bundle same = session_of(ctx, "s1", old, 3);
    same.claim_ms = MINUTE;
    CHECK_OK(store_write(ctx, s, &same));
    CHECK(same.in_work);
    CHECK_INT(first_signal(ctx, s, "s1"), no); /* nothing was written anew */
    CHECK_STR(due(ctx, s), S(""));
    struct bundle shorter = session_of(ctx, "s1", old, 2);
    shorter.claim_ms = MINUTE;
    CHECK_OK(store_write(ctx, s, &shorter));
    CHECK(shorter.in_work);
    CHECK_STR(texts_of(ctx, s, "s1"), S("Ithaca one | Ithaca two"));
    CHECK_STR(due(ctx, s), S("s1")); /* nobody was given it with the write */
    check_healthy(ctx, s);
}

/* A process that claims what is due and dies of kill -9; another that lives on keeps its own. */
static void claim_and_die(const struct place *p)
{
    int status;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        struct ctx own = {0};
        struct store *s;
        struct waiting_session *v;
        size_t n;
        if (store_open(&own, &(struct store_settings){.path = str_of(p->path)}, &s) != OK ||
            store_due_sessions(&own, s, MINUTE, 1, &v, &n) != OK || n != 1)
            _exit(2);
        raise(SIGKILL);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static const char *threads_after_fork(void)
{
#ifdef __SANITIZE_THREAD__
    return "a process that was forked begins no threads under the thread sanitizer";
#else
    return NULL;
#endif
}

/* PostgreSQL notices a little later that a process has ended. */
static str due_soon(struct ctx *ctx, struct store *s)
{
    str out = due(ctx, s);
    for (int i = 0; is_on_postgres() && !out.n && i < 500; i++) {
        usleep(10000);
        out = due(ctx, s);
    }
    return out;
}

TEST_NEEDS(a_claim_ends_with_its_process, threads_after_fork)
{
    PLACE(p);
    {
        STORE(s, p);
        struct bundle b = session_of(ctx, "s1", old, 1);
        CHECK_OK(store_write(ctx, s, &b));
    }
    claim_and_die(&p);
    STORE(s, p);
    CHECK_STR(due_soon(ctx, s), S("s1"));
    {
        STORE(second, p); /* whoever opens it frees no claim of one that lives */
        CHECK_STR(due(ctx, second), S(""));
    }
    struct bundle b = session_of(ctx, "s2", old, 1);
    CHECK_OK(store_write(ctx, s, &b));
    claim_and_die(&p);
    if (is_on_postgres()) { /* a server need not begin anew for it */
        CHECK_STR(due_soon(ctx, s), S("s2"));
        return;
    }
    CHECK_STR(due(ctx, s), S(""));
    int64_t n;
    CHECK_OK(store_flush_signals(ctx, s, mine, S(""), &n));
    CHECK_STR(due(ctx, s), S("s2"));
}

/* A copy of a memory that was changed elsewhere, and then closed there. */
TEST(a_later_import_changes_all_of_a_memory)
{
    PLACE(p);
    STORE(s, p);
    struct memory m = fact("a", "dog", "Rex barks."), other = fact("b", "cat", "Ivy purrs.");
    str tag = S("pets");
    CHECK_OK(keep(ctx, s, mine, PUT_IMPORT, &m));
    CHECK_OK(keep(ctx, s, mine, PUT_IMPORT, &other));
    m = fact("a", "hound", "Rex sleeps.");
    m.updated = m.created + 1;
    m.category = S("entity");
    m.importance = 0.9;
    m.tags = (struct strs){&tag, 1};
    CHECK_OK(keep(ctx, s, mine, PUT_IMPORT, &m));
    CHECK_OK(store_memory(ctx, s, mine, S("a"), &m));
    CHECK_STR(m.content, S("Rex sleeps."));
    CHECK_STR(m.key, S("hound"));
    CHECK_STR(m.category, S("entity"));
    CHECK(m.importance == 0.9 && m.tags.n == 1);
    m.key = S("cat"); /* another's */
    m.valid_to = m.updated += 2;
    CHECK_OK(keep(ctx, s, mine, PUT_IMPORT, &m));
    CHECK_OK(store_memory(ctx, s, mine, S("a"), &other));
    CHECK_STR(other.key, S("hound"));
    CHECK_INT(other.valid_to, m.updated);
    check_healthy(ctx, s);
}
