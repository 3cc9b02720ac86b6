/* sessions.c - Cortex's sessions: made, changed, listed, read, forgotten. */
#include <math.h>

#include "core/tokens.h"

#include "ext/dialects/cortex/common.h"
#include "surface/common/found.h"
#include "surface/common/list_page.h"

/*
 * A session is a conversation that lives on the server: its messages are written by the chats
 * (chat.c) and read here. POST makes an empty one with an id of ours. Each endpoint with an {id}
 * looks for it in every app in reach (session_of), unless app_id names one. Some paths exist twice
 * because two clients of the same product write them differently. /v1/sessions is also the list of
 * rememberd's own API, which adds filters and pages to it.
 */

/* --- one --- */

SHAPE(session_out, (STR, id), (STR, user_id), (STR, app_id),
      (STR, title, .empty = EMPTY_NULL, .help = "null before the first message"),
      (TIME, created_at, .required = true), (TIME, updated_at, .required = true), (JSON, metadata));

/* Metadata is kept as text and parsed for the answer only; it was an object when it came in. */
static enum status reply_session(struct ctx *ctx, const struct request *in, const struct session *s,
                                 struct reply *out)
{
    struct json *metadata;
    TRY(json_parse(ctx, s->metadata.n ? s->metadata : S("{}"), &metadata));
    struct session_out shape = {.id = s->id,
                                .user_id = in->who.pool.user,
                                .app_id = s->space,
                                .title = s->title,
                                .created_at = s->created,
                                .updated_at = s->updated,
                                .metadata = metadata};
    return reply_fields(out, session_out_fields, &shape);
}

static HANDLER(get_session)
{
    struct pool_ref pool;
    struct session s;
    TRY(session_of(ctx, app, in, in->params[0], &pool, &s));
    return reply_session(ctx, in, &s, out);
}

SHAPE(make_in, (STR, app_id, .help = "default: default"), (JSON, metadata, .help = "an object"));

SHAPE(make_out, (STR, session_id), (TIME, created_at, .required = true));

static HANDLER(make_session)
{
    const struct make_in *a = in->in;
    struct session s = {.metadata = a->metadata ? a->metadata->source : S("")};
    struct pool_ref pool;
    TRY(cortex_pool(ctx, app, in, a->app_id, &pool));
    TRY(engine_make_session(ctx, app->engine, pool, &s));
    out->code = 201;
    return reply_fields(out, make_out_fields, &(struct make_out){s.id, s.created});
}

SHAPE(change_in, (STR, title, .help = "at most 200 characters"),
      (JSON, metadata, .help = "merged member by member; null removes one"));

/* A title of "" is set and an absent one is not, which the table cannot tell apart: so the JSON is
 * asked. */
static HANDLER(change_session)
{
    const struct change_in *a = in->in;
    const struct json *title = json_get(in->json, "title");
    struct pool_ref pool;
    struct session s;
    struct session_change to = {.sets_title = title && title->type == JSON_STRING,
                                .sets_metadata = a->metadata != NULL,
                                .title = str_trim(a->title),
                                .metadata = a->metadata ? a->metadata->source : S("")};
    TRY(session_of(ctx, app, in, in->params[0], &pool, &s));
    if (to.sets_title || to.sets_metadata)
        TRY(found_as(ctx, engine_change_session(ctx, app->engine, pool, s.id, &to, &s), "session"));
    return reply_session(ctx, in, &s, out);
}

SHAPE(forget_in, (STR, app_id, .help = "the app that it is of; default: any"));

/* Memories learnt from the session are kept. A body may name the app, too. */
static HANDLER(forget_session)
{
    const struct forget_in *a = in->in;
    struct request as = *in;
    struct pool_ref pool;
    struct session s;
    TRY(auth_name_space(ctx, app, &as.who, a->app_id, "app_id"));
    TRY(session_of(ctx, app, &as, in->params[0], &pool, &s));
    struct forget what = {.pool = pool, .session = s.id, .keeps_memories = true};
    out->code = 204;
    return found_as(ctx, engine_forget(ctx, app->engine, &what, NULL), "session");
}

/* --- what was said in it --- */

SHAPE(said_out, (STR, id), (STR, role), (STR, content), (INT, token_count, .help = "estimated"),
      (TIME, created_at, .required = true));

SHAPE(history_out, (STR, session_id),
      (JSON, messages, .inside = said_out_fields, .help = "oldest first"));

/* All messages, oldest first, without pages: the same ones a chat in this session would continue
 * from. The token counts are our estimate, the same as in budgets. */
static HANDLER(show_history)
{
    struct pool_ref pool;
    struct session s;
    struct message *v;
    size_t n;
    TRY(session_of(ctx, app, in, in->params[0], &pool, &s));
    TRY(engine_session_messages(ctx, app->engine, pool, s.id, &v, &n));
    struct said_out *said = NEW_N(&ctx->arena, struct said_out, n);
    for (size_t i = 0; i < n; i++)
        said[i] = (struct said_out){.id = v[i].id,
                                    .role = v[i].role,
                                    .content = v[i].text,
                                    .token_count = tokens_of(v[i].text),
                                    .created_at = v[i].created};
    struct history_out shape = {.session_id = s.id};
    return list_reply(ctx, history_out_fields, &shape, said, n, sizeof *said, out);
}

/* --- all of them --- */

SHAPE(list_in, (STR, app_id, .help = "only this app's"),
      (STR, search, .max = 200, .help = "only sessions with this text in the title"),
      (INT, limit, .otherwise = 20, .min = 1, .max = 100), (INT, offset, .max = INT32_MAX),
      (STR, contains, .max = 200, .help = "the same as search"),
      (STR, query, .max = 2000,
       .help = "a question or words: sessions whose title holds it, then those in which something "
               "about it was said, the likeliest first; not with search, contains or cursor"),
      (TIME, after, .help = "only last spoken in at this time or later"),
      (TIME, before, .help = "only last spoken in before this time"), LIST_CURSOR);

struct row_out {
    struct session of;
    double score; /* NAN: it was not searched */
    str message_id, text;
};
static FIELDS(row_out, (AS_STR, of.id, "id"), (AS_STR, of.title, "title", .empty = EMPTY_NULL),
              (AS_STR, of.space, "app_id"), (AS_TIME, of.created, "created_at", .required = true),
              (AS_TIME, of.updated, "updated_at", .required = true),
              (AS_INT, of.messages, "message_count"),
              (NUM, score, .empty = EMPTY_OUT,
               .help = "with query: 0 to 1, how likely the message helps to answer"),
              (STR, message_id, .empty = EMPTY_OUT,
               .help = "with query: the first message of it that was found"),
              (STR, text, .empty = EMPTY_OUT, .help = "with query: what of that was found"));

SHAPE(list_out,
      (JSON, sessions, .inside = row_out_fields,
       .help = "most recently used first; with query the likeliest first"),
      (INT, total), (INT, limit), (INT, offset), LIST_NEXT);

/* One app, every space in reach (space=*), or what the caller has at once (auth_spaces). */
static enum status list_pools(struct ctx *ctx, struct app *app, const struct request *in,
                              str app_id, struct pools *out)
{
    struct pool_ref *v = NEW(&ctx->arena, struct pool_ref);
    *out = (struct pools){v, 1};
    if (in->who.is_everywhere && !app_id.n)
        return auth_listed(ctx, app, &in->who, out);
    return app_id.n ? auth_pool(ctx, app, &in->who, app_id, "app_id", v)
                    : auth_spaces(ctx, app, &in->who, v);
}

/* Best first, so there is no cursor. A search looks at the first messages that it finds, so total
 * is how many conversations these are of. */
static enum status search_sessions(struct ctx *ctx, struct app *app, const struct list_in *a,
                                   struct pools pools, struct reply *out)
{
    const struct session_search_in ask = {.pools = pools,
                                          .question = str_trim(a->query),
                                          .after = a->after,
                                          .before = a->before,
                                          .limit = (size_t)(a->offset + a->limit)};
    struct list_out shape = {.limit = a->limit, .offset = a->offset};
    struct session_found *found;
    size_t all;
    if (a->search.n || a->contains.n || a->cursor.n)
        return fail_field(ctx, "query", "is not possible with search, contains or cursor");
    TRY(engine_search_sessions(ctx, app->engine, &ask, &found, &all));
    struct row_out *rows = NEW_N(&ctx->arena, struct row_out, (size_t)a->limit);
    size_t n = 0;
    for (size_t i = (size_t)a->offset; i < all && n < (size_t)a->limit; i++) {
        struct row_out *row = &rows[n++];
        *row = (struct row_out){.of = found[i].session, .score = NAN};
        if (!found[i].best)
            continue;
        row->score = found[i].best->score;
        row->message_id = found[i].best->message.id;
        row->text = found[i].best->text;
    }
    shape.total = (int64_t)all;
    return list_reply(ctx, list_out_fields, &shape, rows, n, sizeof *rows, out);
}

/* limit and offset are repeated in the answer, for clients that page without keeping their own
 * request. Cursors do not read what they skip. */
static HANDLER(list_sessions)
{
    const struct list_in *a = in->in;
    str search = str_trim(a->search.n ? a->search : a->contains);
    struct session_filter f = {.contains = search,
                               .after = a->after,
                               .before = a->before,
                               .offset = (size_t)a->offset,
                               .limit = (size_t)a->limit};
    struct list_out shape = {.limit = a->limit, .offset = a->offset};
    struct list_place place = {0};
    struct sessions_out found;
    struct pools pools;
    TRY(list_pools(ctx, app, in, str_trim(a->app_id), &pools));
    if (str_trim(a->query).n)
        return search_sessions(ctx, app, a, pools, out);
    str of = str_printf(&ctx->arena, "sessions " S_FMT "|%lld|%lld|" S_FMT, S_ARG(search),
                        (long long)a->after, (long long)a->before, S_ARG(pools_text(ctx, pools)));
    if (a->cursor.n && a->offset)
        return fail_field(ctx, "offset", "is not possible with a cursor");
    TRY(cursor_read(ctx, of, a->cursor, &place));
    f.at = (int64_t)place.value;
    f.no = place.row;
    TRY(engine_sessions_page(ctx, app->engine, pools, &f, &found));
    shape.total = found.total;
    struct row_out *rows = NEW_N(&ctx->arena, struct row_out, found.n + 1);
    for (size_t i = 0; i < found.n; i++)
        rows[i] = (struct row_out){.of = found.v[i], .score = NAN};
    if (found.has_more) {
        const struct session *last = &found.v[found.n - 1];
        place = (struct list_place){.value = (double)last->updated, .row = last->no};
        shape.next = cursor_write(ctx, of, &place);
    }
    return list_reply(ctx, list_out_fields, &shape, rows, found.n, sizeof *rows, out);
}

static const struct route routes[] = {
    {ROUTE("GET", "/v1/users/me/sessions", list_sessions), READS(list_in), ANSWERS(list_out),
     .help = "your conversations, in all apps or one"},
    {ROUTE("GET", "/v1/sessions", list_sessions), READS(list_in), ANSWERS(list_out),
     .help = "your conversations, for Traylinx's command line"},
    {ROUTE("POST", "/v1/session", make_session), .words.code = 201, READS(make_in),
     ANSWERS(make_out), .help = "begin a conversation"},
    {ROUTE("GET", "/v1/session/{id}", get_session), ANSWERS(session_out),
     .help = "one conversation"},
    {ROUTE("GET", "/v1/sessions/{id}", get_session), ANSWERS(session_out),
     .help = "one conversation, for Traylinx's command line"},
    {ROUTE("PATCH", "/v1/session/{id}", change_session), READS(change_in), ANSWERS(session_out),
     .help = "change a conversation's title or metadata"},
    {ROUTE("PATCH", "/v1/sessions/{id}", change_session), READS(change_in), ANSWERS(session_out),
     .help = "change a conversation's title or metadata"},
    {ROUTE("DELETE", "/v1/sessions/{id}", forget_session), .words.code = 204, READS(forget_in),
     .help = "erase a conversation's messages; memories learnt from them are kept"},
    {ROUTE("DELETE", "/v1/session/{id}", forget_session), .words.code = 204, READS(forget_in),
     .help = "erase a conversation's messages; memories learnt from them are kept"},
    {ROUTE("GET", "/v1/session/{id}/history", show_history), ANSWERS(history_out),
     .help = "the messages of a conversation"},
    {0},
};

const struct surface surface_cortex_sessions = CORTEX_SURFACE(routes);
