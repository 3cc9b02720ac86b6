/* observe.h - a part of the surfaces' face: what is counted and reported of each chat. */
#pragma once

#include "http/http.h"

struct settings;

/* Histograms of chats, and of each bucket the last trace in it. */
struct chat_times;
struct chat_times *chat_times_new(void);
void chat_times_free(struct chat_times **t);
/* As Prometheus reads them; traces only in the format OpenMetrics. */
void chat_times_write(struct chat_times *t, struct buf *b, bool is_open_metrics);

/* Sends the traces of chats to another server. */
struct exporter;
struct exporter_stats {
    uint64_t sent, dropped; /* spans */
};
struct trace_exporter {
    /* *out stays NULL when no server is set. */
    enum status (*open)(struct ctx *ctx, const struct settings *s, struct exporter **out);
    /* Never blocks: what finds no room is dropped and counted. */
    void (*take)(struct exporter *e, const struct request *in, int code, enum status how);
    void (*stats)(const struct exporter *e, struct exporter_stats *out);
    /* Sends what waits, for two seconds at most. NULL is fine. */
    void (*close)(struct exporter *e);
};
extern const struct trace_exporter *const trace_exporter; /* a satellite's; NULL: there is none */

/* For server_watch.chat_ended. */
void observe_chat(struct app *app, const struct request *in, const struct reply *out,
                  enum status how);
