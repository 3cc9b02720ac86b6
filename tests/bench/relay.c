/* relay.c - the http room alone as a proxy: what relaying costs without memory. */
#include <signal.h>
#include <stdlib.h>

#include "http/http.h"

/* relay UPSTREAM_URL [LOOPS]: prints its address; ends with a signal. */

struct app {
    str upstream;
};

static enum status chat(struct ctx *ctx, struct app *app, const struct request *in,
                        struct reply *out)
{
    struct relay *r = NEW(&ctx->arena, struct relay);
    r->url = str_printf(&ctx->arena, S_FMT S_FMT, S_ARG(app->upstream), S_ARG(in->path));
    r->method = in->method;
    r->headers = in->headers;
    r->n_headers = in->n_headers;
    r->body = in->body;
    out->relay = r;
    return OK;
}

static void word_error(struct ctx *ctx, __attribute__((unused)) enum status s,
                       __attribute__((unused)) const struct request *in, struct reply *out)
{
    buf_printf(&out->body, "{\"error\":{\"message\":\"%s\"}}", ctx->why);
}

/* On a worker until libcurl is loaded. */
static bool is_quick(__attribute__((unused)) const struct app *app,
                     __attribute__((unused)) const struct request *in)
{
    return true;
}

static const struct route routes[] = {
    {"POST", "/v1/chat/completions", chat, .quick_if = is_quick},
    {0},
};
static const struct surface surface = {"bench", routes, word_error, NULL};
static const struct surface *const surfaces[] = {&surface, NULL};

int main(int argc, char **argv)
{
    struct ctx ctx = {0};
    struct app app = {str_of(argc > 1 ? argv[1] : "http://127.0.0.1:8000")};
    struct server *server;
    sigset_t set;
    int got;
    struct server_settings settings = {
        .listen = S("127.0.0.1:0"),
        .body_max = 32 << 20,
        .header_max = 64 << 10,
        .reply_max = 32 << 20,
        .connections_max = 10000,
        .queue_max = 1024,
        .loops = argc > 2 ? strtoul(argv[2], NULL, 10) : 2,
        .workers = 2,
        .idle_ms = 75000,
        .request_ms = 30000,
        .upstream_ms = 600000,
    };
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (server_listen(&ctx, &settings, &server) != OK) {
        fprintf(stderr, "relay: %s\n", ctx.why);
        return 1;
    }
    server_start(server, surfaces, &app);
    printf("listening on " S_FMT "\n", S_ARG(server_url(&ctx, server)));
    fflush(stdout);
    sigwait(&set, &got);
    server_stop(server, 1000);
    server_close(server);
    ctx_free(&ctx);
    return 0;
}
