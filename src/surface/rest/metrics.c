/* metrics.c - counters and histograms for Prometheus, in its text format and in OpenMetrics. */
#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/backup_file.h"
#include "surface/common/error_body.h"

/* Names are in base units (seconds, bytes), and counters end in _total. */

/* All values of one answer. */
struct readings {
    struct server_stats server;
    struct engine_stats engine;
    struct exporter_stats exporter;
    int64_t uptime_us, started_us, cpu_us, backup_us, remote_us, failed_backups, resident_bytes,
        open_fds, max_fds;
};

#define METRIC(NAME, MEMBER, HELP) {NAME, HELP, offsetof(struct readings, MEMBER), false},
#define SECONDS(NAME, MEMBER, HELP) {NAME, HELP, offsetof(struct readings, MEMBER), true},
/* Every member has 64 bits. A name that ends in _total is a counter's, any other a gauge's. */
static const struct metric_row {
    const char *name, *help;
    size_t at;
    bool is_us; /* shown in seconds */
} rows[] = {
    /* clang-format off */
    SECONDS("rememberd_uptime_seconds", uptime_us, "time since start")
    SECONDS("process_start_time_seconds", started_us, "unix time of the start")
    SECONDS("process_cpu_seconds_total", cpu_us,
            "processor time of the process and the system for it")
    SECONDS("rememberd_last_backup_timestamp_seconds", backup_us,
            "unix time of the newest backup in backup_dir, or 0")
    SECONDS("rememberd_last_remote_backup_timestamp_seconds", remote_us,
            "unix time of the newest backup in backup_s3, or 0")
    METRIC("rememberd_backup_failures_total", failed_backups, "automatic backups that failed")
    METRIC("process_resident_memory_bytes", resident_bytes, "memory in RAM")
    METRIC("process_open_fds", open_fds, "open file descriptors")
    METRIC("process_max_fds", max_fds, "most file descriptors that may be open")
    METRIC("rememberd_requests_total", server.requests, "requests read")
    METRIC("rememberd_errors_total", server.errors, "replies with a code of 500 or more")
    METRIC("rememberd_relays_total", server.relays, "requests forwarded upstream")
    METRIC("rememberd_relays_cancelled_total", server.relays_cancelled, "relays whose client left")
    METRIC("rememberd_received_bytes_total", server.bytes_in, "bytes from clients")
    METRIC("rememberd_sent_bytes_total", server.bytes_out, "bytes to clients")
    METRIC("rememberd_rejected_busy_total", server.rejected_busy, "requests refused, queue full")
    METRIC("rememberd_rejected_connections_total", server.rejected_connections,
            "connections refused")
    METRIC("rememberd_shed_connections_total", server.shed_connections,
            "idle connections closed to make room for a new one")
    METRIC("rememberd_connections", server.connections, "open connections")
    METRIC("rememberd_requests_active", server.active, "requests being answered")
    METRIC("rememberd_requests_queued", server.queued, "requests waiting for a worker")
    METRIC("rememberd_recalls_total", engine.recalls, "recalls")
    METRIC("rememberd_recalled_total", engine.recalled, "recalls that added something")
    METRIC("rememberd_injected_tokens_total", engine.injected_tokens, "tokens injected")
    METRIC("rememberd_recalls_silent_total", engine.silent, "recalls that added nothing")
    METRIC("rememberd_recalls_timed_out_total", engine.timed_out, "recalls over the deadline")
    METRIC("rememberd_recalls_failed_total", engine.failed, "recalls that failed")
    METRIC("rememberd_turns_total", engine.turns, "turns kept")
    METRIC("rememberd_turns_dropped_total", engine.dropped_turns, "turns that could not be kept")
    METRIC("rememberd_helper_prompts_total", engine.helpers,
            "prompts of chat programs that got no memory and were not kept")
    METRIC("rememberd_instructions_left_out_total", engine.instructions,
            "lines left out of chats because they read as instructions")
    METRIC("rememberd_rerank_failures_total", engine.rerank_failed,
            "calls of the reranker that failed")
    METRIC("rememberd_facts_total", engine.facts, "facts extracted")
    METRIC("rememberd_distilled_total", engine.distilled, "conversations distilled")
    METRIC("rememberd_distil_failures_total", engine.distil_failed,
            "conversations that could not be distilled")
    METRIC("rememberd_core_tokens", engine.core_tokens, "tokens of the core model in the last hour")
    METRIC("rememberd_store_users", engine.store.users, "users")
    METRIC("rememberd_store_pools", engine.store.pools, "pools")
    METRIC("rememberd_store_sessions", engine.store.sessions, "conversations")
    METRIC("rememberd_store_messages", engine.store.messages, "messages")
    METRIC("rememberd_store_memories", engine.store.memories, "memories")
    METRIC("rememberd_store_receipts", engine.store.receipts, "receipts")
    METRIC("rememberd_store_bytes", engine.store.bytes, "size of the database file")
    METRIC("rememberd_store_wal_bytes", engine.store.wal_bytes, "size of the write-ahead log")
    METRIC("rememberd_store_cache_bytes", engine.store.cache_bytes, "memory for what was read")
    METRIC("rememberd_store_queued", engine.store.queued, "writes waiting")
    METRIC("rememberd_store_writes_total", engine.store.writes, "writes")
    METRIC("rememberd_store_commits_total", engine.store.commits, "commits")
    METRIC("rememberd_store_failures_total", engine.store.failures, "failed writes")
    METRIC("rememberd_otlp_spans_sent_total", exporter.sent, "spans that the collector has taken")
    METRIC("rememberd_otlp_spans_dropped_total", exporter.dropped,
            "spans lost: the queue was full, or the collector did not take them")
    /* clang-format on */
};

/* OpenMetrics has the name of a counter's family without _total. */
static void write_rows(struct buf *b, const struct readings *r, bool is_open_metrics)
{
    const str total = S("_total");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct metric_row *row = &rows[i];
        str family = str_of(row->name);
        bool is_counter = str_ends(family, total);
        int64_t value;
        memcpy(&value, (const char *)r + row->at, sizeof value);
        if (is_counter && is_open_metrics)
            family.n -= total.n;
        buf_printf(b, "# HELP " S_FMT " %s\n# TYPE " S_FMT " %s\n%s ", S_ARG(family), row->help,
                   S_ARG(family), is_counter ? "counter" : "gauge", row->name);
        buf_printf(b, row->is_us ? "%.6f\n" : "%.15g\n", (double)value / (row->is_us ? 1e6 : 1));
    }
}

static void recall_histogram(struct buf *b, const struct engine_stats *s)
{
    uint64_t sum = 0;
    buf_add(b, S("# HELP rememberd_recall_seconds time of a recall\n"
                 "# TYPE rememberd_recall_seconds histogram\n"));
    for (size_t i = 0; i < RECALL_BUCKETS - 1; i++) {
        sum += s->recall_buckets[i];
        buf_printf(b, "rememberd_recall_seconds_bucket{le=\"%g\"} %llu\n",
                   (double)recall_bucket_us[i] / 1e6, (unsigned long long)sum);
    }
    sum += s->recall_buckets[RECALL_BUCKETS - 1];
    buf_printf(b, "rememberd_recall_seconds_bucket{le=\"+Inf\"} %llu\n", (unsigned long long)sum);
    buf_printf(b, "rememberd_recall_seconds_sum %.9g\nrememberd_recall_seconds_count %llu\n",
               (double)s->recall_us_sum / 1e6, (unsigned long long)sum);
}

/* A number of /proc that cannot be read is 0. */
static void read_process(struct readings *r)
{
    struct rusage used = {0};
    struct rlimit files = {0};
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%*d %ld", &pages) == 1)
        r->resident_bytes = (int64_t)pages * sysconf(_SC_PAGESIZE);
    if (f)
        fclose(f);
    DIR *d = opendir("/proc/self/fd");
    for (r->open_fds = d ? -3 : 0; d && readdir(d);) /* ".", ".." and d itself */
        r->open_fds++;
    if (d)
        closedir(d);
    getrusage(RUSAGE_SELF, &used);
    getrlimit(RLIMIT_NOFILE, &files);
    r->cpu_us = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 + used.ru_utime.tv_usec +
                used.ru_stime.tv_usec;
    r->max_fds = (int64_t)files.rlim_cur;
}

/* Of a folder that cannot be read it is 0, too; the job that writes there logs why. */
static void read_backups(struct ctx *ctx, const struct app *app, struct readings *r)
{
    const struct settings *s = app->settings;
    struct backup_file *v;
    size_t n = 0;
    if (s->backup_dir.n && soft(ctx, backups_by_clock(ctx, s->backup_dir, &v, &n)) && n)
        r->backup_us = v[0].at * 1000;
    r->remote_us = app->backups->remote_at * 1000;
    r->failed_backups = app->backups->failures;
}

/* Admins only: counts over all users tell something about each of them. */
static HANDLER(show_metrics)
{
    static const str open_metrics = S("application/openmetrics-text");
    str accept = request_header(in, "Accept");
    bool is_open_metrics = str_find(accept, open_metrics) < accept.n;
    struct readings r = {.uptime_us = clock_mono_us() - app->started_us};
    assert(app->server && app->times);
    r.started_us = clock_ms() * 1000 - r.uptime_us;
    TRY(engine_stats(ctx, app->engine, &r.engine));
    server_stats(app->server, &r.server);
    if (app->exporter)
        trace_exporter->stats(app->exporter, &r.exporter);
    read_process(&r);
    read_backups(ctx, app, &r);
    out->type = is_open_metrics ? S("application/openmetrics-text; version=1.0.0; charset=utf-8")
                                : S("text/plain; version=0.0.4; charset=utf-8");
    buf_add(&out->body, S("# HELP rememberd_build_info the version, as a label\n"
                          "# TYPE rememberd_build_info gauge\n"
                          "rememberd_build_info{version=\"" REMEMBERD_VERSION "\"} 1\n"));
    write_rows(&out->body, &r, is_open_metrics);
    recall_histogram(&out->body, &r.engine);
    chat_times_write(app->times, &out->body, is_open_metrics);
    if (is_open_metrics)
        buf_add(&out->body, S("# EOF\n"));
    return OK;
}

static const struct route routes[] = {
    {ROUTE("GET", "/metrics", show_metrics), .words.type = "text/plain", .access = ACCESS_ADMIN,
     .help = "counters for Prometheus"},
    {0},
};

const struct surface surface_metrics = PROBLEM_SURFACE("metrics", routes);
