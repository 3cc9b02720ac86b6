/* chat_times.c - histograms of the times of chats, with the last chat's trace in each bucket. */
#include "base/clock.h"
#include "base/workers.h"
#include "surface/surface.h"

static const int64_t upper_us[] = {1000,     2500,     5000,     10000,    25000,   50000,
                                   100000,   250000,   500000,   1000000,  2500000, 5000000,
                                   10000000, 30000000, 60000000, 120000000};
enum { BUCKETS = sizeof upper_us / sizeof *upper_us + 1 };

/* In the order of enum stage, then what begins with the request. */
enum { FIRST_BYTE = STAGE_COUNT, WHOLE, SERIES };
static const struct series {
    const char *name, *stage, *help; /* stage: as a label; help: of the first row of a name */
} series[SERIES] = {
    {"chat_stage_seconds", "stage=\"recall\"", "time of a stage of a chat"},
    {"chat_stage_seconds", "stage=\"upstream\"", NULL},
    {"chat_stage_seconds", "stage=\"keep\"", NULL},
    {"chat_first_byte_seconds", "", "time from a chat's request to the upstream's first byte"},
    {"chat_seconds", "", "time from a chat's request to the last byte of its answer"},
};

struct example {
    char trace[TRACE_ID_HEX + 1];
    int64_t took_us, at_ms;
};

struct chat_times {
    pthread_mutex_t lock;
    struct {
        uint64_t n[BUCKETS], sum_us;
        struct example last[BUCKETS];
    } v[SERIES];
};

struct chat_times *chat_times_new(void)
{
    struct chat_times *t = heap_alloc(sizeof *t);
    pthread_mutex_init(&t->lock, NULL);
    return t;
}

void chat_times_free(struct chat_times **t)
{
    pthread_mutex_destroy(&(*t)->lock);
    free(*t);
}

static void note_time(struct chat_times *t, int which, const char *trace, int64_t from, int64_t to)
{
    size_t i = 0;
    if (!from || !to)
        return;
    while (i < BUCKETS - 1 && to - from > upper_us[i])
        i++;
    t->v[which].n[i]++;
    t->v[which].sum_us += (uint64_t)(to - from);
    if (!trace[0])
        return;
    struct example *e = &t->v[which].last[i];
    *e = (struct example){.took_us = to - from, .at_ms = clock_ms()};
    memcpy(e->trace, trace, sizeof e->trace);
}

void observe_chat(struct app *app, const struct request *in, const struct reply *out,
                  enum status how)
{
    const struct trace *t = in->trace;
    struct chat_times *times = app->times;
    pthread_mutex_lock(&times->lock);
    for (int i = 0; i < STAGE_COUNT; i++)
        note_time(times, i, t->id, t->stages[i].began_us, t->stages[i].ended_us);
    note_time(times, FIRST_BYTE, t->id, in->began_us, t->first_us);
    note_time(times, WHOLE, t->id, in->began_us, t->ended_us);
    pthread_mutex_unlock(&times->lock);
    if (app->exporter && t->is_recorded)
        trace_exporter->take(app->exporter, in, out->code, how);
}

/* A bucket counts all smaller ones, too. */
static void write_series(struct chat_times *t, struct buf *b, int which, bool is_open_metrics)
{
    const struct series *s = &series[which];
    uint64_t sum = 0;
    if (s->help)
        buf_printf(b, "# HELP rememberd_%s %s\n# TYPE rememberd_%s histogram\n", s->name, s->help,
                   s->name);
    for (size_t i = 0; i < BUCKETS; i++) {
        const struct example *e = &t->v[which].last[i];
        char le[24] = "+Inf";
        if (i < BUCKETS - 1)
            snprintf(le, sizeof le, "%g", (double)upper_us[i] / 1e6);
        sum += t->v[which].n[i];
        buf_printf(b, "rememberd_%s_bucket{%s%sle=\"%s\"} %llu", s->name, s->stage,
                   *s->stage ? "," : "", le, (unsigned long long)sum);
        if (is_open_metrics && e->trace[0])
            buf_printf(b, " # {trace_id=\"%s\"} %.9g %.3f", e->trace, (double)e->took_us / 1e6,
                       (double)e->at_ms / 1e3);
        buf_byte(b, '\n');
    }
    const char *open = *s->stage ? "{" : "", *close = *s->stage ? "}" : "";
    buf_printf(b, "rememberd_%s_sum%s%s%s %.9g\n", s->name, open, s->stage, close,
               (double)t->v[which].sum_us / 1e6);
    buf_printf(b, "rememberd_%s_count%s%s%s %llu\n", s->name, open, s->stage, close,
               (unsigned long long)sum);
}

void chat_times_write(struct chat_times *t, struct buf *b, bool is_open_metrics)
{
    HOLD(&t->lock);
    for (int i = 0; i < SERIES; i++)
        write_series(t, b, i, is_open_metrics);
}
