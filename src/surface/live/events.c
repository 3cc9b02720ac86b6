/* events.c - GET /v1/events: what changes for the caller, as server-sent events. */
#include "base/clock.h"

#include "surface/common/error_body.h"

/*
 * A client lists what it shows once and then follows: each event names what has changed, and the
 * client asks for that. So an event holds ids and never a text. It comes again with the id of the
 * last event that it had, in Last-Event-ID, and hears what it missed; or "reset", and lists again.
 *
 * A stream is an answer in pieces that waits: the loop looks ten times a second whether the
 * engine's ring has something for it, and a worker writes it. A silent stream sends a comment now
 * and then, which keeps proxies from closing it and finds clients that have gone.
 */
enum { PIECE_EVENTS = 256, RETRY_MS = 2000, SILENCE_US = 15000000 };

SHAPE(event_out,
      (STR, id, .empty = EMPTY_OUT,
       .help = "of what the event is about; for turn.kept of the conversation"),
      (STR, space, .empty = EMPTY_OUT, .help = "the space it is in"),
      (TIME, at, .help = "when it happened"));

struct event_answer {
    struct stream stream;
    struct listener *listener;
    int64_t wrote_us;
    bool has_begun;
};

static void write_event(struct buf *b, str id, str name, const struct event_out *shape)
{
    struct json_out w = json_to(b);
    buf_printf(b, "id: " S_FMT "\nevent: " S_FMT "\ndata: ", S_ARG(id), S_ARG(name));
    fields_write(&w, event_out_fields, shape);
    buf_add(b, S("\n\n"));
}

/* The first event gives an id to come again with, though nothing may have happened yet. */
static enum status make_events(struct stream *s, struct ctx *ctx, UNUSED struct app *app,
                               struct buf *out, bool *is_last)
{
    struct event_answer *a = container_of(s, struct event_answer, stream);
    struct event_heard h;
    if (!engine_may_listen(a->listener)) {
        *is_last = true;
        return OK;
    }
    if (!a->has_begun) {
        buf_printf(out, "retry: %d\n", RETRY_MS);
        write_event(out, engine_heard_so_far(a->listener, &ctx->arena), S("ready"),
                    &(struct event_out){0});
    }
    a->has_begun = true;
    for (int i = 0; i < PIECE_EVENTS && engine_hear(a->listener, &ctx->arena, &h); i++)
        write_event(out, h.id, str_of(event_names[h.kind]),
                    &(struct event_out){h.what, h.space, h.at});
    if (!out->n)
        buf_add(out, S(":\n\n"));
    a->wrote_us = clock_mono_us();
    return OK;
}

static bool are_events_due(struct stream *s)
{
    struct event_answer *a = container_of(s, struct event_answer, stream);
    return engine_has_heard(a->listener) || clock_mono_us() - a->wrote_us >= SILENCE_US;
}

static void end_events(struct stream *s, UNUSED struct app *app)
{
    engine_stop_listening(container_of(s, struct event_answer, stream)->listener);
}

static const struct stream_ops event_ops = {make_events, are_events_due, end_events};

/* --- who listens to what --- */

/* The spaces of its user that the caller may not use; only other tokens' own ones are such. */
static enum status find_hidden(struct ctx *ctx, struct app *app, const struct identity *who,
                               struct strs *out)
{
    struct token *v;
    size_t n;
    *out = (struct strs){0};
    if (who->is_admin || who->spaces.n)
        return OK;
    TRY(auth_tokens(ctx, app, who, &v, &n));
    out->v = NEW_N(&ctx->arena, str, n);
    for (size_t i = 0; i < n; i++)
        if (!auth_reaches(who, v, n, v[i].pool.space))
            out->v[out->n++] = v[i].pool.space;
    return OK;
}

SHAPE(events_in,
      (AS_STR, after, "last_event_id", .max = 64,
       .help = "id of the last event that the client has; instead of the header Last-Event-ID"));

/* The token is asked for again once the engine listens: one that is revoked in between would end no
 * stream. */
static HANDLER(events_get)
{
    const struct events_in *query = in->in;
    const struct identity *who = &in->who;
    struct token token;
    int64_t until;
    bool has_token = who->token.n > 0;
    struct listen_in ask = {.pool = who->pool,
                            .owner = who->own.user,
                            .spaces = who->spaces,
                            .has_token = has_token,
                            .is_operator = auth_has(who, RUNS_SERVER),
                            .until = who->expires,
                            .after = query->after.n ? query->after
                                                    : request_header(in, "Last-Event-ID")};
    if (!who->space_from)
        ask.pool.space = S("");
    if (auth_cookie(in).n &&
        soft(ctx, engine_signed_in(ctx, app->engine, auth_cookie(in), &token, &until)) &&
        str_eq(token.id, who->token))
        ask.until = until;
    TRY(find_hidden(ctx, app, who, &ask.hidden));
    struct event_answer *a = NEW(&ctx->arena, struct event_answer);
    a->stream.ops = &event_ops;
    TRY(engine_listen(ctx, app->engine, &ask, &a->listener));
    enum status s = has_token ? auth_token(ctx, app, in, &token) : OK;
    if (s != OK) {
        engine_stop_listening(a->listener);
        return s;
    }
    out->stream = &a->stream;
    out->type = S("text/event-stream");
    reply_header(out, "X-Accel-Buffering", S("no"));
    return OK;
}

static const struct route routes[] = {
    {ROUTE("GET", "/v1/events", events_get), .words.type = "text/event-stream", TAKES(events_in),
     .help = "what changes, as server-sent events"},
    {0},
};

const struct surface surface_events = STRICT_SURFACE("events", routes);
