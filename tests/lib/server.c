/* server.c - the fake HTTP server of a test: a route table, served on loopback. */
#include "lib/server.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

static enum status admit_everyone(__attribute__((unused)) struct ctx *ctx,
                                  __attribute__((unused)) struct app *app,
                                  __attribute__((unused)) enum route_access needs,
                                  __attribute__((unused)) struct request *in)
{
    return OK;
}

static void word_error(struct ctx *ctx, enum status s,
                       __attribute__((unused)) const struct request *in, struct reply *out)
{
    out->code = http_code(s);
    buf_add(&out->body, str_of(ctx->why));
}

struct server *fake_server_open(struct ctx *ctx, const struct route *routes, struct app *app)
{
    static const struct server_settings settings = {.listen = {"127.0.0.1:0", 11},
                                                    .body_max = 4 << 20,
                                                    .header_max = 16 << 10,
                                                    .reply_max = 128 << 20,
                                                    .connections_max = 50,
                                                    .queue_max = 50,
                                                    .workers = 4,
                                                    .loops = 1,
                                                    .idle_ms = 10000,
                                                    .request_ms = 10000,
                                                    .upstream_ms = 10000};
    struct surface *surface = NEW(&ctx->arena, struct surface);
    const struct surface **all = NEW_N(&ctx->arena, const struct surface *, 2);
    struct server *out;
    *surface = (struct surface){.name = "fake",
                                .routes = routes,
                                .word_error = word_error,
                                .admit = admit_everyone};
    all[0] = surface;
    CHECK_OK(server_listen(ctx, &settings, &out));
    server_start(out, all, app);
    return out;
}

void fake_server_close(struct server *s)
{
    server_stop(s, 5000);
    server_close(s);
}

struct upstream fake_server_upstream(struct ctx *ctx, const struct server *s)
{
    return (struct upstream){.name = S("fake"), .url = server_url(ctx, s), .key = S("secret")};
}

enum status fake_reply(struct reply *out, int code, const char *body)
{
    out->code = code;
    buf_add(&out->body, str_of(body));
    return OK;
}

int listener_open(struct ctx *ctx, str *url)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 16) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&at, &n) == 0);
    *url = str_printf(&ctx->arena, "http://127.0.0.1:%d", ntohs(at.sin_port));
    return fd;
}

int listener_accept(int listener)
{
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    if (poll(&ready, 1, 10000) != 1)
        fail_msg("no connection within ten seconds");
    return accept(listener, NULL, NULL);
}
