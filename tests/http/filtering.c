/* filtering.c - an answer that is held back can become another question, for the same client. */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.h"

#define FILTERED(...)                                                                              \
    struct app app = {0};                                                                          \
    struct server_settings settings = test_settings();                                             \
    __VA_ARGS__;                                                                                   \
    int listener = listener_open(ctx, &app.upstream);                                              \
    struct server *s = serve(ctx, &app, &settings);                                                \
    int client = dial(s), up = -1
#define END_FILTERED                                                                               \
    close(client);                                                                                 \
    close(up);                                                                                     \
    close(listener);                                                                               \
    server_close(s)

static const char question[] = "POST /filtered/x HTTP/1.1\r\nHost: localhost\r\n"
                               "Content-Length: 4\r\n\r\nbody";
static const char old_question[] = "POST /filtered/x HTTP/1.0\r\nHost: localhost\r\n"
                                   "Content-Length: 4\r\n\r\nbody";
#define ANSWER(CODE, MORE, N, BODY)                                                                \
    "HTTP/1.1 " CODE "\r\nContent-Type: text/plain\r\n" MORE "Content-Length: " N "\r\n\r\n" BODY
static const char hidden[] = ANSWER("200 OK", "X-Up: 1\r\n", "6", "no ~ !");
static const char chunked[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

/* The upstream's connection is kept between two questions of one client. */
static int next_question(struct ctx *ctx, int listener, int up, const char *body)
{
    int fd = up < 0 ? listener_accept(listener) : up;
    str asked = hear_until(ctx, fd, body);
    CHECK(str_starts(asked, S("POST /x HTTP/1.1\r\n")));
    CHECK(holds(asked, "\r\nContent-Length: 4\r\n"));
    return fd;
}

TEST(what_is_shown_has_no_length_of_the_upstreams)
{
    FILTERED();
    for (int i = 0; i < 2; i++) {
        SAY(client, question);
        up = next_question(ctx, listener, up, "body");
        SAY(up, ANSWER("201 Made", "X-Up: 1\r\n", "5", "hello"));
        str reply = hear_until(ctx, client, "\r\n0\r\n\r\n");
        CHECK_INT(code_of(reply), 201);
        CHECK(holds(reply, "\r\nX-Up: 1\r\n") && !holds(reply, "Content-Length"));
        CHECK(holds(reply, "\r\n\r\n5\r\nhello\r\n6\r\n(over)\r\n0\r\n\r\n"));
    }
    WAIT_FOR(atomic_load(&app.done_ok) == 2);
    CHECK_INT(app.seen, 22);
    CHECK_INT(app.again, 0);
    END_FILTERED;
}

TEST(a_hidden_answer_becomes_another_question_and_leaves_no_trace)
{
    FILTERED();
    SAY(client, question);
    up = next_question(ctx, listener, up, "body");
    SAY(up, hidden);
    up = next_question(ctx, listener, up, "more");
    SAY(up, ANSWER("429 Slow Down", "X-Up: 2\r\n", "4", "wait"));
    str reply = hear_until(ctx, client, "\r\n0\r\n\r\n");
    CHECK_INT(code_of(reply), 429);
    CHECK(holds(reply, "\r\nX-Up: 2\r\n") && !holds(reply, "X-Up: 1") && !holds(reply, "~"));
    CHECK(holds(reply, "\r\nX-Receipt: r1\r\n"));
    CHECK(holds(reply, "\r\n\r\n4\r\nwait\r\n6\r\n(over)\r\n"));
    WAIT_FOR(atomic_load(&app.done) == 1);
    CHECK_INT(app.done_ok, 1);
    CHECK_INT(app.done_code, 429);
    END_FILTERED;
}

TEST(what_was_shown_before_is_followed_by_the_next_answer)
{
    FILTERED();
    SAY(client, question);
    up = next_question(ctx, listener, up, "body");
    SAY(up, chunked);
    SAY(up, "3\r\none\r\n");
    str head = hear_until(ctx, client, "one");
    CHECK(holds(head, "\r\nTransfer-Encoding: chunked\r\n"));
    SAY(up, "1\r\n~\r\n3\r\nxxx\r\n0\r\n\r\n");
    up = next_question(ctx, listener, up, "more");
    SAY(up, ANSWER("500 Bad", "X-Up: 2\r\n", "3", "two"));
    str rest = hear_until(ctx, client, "\r\n0\r\n\r\n");
    CHECK(holds(rest, "3\r\ntwo\r\n6\r\n(over)\r\n") && !holds(rest, "X-Up") &&
          !holds(rest, "HTTP/"));
    CHECK(!holds(rest, "~") && !holds(rest, "xxx"));
    SAY(client, question);
    up = next_question(ctx, listener, up, "body");
    SAY(up, ANSWER("200 OK", "", "4", "next"));
    CHECK(holds(hear_until(ctx, client, "\r\n0\r\n\r\n"), "4\r\nnext\r\n"));
    END_FILTERED;
}

TEST(a_worker_may_have_the_last_word)
{
    FILTERED();
    SAY(client, question);
    for (int i = 0; i < 3; i++) {
        up = next_question(ctx, listener, up, i ? "more" : "body");
        SAY(up, hidden);
    }
    str reply = hear_until(ctx, client, "\r\n0\r\n\r\n");
    CHECK_INT(code_of(reply), 200);
    CHECK(holds(reply, "\r\nX-Up: 1\r\n") && holds(reply, "\r\n\r\n6\r\n(last)\r\n0\r\n\r\n"));
    CHECK_INT(app.again, 3);
    WAIT_FOR(atomic_load(&app.done_ok) == 1);
    END_FILTERED;
}

TEST(an_answer_without_bytes_is_whole)
{
    FILTERED();
    SAY(client, question);
    up = next_question(ctx, listener, up, "body");
    SAY(up, "HTTP/1.1 204 Nothing\r\nContent-Length: 7\r\n\r\n");
    str head = hear_until(ctx, client, "\r\n\r\n");
    CHECK_INT(code_of(head), 204);
    WAIT_FOR(atomic_load(&app.done_ok) == 1);
    END_FILTERED;
}

TEST(an_old_client_reads_to_the_end_of_the_connection)
{
    FILTERED();
    SAY(client, old_question);
    up = next_question(ctx, listener, up, "body");
    SAY(up, hidden);
    up = next_question(ctx, listener, up, "more");
    SAY(up, ANSWER("200 OK", "", "3", "two"));
    str reply = hear_all(ctx, client);
    CHECK_STR(body_of(reply), S("two(over)"));
    CHECK(!holds(reply, "chunked") && !holds(reply, "Content-Length"));
    END_FILTERED;
}

TEST(an_answer_broken_off_before_anything_was_shown_is_a_502)
{
    FILTERED();
    SAY(client, question);
    up = next_question(ctx, listener, up, "body");
    SAY(up, hidden);
    up = next_question(ctx, listener, up, "more");
    SAY(up, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n~ half");
    close(up);
    up = -1;
    str reply = hear_until(ctx, client, "\"status\":\"upstream\"");
    CHECK_INT(code_of(reply), 502);
    WAIT_FOR(atomic_load(&app.done) == 1);
    CHECK_INT(app.done_ok, 0);
    END_FILTERED;
}

TEST(an_answer_broken_off_after_that_breaks_off)
{
    FILTERED();
    SAY(client, question);
    up = next_question(ctx, listener, up, "body");
    SAY(up, chunked);
    SAY(up, "3\r\none\r\n");
    hear_until(ctx, client, "one");
    SAY(up, "1\r\n~\r\n0\r\n\r\n");
    up = next_question(ctx, listener, up, "more");
    close(up);
    up = -1;
    close(listener); /* nor is a new connection taken */
    listener = dup(0);
    str rest = hear_all(ctx, client);
    CHECK(!holds(rest, "\r\n0\r\n\r\n"));
    WAIT_FOR(atomic_load(&app.done) == 1);
    CHECK_INT(app.done_ok, 0);
    END_FILTERED;
}

TEST(a_client_that_leaves_ends_the_later_call)
{
    FILTERED();
    SAY(client, question);
    up = next_question(ctx, listener, up, "body");
    SAY(up, hidden);
    up = next_question(ctx, listener, up, "more");
    close(client);
    CHECK(hears_end(up));
    WAIT_FOR(atomic_load(&app.done) == 1);
    CHECK_INT(app.done_ok, 0);
    client = dup(0);
    END_FILTERED;
}

TEST(a_client_that_leaves_while_a_worker_thinks_is_not_asked_for_again)
{
    for (int is_half = 0; is_half < 2; is_half++) {
        FILTERED(atomic_store(&app.again_blocks, true));
        SAY(client, question);
        up = next_question(ctx, listener, up, "body");
        SAY(up, hidden);
        WAIT_FOR(atomic_load(&app.again) == 1);
        shutdown(client, is_half ? SHUT_WR : SHUT_RDWR);
        WAIT_FOR(atomic_load(&app.was_cut));
        atomic_store(&app.again_blocks, false);
        WAIT_FOR(atomic_load(&app.done) == 1);
        CHECK_INT(app.done_ok, 0);
        struct server_stats stats;
        server_stats(s, &stats);
        CHECK_INT(stats.relays, 1);
        END_FILTERED;
    }
}

static const char own_question[] = "POST /owned/x HTTP/1.1\r\nHost: localhost\r\n"
                                   "Content-Length: 4\r\n\r\nbody";

TEST(a_head_of_ones_own_tells_nothing_of_the_upstreams)
{
    FILTERED();
    for (int i = 0; i < 2; i++) {
        SAY(client, own_question);
        up = next_question(ctx, listener, up, "body");
        SAY(up,
            ANSWER("404 Not Here", "X-Up: 1\r\nDate: never\r\nSet-Cookie: a=b\r\n", "5", "hello"));
        str reply = hear_until(ctx, client, "\r\n0\r\n\r\n");
        CHECK_INT(code_of(reply), 200);
        CHECK(holds(reply, "\r\nContent-Type: text/own\r\n") && !holds(reply, "text/plain"));
        CHECK(holds(reply, "\r\nX-Receipt: r1\r\n") && holds(reply, "GMT\r\n"));
        CHECK(!holds(reply, "X-Up") && !holds(reply, "Cookie") && !holds(reply, "never"));
        CHECK(holds(reply, "\r\n\r\n5\r\nhello\r\n6\r\n(kept)\r\n0\r\n\r\n"));
    }
    WAIT_FOR(atomic_load(&app.done_ok) == 2);
    CHECK_INT(app.done_code, 404);
    END_FILTERED;
}

TEST(an_answer_that_is_refused_is_a_failure_in_the_surfaces_words)
{
    FILTERED();
    for (int i = 0; i < 2; i++) {
        SAY(client, own_question);
        up = next_question(ctx, listener, up, "body");
        SAY(up, ANSWER("200 OK", "X-Up: 1\r\n", "3", "no^"));
        str reply = hear_until(ctx, client, "upstream\",\"field\":\"\"}");
        CHECK_INT(code_of(reply), 502);
        CHECK(holds(reply, "\r\nContent-Type: application/json\r\n"));
        CHECK(holds(reply, "\"first\":\"it is no good\"") && !holds(reply, "X-Up"));
    }
    WAIT_FOR(atomic_load(&app.done) == 2);
    CHECK_INT(app.done_ok, 0);
    END_FILTERED;
}

TEST(a_failure_behind_the_first_byte_is_told_by_the_filter)
{
    static const struct {
        const char *then, *told;
        bool ends;
    } ways[] = {{"1\r\n^\r\n0\r\n\r\n", "9\r\n(refused)\r\n0\r\n\r\n", false},
                {"zz\r\n", "8\r\n(broken)\r\n0\r\n\r\n", true},
                {"", "8\r\n(broken)\r\n0\r\n\r\n", true}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        FILTERED();
        SAY(client, own_question);
        up = next_question(ctx, listener, up, "body");
        SAY(up, chunked);
        SAY(up, "3\r\none\r\n");
        str head = hear_until(ctx, client, "3\r\none\r\n");
        CHECK_INT(code_of(head), 200);
        SAY(up, ways[i].then);
        if (ways[i].ends)
            shutdown(up, SHUT_RDWR);
        CHECK(holds(hear_until(ctx, client, "\r\n0\r\n\r\n"), ways[i].told));
        WAIT_FOR(atomic_load(&app.done) == 1);
        CHECK_INT(app.done_ok, 0);
        SAY(client, own_question); /* the connection is as good as before */
        int second = next_question(ctx, listener, ways[i].ends ? -1 : up, "body");
        SAY(second, ANSWER("200 OK", "", "4", "next"));
        CHECK(holds(hear_until(ctx, client, "\r\n0\r\n\r\n"), "4\r\nnext\r\n"));
        if (second != up)
            close(second);
        END_FILTERED;
    }
}

TEST(a_server_that_stops_ends_it)
{
    FILTERED(atomic_store(&app.again_blocks, true));
    SAY(client, question);
    up = next_question(ctx, listener, up, "body");
    SAY(up, hidden);
    WAIT_FOR(atomic_load(&app.again) == 1);
    CHECK_INT(server_stop(s, 0), 1);
    atomic_store(&app.again_blocks, false);
    server_close(s);
    CHECK_INT(app.done, 1);
    CHECK_INT(app.done_ok, 0);
    close(client);
    close(up);
    close(listener);
}

TEST(with_no_worker_free_the_client_is_told)
{
    FILTERED(settings.workers = 1, settings.queue_max = 1, atomic_store(&app.again_blocks, true));
    int other = dial(s), third = dial(s);
    SAY(client, question);
    up = next_question(ctx, listener, up, "body");
    SAY(other, question);
    int up2 = next_question(ctx, listener, -1, "body");
    SAY(up, hidden);
    WAIT_FOR(atomic_load(&app.again) == 1);
    SAY(third, "GET /worker HTTP/1.1\r\nHost: localhost\r\n\r\n");
    struct server_stats stats;
    WAIT_FOR((server_stats(s, &stats), stats.queued == 1));
    SAY(up2, hidden);
    CHECK_INT(code_of(hear_until(ctx, other, "too_busy")), 429);
    atomic_store(&app.again_blocks, false);
    up = next_question(ctx, listener, up, "more");
    SAY(up, ANSWER("200 OK", "", "3", "two"));
    CHECK(holds(hear_until(ctx, client, "\r\n0\r\n\r\n"), "two"));
    close(other);
    close(third);
    close(up2);
    END_FILTERED;
}

TEST(a_slow_client_slows_the_filtered_upstream_down)
{
    enum { N = 32 << 20 };
    FILTERED();
    SAY(client, question);
    up = next_question(ctx, listener, up, "body");
    say(up, str_printf(&ctx->arena, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", N));
    char *bytes = arena_alloc(&ctx->arena, 64 << 10);
    size_t sent = 0;
    memset(bytes, 'x', 64 << 10);
    for (int idle = 0; idle < 50 && sent < N;) {
        ssize_t n = send(up, bytes, 64 << 10, MSG_DONTWAIT | MSG_NOSIGNAL);
        sent += n > 0 ? (size_t)n : 0;
        idle = n > 0 ? 0 : idle + 1;
        if (n <= 0)
            pause_ms(1);
    }
    CHECK(sent < N);
    END_FILTERED;
}

/* --- several filters --- */

static const char last_head[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

static void ask_chain(int client, const char *letters)
{
    char text[200];
    snprintf(text, sizeof text,
             "POST /chained/%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nbody",
             letters);
    SAY(client, text);
}

TEST(filters_have_the_bytes_and_the_end_in_their_order)
{
    FILTERED();
    ask_chain(client, "uvw");
    up = next_question(ctx, listener, up, "body");
    SAY(up, last_head);
    SAY(up, "2\r\nab\r\n");
    hear_until(ctx, client, "v(u(ab))\r\n");
    SAY(up, "1\r\nc\r\n0\r\n\r\n");
    str rest = hear_until(ctx, client, "\r\n0\r\n\r\n");
    CHECK(holds(rest, "7\r\nv(u(c))\r\n6\r\nv([u])\r\n3\r\n[v]\r\n0\r\n\r\n"));
    WAIT_FOR(atomic_load(&app.done_ok) == 1);
    CHECK_INT(app.seen, 8 + 7 + 6 + 3);
    CHECK_STR(str_of(app.calls), S("u.head=200 v.head=200 u.end v.end u.done v.done"));
    END_FILTERED;
}

TEST(a_watcher_alone_leaves_head_and_length_as_they_are)
{
    FILTERED();
    ask_chain(client, "ww");
    up = next_question(ctx, listener, up, "body");
    SAY(up, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    str head = hear_until(ctx, client, "\r\n\r\n");
    CHECK(holds(head, "\r\nContent-Length: 5\r\n"));
    SAY(up, "hello");
    hear_until(ctx, client, "hello");
    WAIT_FOR(atomic_load(&app.done_ok) == 2);
    CHECK_INT(app.seen, 10);
    END_FILTERED;
}

TEST(a_filter_holds_the_end_back_until_its_work_is_done)
{
    FILTERED(atomic_store(&app.again_blocks, true));
    ask_chain(client, "ulvw");
    up = next_question(ctx, listener, up, "body");
    SAY(up, ANSWER("200 OK", "", "4", "ab!c"));
    hear_until(ctx, client, "v(u(ab)\r\n");
    WAIT_FOR(atomic_load(&app.again) == 1);
    CHECK_STR(str_of(app.calls), S("u.head=200 l.head=200 v.head=200 u.end l.end l.work"));
    atomic_store(&app.again_blocks, false);
    str rest = hear_until(ctx, client, "\r\n0\r\n\r\n");
    CHECK(holds(rest, "v(!c)[u])[v]\r\n0\r\n\r\n"));
    WAIT_FOR(atomic_load(&app.done_ok) == 1);
    CHECK_STR(str_of(app.calls),
              S("u.head=200 l.head=200 v.head=200 u.end l.end l.work v.end u.done l.done v.done"));
    END_FILTERED;
}

TEST(an_answer_asked_for_again_begins_anew_in_front_and_goes_on_behind)
{
    FILTERED();
    ask_chain(client, "uhvlw");
    up = next_question(ctx, listener, up, "body");
    SAY(up, last_head);
    SAY(up, "3\r\none\r\n");
    hear_until(ctx, client, "v(u(one))\r\n");
    SAY(up, "1\r\n~\r\n0\r\n\r\n");
    up = next_question(ctx, listener, up, "more");
    SAY(up, ANSWER("201 Made", "", "3", "two"));
    str rest = hear_until(ctx, client, "\r\n0\r\n\r\n");
    CHECK(holds(rest, "v(u(two))\r\n"));
    CHECK(holds(rest, "v([u])\r\n") && holds(rest, "v((over))\r\n") && holds(rest, "[v]\r\n"));
    WAIT_FOR(atomic_load(&app.done_ok) == 1);
    CHECK_STR(str_of(app.calls), S("u.head=200 v.head=200 l.head=200 u.end u.head=201 u.end v.end "
                                   "l.end l.work u.done v.done l.done"));
    CHECK_INT(app.done_code, 201);
    END_FILTERED;
}

TEST(a_filter_behind_a_hidden_answer_sees_the_head_of_the_one_that_is_shown)
{
    FILTERED();
    ask_chain(client, "huw");
    up = next_question(ctx, listener, up, "body");
    SAY(up, hidden);
    up = next_question(ctx, listener, up, "more");
    SAY(up, ANSWER("429 Slow Down", "", "4", "wait"));
    str reply = hear_until(ctx, client, "\r\n0\r\n\r\n");
    CHECK_INT(code_of(reply), 429);
    CHECK(holds(reply, "u(wait)") && holds(reply, "u((over))") && holds(reply, "[u]"));
    WAIT_FOR(atomic_load(&app.done_ok) == 1);
    CHECK_STR(str_of(app.calls), S("u.head=429 u.end u.done"));
    END_FILTERED;
}

TEST(a_filter_that_fails_ends_the_answer_for_those_behind_it)
{
    FILTERED();
    ask_chain(client, "ruw");
    up = next_question(ctx, listener, up, "body");
    SAY(up, ANSWER("200 OK", "", "3", "no^"));
    str reply = hear_until(ctx, client, "upstream\",\"field\":\"\"}");
    CHECK_INT(code_of(reply), 502);
    CHECK(!holds(reply, "u(") && holds(reply, "\"first\":\"it is no good\""));
    WAIT_FOR(atomic_load(&app.done) == 1);
    CHECK_INT(app.done_ok, 0);
    CHECK_STR(str_of(app.calls), S("u.done!"));
    END_FILTERED;
}

TEST(the_filter_nearest_to_the_client_words_a_failure)
{
    FILTERED();
    ask_chain(client, "rnuw");
    up = next_question(ctx, listener, up, "body");
    SAY(up, chunked);
    SAY(up, "3\r\none\r\n");
    hear_until(ctx, client, "u(one)");
    SAY(up, "1\r\n^\r\n0\r\n\r\n");
    str rest = hear_until(ctx, client, "\r\n0\r\n\r\n");
    CHECK(holds(rest, "9\r\n(nearest)\r\n0\r\n\r\n") && !holds(rest, "(refused)"));
    WAIT_FOR(atomic_load(&app.done) == 1);
    END_FILTERED;
}

TEST(with_no_filter_that_words_it_a_failure_breaks_the_answer_off)
{
    FILTERED();
    ask_chain(client, "ulw");
    up = next_question(ctx, listener, up, "body");
    SAY(up, chunked);
    SAY(up, "3\r\none\r\n");
    hear_until(ctx, client, "u(one)");
    close(up);
    up = -1;
    CHECK(!holds(hear_all(ctx, client), "\r\n0\r\n\r\n"));
    WAIT_FOR(atomic_load(&app.done) == 1);
    CHECK_STR(str_of(app.calls), S("u.head=200 l.head=200 u.done! l.done!"));
    END_FILTERED;
}
