/* move.c - a store copied to another one: every row, also after a kill; nobody uses half of it. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/store.h"
#include "store/move.h"
#include "store/store.h"

enum { USERS = 120 };

/* A file, and where the tests run over PostgreSQL a schema: both ways. */
struct ends {
    struct place file, other;
};

static struct place file_place(void)
{
    struct place p = place_begin();
    snprintf(p.path, sizeof p.path, "%s/store.db", p.folder);
    return p;
}

static void fill_user(struct ctx *ctx, struct store *s, int i)
{
    struct pool_ref pool = {str_printf(&ctx->arena, "user %d", i), S("default")};
    str session = str_printf(&ctx->arena, "session-%d", i);
    const char *const texts[] = {"I walk to the harbour", "Then take a coat",
                                 "Caf\u00E9 Zur Sonne is closed", NULL};
    str tags[] = {S("tea"), S("home")};
    struct memory m = fact(str_printf(&ctx->arena, "m%d", i).p, "drink", "prefers green tea");
    struct memory n = fact(str_printf(&ctx->arena, "n%d", i).p, "drink", "prefers white tea");
    write_session(ctx, s, pool, session.p, texts, 1700000000000 + i);
    m.tags = (struct strs){tags, 2};
    m.importance = 0.1 + i / 1000.0;
    CHECK_OK(keep(ctx, s, pool, PUT_SUPERSEDE, &m));
    CHECK_OK(keep(ctx, s, pool, PUT_SUPERSEDE, &n));
    /* What a text of PostgreSQL cannot hold, and letters that stand for it there. */
    struct memory odd = fact(str_printf(&ctx->arena, "o%d", i).p, "", "");
    str odd_tags[] = {{"a\0b", 3}};
    odd.content = (str){"odd \0\xFF\xC3 \U0010FF00\U0010FFFF \xF4\x8F\xBC", 20};
    odd.tags = (struct strs){odd_tags, 1};
    CHECK_OK(keep(ctx, s, pool, PUT_SUPERSEDE, &odd));
}

/* Each text gets its vector, so what is erased later leaves a row without one. */
static void embed_all(struct ctx *ctx, struct store *s)
{
    static const struct vector_set set = {.signature = {"test:a:24", 9}, .dimensions = 24};
    struct unembedded *v;
    size_t n;
    CHECK_OK(store_begin_vectors(ctx, s, &set, false));
    CHECK_OK(store_unembedded(ctx, s, NULL, 100 * USERS, &v, &n));
    CHECK(n >= USERS);
    struct vector_put *put = NEW_N(&ctx->arena, struct vector_put, n);
    for (size_t i = 0; i < n; i++)
        put[i] = (struct vector_put){v[i].no, v[i].doc,
                                     direction(ctx, str_hash(v[i].text), set.dimensions), 0};
    CHECK_OK(store_put_vectors(ctx, s, set.signature, put, n));
}

static void fill(struct ctx *ctx, struct store *s)
{
    for (int i = 0; i < USERS; i++) {
        CLEANUP(ctx_free) struct ctx own = {0};
        fill_user(&own, s, i);
    }
    embed_all(ctx, s);
    int64_t erased;
    const struct forget what = {.pool = {S("user 7"), S("default")}, .session = S("session-7")};
    CHECK_OK(store_forget(ctx, s, &what, &erased));
    CHECK_OK(store_put_setting(ctx, s, S("runtime"), S("{\"max_tokens\":7}")));
    const struct token t = {.id = S("t1"),
                            .hash = S("h"),
                            .name = S("n"),
                            .prefix = S("p"),
                            .pool = {S("user 3"), S("default")}};
    CHECK_OK(store_put_token(ctx, s, &t));
}

static struct store_move move_of(const struct place *from, const struct place *to)
{
    return (struct store_move){.from = {.path = str_of(from->path)},
                               .to = {.path = str_of(to->path)}};
}

static void check_there(struct ctx *ctx, struct place *p)
{
    str text;
    CLEANUP(store_closep) struct store *s = NULL;
    CHECK_OK(store_open(ctx, &(struct store_settings){.path = str_of(p->path)}, &s));
    CHECK_OK(store_setting(ctx, s, S("runtime"), &text));
    CHECK_STR(text, S("{\"max_tokens\":7}"));
    struct pool_ref pool = {S("user 9"), S("default")};
    CHECK_INT(find(ctx, s, pool, "harbour").n, 1);
    CHECK_INT(find(ctx, s, pool, "white").n, 1);
    CHECK_INT(find(ctx, s, pool, "green").n, 0);
    pool.user = S("user 7");
    CHECK_INT(find(ctx, s, pool, "harbour").n, 0);
    check_healthy(ctx, s);
    /* A number is not given twice. */
    struct memory m = fact("new", "", "a new fact");
    CHECK_OK(keep(ctx, s, pool, PUT_SUPERSEDE, &m));
    CHECK_INT(find(ctx, s, pool, "new").n, 1);
}

TEST(a_store_moves_there_and_back_with_every_row)
{
    struct place a CLEANUP(place_end) = file_place(), b CLEANUP(place_end) = place_begin(),
                   c CLEANUP(place_end) = file_place();
    struct store_moved there, back;
    {
        CLEANUP(store_closep) struct store *s = NULL;
        CHECK_OK(store_open(ctx, &(struct store_settings){.path = str_of(a.path)}, &s));
        fill(ctx, s);
    }
    struct store_move move = move_of(&a, &b);
    CHECK_OK(store_move(ctx, &move, &there));
    CHECK_INT(there.users, USERS);
    move = move_of(&b, &c);
    CHECK_OK(store_move(ctx, &move, &back));
    CHECK_INT(back.rows, there.rows);
    CHECK(there.rows > USERS * 5);
    check_there(ctx, &b);
    check_there(ctx, &c);
    /* A place that has something is no target. */
    move = move_of(&a, &b);
    CHECK_INT(store_move(ctx, &move, &there), CONFLICT);
}

static void die_at_messages(void *own, const char *what, int64_t done, int64_t all)
{
    (void)own, (void)done, (void)all;
    if (!strcmp(what, "message"))
        kill(getpid(), SIGKILL);
}

TEST(a_copy_that_was_killed_is_finished_by_the_same_call_and_not_used_before)
{
    struct place a CLEANUP(place_end) = file_place(), b CLEANUP(place_end) = place_begin();
    struct store_moved moved;
    struct store *half = NULL;
    int state;
    pid_t child = fork();
    if (!child) {
        CLEANUP(store_closep) struct store *s = NULL;
        struct store_move move = move_of(&a, &b);
        if (store_open(ctx, &(struct store_settings){.path = str_of(a.path)}, &s) != OK)
            _exit(3);
        fill(ctx, s);
        store_closep(&s);
        s = NULL;
        move.progress = die_at_messages;
        (void)!store_move(ctx, &move, &moved);
        _exit(4);
    }
    CHECK(waitpid(child, &state, 0) == child && WIFSIGNALED(state));
    CHECK_INT(store_open(ctx, &(struct store_settings){.path = str_of(b.path)}, &half), STORAGE);
    CHECK(strstr(ctx->why, "not finished"));
    ctx_clear_failure(ctx);
    struct store_move move = move_of(&a, &b);
    CHECK_OK(store_move(ctx, &move, &moved));
    CHECK(moved.resumed > USERS && moved.resumed < moved.rows);
    check_there(ctx, &b);
}

static void write_meanwhile(void *own, const char *what, int64_t done, int64_t all)
{
    struct store **s = own;
    (void)done, (void)all;
    struct ctx own_ctx = {0}, *ctx = &own_ctx;
    struct memory m = fact("late", "", "it came too late");
    if (*s && !strcmp(what, "indexing")) {
        CHECK_OK(keep(ctx, *s, mine, PUT_SUPERSEDE, &m));
        *s = NULL;
    }
    ctx_free(ctx);
}

TEST(a_source_that_was_written_to_meanwhile_is_noticed)
{
    struct place a CLEANUP(place_end) = file_place(), b CLEANUP(place_end) = place_begin();
    struct store_moved moved;
    CLEANUP(store_closep) struct store *s = NULL;
    CHECK_OK(store_open(ctx, &(struct store_settings){.path = str_of(a.path)}, &s));
    struct memory m = fact("first", "", "it was there");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    struct store *writes = s;
    struct store_move move = move_of(&a, &b);
    move.progress = write_meanwhile;
    move.own = &writes;
    CHECK_INT(store_move(ctx, &move, &moved), CONFLICT);
    CHECK(strstr(ctx->why, "'anna' differs"));
}
