/* erase_rounds.c - random erasures, undone or killed at any moment: each is whole, or never was. */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/store.h"
#include "store/store.h"

/*
 * A child process writes, erases and undoes at random and tells over a pipe how each step ended,
 * until it is killed. The parent takes the same steps in a plain list (struct model). After the
 * kill the store must be as the list, or as the list with the step that was under way. What an
 * acknowledged erasure took must not stand in any byte of the files.
 *
 * ROUNDS and SEED in the environment: more of it, and one that failed again.
 */

enum { POOLS = 4, SESSIONS = 3, ITEMS = 200000, MARKS = 20000, MANY = 80, KEPT = 600 };

enum state { LIVE, MARKED, GONE };

/* A message, or a memory; its text is "zq", its number in six digits, and an x. */
struct item {
    int pool, session; /* session -1: none */
    int source;        /* the message that a memory came from, or -1 */
    int summary;       /* what a memory was closed for, or -1 */
    int mark;          /* of a MARKED one: who can put it back */
    enum memory_type type;
    enum state state;
    bool is_message, is_episode, is_summary, was_condensed;
};

/* An erasure that can be undone: all items that it changed, before and after. */
struct mark {
    int pool, n;
    bool is_live, is_doubtful;
    bool is_of_session; /* its row goes, too, even if nothing is in it any more */
    struct altered {
        int at;
        struct item was, is;
    } * v;
};

struct model {
    struct item *v;
    struct mark *marks;
    int n, n_marks;
    unsigned random;
};

enum deed {
    SAY,
    LEARN,
    CONDENSE,
    FORGET_ONE,
    FORGET_IDS,
    FORGET_SESSION,
    FORGET_KIND,
    FORGET_POOL,
    FORGET_USER,
    UNDO,
    DEEDS
};

struct step {
    enum deed deed;
    int pool, session, n, at[3]; /* items that it names */
    enum memory_type type;
    int mark;   /* UNDO: which; an erasure: the one it makes, or -1 */
    bool keeps; /* memories of a session */
};

static int some(struct model *m, int below)
{
    return rand_r(&m->random) % below;
}

static struct pool_ref pool_of(int i)
{
    return (struct pool_ref){i < 2 ? S("anna") : S("ben"), i % 2 ? S("home") : S("work")};
}

static str name_of(struct ctx *ctx, int i)
{
    return str_printf(&ctx->arena, "i%d", i);
}

static str session_of(struct ctx *ctx, int i)
{
    return i < 0 ? S("") : str_printf(&ctx->arena, "s%d", i);
}

static str text_of(struct ctx *ctx, int i)
{
    return str_printf(&ctx->arena, "zq%06dx was said", i);
}

/* --- choosing: the same in parent and child, which have the same list and the same random --- */

/* A live item of the pool, mostly a young one; -1: none was met. */
static int any(struct model *m, int pool, bool is_message)
{
    for (int tries = 0; m->n && tries < 60; tries++) {
        int among = m->n < KEPT ? m->n : KEPT, i = m->n - 1 - some(m, among);
        const struct item *t = &m->v[i];
        if (t->state == LIVE && t->pool == pool && t->is_message == is_message)
            return i;
    }
    return -1;
}

static int any_mark(struct model *m)
{
    int among = m->n_marks < 6 ? m->n_marks : 6;
    return among ? m->n_marks - 1 - some(m, among) : -1;
}

static void choose_items(struct model *m, struct step *s)
{
    int most = s->deed == FORGET_ONE ? 1 : s->deed == FORGET_IDS ? 3 : 2;
    for (int i = 0; i < most; i++) {
        int at = any(m, s->pool, s->deed == FORGET_ONE && some(m, 2));
        bool is_new = at >= 0 && (s->n == 0 || at != s->at[0]) && (s->n < 2 || at != s->at[1]);
        bool fits =
            s->deed != CONDENSE || (is_new && !m->v[at].is_summary && !m->v[at].was_condensed);
        if (is_new && fits)
            s->at[s->n++] = at;
    }
}

static struct step choose(struct model *m)
{
    static const enum deed often[] = {
        SAY,      SAY,        SAY,        LEARN,      LEARN,          LEARN,
        CONDENSE, FORGET_ONE, FORGET_ONE, FORGET_IDS, FORGET_SESSION, FORGET_SESSION,
        UNDO,     UNDO,       UNDO,       FORGET_KIND};
    struct step s = {.deed = often[some(m, 16)], .pool = some(m, POOLS), .mark = -1};
    s.session = some(m, SESSIONS);
    s.type = (enum memory_type)some(m, TYPE_COUNT);
    s.keeps = some(m, 3) == 0;
    if (s.deed == FORGET_KIND && some(m, 3) == 0)
        s.deed = some(m, 3) ? FORGET_POOL : FORGET_USER;
    if (s.deed == SAY)
        s.n = some(m, 12) ? 1 + some(m, 4) : MANY;
    else if (s.deed == LEARN)
        s.at[0] = any(m, s.pool, true);
    else if (s.deed == CONDENSE || s.deed == FORGET_ONE || s.deed == FORGET_IDS)
        choose_items(m, &s);
    else if (s.deed == UNDO)
        s.mark = any_mark(m);
    if (s.deed >= FORGET_ONE && s.deed <= FORGET_KIND && some(m, 2))
        s.mark = m->n_marks;
    bool is_idle = (s.deed == CONDENSE && s.n < 2) || (s.deed == UNDO && s.mark < 0) ||
                   ((s.deed == FORGET_ONE || s.deed == FORGET_IDS) && !s.n);
    if (is_idle)
        s = (struct step){.deed = SAY, .pool = s.pool, .session = s.session, .n = 1, .mark = -1};
    return s;
}

/* --- in the store --- */

static enum status write_messages(struct ctx *ctx, struct store *store, const struct model *m,
                                  const struct step *s)
{
    static struct message v[MANY];
    for (int i = 0; i < s->n; i++)
        v[i] = (struct message){.id = name_of(ctx, m->n + i),
                                .role = i % 2 ? S("assistant") : S("user"),
                                .text = text_of(ctx, m->n + i),
                                .created = 1000};
    struct bundle b = {.pool = pool_of(s->pool),
                       .session = {.id = session_of(ctx, s->session)},
                       .messages = v,
                       .n_messages = (size_t)s->n,
                       .distil_at = s->keeps};
    return store_write(ctx, store, &b);
}

/* With a source it is a fact of that message's session, without one an episode of a session. */
static enum status write_memory(struct ctx *ctx, struct store *store, const struct model *m,
                                const struct step *s)
{
    bool has_source = s->at[0] >= 0;
    struct memory v = fact(name_of(ctx, m->n).p, "", text_of(ctx, m->n).p);
    v.layer = has_source ? LAYER_FACT : LAYER_EPISODE;
    v.type = s->type;
    v.session = session_of(ctx, has_source ? m->v[s->at[0]].session : s->session);
    v.source = has_source ? name_of(ctx, s->at[0]) : S("");
    struct bundle b = {.pool = pool_of(s->pool),
                       .memories = &v,
                       .n_memories = 1,
                       .rule = PUT_IMPORT};
    return store_write(ctx, store, &b);
}

static enum status condense(struct ctx *ctx, struct store *store, const struct model *m,
                            const struct step *s)
{
    str ids[3];
    struct memory summary = {.content = text_of(ctx, m->n), .importance = 0.5};
    for (int i = 0; i < s->n; i++)
        ids[i] = name_of(ctx, s->at[i]);
    return condense_to(ctx, store, pool_of(s->pool), &summary, ids, (size_t)s->n);
}

/* The store gave a summary its id. */
static enum status find_id(struct ctx *ctx, struct store *store, const struct model *m, int at,
                           str *out)
{
    struct memory_filter f = {.pool = pool_of(m->v[at].pool),
                              .contains = str_sub(text_of(ctx, at), 0, 9),
                              .limit = 1};
    struct memory *v;
    size_t n = 0;
    *out = name_of(ctx, at);
    if (!m->v[at].is_summary)
        return OK;
    TRY(store_list_memories(ctx, store, &f, &v, &n, NULL));
    if (n)
        *out = v->id;
    return OK;
}

static enum status forget(struct ctx *ctx, struct store *store, const struct model *m,
                          const struct step *s)
{
    const struct undo_mark mark = {str_printf(&ctx->arena, "u%d", s->mark), INT64_MAX};
    struct forget f = {.pool = pool_of(s->pool), .undo = s->mark < 0 ? NULL : &mark};
    int64_t erased;
    str ids[3];
    for (int i = 0; i < s->n; i++)
        TRY(find_id(ctx, store, m, s->at[i], &ids[i]));
    if (s->deed == FORGET_ONE)
        f.id = ids[0];
    else if (s->deed == FORGET_IDS)
        f.ids = ids, f.n_ids = (size_t)s->n;
    else if (s->deed == FORGET_SESSION)
        f.session = session_of(ctx, s->session), f.keeps_memories = s->keeps;
    else if (s->deed == FORGET_KIND)
        f.memories = true, f.type = str_of(type_names[s->type]);
    else
        f.everything = true, f.all_spaces = s->deed == FORGET_USER;
    if (f.all_spaces)
        f.pool.space = S("");
    return store_forget(ctx, store, &f, &erased);
}

static enum status take_step(struct ctx *ctx, struct store *store, const struct model *m,
                             const struct step *s)
{
    int64_t restored;
    switch (s->deed) {
    case SAY:
        return write_messages(ctx, store, m, s);
    case LEARN:
        return write_memory(ctx, store, m, s);
    case CONDENSE:
        return condense(ctx, store, m, s);
    case UNDO:
        return store_undo(ctx, store, pool_of(m->marks[s->mark].pool),
                          str_printf(&ctx->arena, "u%d", s->mark), &restored);
    default:
        return forget(ctx, store, m, s);
    }
}

/* --- in the list --- */

static void add_items(struct model *m, const struct step *s)
{
    int of = s->deed == LEARN ? s->at[0] : -1;
    struct item t = {.pool = s->pool, .session = s->session, .source = of, .summary = -1};
    t.is_message = s->deed == SAY;
    t.is_episode = s->deed == LEARN && of < 0;
    t.is_summary = s->deed == CONDENSE;
    t.type = t.is_summary ? TYPE_SEMANTIC : s->type;
    t.session = t.is_summary ? -1 : of >= 0 ? m->v[of].session : s->session;
    for (int i = 0; t.is_summary && i < s->n; i++) {
        m->v[s->at[i]].summary = m->n;
        m->v[s->at[i]].was_condensed = true;
    }
    CHECK(m->n + MANY < ITEMS);
    for (int i = 0; i < (t.is_message ? s->n : 1); i++)
        m->v[m->n++] = t;
}

/* A memory goes with its message, and an episode when its session loses anything. */
static bool goes_with(const struct model *m, const struct item *t, int at)
{
    const struct item *gone = &m->v[at];
    return gone->is_message && !t->is_message && t->pool == gone->pool &&
           (t->source == at || (t->is_episode && t->session == gone->session));
}

static bool is_meant(const struct model *m, const struct step *s, int i)
{
    const struct item *t = &m->v[i];
    if (s->deed == FORGET_USER)
        return t->pool / 2 == s->pool / 2;
    if (t->pool != s->pool)
        return false;
    for (int k = 0; k < s->n; k++)
        if (s->at[k] == i || (s->deed == FORGET_ONE && goes_with(m, t, s->at[k])))
            return true;
    return s->deed == FORGET_POOL ||
           (s->deed == FORGET_KIND && !t->is_message && t->type == s->type) ||
           (s->deed == FORGET_SESSION && t->session == s->session && (t->is_message || !s->keeps));
}

/* What a summary replaced goes with it, if it is named itself. */
static void take_members(const struct model *m, const struct step *s, bool *goes)
{
    for (int i = 0; i < m->n; i++)
        for (int k = 0; k < s->n && m->v[i].state == LIVE && m->v[i].summary >= 0; k++)
            goes[i] |= m->v[i].summary == s->at[k];
}

/* A summary goes with any of its members; the others are open again. */
static void undo_summaries(struct model *m, bool *goes)
{
    bool *lost = heap_alloc((size_t)m->n + 1);
    memset(lost, 0, (size_t)m->n + 1);
    for (int i = 0; i < m->n; i++)
        if (goes[i] && m->v[i].summary >= 0)
            lost[m->v[i].summary] = true;
    for (int i = 0; i < m->n; i++)
        goes[i] |= lost[i] && m->v[i].state == LIVE;
    for (int i = 0; i < m->n; i++)
        if (m->v[i].state == LIVE && m->v[i].summary >= 0 && lost[m->v[i].summary] &&
            goes[m->v[i].summary] && !goes[i])
            m->v[i].summary = -1;
    free(lost);
}

/* An erasure for good ends what can be undone in its pools. */
static bool is_ended_by(const struct mark *mark, const struct step *s)
{
    bool is_of = s->deed == FORGET_USER ? mark->pool / 2 == s->pool / 2 : mark->pool == s->pool;
    return is_of && s->deed >= FORGET_ONE && s->mark < 0;
}

static void end_marks(struct model *m, const struct step *s)
{
    for (int k = 0; k < m->n_marks; k++) {
        struct mark *mark = &m->marks[k];
        bool is_of = is_ended_by(mark, s);
        for (int i = 0; is_of && mark->is_live && i < mark->n; i++) {
            struct item *t = &m->v[mark->v[i].at];
            if (t->state == MARKED && t->mark == k)
                t->state = GONE;
        }
        mark->is_live &= !is_of;
    }
}

static void keep_mark(struct model *m, const struct step *s, const struct item *was)
{
    CHECK(m->n_marks < MARKS && s->mark == m->n_marks);
    struct mark *mark = &m->marks[m->n_marks++];
    *mark =
        (struct mark){.pool = s->pool, .is_live = true, .is_of_session = s->deed == FORGET_SESSION};
    mark->v = heap_alloc(((size_t)m->n + 1) * sizeof *mark->v);
    for (int i = 0; i < m->n; i++)
        if (memcmp(&was[i], &m->v[i], sizeof *was) != 0)
            mark->v[mark->n++] = (struct altered){i, was[i], m->v[i]};
    mark->v = heap_grow(mark->v, ((size_t)mark->n + 1) * sizeof *mark->v);
}

static void erase_items(struct model *m, const struct step *s)
{
    size_t size = (size_t)m->n * sizeof *m->v;
    struct item *was = heap_alloc(size + 1);
    bool *goes = heap_alloc((size_t)m->n + 1);
    memcpy(was, m->v, size);
    for (int i = 0; i < m->n; i++)
        goes[i] = m->v[i].state == LIVE && is_meant(m, s, i);
    take_members(m, s, goes);
    if (s->deed < FORGET_POOL)
        undo_summaries(m, goes);
    for (int i = 0; i < m->n; i++) {
        struct item *t = &m->v[i];
        bool leaves = s->deed == FORGET_SESSION && s->keeps && t->state == LIVE && !goes[i] &&
                      t->pool == s->pool && t->session == s->session;
        if (leaves)
            t->session = t->source = -1;
        if (goes[i])
            t->state = s->mark < 0 ? GONE : MARKED, t->mark = s->mark;
    }
    if (s->mark < 0)
        end_marks(m, s);
    else
        keep_mark(m, s, was);
    free(was);
    free(goes);
}

/* What was erased comes back as it was; of what was changed only what is as it was left. */
static void put_back(struct model *m, int k)
{
    struct mark *mark = &m->marks[k];
    for (int i = 0; i < mark->n; i++) {
        const struct altered *c = &mark->v[i];
        struct item *t = &m->v[c->at];
        if (c->is.state == MARKED && t->state == MARKED && t->mark == k) {
            *t = c->was;
        } else if (c->is.state == LIVE && t->state == LIVE) {
            bool leaves = c->is.session != c->was.session, opens = c->is.summary != c->was.summary;
            if ((leaves && t->session != c->is.session) || (opens && t->summary != c->is.summary))
                continue;
            t->session = leaves ? c->was.session : t->session;
            t->source = leaves ? c->was.source : t->source;
            t->summary = opens ? c->was.summary : t->summary;
        }
    }
    mark->is_live = false;
}

/* NOT_FOUND and CONFLICT change nothing; when they may be is checked by the caller. */
static void follow_step(struct model *m, const struct step *s, enum status status)
{
    if (status != OK) {
        if (s->deed != UNDO && s->mark == m->n_marks)
            m->marks[m->n_marks++] = (struct mark){.pool = s->pool};
        return;
    }
    if (s->deed <= CONDENSE)
        add_items(m, s);
    else if (s->deed == UNDO)
        put_back(m, s->mark);
    else
        erase_items(m, s);
}

static bool may_end_so(const struct model *m, const struct step *s, enum status status)
{
    const struct mark *mark = s->deed == UNDO ? &m->marks[s->mark] : NULL;
    if (mark && mark->is_doubtful)
        return status == OK || status == NOT_FOUND || status == CONFLICT;
    if (status == OK)
        return !mark || mark->is_live;
    if (s->deed == CONDENSE || (mark && mark->is_live && mark->n))
        return status == CONFLICT;
    if (mark && mark->is_live && mark->is_of_session && status == CONFLICT)
        return true; /* it took an empty session, and there is one with its id again */
    bool names = false;
    for (int i = 0; i < m->n && s->deed >= FORGET_ONE; i++)
        names |= m->v[i].state == LIVE && s->deed != UNDO && is_meant(m, s, i);
    return status == NOT_FOUND && s->deed >= FORGET_ONE && !names;
}

/* --- looking --- */

/* How an item is in the store: 0 it is not there, else also its session and whether it is closed.
 */
static char look_of(int session, bool is_closed)
{
    return (char)(1 + is_closed + 2 * (session + 1));
}

static void see_item(const struct model *m, char *seen, str text, char as)
{
    int64_t i = -1;
    if (text.n < 9 || !str_int(str_sub(text, 2, 8), &i) || i < 0 || i >= m->n + MANY)
        fail_msg("the store holds '" S_FMT "'", S_ARG(text));
    CHECK(!seen[i]);
    seen[i] = as;
}

static char *look(struct ctx *ctx, struct store *s, const struct model *m)
{
    char *seen = NEW_N(&ctx->arena, char, (size_t)m->n + 2 * MANY);
    for (int pool = 0; pool < POOLS; pool++) {
        struct memory_filter f = {.pool = pool_of(pool), .with_closed = true, .limit = SIZE_MAX};
        struct memory *v;
        size_t n;
        CHECK_OK(store_list_memories(ctx, s, &f, &v, &n, NULL));
        for (size_t i = 0; i < n; i++)
            see_item(m, seen, v[i].content,
                     look_of(v[i].session.n ? v[i].session.p[1] - '0' : -1, v[i].valid_to != 0));
        for (int session = 0; session < SESSIONS; session++) {
            struct message *said;
            CHECK_OK(store_session_messages(ctx, s, pool_of(pool), session_of(ctx, session), 0,
                                            ITEMS, &said, &n));
            for (size_t i = 0; i < n; i++)
                see_item(m, seen, said[i].text, look_of(session, false));
        }
    }
    return seen;
}

/* The first item that is not as the list says; -1: all are. */
static int first_other(const struct model *m, const char *seen)
{
    for (int i = 0; i < m->n; i++) {
        const struct item *t = &m->v[i];
        if (seen[i] != (t->state == LIVE ? look_of(t->session, t->summary >= 0) : 0))
            return i;
    }
    for (int i = m->n; i < m->n + MANY; i++)
        if (seen[i])
            return i;
    return -1;
}

/* No byte of what is gone. */
static void check_bytes(struct ctx *ctx, const struct place *p, const struct model *m)
{
    const char *const paths[] = {p->path, str_printf(&ctx->arena, "%s-wal", p->path).p};
    for (int k = 0; k < 2; k++) {
        str bytes = bytes_of_file(ctx, paths[k]);
        for (size_t at = 0; at + 9 <= bytes.n; at++) {
            int64_t i;
            if (bytes.p[at] != 'z' || bytes.p[at + 1] != 'q' || bytes.p[at + 8] != 'x' ||
                !str_int(str_sub(bytes, at + 2, at + 8), &i) || i < 0 || i >= m->n)
                continue;
            if (m->v[i].state == GONE)
                fail_msg("%s holds item %d, which is erased", paths[k], (int)i);
        }
    }
}

/* --- killing --- */

static void child(const struct place *p, struct model *m, int pipe)
{
    struct ctx ctx = {0};
    struct store *s;
    if (store_open(&ctx, &(struct store_settings){.path = str_of(p->path)}, &s) != OK)
        _exit(2);
    for (;;) {
        CLEANUP(ctx_free) struct ctx own = {0};
        const struct step step = choose(m);
        const enum status ended = take_step(&own, s, m, &step);
        if (write(pipe, &ended, sizeof ended) != sizeof ended)
            _exit(3);
        follow_step(m, &step, ended);
    }
}

static void follow_child(struct model *m, enum status ended)
{
    const struct step step = choose(m);
    if (!may_end_so(m, &step, ended))
        fail_msg("deed %d of pool %d ended with status %d; of a mark: live %d, changes %d",
                 step.deed, step.pool, ended,
                 step.mark >= 0 && step.mark < m->n_marks && m->marks[step.mark].is_live,
                 step.mark >= 0 && step.mark < m->n_marks ? m->marks[step.mark].n : -1);
    follow_step(m, &step, ended);
}

/* Kills it some time after that many steps; the steps that it acknowledged are followed. */
static int run_child(const struct place *p, struct model *m, int kill_after, int64_t us)
{
    int ends[2], status, n = 0;
    enum status ended;
    CHECK(pipe(ends) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        child(p, m, ends[1]);
    }
    close(ends[1]);
    while (read(ends[0], &ended, sizeof ended) == sizeof ended) {
        follow_child(m, ended);
        if (++n == kill_after) {
            nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
            CHECK(kill(pid, SIGKILL) == 0);
        }
    }
    close(ends[0]);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return n;
}

/* The step under way may be done and have changed nothing that is looked at: the marks that it ends
 * may be there or not, and the name of the one that it makes is used up. */
static void doubt_marks(struct model *m, const struct step *s)
{
    for (int k = 0; k < m->n_marks; k++)
        m->marks[k].is_doubtful |= s->deed == UNDO ? k == s->mark : is_ended_by(&m->marks[k], s);
    m->marks[m->n_marks++] = (struct mark){.pool = s->pool, .is_doubtful = true};
}

/* As the list says, or as it says behind the step that was under way; true: the latter. */
static bool check_round(struct ctx *ctx, const struct place *p, struct model *m)
{
    STORE(s, *p);
    const char *seen = look(ctx, s, m);
    check_healthy(ctx, s);
    int at = first_other(m, seen);
    const struct step step = choose(m);
    if (at < 0) {
        doubt_marks(m, &step);
        return false;
    }
    follow_step(m, &step, OK);
    int other = first_other(m, seen);
    if (other >= 0)
        fail_msg("deed %d: item %d is not as before it (%d), and %d not as behind it (%d)",
                 step.deed, at, seen[at], other, seen[other]);
    return true;
}

static void kill_rounds(struct ctx *ctx, unsigned seed, int rounds)
{
    PLACE(p);
    struct model m = {heap_alloc(ITEMS * sizeof *m.v), heap_alloc(MARKS * sizeof *m.marks), 0, 0,
                      seed};
    unsigned random = seed;
    int steps = 0, done = 0;
    printf("seed %u\n", seed);
    fflush(stdout);
    memset(m.v, 0, ITEMS * sizeof *m.v);
    for (int round = 0; round < rounds; round++) {
        CLEANUP(ctx_free) struct ctx own = {0};
        ctx = &own;
        steps += run_child(&p, &m, 1 + rand_r(&random) % 12, rand_r(&random) % 4000);
        check_bytes(ctx, &p, &m);
        done += check_round(ctx, &p, &m);
        check_bytes(ctx, &p, &m);
    }
    printf("seed %u: %d steps and %d kills; %d times the step under way was done\n", seed, steps,
           rounds, done);
    for (int i = 0; i < m.n_marks; i++)
        free(m.marks[i].v);
    free(m.marks);
    free(m.v);
}

TEST(an_erasure_that_is_undone_or_killed_is_whole)
{
    const char *seed = getenv("SEED"), *rounds = getenv("ROUNDS");
    kill_rounds(ctx, seed ? (unsigned)strtoul(seed, NULL, 10) : (unsigned)clock_mono_us(),
                rounds ? (int)strtol(rounds, NULL, 10) : 30);
}
