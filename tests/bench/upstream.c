/* upstream.c - a fast stand-in for a model: answers chats at once, or streams them piece by piece.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdlib.h>

#include <llhttp.h>
#include <uv.h>

#include "base/buf.h"

/* upstream PORT INTERVAL_MS [SLOW_MS]: prints its address; ends with a signal. The model "slow"
 * begins its answer after SLOW_MS (0). A stream has as many pieces as the request's max_tokens
 * says. Who wants JSON is told what a session leaves behind, each time something else. */

enum { ANSWER = 1024 };

struct client {
    uv_tcp_t tcp;
    uv_timer_t timer;
    llhttp_t parser;
    struct buf body;
    int chunks_left, handles;
    bool streams, has_begun;
};

static uv_loop_t loop;
static int interval_ms, slow_ms;
static char answer[ANSWER + 256], read_buf[64 << 10];
static const char piece[] = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":"
                            "[{\"index\":0,\"delta\":{\"content\":\"some words \"}}]}\n\n";
static const char last[] = "data: [DONE]\n\n";

static void on_closed(uv_handle_t *h)
{
    struct client *c = h->data;
    if (--c->handles)
        return;
    buf_free(&c->body);
    free(c);
}

static void end(struct client *c)
{
    if (uv_is_closing((uv_handle_t *)&c->tcp))
        return;
    uv_close((uv_handle_t *)&c->tcp, on_closed);
    uv_close((uv_handle_t *)&c->timer, on_closed);
}

static void on_wrote(uv_write_t *w, __attribute__((unused)) int status)
{
    free(w);
}

/* What the socket does not take at once is copied behind the request. */
static void put(struct client *c, const char *p, size_t n)
{
    uv_buf_t b = uv_buf_init((char *)p, (unsigned)n);
    int sent = uv_try_write((uv_stream_t *)&c->tcp, &b, 1);
    if (sent < 0 && sent != UV_EAGAIN) {
        end(c);
        return;
    }
    size_t from = sent > 0 ? (size_t)sent : 0;
    if (from == n)
        return;
    uv_write_t *w = heap_alloc(sizeof *w + n - from);
    memcpy(w + 1, p + from, n - from);
    b = uv_buf_init((char *)(w + 1), (unsigned)(n - from));
    uv_write(w, (uv_stream_t *)&c->tcp, &b, 1, on_wrote);
}

static void put_chunk(struct client *c)
{
    char text[512];
    bool is_last = --c->chunks_left == 0;
    size_t n = (size_t)snprintf(text, sizeof text, "%zx\r\n%s\r\n", strlen(piece), piece);
    if (is_last)
        n += (size_t)snprintf(text + n, sizeof text - n, "%zx\r\n%s\r\n0\r\n\r\n", strlen(last),
                              last);
    put(c, text, n);
}

static void on_time(uv_timer_t *t);

static void begin_answer(struct client *c)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                               "Transfer-Encoding: chunked\r\n\r\n";
    c->has_begun = true;
    put(c, c->streams ? head : answer, strlen(c->streams ? head : answer));
    if (!c->streams)
        return;
    put_chunk(c);
    if (c->chunks_left)
        uv_timer_start(&c->timer, on_time, (uint64_t)interval_ms, (uint64_t)interval_ms);
}

static void on_time(uv_timer_t *t)
{
    struct client *c = t->data;
    if (!c->has_begun) {
        begin_answer(c);
        return;
    }
    put_chunk(c);
    if (!c->chunks_left)
        uv_timer_stop(t);
}

static int on_body(llhttp_t *p, const char *at, size_t n)
{
    struct client *c = p->data;
    buf_add(&c->body, (str){at, n});
    return 0;
}

/* "boat" and "number" are the user's words in distil.c. */
static void put_distilled(struct client *c)
{
    static int calls;
    static const char form[] =
        "{\"choices\":[{\"index\":0,\"finish_reason\":\"stop\",\"message\":{\"role\":\"assistant\","
        "\"content\":\"{\\\"episode\\\":{\\\"summary\\\":\\\"The user wants to sail the boat "
        "number %d "
        "home and asked what it takes.\\\",\\\"topics\\\":[\\\"boats\\\"],\\\"salience\\\":0.6},"
        "\\\"entities\\\":[\\\"Ithaca\\\"],\\\"pinned_candidates\\\":[{\\\"content\\\":\\\"User "
        "owns the "
        "boat number %d\\\"}],\\\"identity_facts\\\":[]}\"}}],"
        "\"usage\":{\"prompt_tokens\":700,\"completion_tokens\":90}}";
    char body[1024], text[1200];
    calls++;
    int n = snprintf(body, sizeof body, form, calls, calls);
    n = snprintf(
        text, sizeof text,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", n,
        body);
    put(c, text, (size_t)n);
}

static int on_whole(llhttp_t *p)
{
    struct client *c = p->data;
    if (str_find(buf_str(&c->body), S("\"response_format\"")) < c->body.n) {
        buf_clear(&c->body);
        put_distilled(c);
        return 0;
    }
    c->streams = str_find(buf_str(&c->body), S("\"stream\":true")) < c->body.n;
    size_t most = str_find(buf_str(&c->body), S("\"max_tokens\":"));
    bool is_slow = str_find(buf_str(&c->body), S("\"model\":\"slow\"")) < c->body.n;
    c->chunks_left = most < c->body.n ? (int)strtol(c->body.p + most + 13, NULL, 10) : 1;
    buf_clear(&c->body);
    c->has_begun = false;
    if (is_slow && slow_ms)
        uv_timer_start(&c->timer, on_time, (uint64_t)slow_ms, 0);
    else
        begin_answer(c);
    return 0;
}

static const llhttp_settings_t callbacks = {.on_body = on_body, .on_message_complete = on_whole};

static void on_space(__attribute__((unused)) uv_handle_t *h, __attribute__((unused)) size_t n,
                     uv_buf_t *b)
{
    *b = uv_buf_init(read_buf, sizeof read_buf);
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
    struct client *c = s->data;
    if (n < 0 || (n > 0 && llhttp_execute(&c->parser, b->base, (size_t)n) != HPE_OK))
        end(c);
}

static void on_client(uv_stream_t *listener, __attribute__((unused)) int status)
{
    struct client *c = heap_alloc(sizeof *c);
    c->handles = 2;
    c->body = buf_make(NULL, 64 << 20);
    uv_tcp_init(&loop, &c->tcp);
    uv_timer_init(&loop, &c->timer);
    c->tcp.data = c->timer.data = c->parser.data = c;
    llhttp_init(&c->parser, HTTP_REQUEST, &callbacks);
    c->parser.data = c;
    if (uv_accept(listener, (uv_stream_t *)&c->tcp) != 0) {
        end(c);
        return;
    }
    uv_tcp_nodelay(&c->tcp, 1);
    uv_read_start((uv_stream_t *)&c->tcp, on_space, on_read);
}

static void make_answer(void)
{
    char body[ANSWER + 1];
    int n = snprintf(body, sizeof body,
                     "{\"id\":\"c\",\"object\":\"chat.completion\",\"model\":\"bench\",\"choices\":"
                     "[{\"index\":0,\"finish_reason\":\"stop\",\"message\":{\"role\":\"assistant\","
                     "\"content\":\"");
    memset(body + n, 'w', ANSWER - (size_t)n);
    memcpy(body + ANSWER - 5, "\"}}]}", 6);
    snprintf(answer, sizeof answer,
             "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
             ANSWER, body);
}

int main(int argc, char **argv)
{
    struct sockaddr_in at;
    struct sockaddr_storage bound;
    int n = sizeof bound;
    uv_tcp_t listener;
    if (argc < 3) {
        fprintf(stderr, "usage: upstream PORT INTERVAL_MS [SLOW_MS]\n");
        return 2;
    }
    interval_ms = (int)strtol(argv[2], NULL, 10);
    slow_ms = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0;
    make_answer();
    uv_loop_init(&loop);
    uv_tcp_init(&loop, &listener);
    uv_ip4_addr("127.0.0.1", (int)strtol(argv[1], NULL, 10), &at);
    if (uv_tcp_bind(&listener, (struct sockaddr *)&at, 0) != 0 ||
        uv_listen((uv_stream_t *)&listener, 1024, on_client) != 0) {
        fprintf(stderr, "upstream: the port is taken\n");
        return 1;
    }
    uv_tcp_getsockname(&listener, (struct sockaddr *)&bound, &n);
    printf("listening on http://127.0.0.1:%d\n", ntohs(((struct sockaddr_in *)&bound)->sin_port));
    fflush(stdout);
    return uv_run(&loop, UV_RUN_DEFAULT);
}
