/* distillery.h - an engine whose core model follows a script, and what came of its answers. */
#pragma once

#include "engine/distil/distil.h"
#include "engine/distil/keep.h"
#include "engine/distil/known.h"

#include "lib/clock.h"
#include "lib/model.h"
#include "lib/talk.h"

/* An engine whose core model follows a script. */
struct bench {
    struct ctx *ctx;
    struct engine *e;
    struct store *s;
    struct settings *settings;
    struct model *m;
};

#define DISTILLERY(b)                                                                              \
    ENGINE(e, s, p);                                                                               \
    MODEL(m);                                                                                      \
    model_be_core(m, &settings);                                                                   \
    settings.core_timeout_ms = 2000;                                                               \
    settings.core_tokens_per_hour = 0;                                                             \
    struct bench b = {ctx, e, s, &settings, m}

#define SCRIPT(b, ...)                                                                             \
    static const struct scripted script_[] = {__VA_ARGS__, {0}};                                   \
    follow(&(b), script_)

static inline void follow(struct bench *b, const struct scripted *script)
{
    b->m->app.script = script;
    b->m->app.said = 0;
}

#define LONG                                                                                       \
    " and I would like to talk about it at some length, as there is a lot to be said of it here."

/* One turn of a chat, which is written when this returns. */
static inline void chat(struct bench *b, const char *session, const char *text, const char *answer)
{
    struct talk t = talk_of(b->ctx, b->e, b->s);
    t.session = session;
    talk_ask(&t, text, answer);
}

static inline struct ingest_turns_out ingest(struct bench *b, const char *conversation,
                                             const char *text, const char *answer, int64_t date)
{
    struct ctx *ctx = b->ctx;
    struct ingest_turn turn = {str_of(text), str_of(answer), 0};
    struct ingest_turns_in in = {.pool = mine,
                                 .conversation = str_of(conversation),
                                 .turns = &turn,
                                 .n = 1,
                                 .session_date = date};
    struct ingest_turns_out out;
    CHECK_OK(engine_ingest_turns(ctx, b->e, &in, &out));
    return out;
}

static inline struct distil_status status_of(struct bench *b)
{
    struct ctx *ctx = b->ctx;
    struct distil_status out;
    CHECK_OK(engine_distil_status(ctx, b->e, NULL, &out));
    return out;
}

/* Distils everything that is due. */
static inline void distil(struct bench *b)
{
    struct ctx *ctx = b->ctx;
    bool more = true;
    for (int i = 0; more && i < 100; i++)
        CHECK_OK(engine_distil_some(ctx, b->e, &more));
    CHECK(!more);
}

static inline void sync_and_distil(struct bench *b)
{
    struct ctx *ctx = b->ctx;
    int64_t n;
    CHECK_OK(engine_sync(ctx, b->e, (struct pool_ref){mine.user, S("")}, &n));
    distil(b);
}

/* The contents of a layer, the newest first, as "one | other". */
static inline str layer_of(struct bench *b, const char *layer)
{
    struct ctx *ctx = b->ctx;
    struct memory_filter f = {.pool = mine, .layer = str_of(layer), .limit = 100};
    struct memory *v;
    size_t n;
    int64_t total;
    struct buf out = buf_make(&ctx->arena, 1 << 16);
    CHECK_OK(engine_list(ctx, b->e, &f, &v, &n, &total));
    for (size_t i = 0; i < n; i++)
        if (v[i].origin == ORIGIN_DISTILLED)
            buf_printf(&out, "%s" S_FMT, out.n ? " | " : "", S_ARG(v[i].content));
    return buf_str(&out);
}

/* The newest line of the work log as "status: details". */
static inline str last_work(struct bench *b)
{
    struct ctx *ctx = b->ctx;
    struct work *v;
    size_t n;
    CHECK_OK(store_work_log(ctx, b->s, NULL, S("distil"), 1, &v, &n));
    CHECK_INT(n, 1);
    return str_printf(&ctx->arena, S_FMT ": " S_FMT, S_ARG(v->status), S_ARG(v->details));
}

#define PINNED ",\"pinned_candidates\":["
#define FACT(TEXT) "{\"content\":\"" TEXT "\"}"
#define WHO(TEXT) ",\"identity_facts\":[\"" TEXT "\"]"
#define EPISODE(SUMMARY)                                                                           \
    "{\"episode\":{\"summary\":\"" SUMMARY "\",\"topics\":[\"boats\"],\"salience\":0.7},"          \
    "\"entities\":[\"Ithaca\"]"
