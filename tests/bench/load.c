/* load.c - a load generator: chats in a closed loop, or many streams at once that must be whole. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <llhttp.h>
#include <uv.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"

/*
 * load PORT chats CONCURRENCY SECONDS       requests one after another on each connection. With
 *                                           $THINK_MS each after a pause of up to so long, to the
 *                                           model "slow"; with $CHATS so many, in any time
 * load PORT streams N CHUNKS [AT_ONCE]      N streams in all, AT_ONCE (default N) at a time
 *
 * Prints one line of key=value. Bodies are about 4 KB. The last user message is the next line of
 * the file named by $QUESTIONS, round and round; without one it is always the same.
 */

enum { SAMPLES_MAX = 4 << 20 };

struct samples {
    uint32_t *us;
    size_t n;
};

struct client {
    uv_tcp_t tcp;
    uv_timer_t pause;
    uv_connect_t connect;
    llhttp_t parser;
    int64_t asked_us, first_us;
    struct buf tail; /* of a stream: the text so far of an unfinished event */
    int events, handles;
    bool has_done;
};

static uv_loop_t loop;
static struct sockaddr_in server;
static struct buf *requests; /* one for each question */
static size_t n_requests, turn;
static struct samples first_byte, whole;
static bool streams, is_counted; /* is_counted: ends after so many, not after a time */
static int chunks, think_ms;
static size_t left, running, completed, broken;
static int64_t end_us;
static char read_buf[256 << 10];

static void ask(struct client *c);

static void note(struct samples *s, int64_t us)
{
    if (s->n < SAMPLES_MAX)
        s->us[s->n++] = (uint32_t)us;
}

static void on_closed(uv_handle_t *h)
{
    struct client *c = h->data;
    if (--c->handles)
        return;
    buf_free(&c->tail);
    free(c);
}

static void leave(struct client *c)
{
    if (uv_is_closing((uv_handle_t *)&c->tcp))
        return;
    running--;
    uv_close((uv_handle_t *)&c->tcp, on_closed);
    uv_close((uv_handle_t *)&c->pause, on_closed);
}

/* Counts the events of a stream; a piece may end anywhere. */
static void count_events(struct client *c, str bytes)
{
    buf_add(&c->tail, bytes);
    str rest = buf_str(&c->tail);
    for (size_t at; (at = str_find(rest, S("\n\n"))) < rest.n;
         rest = str_sub(rest, at + 2, rest.n)) {
        if (str_eq(str_sub(rest, 0, at), S("data: [DONE]")))
            c->has_done = true;
        else
            c->events++;
    }
    memmove(c->tail.p, rest.p, rest.n);
    c->tail.n = rest.n;
}

static int on_body(llhttp_t *p, const char *at, size_t n)
{
    struct client *c = p->data;
    if (!c->first_us) {
        c->first_us = clock_mono_us();
        note(&first_byte, c->first_us - c->asked_us);
    }
    if (streams)
        count_events(c, (str){at, n});
    return 0;
}

static void on_thought(uv_timer_t *t)
{
    ask(t->data);
}

/* People do not ask all at the same moment, however long the model takes. */
static void ask_later(struct client *c)
{
    if (think_ms)
        uv_timer_start(&c->pause, on_thought, (uint64_t)(rand() % (think_ms + 1)), 0);
    else
        ask(c);
}

static int on_whole(llhttp_t *p)
{
    struct client *c = p->data;
    bool is_good = p->status_code == 200 && (!streams || (c->events == chunks && c->has_done));
    note(&whole, clock_mono_us() - c->asked_us);
    completed += is_good;
    broken += !is_good;
    if (is_counted ? left > 0 : clock_mono_us() < end_us)
        ask_later(c);
    else
        leave(c);
    return 0;
}

static const llhttp_settings_t callbacks = {.on_body = on_body, .on_message_complete = on_whole};

static void on_wrote(uv_write_t *w, __attribute__((unused)) int status)
{
    free(w);
}

static void ask(struct client *c)
{
    struct buf request = requests[turn++ % n_requests];
    uv_buf_t b = uv_buf_init(request.p, (unsigned)request.n);
    left -= is_counted;
    c->asked_us = clock_mono_us();
    c->first_us = 0;
    c->events = 0;
    c->has_done = false;
    int n = uv_try_write((uv_stream_t *)&c->tcp, &b, 1);
    if (n == (int)request.n)
        return;
    n = n > 0 ? n : 0;
    b = uv_buf_init(request.p + n, (unsigned)request.n - (unsigned)n);
    uv_write(heap_alloc(sizeof(uv_write_t)), (uv_stream_t *)&c->tcp, &b, 1, on_wrote);
}

static void on_space(__attribute__((unused)) uv_handle_t *h, __attribute__((unused)) size_t n,
                     uv_buf_t *b)
{
    *b = uv_buf_init(read_buf, sizeof read_buf);
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
    struct client *c = s->data;
    if (n < 0 || (n > 0 && llhttp_execute(&c->parser, b->base, (size_t)n) != HPE_OK)) {
        broken++;
        leave(c);
    }
}

static void on_connected(uv_connect_t *connect, int status)
{
    struct client *c = connect->data;
    if (status != 0) {
        broken++;
        leave(c);
        return;
    }
    uv_tcp_nodelay(&c->tcp, 1);
    uv_read_start((uv_stream_t *)&c->tcp, on_space, on_read);
    ask_later(c);
}

static void start(void)
{
    struct client *c = heap_alloc(sizeof *c);
    c->tail = buf_make(NULL, 1 << 20);
    llhttp_init(&c->parser, HTTP_RESPONSE, &callbacks);
    uv_tcp_init(&loop, &c->tcp);
    uv_timer_init(&loop, &c->pause);
    c->handles = 2;
    c->tcp.data = c->pause.data = c->connect.data = c->parser.data = c;
    running++;
    uv_tcp_connect(&c->connect, &c->tcp, (struct sockaddr *)&server, on_connected);
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static unsigned percentile(struct samples *s, double p)
{
    qsort(s->us, s->n, sizeof *s->us, by_size);
    return s->n ? s->us[(size_t)(p * (double)(s->n - 1))] : 0;
}

static struct buf request_of(int port, str question)
{
    struct buf body = buf_make(NULL, 1 << 20), out = buf_make(NULL, 1 << 20);
    buf_printf(&body,
               "{\"model\":\"%s\",\"stream\":%s,\"max_tokens\":%d,\"messages\":"
               "[{\"role\":\"system\",\"content\":\"",
               think_ms ? "slow" : "bench", streams ? "true" : "false", chunks);
    while (body.n + question.n < 4000)
        buf_add(&body, S("an assistant that is told at length how to behave "));
    buf_add(&body, S("\"},{\"role\":\"user\",\"content\":\""));
    json_escape(&body, question);
    buf_add(&body, S("\"}]}"));
    buf_printf(&out,
               "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
               "Authorization: Bearer none\r\nContent-Type: application/json\r\n"
               "Accept: application/json\r\nUser-Agent: load\r\nContent-Length: %zu\r\n\r\n",
               port, body.n);
    buf_add(&out, buf_str(&body));
    buf_free(&body);
    return out;
}

static void make_requests(int port)
{
    enum { QUESTIONS_MAX = 10000 };
    const char *path = getenv("QUESTIONS");
    char line[2000];
    requests = heap_alloc(QUESTIONS_MAX * sizeof *requests);
    FILE *f = path ? fopen(path, "re") : NULL;
    if (path && !f)
        perror(path);
    while (f && n_requests < QUESTIONS_MAX && fgets(line, sizeof line, f))
        requests[n_requests++] = request_of(port, str_trim(str_of(line)));
    if (f)
        fclose(f);
    if (!n_requests)
        requests[n_requests++] = request_of(port, S("all the words of a question"));
}

/* Of this process, in microseconds for each request. */
static double cpu_each(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double us = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
                (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    return completed ? us / (double)completed : 0;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr,
                "usage: load PORT chats CONCURRENCY SECONDS | streams N CHUNKS [AT_ONCE]\n");
        return 2;
    }
    const char *pause = getenv("THINK_MS"), *chats = getenv("CHATS");
    int port = (int)strtol(argv[1], NULL, 10);
    size_t n = strtoul(argv[3], NULL, 10);
    streams = strcmp(argv[2], "streams") == 0;
    chunks = (int)strtol(argv[4], NULL, 10);
    left = chats ? strtoul(chats, NULL, 10) : n;
    is_counted = streams || chats;
    think_ms = pause ? (int)strtol(pause, NULL, 10) : 0;
    first_byte.us = heap_alloc(SAMPLES_MAX * sizeof(uint32_t));
    whole.us = heap_alloc(SAMPLES_MAX * sizeof(uint32_t));
    uv_loop_init(&loop);
    uv_ip4_addr("127.0.0.1", port, &server);
    make_requests(port);
    int64_t began = clock_mono_us();
    end_us = began + (streams ? 0 : strtoll(argv[4], NULL, 10) * 1000000);
    for (size_t i = streams && argc > 5 ? strtoul(argv[5], NULL, 10) : n; i; i--)
        start();
    uv_run(&loop, UV_RUN_DEFAULT);
    double seconds = (double)(clock_mono_us() - began) / 1e6;
    double cpu = cpu_each();
    printf("completed=%zu broken=%zu rps=%.0f p50_us=%u p99_us=%u first50_us=%u first99_us=%u "
           "load_us=%.0f\n",
           completed, broken, (double)completed / seconds, percentile(&whole, 0.5),
           percentile(&whole, 0.99), percentile(&first_byte, 0.5), percentile(&first_byte, 0.99),
           cpu);
    return broken != 0;
}
