/* messages.c - a message in its conversation, what was learnt from it, a memory's source. */
#include "core/tokens.h"
#include "surface/common/error_body.h"
#include "surface/common/memory_json.h"
#include "surface/rest/inspect.h"

/*
 * GET alone: POST /v1/messages is Anthropic's, and is passed on to the upstream like all that is
 * under /v1/messages of that API.
 */

struct message_item {
    struct message m;
    str space, origin, recalls;
    int64_t position, tokens;
};
FIELDS(
    message_item, (AS_STR, m.id, "id", .help = "UUID"),
    (AS_STR, m.session, "session", .help = "id of its conversation"),
    (STR, space, .help = "the space it is in"),
    (INT, position, .help = "its place in the conversation, from 0"),
    (AS_STR, m.role, "role", .help = "user, assistant, tool or system"),
    (AS_STR, m.speaker, "speaker", .empty = EMPTY_OUT, .help = "a name where one is known"),
    (AS_STR, m.text, "text", .help = "word for word; secrets are masked"),
    (STR, origin, .help = "where the text came from"),
    (STR, recalls,
     .help = "what of it recall looks at: all; what is new, of a message that repeats memories or "
             "was forgotten in part; or nothing"),
    (INT, tokens, .help = "estimated"),
    (AS_TIME, m.created, "created", .help = "when it was said"));

static struct message_item item_of(const struct message *m, str space)
{
    /* What recall may find of a message that was answered with memory beside it. */
    str recalls = !m->is_echo ? S("all") : str_trim(m->says).n ? S("what is new") : S("nothing");
    return (struct message_item){.m = *m,
                                 .space = space,
                                 .position = doc_position(m->doc),
                                 .origin = str_of(origin_names[m->origin]),
                                 .recalls = recalls,
                                 .tokens = tokens_of(m->text)};
}

enum status message_items(struct ctx *ctx, const struct message *v, size_t n, str space,
                          const struct json **out)
{
    struct message_item *items = NEW_N(&ctx->arena, struct message_item, n + 1);
    for (size_t i = 0; i < n; i++)
        items[i] = item_of(&v[i], space);
    return json_list(ctx, message_item_fields, items, n, sizeof *items, out);
}

/* --- one message --- */

enum { AROUND_MAX = 100, USES_SHOWN = 20 };

SHAPE(around_in, (INT, around, .otherwise = 2, .max = AROUND_MAX,
                  .help = "how many messages before it and after it"));

SHAPE(message_out,
      (OBJECT, message, struct message_item, .inside = message_item_fields, .help = "the message"),
      (JSON, before, .inside = message_item_fields, .help = "messages before it, oldest first"),
      (JSON, after, .inside = message_item_fields, .help = "messages after it, oldest first"),
      (STR, title, .help = "title of its conversation"),
      (INT, session_messages, .help = "how many messages the conversation has"),
      (JSON, memories, .inside = memory_fields,
       .help = "memories that were learnt from it, archived ones too"),
      (JSON, uses, .inside = use_item_fields,
       .help = "the last 20 chats that received it; /v1/messages/{id}/uses has all"),
      (INT, uses_total, .help = "how many chats got it"));

static enum status reply_message(struct ctx *ctx, struct app *app, const struct message_around *m,
                                 struct pool_ref pool, struct reply *out)
{
    struct list_page uses;
    const struct message *at = &m->v[m->at];
    struct receipts_in ask = {.pools = {&pool, 1}, .of = at->id, .limit = USES_SHOWN};
    struct message_out shape = {.message = item_of(at, pool.space),
                                .title = m->session.title,
                                .session_messages = m->session.messages};
    TRY(message_items(ctx, m->v, m->at, pool.space, &shape.before));
    TRY(message_items(ctx, at + 1, m->n - m->at - 1, pool.space, &shape.after));
    TRY(json_list(ctx, memory_fields, m->learnt, m->n_learnt, sizeof *m->learnt, &shape.memories));
    TRY(receipts_page(ctx, app, use_item_fields, &ask, S(""), S(""), &uses));
    shape.uses = uses.items;
    shape.uses_total = uses.total;
    return reply_fields(out, message_out_fields, &shape);
}

static HANDLER(message_get)
{
    const struct around_in *a = in->in;
    struct message_around m;
    struct pool_ref pool;
    TRY(AUTH_FIND(ctx, app, &in->who, pool,
                  engine_message(ctx, app->engine, pool, in->params[0], (size_t)a->around, &m)));
    return reply_message(ctx, app, &m, pool, out);
}

/* A memory that an API added, or a whole conversation made, names no message. */
static HANDLER(memory_source)
{
    const struct around_in *a = in->in;
    struct memory m;
    struct message_around around;
    TRY(auth_find_memory(ctx, app, &in->who, in->params[0], &m));
    struct pool_ref pool = {in->who.pool.user, m.space};
    if (!m.source.n)
        return fail(ctx, NOT_FOUND,
                    m.session.n
                        ? "the memory was made of a whole session and names no message: see "
                          "/v1/sessions/{id}/messages of its session"
                        : "the memory did not come from a message");
    enum status s = engine_message(ctx, app->engine, pool, m.source, (size_t)a->around, &around);
    if (soft_if(ctx, s, NOT_FOUND))
        return fail(ctx, NOT_FOUND, "the message that the memory came from was erased");
    TRY(s);
    return reply_message(ctx, app, &around, pool, out);
}

static const struct route routes[] = {
    {ROUTE("GET", "/v1/messages/{id}", message_get), READS(around_in), ANSWERS(message_out),
     .help = "a message in its conversation, what was learnt from it, which chats got it"},
    {ROUTE("GET", "/v1/memories/{id}/source", memory_source), READS(around_in),
     ANSWERS(message_out), .help = "the message that a memory came from, in its conversation"},
    {0},
};

const struct surface surface_messages = STRICT_SURFACE("messages", routes);
