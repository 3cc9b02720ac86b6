/* sessions.c - a conversation's messages and memories; and episodes of all. */
#include "surface/common/error_body.h"
#include "surface/common/found.h"
#include "surface/common/memory_json.h"
#include "surface/rest/inspect.h"
#include "surface/rest/list.h"

/*
 * The conversation itself, its title and the list of all are served at paths that clients of Cortex
 * know (ext/dialects/cortex/sessions.c). Here is what stands below one, and the accounts of them.
 */

enum status session_at(struct ctx *ctx, struct app *app, const struct request *in,
                       struct session *out, struct pool_ref *pool)
{
    return found_session(ctx, app, &in->who, in->params[0], "space or X-Memory-Space", out, pool);
}

/* --- messages --- */

SHAPE(session_messages_in,
      (ENUM_OF, order, enum order, .otherwise_str = "asc", .one_of = order_names,
       .help = "asc: oldest first; desc: newest first"),
      LIST_CURSOR, LIST_LIMIT);

LIST_PAGE(session_messages_out, message_item_fields, "in the order that was asked for");

static HANDLER(session_messages)
{
    const struct session_messages_in *l = in->in;
    struct session session;
    struct message *v;
    struct list_page page = {0};
    struct list_place place = {.value = -1};
    struct session_page_in ask = {.newest_first = l->order == ORDER_DESC,
                                  .limit = (size_t)l->limit};
    size_t n;
    bool has_more;
    TRY(session_at(ctx, app, in, &session, &ask.pool));
    str of = str_printf(&ctx->arena, "session messages %s " S_FMT " " S_FMT "/" S_FMT,
                        order_names[l->order], S_ARG(session.id), S_ARG(ask.pool.user),
                        S_ARG(ask.pool.space));
    TRY(cursor_read(ctx, of, l->cursor, &place));
    ask.session = session.id;
    ask.from = (int64_t)place.value;
    TRY(engine_session_page(ctx, app->engine, &ask, &v, &n, &has_more));
    TRY(message_items(ctx, v, n, ask.pool.space, &page.items));
    page.total = session.messages;
    assert(n <= ask.limit && (n || !has_more));
    if (has_more) {
        place.value = (double)doc_position(v[n - 1].doc);
        page.next = cursor_write(ctx, of, &place);
    }
    return reply_fields(out, session_messages_out_fields, &page);
}

/* --- memories and episodes --- */

static FIELDS_OF(list_page, memories_out,
                 LIST_ITEMS(memory_fields, "in the order that was asked for"), LIST_TOTAL,
                 LIST_NEXT, LIST_FACETS);

static enum status episodes_alone(struct ctx *ctx, struct list_in *l)
{
    str episode = str_of(layer_names[LAYER_EPISODE]);
    if (l->filter.layer.n && !str_eq(l->filter.layer, episode))
        return fail_field(ctx, "layer", "is episode in this list");
    l->filter.layer = episode;
    return OK;
}

/* All filters of /v1/memories, but the session is that of the path. */
static enum status list_of_session(struct ctx *ctx, struct app *app, const struct request *in,
                                   bool is_episodes, struct reply *out)
{
    struct list_in l = *(const struct list_in *)in->in;
    struct session session;
    struct pool_ref pool;
    struct list_page page;
    TRY(session_at(ctx, app, in, &session, &pool));
    if (l.filter.session.n && !str_eq(l.filter.session, session.id))
        return fail_field(ctx, "session", "is that of the path");
    l.filter.session = session.id;
    if (is_episodes)
        TRY(episodes_alone(ctx, &l));
    TRY(memories_page(ctx, app, &l, (struct pools){&pool, 1}, &page));
    return reply_fields(out, memories_out_fields, &page);
}

static HANDLER(session_memories)
{
    return list_of_session(ctx, app, in, false, out);
}

static HANDLER(session_episodes)
{
    return list_of_session(ctx, app, in, true, out);
}

static HANDLER(episode_list)
{
    struct list_in l = *(const struct list_in *)in->in;
    struct pools pools;
    struct list_page page;
    TRY(auth_listed(ctx, app, &in->who, &pools));
    TRY(episodes_alone(ctx, &l));
    TRY(memories_page(ctx, app, &l, pools, &page));
    return reply_fields(out, memories_out_fields, &page);
}

static const struct route routes[] = {
    {ROUTE("GET", "/v1/sessions/{id}/messages", session_messages), READS(session_messages_in),
     ANSWERS(session_messages_out), .help = "the messages of a conversation, in pages"},
    {ROUTE("GET", "/v1/sessions/{id}/memories", session_memories), READS(list_in),
     ANSWERS(memories_out), .help = "what was learnt in a conversation"},
    {ROUTE("GET", "/v1/sessions/{id}/episodes", session_episodes), READS(list_in),
     ANSWERS(memories_out), .help = "accounts of a conversation"},
    {ROUTE("GET", "/v1/episodes", episode_list), READS(list_in), ANSWERS(memories_out),
     .help = "accounts of conversations, newest first"},
    {0},
};

const struct surface surface_conversations = STRICT_SURFACE("sessions", routes);
