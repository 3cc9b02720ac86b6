/* exporter.c - traces of chats, sent to a collector by OTLP over HTTP from a queue of their own. */
#include "base/clock.h"
#include "base/workers.h"
#include "core/settings.h"
#include "core/url.h"
#include "ext/otlp/spans.h"

/*
 * A chat copies what is known of it into a queue, under a lock that is held for a copy; when the
 * queue is full the chat is dropped and counted. One thread takes what waits once a second, or when
 * a batch is full, and sends it. It tries again where the collector asks for that, and the queue
 * fills meanwhile.
 */
enum {
    QUEUE = 1024, /* chats */
    BATCH = 64,
    EVERY_MS = 1000,
    CALL_MS = 10000,
    LAST_MS = 2000,
    TRIES = 3,
    RETRY_MS = 1000,
    RETRY_MAX_MS = 30000, /* whatever the collector asks for */
    BODY_MAX = 4 << 20,
    HEADERS_MAX = 16
};

struct exporter {
    struct ctx ctx; /* holds url and headers */
    str url, service;
    struct header headers[HEADERS_MAX];
    size_t n_headers;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct chat_row *queue; /* a ring */
    size_t first, n;
    uint64_t sent, dropped;
    bool ends;           /* no more comes: what waits is sent, without another try */
    atomic_bool is_late; /* the end may not wait any longer */
    bool has_failed;     /* the last call, which is in the log */
};

/* --- from chats --- */

static void take_chat(struct exporter *e, const struct request *in, int code, enum status how)
{
    struct chat_row row;
    row_of(in, code, how, &row);
    HOLD(&e->lock);
    if (e->n == QUEUE)
        e->dropped += row_spans(&row);
    else
        e->queue[(e->first + e->n++) % QUEUE] = row;
    if (e->n >= BATCH)
        pthread_cond_signal(&e->changed);
}

static void read_stats(const struct exporter *e, struct exporter_stats *out)
{
    HOLD((pthread_mutex_t *)&e->lock);
    *out = (struct exporter_stats){e->sent, e->dropped};
}

/* --- to the collector --- */

/* Until a batch is full, the exporter ends, or EVERY_MS have passed. */
static void wait_for_batch(struct exporter *e)
{
    struct timespec until = steady_in_ms(EVERY_MS);
    while (!e->ends && e->n < BATCH)
        if (pthread_cond_timedwait(&e->changed, &e->lock, &until) != 0)
            return;
}

/* The collector has taken the call, but may have left out some spans. */
static int64_t rejected_in(struct ctx *ctx, str body)
{
    int64_t n = 0;
    const struct json *v = json_at(json_of_text(ctx, body), "partialSuccess.rejectedSpans");
    if (v && v->type == JSON_STRING)
        return str_int(json_string(v), &n) ? n : 0;
    return json_int_or(v, 0);
}

/* One line when the collector begins to fail, and one when it is back. */
static void note_outcome(struct exporter *e, bool is_taken, const char *why)
{
    if (is_taken && e->has_failed)
        log_event(LOG_INFO, "otlp.back", "url=\"" S_FMT "\"", S_ARG(e->url));
    if (!is_taken && !e->has_failed)
        log_event(LOG_WARN, "otlp.failed", "url=\"" S_FMT "\" why=\"%s\"", S_ARG(e->url), why);
    e->has_failed = !is_taken;
}

/* Sleeps before another try; false when there is none. */
static bool may_try_again(struct exporter *e, int64_t ms)
{
    struct timespec until = steady_in_ms(ms);
    HOLD(&e->lock);
    while (!e->ends && pthread_cond_timedwait(&e->changed, &e->lock, &until) == 0)
        ;
    return !e->ends;
}

static void send_batch(struct exporter *e, const struct chat_row *rows, size_t n)
{
    CLEANUP(ctx_free) struct ctx ctx = {.is_cut = &e->is_late};
    struct buf body = buf_make(&ctx.arena, BODY_MAX);
    uint64_t spans = 0, lost;
    char why[400] = "";
    spans_write(&body, e->service, rows, n, clock_ms() * 1000 - clock_mono_us());
    for (size_t i = 0; i < n; i++)
        spans += row_spans(&rows[i]);
    lost = spans;
    for (int i = 0; !body.full && i < TRIES; i++) {
        struct answer answer = {0};
        const struct call call = {.url = e->url,
                                  .method = S("POST"),
                                  .headers = e->headers,
                                  .n_headers = e->n_headers,
                                  .body = buf_str(&body),
                                  .timeout_ms = CALL_MS,
                                  .answer_max = 1 << 20};
        ctx_clear_failure(&ctx);
        enum status s = http_call(&ctx, &call, &answer);
        bool is_taken = s == OK && answer.code >= 200 && answer.code < 300;
        lost = is_taken ? (uint64_t)rejected_in(&ctx, answer.body) : spans;
        s == OK ? snprintf(why, sizeof why, "the collector answered %d%s", answer.code,
                           is_taken ? " and rejected the spans" : "")
                : snprintf(why, sizeof why, "%s", ctx.why);
        /* Whether the collector asks for another try, as OTLP says, or did not answer. */
        bool is_worth_a_try = s != OK || answer.code == 429 || answer.code == 502 ||
                              answer.code == 503 || answer.code == 504;
        int64_t ms = answer.retry_ms > 0 ? answer.retry_ms : RETRY_MS;
        if (is_taken || !is_worth_a_try || i + 1 == TRIES ||
            !may_try_again(e, ms < RETRY_MAX_MS ? ms : RETRY_MAX_MS))
            break;
    }
    lost = lost < spans ? lost : spans;
    note_outcome(e, lost < spans, body.full ? "the batch is too long" : why);
    HOLD(&e->lock);
    e->sent += spans - lost;
    e->dropped += lost;
}

static void *send_all(void *arg)
{
    struct exporter *e = arg;
    struct chat_row *rows = heap_alloc(BATCH * sizeof *rows);
    for (bool goes_on = true; goes_on;) {
        pthread_mutex_lock(&e->lock);
        wait_for_batch(e);
        size_t n = e->n < BATCH ? e->n : BATCH;
        for (size_t i = 0; i < n; i++)
            rows[i] = e->queue[(e->first + i) % QUEUE];
        e->first = (e->first + n) % QUEUE;
        e->n -= n;
        goes_on = n || !e->ends;
        pthread_mutex_unlock(&e->lock);
        if (n)
            send_batch(e, rows, n);
    }
    free(rows);
    return NULL;
}

/* --- opening and closing --- */

/* NAME=VALUE with commas between them; a value may be percent-encoded, as OpenTelemetry says. */
static enum status read_headers(struct ctx *ctx, struct exporter *e, str list)
{
    e->headers[e->n_headers++] = (struct header){S("Content-Type"), S("application/json")};
    while (list.n) {
        str value = str_trim(str_cut(&list, ',')), name;
        if (!value.n)
            continue;
        bool has_value = str_find(value, S("=")) < value.n;
        name = str_trim(str_cut(&value, '='));
        if (!name.n || !has_value || e->n_headers == HEADERS_MAX ||
            !percent_decode(&e->ctx.arena, str_trim(value), false, &value))
            return fail_field(ctx, "otlp_headers",
                              "must be at most %d of NAME=VALUE with commas between them",
                              HEADERS_MAX - 1);
        e->headers[e->n_headers++] = (struct header){str_dup(&e->ctx.arena, name), value};
    }
    return OK;
}

static void free_exporter(struct exporter **e)
{
    if (!*e)
        return;
    ctx_free(&(*e)->ctx);
    free((*e)->queue);
    free(*e);
}

/* The endpoint is the base of all signals, as in OTEL_EXPORTER_OTLP_ENDPOINT. */
static enum status open_exporter(struct ctx *ctx, const struct settings *s, struct exporter **out)
{
    CLEANUP(free_exporter) struct exporter *e = heap_alloc(sizeof *e);
    str base = s->otlp_endpoint;
    TRY(url_check(ctx, "otlp_endpoint", base, true, s->allow_addresses));
    base = str_trim_end(base, "/");
    e->url = str_printf(&e->ctx.arena, S_FMT "%s", S_ARG(base),
                        str_ends(base, S("/v1/traces")) ? "" : "/v1/traces");
    e->service = str_dup(&e->ctx.arena, s->otlp_service);
    TRY(read_headers(ctx, e, s->otlp_headers));
    e->queue = heap_alloc(QUEUE * sizeof *e->queue);
    pthread_mutex_init(&e->lock, NULL);
    steady_cond_init(&e->changed);
    if (pthread_create(&e->thread, NULL, send_all, e) != 0)
        return fail(ctx, TOO_BUSY, "the thread for traces cannot be made");
    *out = e;
    e = NULL;
    return OK;
}

/* A call that is on its way when the time is over is cut. */
static void close_exporter(struct exporter *e)
{
    struct timespec until;
    if (!e)
        return;
    pthread_mutex_lock(&e->lock);
    e->ends = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LAST_MS / 1000;
    if (pthread_timedjoin_np(e->thread, NULL, &until) != 0) {
        atomic_store(&e->is_late, true);
        pthread_join(e->thread, NULL);
    }
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->changed);
    free_exporter(&e);
}

const struct trace_exporter otlp_exporter = {open_exporter, take_chat, read_stats, close_exporter};
