/* http.c - any bytes from a client: the server answers or closes, and goes on serving. */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <sodium.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "http/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

struct app {
    int unused;
};

struct note_in {
    str text;
    int64_t limit;
    struct strs tags;
    const struct json *any;
};
static const struct field note_in_fields[] = {
    {STR(struct note_in, text), .required = true, .max = 100},
    {INT(struct note_in, limit), .min = 1, .max = 9, .otherwise = 5},
    {STRS(struct note_in, tags)},
    {JSON(struct note_in, any)},
    {0},
};

static enum status note(struct ctx *ctx, struct app *app, const struct request *in,
                        struct reply *out)
{
    (void)ctx, (void)app;
    reply_fields(out, note_in_fields, in->in);
    return OK;
}

static enum status echo(struct ctx *ctx, struct app *app, const struct request *in,
                        struct reply *out)
{
    (void)app;
    reply_header(out, "X-Query", request_query(ctx, in, "q"));
    buf_add(&out->body, in->params[0]);
    buf_add(&out->body, in->body);
    return OK;
}

static const struct route routes[] = {
    {"POST", "/note", note, TAKES(note_in), .strict = true, .is_quick = true},
    {"GET", "/note", note, TAKES(note_in), .is_quick = true},
    {"POST", "/echo/{name}", echo, .is_quick = true},
    {"PUT", "/echo/{name}", echo, .wants_json = true},
    {0},
};

static void word_error(struct ctx *ctx, enum status s, const struct request *in, struct reply *out)
{
    (void)in;
    struct json_out w = json_to(&out->body);
    out->code = http_code(s);
    json_str(&w, str_of(ctx->why));
}

static enum status admit(struct ctx *ctx, struct app *app, enum route_access needs,
                         struct request *in)
{
    (void)ctx, (void)app, (void)needs, (void)in;
    return OK;
}

static const struct surface fuzzed = {"fuzzed", routes, word_error, admit};
static const struct surface *const all[] = {&fuzzed, NULL};
static struct server *server;
static struct app app;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    struct ctx ctx = {0};
    struct server_settings settings = {.listen = S("127.0.0.1:0"),
                                       .body_max = 4096,
                                       .header_max = 4096,
                                       .reply_max = 1 << 20,
                                       .connections_max = 100,
                                       .queue_max = 100,
                                       .workers = 1,
                                       .loops = 1,
                                       .idle_ms = 5000,
                                       .request_ms = 5000,
                                       .upstream_ms = 5000};
    if (sodium_init() < 0)
        abort();
    log_setup(LOG_ERROR, false);
    enum status s = server_listen(&ctx, &settings, &server);
    assert(s == OK);
    server_start(server, all, &app);
    ctx_free(&ctx);
    return 0;
}

/*
 * Each connection comes from another loopback address, or the ports of one run out; one that is
 * still taken is passed over.
 */
static int dial(void)
{
    static uint32_t turn;
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)server_port(server)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (int tries = 0; tries < 100; tries++) {
        struct sockaddr_in from = {.sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(0x7F010000 + turn++ % 0xFFFF)};
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        assert(fd >= 0);
        if (bind(fd, (struct sockaddr *)&from, sizeof from) == 0 &&
            connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
            return fd;
        if (errno != EADDRNOTAVAIL && errno != EADDRINUSE)
            perror("connect");
        close(fd);
    }
    assert(!"the server cannot be reached");
    return -1;
}

/* Sends it all, says that there is no more, and waits for the end of what comes back. */
static void converse(str bytes)
{
    char back[4096];
    int fd = dial();
    while (bytes.n) {
        ssize_t n = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL);
        if (n <= 0)
            break;
        bytes = str_sub(bytes, (size_t)n, bytes.n);
    }
    shutdown(fd, SHUT_WR);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    for (;;) {
        int ready = poll(&p, 1, 4000);
        if (ready < 0 && errno == EINTR)
            continue; /* libFuzzer's timer */
        assert(ready == 1 && "the server neither answers nor closes");
        if (recv(fd, back, sizeof back, 0) <= 0)
            break;
    }
    close(fd);
}

/* The input as it is, and as the body of a request that reads it by a table. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    converse((str){(const char *)data, size});
    str head = str_printf(&a,
                          "POST /note HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                          "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                          size);
    struct buf b = buf_make(&a, 1 << 20);
    buf_add(&b, head);
    buf_add(&b, (str){(const char *)data, size});
    converse(buf_str(&b));
    arena_free(&a);
    return 0;
}
