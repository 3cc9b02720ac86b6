/* serve.c - runs the server: listen, open, wait for a signal, finish running requests, close. */
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/seal.h"
#include "base/syslog.h"

#include "app/background.h"
#include "app/command.h"
#include "app/key/key.h"
#include "app/notify.h"
#include "app/print.h"
#include "surface/surface.h"

/*
 * The first SIGINT or SIGTERM stops a server: balancers have drain_ms to leave, then there are no
 * new connections, running requests finish within shutdown_ms, the rest is cut. A second one ends
 * it at once, after what is queued for the disk. SIGHUP reads the settings again, or stops a server
 * whose terminal is closed.
 *
 * The main thread does nothing but wait for signals. Requests are answered by the threads of http,
 * background work by those of background.c.
 */

/* REPLY_MAX is the most that one answer may hold, exports included. */
enum { REPLY_MAX = 64 << 20 };

/* --- access --- */

/* Without a token anyone who can connect could read all memories, so a server for other machines
 * does not start before there is an admin token. */
static enum status may_listen(struct ctx *ctx, const struct options *o, struct instance *instance)
{
    struct token *t;
    size_t n;
    if (listens_locally(o->settings.listen))
        return OK;
    TRY(store_tokens(ctx, instance->store, S(""), &t, &n));
    if (SOME(i, n, t[i].is_admin && token_is_valid(&t[i], clock_ms())))
        return OK;
    return fail(ctx, FORBIDDEN,
                "other machines could reach " S_FMT
                " but there is no admin token; create one first: rememberd token create --admin",
                S_ARG(o->settings.listen));
}

/* All headers; some are named, too, for browsers that do not know the star. */
#define EXPOSED                                                                                    \
    "X-Rememberd-Receipt, X-OmniRoute-Session-Id, X-Memory, X-Request-Id, Request-Id, "            \
    "Retry-After, Mcp-Session-Id, *"

/* NULL-ended, as http wants it; NULL when there are none. */
static const char *const *parts_of(struct ctx *ctx, str list)
{
    const char **parts = NEW_N(&ctx->arena, const char *, list.n + 2);
    size_t n = 0;
    while (list.n) {
        str part = str_trim(str_cut(&list, ','));
        if (part.n)
            parts[n++] = str_c(&ctx->arena, part);
    }
    return n ? parts : NULL;
}

/* A page that a user happens to visit is on this machine, as any local program is. Without a token
 * it could read and change everything, so pages of any site need one. */
static enum status check_origins(struct ctx *ctx, const struct settings *s)
{
    bool is_wide;
    for (const char *const *o = parts_of(ctx, s->origins); o && *o; o++) {
        TRY(origin_check(ctx, str_of(*o), &is_wide));
        if (is_wide && !s->require_token)
            return fail_field(ctx, "origins",
                              "'%s' fits pages of any site; it needs --require-token on", *o);
    }
    return OK;
}

enum status serve_check_settings(struct ctx *ctx, const struct settings *s)
{
    uint8_t key[SEAL_KEY_BYTES];
    TRY(check_origins(ctx, s));
    TRY(seal_of_setting(ctx, s, key));
    return str_starts(s->audit_to, S("syslog:"))
               ? syslog_send(ctx, str_sub(s->audit_to, S("syslog:").n, s->audit_to.n), S(""))
               : OK;
}

/* --- signals --- */

/* Blocked in all threads and awaited in one, so that no handler runs at an arbitrary place. */
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

/* On a second signal, but for one to reload, queued writes are flushed, and running requests are
 * dropped. SIGUSR1 ends the thread when the server has stopped in time. */
static void *cut_short(void *arg)
{
    struct ctx ctx = {0};
    sigset_t set = stop_signals();
    int signal;
    do
        sigwait(&set, &signal);
    while (signal == SIGHUP);
    if (signal == SIGUSR1)
        return NULL;
    if (store_flush(&ctx, arg) != OK)
        log_event(LOG_ERROR, "server.cut", "why=\"%s\"", ctx.why);
    _exit(1);
}

/* A closed terminal sends SIGHUP to what was started from it, unless nohup lets that go on. */
static bool has_terminal(void)
{
    struct sigaction action;
    CLEANUP(fd_close) int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    return fd >= 0 && sigaction(SIGHUP, NULL, &action) == 0 && action.sa_handler != SIG_IGN;
}

/* SIGUSR1 is for cut_short only; one from outside is ignored. */
static void wait_for_signal(const struct options *o, struct instance *instance, bool ends_on_hangup)
{
    sigset_t set = stop_signals();
    int signal = 0;
    for (;;) {
        sigwait(&set, &signal);
        if (signal == SIGHUP && !ends_on_hangup)
            reload_settings(o, instance);
        else if (signal != SIGUSR1)
            break;
    }
    log_event(LOG_INFO, "server.stopping", "signal=%d", signal);
}

/* A second thread waits for a second signal, since the stop itself may wait for running chats. */
static void stop_server(struct server *server, struct instance *instance, const struct settings *s)
{
    pthread_t cutter;
    bool has_cutter = pthread_create(&cutter, NULL, cut_short, instance->store) == 0;
    server_drain(server, s->drain_ms);
    size_t n = server_stop(server, s->shutdown_ms);
    log_event(LOG_INFO, "server.stopped", "cut=%zu", n);
    if (has_cutter) {
        pthread_kill(cutter, SIGUSR1);
        pthread_join(cutter, NULL);
    }
}

/* A manager that cannot be reached is its own trouble; chats are still served. */
static void notify(struct ctx *ctx, const char *state)
{
    if (notify_manager(ctx, state) == OK)
        return;
    log_event(LOG_WARN, "server.notify", "why=\"%s\"", ctx->why);
    ctx_clear_failure(ctx);
}

/* --- what is said of a server that is ready --- */

static void announce_data(struct ctx *ctx, const struct instance *instance)
{
    struct store_stats stats;
    const char *kind = instance->key_from.n ? ", encrypted" : "";
    if (store_stats(ctx, instance->store, &stats) != OK) {
        printf("data: " S_FMT "%s, which cannot be counted: %s\n", S_ARG(instance->folder), kind,
               ctx->why);
        ctx_clear_failure(ctx);
        return;
    }
    printf("data: " S_FMT "%s, %lld memor%s\n", S_ARG(instance->folder), kind,
           (long long)stats.memories, stats.memories == 1 ? "y" : "ies");
    if (stats.is_shared)
        puts("shared: another rememberd (a server or a command) has this database open, too; each "
             "sees what the other writes");
}

/* "URL" is the default upstream, "NAME=URL" a named one, as on the command line. */
static void announce_upstreams(const struct settings *s)
{
    fputs("upstreams: ", stdout);
    if (!s->n_upstreams)
        fputs("none; only the built-in model rememberd/demo answers", stdout);
    for (size_t i = 0; i < s->n_upstreams; i++) {
        const struct upstream *up = &s->upstreams[i];
        printf("%s" S_FMT "%s" S_FMT, i ? ", " : "", S_ARG(up->name), up->name.n ? "=" : "",
               S_ARG(up->url));
    }
    putchar('\n');
}

/* Only the upstream knows its models, so with one the line asks for their list; the built-in model
 * answers a chat as it is. A key of the client's own is needed where no upstream_key is set. */
static void announce_try(struct ctx *ctx, const struct settings *s, str url, bool needs_token)
{
    const struct upstream *up = settings_upstream(s, &S("")); /* of a model without a prefix */
    const char *secret = needs_token ? "YOUR_TOKEN" : up && !up->key.n ? "YOUR_API_KEY" : NULL;
    printf("try: curl " S_FMT "%s", S_ARG(curl_target(&ctx->arena, url)),
           up ? "/v1/models" : "/v1/chat/completions");
    if (secret)
        printf(" -H 'Authorization: Bearer %s'", secret);
    if (!up)
        fputs(" -H 'Content-Type: application/json' -d "
              "'{\"model\":\"rememberd/demo\",\"messages\":[{\"role\":\"user\",\"content\":"
              "\"My favourite tea is lapsang souchong.\"}]}'",
              stdout);
    putchar('\n');
}

/* Lines that cannot be written do not fail a server. */
static void flush_lines(void)
{
    if (fflush(stdout) != 0 || ferror(stdout)) /* a terminal got the earlier ones at once */
        (void)!freopen("/dev/null", "w", stdout);
}

/* On standard output: the address, then lines for people. The first goes out before anything is
 * looked up: scripts wait for it. */
static void announce(struct ctx *ctx, struct instance *instance, str url)
{
    bool needs_token = true;
    printf("listening on " S_FMT "\n", S_ARG(url));
    flush_lines();
    if (!instance->settings.require_token)
        soft(ctx, engine_needs_token(ctx, instance->engine, &needs_token));
    if (instance->settings.config.n)
        printf("settings: " S_FMT "\n", S_ARG(instance->settings.config));
    announce_data(ctx, instance);
    announce_upstreams(&instance->settings);
    printf("memory: %s\n", engine_remembers(instance->engine) ? "on" : "off");
    /* An address beyond this machine needs an admin token before the server starts, so without
     * tokens only local requests can arrive. */
    puts(needs_token ? "access: with a token; 'rememberd token create' makes one"
                     : "access: anyone on this machine, without a token");
    if (str_trim(instance->settings.origins).n) /* who lists one should see what its pages may do */
        printf("web pages: " S_FMT " (%s)\n", S_ARG(instance->settings.origins),
               needs_token ? "with a token"
                           : "without a token they can read and change everything");
    announce_try(ctx, &instance->settings, url, needs_token);
    flush_lines();
}

/* --- running --- */

static const unsigned socket_modes[] = {
    [SOCKET_600] = 0600, [SOCKET_660] = 0660, [SOCKET_666] = 0666};

static struct server_settings server_settings_of(struct ctx *ctx, const struct settings *s)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    /* Workers block on the disk at times, so there are more workers than cores. */
    size_t workers = s->workers ? (size_t)s->workers : cores > 2 ? 2 * (size_t)cores : 4;
    struct server_settings out = {
        .listen = s->listen,
        .socket_mode = socket_modes[s->socket_mode],
        .body_max = (size_t)s->body_max,
        .header_max = (size_t)s->header_max,
        .reply_max = REPLY_MAX,
        .connections_max = (size_t)s->connections_max,
        .queue_max = (size_t)s->queue_max,
        .workers = workers,
        .loops = (size_t)s->loops,
        .idle_ms = s->idle_timeout_ms,
        .request_ms = s->request_timeout_ms,
        .upstream_ms = s->upstream_timeout_ms,
        .limits = {.address_connections = s->address_connections_max,
                   .address_requests = s->address_requests_max,
                   .address_rate = s->address_rate_max,
                   .connection_rate = s->connection_rate_max,
                   .token_requests = s->token_requests_max,
                   .token_rate = s->token_rate_max,
                   .wrong_credentials = s->wrong_credentials_max},
        .has_upstream = s->n_upstreams > 0,
        .watch = {.traces = s->otlp_endpoint.n > 0,
                  .log_requests = s->log_requests,
                  .chat_ended = observe_chat},
    };
    out.hosts = parts_of(ctx, s->hosts);
    for (const char *const *host = out.hosts; host && *host; host++)
        out.any_host |= !strcmp(*host, "*");
    out.origins = parts_of(ctx, s->origins);
    out.exposed = S(EXPOSED);
    return out;
}

/* What the server knows of its own data. */
static struct doctor_in doctor_of(const struct instance *instance)
{
    return (struct doctor_in){
        .settings = &instance->settings,
        .engine = instance->engine,
        .folder = instance->folder,
        .is_there = true,
        .key_from = instance->key_from,
        .key_is_beside = str_is(instance->key_from, key_stores[KEY_STORE_FILE].name),
    };
}

/* A unix socket may lie in the data folder. When that cannot be made, opening it says why. */
static enum status open_socket(struct ctx *ctx, const struct options *o, struct server **out)
{
    struct server_settings settings = server_settings_of(ctx, &o->settings);
    struct instance instance;
    TRY(instance_find(ctx, &o->settings, &instance));
    if (str_starts(o->settings.listen, S("unix:")))
        soft(ctx, make_folder_of(ctx, instance.file));
    return server_listen(ctx, &settings, out);
}

static enum status open_exporter(struct ctx *ctx, const struct settings *s, struct exporter **out)
{
    if (!s->otlp_endpoint.n)
        return OK;
    if (!trace_exporter)
        return fail_field(ctx, "otlp_endpoint", "must be empty: this build has no satellite otlp");
    return trace_exporter->open(ctx, s, out);
}

static void close_exporter(struct exporter **e)
{
    if (*e)
        trace_exporter->close(*e);
}

static void close_server(struct server **s)
{
    server_close(*s);
    *s = NULL;
}

/* A block of that size is the system's again once it is freed. Else malloc takes the largest block
 * that was ever freed for a usual one, and each of its arenas keeps twice as much: after a few
 * chats of 30 MB some hundred MB. What a recall needs is less than that and stays, as new pages
 * cost a chat a sixth of its time. */
static void give_back_memory(void)
{
    enum { LARGE = 4 << 20 };
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, 2 * LARGE);
}

/* Signals are blocked before the first thread starts, as threads inherit the mask. A socket of
 * this machine comes before the data, so that a port in use leaves nothing behind; one that others
 * reach comes after the look at who may use it. */
enum status command_serve(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    CLEANUP(chat_times_free) struct chat_times *times = chat_times_new();
    CLEANUP(close_exporter) struct exporter *exporter = NULL;
    CLEANUP(background_end) struct background background = {0};
    CLEANUP(close_server) struct server *server = NULL;
    sigset_t set = stop_signals();
    bool ends_on_hangup = has_terminal();
    if (o->print_settings) {
        struct buf b = buf_make(&ctx->arena, PRINT_MAX);
        settings_print(&b, &o->settings, o->json);
        fwrite(b.p, 1, b.n, stdout);
        return OK;
    }
    give_back_memory();
    signal(SIGPIPE, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    TRY(serve_check_settings(ctx, &o->settings));
    TRY(open_exporter(ctx, &o->settings, &exporter));
    TRY(listens_locally(o->settings.listen) ? open_socket(ctx, o, &server)
                                            : listen_check(ctx, o->settings.listen));
    TRY(instance_open(ctx, o, TO_SERVE, &instance));
    TRY(instance_settle(ctx, &instance));
    TRY(may_listen(ctx, o, &instance));
    if (!server)
        TRY(open_socket(ctx, o, &server));
    struct app app = {.settings = &o->settings,
                      .engine = instance.engine,
                      .surfaces = surfaces,
                      .server = server,
                      .started_us = clock_mono_us(),
                      .doctor = doctor_of(&instance),
                      .times = times,
                      .exporter = exporter,
                      .backups = &instance.backups};
    server_start(server, surfaces, &app);
    background_begin(&background, &instance);
    announce(ctx, &instance, server_url(ctx, server));
    notify(ctx, "READY=1");
    wait_for_signal(o, &instance, ends_on_hangup);
    notify(ctx, "STOPPING=1");
    stop_server(server, &instance, &o->settings);
    background_end(&background);
    close_server(&server);
    return OK;
}
