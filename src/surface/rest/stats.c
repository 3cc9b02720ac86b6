/* stats.c - numbers of a user's spaces: now, today, in all, and by the day or month. */
#include "base/clock.h"
#include "surface/common/error_body.h"
#include "surface/common/list_page.h"

/*
 * Counts by the day are kept by the store when it writes what they count, so they cost nothing to
 * read and stay when receipts are pruned (core/days.h). They are of one user's spaces; /metrics has
 * those of the whole server.
 */

/* --- numbers --- */

SHAPE(counts_out, (INT, memories_added, .help = "memories that came"),
      (RAW, added_by_type, .help = "the same by type"),
      (INT, memories_forgotten, .help = "memories that were erased"),
      (INT, memories_expired, .help = "memories that were erased as expired"),
      (INT, sessions, .help = "conversations begun"), (INT, messages, .help = "messages that came"),
      (INT, tokens_injected, .help = "tokens of the inserted blocks"),
      (RAW, decisions, .help = "chats by the decision of the relevance gate"),
      (INT, recalls, .help = "chats that were searched for"),
      (INT, recall_p50_us,
       .help = "half of these recalls took no longer, in microseconds, within 7 %"),
      (INT, recall_p95_us, .help = "95 % of them took no longer"),
      (INT, core_tokens_in, .help = "tokens that the core model read"),
      (INT, core_tokens_out, .help = "tokens that the core model wrote"));

SHAPE(memories_out, (INT, open, .help = "memories that are true"),
      (INT, closed, .help = "kept as history"), (RAW, by_layer, .help = "open ones by layer"),
      (RAW, by_type, .help = "open ones by type"),
      (RAW, by_origin, .help = "open ones by where they came from"));

SHAPE(stats_out,
      (OBJECT, memories, struct memories_out, .inside = memories_out_fields,
       .help = "memories that are kept"),
      (INT, sessions, .help = "conversations that are kept"),
      (INT, messages, .help = "messages that are kept"),
      (INT, receipts, .help = "receipts that are kept"),
      (OBJECT, today, struct counts_out, .inside = counts_out_fields,
       .help = "counted today, by UTC"),
      (OBJECT, all, struct counts_out, .inside = counts_out_fields,
       .help = "counted since the space exists"));

static int64_t sum_of(const char *const *names, const int64_t *n)
{
    int64_t sum = 0;
    for (size_t i = 0; names[i]; i++)
        sum += n[i];
    return sum;
}

static struct counts_out counts_of(struct ctx *ctx, const struct day_sums *s)
{
    return (struct counts_out){
        .memories_added = sum_of(type_names, s->n + DAY_ADDED),
        .added_by_type = json_counts(ctx, type_names, s->n + DAY_ADDED, false)->source,
        .memories_forgotten = s->n[DAY_FORGOTTEN],
        .memories_expired = s->n[DAY_EXPIRED],
        .sessions = s->n[DAY_SESSIONS],
        .messages = s->n[DAY_MESSAGES],
        .tokens_injected = s->n[DAY_TOKENS],
        .decisions = json_counts(ctx, day_decisions, s->n + DAY_DECISION, false)->source,
        .recalls = day_recalls(s->n),
        .recall_p50_us = day_percentile(s->n, 0.5),
        .recall_p95_us = day_percentile(s->n, 0.95),
        .core_tokens_in = s->n[DAY_CORE_IN],
        .core_tokens_out = s->n[DAY_CORE_OUT],
    };
}

static HANDLER(stats_show)
{
    struct numbers *n = NEW(&ctx->arena, struct numbers);
    struct pools pools;
    TRY(auth_listed(ctx, app, &in->who, &pools));
    TRY(engine_numbers(ctx, app->engine, pools, n));
    struct stats_out shape = {
        .memories = {.open = n->memories,
                     .closed = n->closed,
                     .by_layer = json_counts(ctx, layer_names, n->by_layer, false)->source,
                     .by_type = json_counts(ctx, type_names, n->by_type, false)->source,
                     .by_origin = json_counts(ctx, origin_names, n->by_origin, false)->source},
        .sessions = n->sessions,
        .messages = n->messages,
        .receipts = n->receipts,
        .today = counts_of(ctx, &n->today),
        .all = counts_of(ctx, &n->all)};
    return reply_fields(out, stats_out_fields, &shape);
}

/* --- series --- */

/* Each metric, where its counts begin, and the names of its parts; without names it has one. The
 * latency is told by percentiles. */
#define METRICS(F)                                                                                 \
    F(memories_added, DAY_ADDED, type_names)                                                       \
    F(memories_forgotten, DAY_FORGOTTEN, NULL)                                                     \
    F(memories_expired, DAY_EXPIRED, NULL)                                                         \
    F(sessions, DAY_SESSIONS, NULL)                                                                \
    F(messages, DAY_MESSAGES, NULL)                                                                \
    F(tokens_injected, DAY_TOKENS, NULL)                                                           \
    F(recalls, DAY_DECISION, day_decisions)                                                        \
    F(recall_latency, DAY_BUCKET, NULL)                                                            \
    F(core_tokens, DAY_CORE_IN, core_parts)
#define METRIC_ID(NAME, ...) METRIC_##NAME,
#define METRIC_NAME(NAME, ...) #NAME,
#define METRIC_ROW(NAME, STAT, PARTS) {STAT, PARTS},

enum metric { METRICS(METRIC_ID) };
static const char *const metric_names[] = {METRICS(METRIC_NAME) NULL};
static const char *const core_parts[] = {"in", "out", NULL};
static const struct metric_row {
    int stat;
    const char *const *parts;
} metrics[] = {METRICS(METRIC_ROW)};

static const char *const by_names[] = {"day", "month", NULL};
enum { DAYS_SHOWN = 30, MONTHS_SHOWN = 12 };

enum period_length { BY_DAY, BY_MONTH };
SHAPE(series_query,
      (ENUM_OF, metric, enum metric, .required = true, .one_of = metric_names,
       .help = "what is counted"),
      (ENUM_OF, by, enum period_length, .otherwise_str = "day", .one_of = by_names,
       .help = "the length of a period, by UTC"),
      (TIME, from, .help = "in the first period; absent: the last 30 days or 12 months"),
      (TIME, to, .help = "in the last period; absent: now"));

SHAPE(period_out, (TIME, at, .help = "when the period begins"),
      (INT, total, .help = "all of it; of recall_latency: how many recalls"),
      (RAW, parts, .empty = EMPTY_OUT,
       .help = "by type, by decision, or in and out; left out where a metric has no split"),
      (INT, mean_us, .empty = EMPTY_OUT,
       .help = "of recall_latency, in microseconds; left out where nothing was recalled"),
      (INT, p50_us, .empty = EMPTY_OUT, .help = "half took no longer"),
      (INT, p95_us, .empty = EMPTY_OUT, .help = "95 % took no longer"));

SHAPE(series_out, (STR, metric, .help = "as it was asked for"), (STR, by, .help = "day or month"),
      (TIME, from, .help = "when the first period begins"),
      (TIME, to, .help = "when the last period begins"),
      (JSON, items, .inside = period_out_fields,
       .help = "each period, also those in which nothing was done, oldest first"));

static struct period_out period_of(struct ctx *ctx, const struct period *p, enum metric metric)
{
    assert((size_t)metric < sizeof metrics / sizeof *metrics);
    const struct metric_row *row = &metrics[metric];
    struct period_out out = {.at = p->begin, .total = p->sums.n[row->stat]};
    if (metric == METRIC_recall_latency) {
        out.total = day_recalls(p->sums.n);
        out.mean_us = out.total ? p->sums.n[DAY_RECALL_US] / out.total : 0;
        out.p50_us = day_percentile(p->sums.n, 0.5);
        out.p95_us = day_percentile(p->sums.n, 0.95);
    }
    if (!row->parts)
        return out;
    out.total = sum_of(row->parts, p->sums.n + row->stat);
    out.parts = json_counts(ctx, row->parts, p->sums.n + row->stat, false)->source;
    return out;
}

static HANDLER(series_show)
{
    const struct series_query *q = in->in;
    struct series_in ask = {.from = q->from,
                            .to = q->to ? q->to : clock_ms(),
                            .n = q->by == BY_MONTH ? MONTHS_SHOWN : DAYS_SHOWN,
                            .by_month = q->by == BY_MONTH};
    struct period *v;
    size_t n;
    TRY(auth_listed(ctx, app, &in->who, &ask.pools));
    TRY(engine_series(ctx, app->engine, &ask, &v, &n));
    assert(n); /* also the periods in which nothing was done */
    struct period_out *items = NEW_N(&ctx->arena, struct period_out, n);
    for (size_t i = 0; i < n; i++)
        items[i] = period_of(ctx, &v[i], q->metric);
    struct series_out shape = {.metric = str_of(metric_names[q->metric]),
                               .by = str_of(by_names[q->by]),
                               .from = v[0].begin,
                               .to = v[n - 1].begin};
    return list_reply(ctx, series_out_fields, &shape, items, n, sizeof *items, out);
}

/* --- spaces --- */

SHAPE(spaces_in, LIST_CURSOR, LIST_LIMIT);

struct space_out {
    struct pool_sum s;
    bool is_own;
};
static FIELDS(space_out, (AS_STR, s.pool.pool.space, "space", .help = "its name"),
              (AS_BOOL, is_own, "own", .help = "it is used when a request names none"),
              (AS_INT, s.pool.sessions, "sessions", .help = "conversations"),
              (AS_INT, s.pool.messages, "messages", .help = "messages"),
              (AS_INT, s.pool.memories, "memories", .help = "open memories"),
              (AS_INT, s.facts, "facts", .help = "facts among them"),
              (AS_INT, s.episodes, "episodes", .help = "episodes among them"),
              (AS_INT, s.signals, "waiting", .help = "turns that wait to be distilled"),
              (AS_TIME, s.pool.created, "created", .help = "when the space came to be"),
              (AS_TIME, s.updated, "updated", .help = "when something came last"));

LIST_PAGE(spaces_out, space_out_fields, "by name");

/* A user has few spaces: all are read, and those in reach behind the cursor shown. */
static HANDLER(space_list)
{
    const struct spaces_in *l = in->in;
    struct pools pools;
    struct pool_sum *all;
    struct list_page page = {0};
    struct list_place place = {0};
    size_t n, have = 0;
    TRY(auth_pools(ctx, app, &in->who, &pools));
    TRY(engine_agents(ctx, app->engine, in->who.pool.user, &all, &n));
    str of = str_printf(&ctx->arena, "spaces " S_FMT, S_ARG(in->who.pool.user));
    TRY(cursor_read(ctx, of, l->cursor, &place));
    struct space_out *items = NEW_N(&ctx->arena, struct space_out, n + 1);
    for (size_t i = 0; i < n; i++) {
        str space = all[i].pool.pool.space;
        if (!SOME(k, pools.n, str_eq(pools.v[k].space, space)))
            continue;
        page.total++;
        if (str_cmp(space, place.name) > 0 || !l->cursor.n)
            items[have++] = (struct space_out){all[i], str_eq(space, in->who.own.space)};
    }
    if (have > (size_t)l->limit) {
        have = (size_t)l->limit;
        place.name = items[have - 1].s.pool.pool.space;
        page.next = cursor_write(ctx, of, &place);
    }
    return list_reply(ctx, spaces_out_fields, &page, items, have, sizeof *items, out);
}

static const struct route routes[] = {
    {ROUTE("GET", "/v1/spaces", space_list), READS(spaces_in), ANSWERS(spaces_out),
     .help = "the spaces in reach, with what they hold"},
    {ROUTE("GET", "/v1/stats", stats_show), ANSWERS(stats_out),
     .help = "numbers of a space: what it holds, and what was done today and in all"},
    {ROUTE("GET", "/v1/stats/series", series_show), READS(series_query), ANSWERS(series_out),
     .help = "one number of a space by the day or month"},
    {0},
};

const struct surface surface_stats = STRICT_SURFACE("stats", routes);
