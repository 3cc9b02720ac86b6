/* streaming.c - an answer made in pieces: whole, broken off, awaited, and no faster than it is
 * read. */
#include <pthread.h>
#include <unistd.h>

#include "fixture.h"

enum { PIECE = 64 << 10 };

/* /count/N makes N pieces; /fail/N fails after N; /large/N makes N of 64 KiB; /wait/N waits for
 * app.let_go before each. */
struct counting {
    struct stream stream;
    struct app *app;
    str kind;
    int64_t n, at;
};

static struct counting *counting_of(struct stream *s)
{
    return container_of(s, struct counting, stream);
}

static enum status make_count(struct stream *s, struct ctx *ctx, struct app *app, struct buf *out,
                              bool *is_last)
{
    struct counting *c = counting_of(s);
    atomic_fetch_add(&app->again, 1);
    if (!ctx_has_time(ctx))
        atomic_store(&app->was_cut, true);
    if (str_is(c->kind, "fail") && c->at == c->n)
        return fail_field(ctx, "n", "is too many");
    if (str_is(c->kind, "away"))
        return fail_as(ctx, STORAGE, STORAGE_AWAY, "no database");
    for (int i = 0; str_is(c->kind, "large") && i < PIECE / 16; i++)
        buf_add(out, S("0123456789abcdef"));
    if (!str_is(c->kind, "large"))
        buf_printf(out, "%lld ", (long long)c->at);
    c->at++;
    *is_last = c->at == c->n && !str_is(c->kind, "fail");
    return OK;
}

static bool is_let_go(struct stream *s)
{
    return atomic_exchange(&counting_of(s)->app->let_go, false);
}

static void count_done(__attribute__((unused)) struct stream *s, struct app *app)
{
    atomic_fetch_add(&app->done, 1);
}

static const struct stream_ops counts = {.make = make_count, .done = count_done};
static const struct stream_ops waits = {.make = make_count,
                                        .is_due = is_let_go,
                                        .done = count_done};

static enum status count(struct ctx *ctx, struct app *app, const struct request *in,
                         struct reply *out)
{
    struct counting *c = NEW(&ctx->arena, struct counting);
    *c = (struct counting){.app = app, .kind = in->params[0]};
    c->stream.ops = str_is(c->kind, "wait") ? &waits : &counts;
    if (!str_int(in->params[1], &c->n))
        return fail(ctx, BAD_INPUT, "not a number");
    out->type = S("text/plain");
    reply_header(out, "X-Kind", c->kind);
    out->stream = &c->stream;
    return OK;
}

static void word(struct ctx *ctx, enum status s, __attribute__((unused)) const struct request *in,
                 struct reply *out)
{
    buf_printf(&out->body, "%s %s %s", status_name(s), ctx->field, ctx->why);
}

static const struct route routes[] = {
    {"GET", "/{kind}/{n}", count, .access = ACCESS_OPEN},
    {0},
};
static const struct surface surface = {"streams", routes, word, NULL};
static const struct surface *const surfaces[] = {&surface, NULL};

#define SERVE(...)                                                                                 \
    struct app app = {0};                                                                          \
    struct server_settings settings = test_settings();                                             \
    __VA_ARGS__;                                                                                   \
    struct server *s;                                                                              \
    CHECK_OK(server_listen(ctx, &settings, &s));                                                   \
    server_start(s, surfaces, &app)

static const char chunks[] = "2\r\n0 \r\n2\r\n1 \r\n2\r\n2 \r\n0\r\n\r\n";

TEST(an_answer_comes_in_chunks_and_the_connection_goes_on)
{
    SERVE();
    int fd = dial(s);
    for (int i = 0; i < 2; i++) {
        SAY(fd, "GET /count/3 HTTP/1.1\r\nHost: localhost\r\n\r\n");
        str reply = hear_until(ctx, fd, "\r\n0\r\n\r\n");
        CHECK_INT(code_of(reply), 200);
        CHECK(holds(reply, "Content-Type: text/plain\r\n") && holds(reply, "X-Kind: count\r\n"));
        CHECK(holds(reply, "Transfer-Encoding: chunked\r\n"));
        CHECK(!holds(reply, "Content-Length"));
        CHECK_STR(body_of(reply), str_of(chunks));
    }
    SAY(fd, "HEAD /count/3 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    CHECK_STR(body_of(hear_all(ctx, fd)), S(""));
    CHECK(COMES_TRUE(atomic_load(&app.done) == 3));
    CHECK_INT(app.again, 6);
    close(fd);
    server_close(s);
}

TEST(an_old_client_gets_the_pieces_until_the_connection_ends)
{
    SERVE();
    int fd = dial(s);
    SAY(fd, "GET /count/3 HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n");
    str reply = hear_all(ctx, fd);
    CHECK(!holds(reply, "chunked") && holds(reply, "Connection: close\r\n"));
    CHECK_STR(body_of(reply), S("0 1 2 "));
    close(fd);
    server_close(s);
}

TEST(a_first_piece_that_fails_is_an_answer_and_a_later_one_breaks_it_off)
{
    SERVE();
    str reply = ask(ctx, s, "GET", "/fail/0", "", S(""));
    CHECK_INT(code_of(reply), 400);
    CHECK_STR(body_of(reply), S("bad_input n is too many"));
    CHECK_INT(code_of(ask(ctx, s, "GET", "/away/1", "", S(""))), 503);
    reply = ask(ctx, s, "GET", "/fail/2", "", S(""));
    CHECK_INT(code_of(reply), 200);
    CHECK_STR(body_of(reply), S("2\r\n0 \r\n2\r\n1 \r\n"));
    CHECK(COMES_TRUE(atomic_load(&app.done) == 3));
    server_close(s);
}

TEST(no_more_is_made_than_a_slow_client_takes)
{
    SERVE();
    enum { MANY = 1000 };
    int fd = dial(s);
    SAY(fd, "GET /large/1000 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    hear_until(ctx, fd, "");
    int made = 0;
    for (int still = 0; still < 20; still++, pause_ms(10)) {
        int now = atomic_load(&app.again);
        still = now == made ? still : 0;
        made = now;
    }
    CHECK(made < MANY / 4); /* what the sockets of both sides hold */
    str all = hear_all(ctx, fd);
    CHECK(all.n > (size_t)MANY * PIECE);
    CHECK_INT(app.again, MANY);
    close(fd);
    server_close(s);
}

TEST(a_client_that_leaves_ends_it)
{
    SERVE();
    int fd = dial(s);
    SAY(fd, "GET /large/100000 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    hear_until(ctx, fd, "");
    close(fd);
    CHECK(COMES_TRUE(atomic_load(&app.done) == 1));
    CHECK(app.again < 1000);
    server_close(s);
}

TEST(an_answer_that_waits_goes_on_when_it_is_due_and_ends_with_the_server)
{
    SERVE();
    int fd = dial(s);
    SAY(fd, "GET /wait/100 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    hear_until(ctx, fd, "0 ");
    pause_ms(250);
    CHECK_INT(app.again, 1);
    atomic_store(&app.let_go, true);
    hear_until(ctx, fd, "1 ");
    CHECK_INT(app.again, 2);
    CHECK_INT(server_stop(s, 60000), 0);
    CHECK(holds(hear_all(ctx, fd), "0\r\n\r\n"));
    close(fd);
    server_close(s);
    CHECK_INT(app.done, 1);
}

TEST(one_worker_serves_many_that_wait)
{
    SERVE(settings.workers = 1);
    enum { MANY = 20 };
    int fds[MANY];
    for (int i = 0; i < MANY; i++) {
        fds[i] = dial(s);
        SAY(fds[i], "GET /wait/100 HTTP/1.1\r\nHost: localhost\r\n\r\n");
        hear_until(ctx, fds[i], "0 ");
    }
    CHECK_INT(code_of(ask(ctx, s, "GET", "/count/1", "", S(""))), 200);
    for (int i = 0; i < MANY; i++)
        close(fds[i]);
    CHECK(COMES_TRUE(atomic_load(&app.done) == MANY + 1));
    server_close(s);
}
