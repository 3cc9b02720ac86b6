/* stopping.c - a stop finishes what runs, to a deadline, and then cuts. */
#include <pthread.h>
#include <unistd.h>

#include "fixture.h"

#define SERVE(...)                                                                                 \
    struct app app = {0};                                                                          \
    struct server_settings settings = test_settings();                                             \
    __VA_ARGS__;                                                                                   \
    int listener = listener_open(ctx, &app.upstream);                                              \
    struct server *s = serve(ctx, &app, &settings)

static const char ask_stream[] = "GET /relay/x HTTP/1.1\r\nHost: localhost\r\n\r\n";
static const char stream_head[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

struct stop {
    struct server *server;
    int64_t deadline_ms;
    size_t cut;
    atomic_bool ended;
    pthread_t thread;
};

static void *stop_it(void *arg)
{
    struct stop *stop = arg;
    stop->cut = server_stop(stop->server, stop->deadline_ms);
    atomic_store(&stop->ended, true);
    return NULL;
}

TEST(an_idle_server_stops_at_once)
{
    SERVE();
    int fd = dial(s);
    SAY(fd, "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
    hear_until(ctx, fd, "true}");
    CHECK_INT(server_stop(s, 60000), 0);
    CHECK(hears_end(fd));
    close(fd);
    close(listener);
    server_close(s);
}

TEST(a_running_stream_is_finished)
{
    SERVE();
    int client = dial(s);
    SAY(client, ask_stream);
    int up = listener_accept(listener);
    SAY(up, stream_head);
    SAY(up, "3\r\none\r\n");
    hear_until(ctx, client, "one");
    struct stop stop = {.server = s, .deadline_ms = 60000};
    int idle = dial(s);
    SAY(idle, "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
    hear_until(ctx, idle, "true}");
    pthread_create(&stop.thread, NULL, stop_it, &stop);
    CHECK(hears_end(idle)); /* so the stop has begun */
    close(idle);
    CHECK(!atomic_load(&stop.ended));
    SAY(up, "3\r\ntwo\r\n0\r\n\r\n");
    CHECK(holds(hear_all(ctx, client), "0\r\n\r\n"));
    pthread_join(stop.thread, NULL);
    CHECK_INT(stop.cut, 0);
    CHECK_INT(app.done_ok, 1);
    close(up);
    close(client);
    close(listener);
    server_close(s);
}

TEST(what_runs_past_the_deadline_is_cut_and_counted)
{
    SERVE();
    int client = dial(s), held = dial(s);
    SAY(client, ask_stream);
    int up = listener_accept(listener);
    SAY(up, stream_head);
    hear_until(ctx, client, "\r\n\r\n");
    SAY(held, "GET /hold HTTP/1.1\r\nHost: localhost\r\n\r\n");
    WAIT_FOR(atomic_load(&app.held) == 1);
    CHECK_INT(server_stop(s, 50), 2);
    CHECK(hears_end(client) && hears_end(held) && hears_end(up));
    atomic_store(&app.let_go, true);
    server_close(s);
    CHECK_INT(app.done, 1);
    CHECK_INT(app.done_ok, 0);
    close(up);
    close(client);
    close(held);
    close(listener);
}

TEST(a_reply_given_while_stopping_says_that_it_is_the_last)
{
    SERVE();
    int fd = dial(s);
    SAY(fd, "GET /hold HTTP/1.1\r\nHost: localhost\r\n\r\n");
    WAIT_FOR(atomic_load(&app.held) == 1);
    struct stop stop = {.server = s, .deadline_ms = 60000};
    int idle = dial(s);
    SAY(idle, "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
    hear_until(ctx, idle, "true}");
    pthread_create(&stop.thread, NULL, stop_it, &stop);
    CHECK(hears_end(idle));
    atomic_store(&app.let_go, true);
    CHECK(holds(hear_all(ctx, fd), "\r\nConnection: close\r\n"));
    pthread_join(stop.thread, NULL);
    CHECK_INT(stop.cut, 0);
    close(idle);
    close(fd);
    close(listener);
    server_close(s);
}

TEST(a_draining_server_serves_on_and_each_answer_ends_its_connection)
{
    SERVE();
    int idle = dial(s);
    SAY(idle, "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
    CHECK(!holds(hear_until(ctx, idle, "true}"), "\r\nConnection: close\r\n"));
    CHECK(!server_is_draining(s));
    server_drain(s, 1);
    CHECK(server_is_draining(s));
    int new = dial(s);
    SAY(new, "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
    CHECK(holds(hear_all(ctx, new), "\r\nConnection: close\r\n"));
    SAY(idle, "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
    CHECK(holds(hear_all(ctx, idle), "\r\nConnection: close\r\n"));
    CHECK_INT(server_stop(s, 60000), 0);
    close(idle);
    close(new);
    close(listener);
    server_close(s);
}

/* As a proxy does, which cannot know of the stop when it connects or takes an open connection. */
TEST(what_was_sent_before_the_stop_is_answered)
{
    static const char ask_hello[] = "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for (int round = 0; round < 20; round++) {
        SERVE(settings.loops = 2);
        int fds[20];
        for (int i = 0; i < 10; i++) {
            fds[i] = dial(s);
            SAY(fds[i], ask_hello);
            hear_until(ctx, fds[i], "true}");
        }
        for (int i = 10; i < 20; i++)
            fds[i] = dial(s);
        for (int i = 0; i < 20; i++)
            SAY(fds[i], ask_hello);
        CHECK_INT(server_stop(s, 60000), 0);
        for (int i = 0; i < 20; i++) {
            CHECK(holds(hear_all(ctx, fds[i]), "true}"));
            close(fds[i]);
        }
        close(listener);
        server_close(s);
    }
}

TEST(closing_under_load_frees_everything)
{
    for (int round = 0; round < 5; round++) {
        SERVE(settings.loops = 2 + (size_t)round % 2);
        int fds[40];
        for (int i = 0; i < 40; i++) {
            fds[i] = dial(s);
            SAY(fds[i], i % 4 == 0   ? ask_stream
                        : i % 4 == 1 ? "GET /worker HTTP/1.1\r\nHost: localhost\r\n\r\n"
                        : i % 4 == 2 ? "GET /large?n=5000000 HTTP/1.1\r\nHost: localhost\r\n\r\n"
                                     : "POST /a/1 HTTP/1.1\r\nHost: localhost\r\nContent-Le");
        }
        server_close(s);
        for (int i = 0; i < 40; i++)
            close(fds[i]);
        close(listener);
    }
}
