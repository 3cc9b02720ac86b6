/* serve.c - the server's life: open, listen, wait for a signal, finish what runs, close. */
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#include "app/background.h"
#include "app/commands.h"
#include "surface/surface.h"

enum { REPLY_MAX = 64 << 20, PRINT_MAX = 1 << 20 };

static enum status print_settings(struct ctx *ctx, const struct options *o)
{
    struct buf b = buf_make(&ctx->arena, PRINT_MAX);
    settings_print(&b, &o->settings, o->json);
    fwrite(b.p, 1, b.n, stdout);
    return OK;
}

/* --- who may be listened to --- */

static enum status may_listen(struct ctx *ctx, const struct options *o, struct home *home)
{
    struct token *t;
    size_t n;
    if (listens_locally(o->settings.listen))
        return OK;
    TRY(store_tokens(ctx, home->store, S(""), &t, &n));
    for (size_t i = 0; i < n; i++)
        if (t[i].is_admin && token_is_valid(&t[i], clock_ms()))
            return OK;
    return fail(ctx, FORBIDDEN,
                "others could reach " S_FMT " and there is no admin token yet; make one first: "
                "rememberd token create --admin",
                S_ARG(o->settings.listen));
}

static const char *const *hosts_of(struct ctx *ctx, str list, bool *any)
{
    const char **hosts = NEW_N(&ctx->arena, const char *, list.n + 2);
    size_t n = 0;
    *any = false;
    while (list.n) {
        str host = str_trim(str_cut(&list, ','));
        if (str_is(host, "*"))
            *any = true;
        else if (host.n)
            hosts[n++] = str_c(&ctx->arena, host);
    }
    return n ? hosts : NULL;
}

/* --- signals --- */

static sigset_t stop_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGUSR1);
    return set;
}

/* The second signal: what is queued is written, what runs is cut. SIGUSR1 says it is not needed. */
static void *cut(void *arg)
{
    struct ctx ctx = {0};
    sigset_t set = stop_signals();
    int signal;
    sigwait(&set, &signal);
    if (signal == SIGUSR1)
        return NULL;
    if (store_flush(&ctx, arg) != OK)
        log_event(LOG_ERROR, "server.cut", "why=\"%s\"", ctx.why);
    _exit(1);
}

static void wait_for_signal(void)
{
    sigset_t set = stop_signals();
    int signal = 0;
    do
        sigwait(&set, &signal);
    while (signal == SIGUSR1);
    log_event(LOG_INFO, "server.stopping", "signal=%d", signal);
}

static void stop(struct server *server, struct home *home, int64_t deadline_ms)
{
    pthread_t cutter;
    bool has_cutter = pthread_create(&cutter, NULL, cut, home->store) == 0;
    size_t n = server_stop(server, deadline_ms);
    log_event(LOG_INFO, "server.stopped", "cut=%zu", n);
    if (has_cutter) {
        pthread_kill(cutter, SIGUSR1);
        pthread_join(cutter, NULL);
    }
}

/* --- the life --- */

/* Thousands of streams need two descriptors each. */
static void raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void say_hello(struct ctx *ctx, const struct server *server)
{
    str url = server_url(ctx, server);
    printf("listening on " S_FMT "\n", S_ARG(url));
    fflush(stdout);
    fprintf(stderr,
            "try: curl " S_FMT "/v1/chat/completions -H 'Content-Type: application/json' -d "
            "'{\"model\":\"rememberd/demo\",\"messages\":[{\"role\":\"user\",\"content\":"
            "\"My favourite tea is lapsang souchong.\"}]}'\n",
            S_ARG(url));
}

/* Workers wait for the disk now and then, so there are more of them than cores. */
static size_t workers_of(const struct settings *s)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (s->workers)
        return (size_t)s->workers;
    return cores > 2 ? 2 * (size_t)cores : 4;
}

static struct server_settings server_settings_of(struct ctx *ctx, const struct settings *s)
{
    struct server_settings out = {
        .listen = s->listen,
        .body_max = (size_t)s->body_max,
        .header_max = (size_t)s->header_max,
        .reply_max = REPLY_MAX,
        .connections_max = (size_t)s->connections_max,
        .queue_max = (size_t)s->queue_max,
        .workers = workers_of(s),
        .loops = (size_t)s->loops,
        .idle_ms = s->idle_timeout_ms,
        .request_ms = s->request_timeout_ms,
        .upstream_ms = s->upstream_timeout_ms,
    };
    out.hosts = hosts_of(ctx, s->hosts, &out.any_host);
    return out;
}

enum status command_serve(struct ctx *ctx, const struct options *o)
{
    CLEANUP(home_close) struct home home = {0};
    CLEANUP(background_end) struct background background = {0};
    sigset_t set = stop_signals();
    if (o->print_settings)
        return print_settings(ctx, o);
    raise_descriptors();
    signal(SIGPIPE, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    TRY(home_open(ctx, o, &home));
    TRY(home_take_seal(ctx, &home));
    home_check_seal(ctx, &home);
    TRY(may_listen(ctx, o, &home));
    struct app app = {.settings = &o->settings,
                      .engine = home.engine,
                      .started_us = clock_mono_us()};
    struct server_settings settings = server_settings_of(ctx, &o->settings);
    TRY(server_open(ctx, &settings, surfaces, &app, &app.server));
    background_begin(&background, &home);
    say_hello(ctx, app.server);
    wait_for_signal();
    stop(app.server, &home, o->settings.shutdown_ms);
    background_end(&background);
    server_close(app.server);
    return OK;
}
