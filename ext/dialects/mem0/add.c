/* add.c - messages into memories: as they are, or what the engine finds in them. */
#include "base/clock.h"
#include "base/id.h"
#include "ext/dialects/mem0/mem0.h"
#include "surface/common/memory_json.h"
#include "surface/common/said.h"

/*
 * infer false: each message of the user and the assistant is a memory, word for word. infer true:
 * the messages are a conversation as at any door. They are kept, patterns find facts in them at
 * once, and the core model distils them later where there is one. A chat teaches by its newest turn
 * alone, so the messages are said again turn by turn.
 */

enum { TEXT_MAX = 65536 };

const struct field mem0_add_in_fields[] = {MEM0_ID_ROWS FIELD_ROWS(
    mem0_add_in,
    (JSON, messages, .required = true, .help = "a text, or messages with role and content"),
    (BOOL, infer, .otherwise = 1, .help = "false: keep each message as a memory, word for word"),
    (RAW, metadata, .help = "an object, of each memory that is made"),
    (STR, expiration_date, .help = "the last day on which they count"),
    (NUM, timestamp, .max = 1e11,
     .help = "seconds since 1970: when it was said; with infer false")){0}};

SHAPE(added_text, (STR, memory));
struct added {
    str id, memory, event;
    struct added_text data;
};
FIELDS_OF(added, mem0_added, (STR, id), (STR, memory), (STR, event, .help = "ADD"),
          (OBJECT, data, struct added_text, .inside = added_text_fields,
           .help = "the text once more"));

struct adding {
    struct ctx *ctx;
    struct app *app;
    const struct mem0_add_in *in;
    struct pool_ref pool;
    int64_t expires;
    const struct said *said;
    size_t n_said;
    struct added *v;
    size_t n, cap;
};

static void add_result(struct adding *a, const struct memory *m)
{
    ARENA_ADD(&a->ctx->arena, a->v, a->n, a->cap) =
        (struct added){m->id, m->content, S("ADD"), {m->content}};
}

/* --- what is given --- */

static enum status read_messages(struct adding *a)
{
    const struct json *messages = a->in->messages;
    struct said *said = NEW(&a->ctx->arena, struct said);
    *said = (struct said){.role = S("user"), .text = json_string(messages)};
    a->n_said = 1;
    if (messages->type != JSON_STRING && !said_read(a->ctx, messages, &said, &a->n_said))
        return fail_field(a->ctx, "messages",
                          "must be a text, or a list of messages with role and content");
    a->said = said;
    for (const struct json *m = messages->first; m; m = m->next) {
        const struct json *content = json_get(m, "content");
        bool says = content && (content->type == JSON_STRING || content->type == JSON_ARRAY ||
                                content->type == JSON_OBJECT);
        if (!says && !json_get(m, "tool_calls"))
            return fail_field(a->ctx, "messages", "must each have a content: text or parts");
    }
    for (size_t i = 0; i < a->n_said; i++)
        if (a->said[i].text.n > TEXT_MAX)
            return fail_field(a->ctx, "messages", "must have at most %d bytes each", TEXT_MAX);
    return OK;
}

static bool is_kept(const struct said *said)
{
    bool is_of_talk = str_is(said->role, "user") || str_is(said->role, "assistant");
    return is_of_talk && str_trim(said->text).n;
}

/* --- as they are --- */

/* Each has an id of its own: what says the same as another memory is kept as well. A run that the
 * client names is a session, also where no conversation was kept. */
static enum status add_as_given(struct adding *a)
{
    const struct mem0_add_in *in = a->in;
    struct session run = {.id = in->ids.run_id};
    if (run.id.n)
        TRY(soft_or(a->ctx, engine_make_session(a->ctx, a->app->engine, a->pool, &run), CONFLICT));
    for (size_t i = 0; i < a->n_said; i++) {
        if (!is_kept(&a->said[i]))
            continue;
        struct memory m = {.id = id_random(&a->ctx->arena),
                           .content = a->said[i].text,
                           .session = in->ids.run_id,
                           .metadata = in->metadata,
                           .expires = a->expires,
                           .created = (int64_t)(in->timestamp * 1000),
                           .origin = ORIGIN_API};
        TRY(engine_add(a->ctx, a->app->engine, a->pool, &m));
        add_result(a, &m);
    }
    return OK;
}

/* --- what they say --- */

/* One turn: everything up to the user's last word of it, and the answer. *session is the one it is
 * kept in. */
static enum status say_turn(struct adding *a, size_t end, str answer, struct strs *ids,
                            str *session)
{
    const struct turn_in in = {.pool = a->pool,
                               .session = a->in->ids.run_id,
                               .said = a->said,
                               .n_said = end,
                               .mode = MODE_AFTER,
                               .is_durable = true};
    struct turn *turn = engine_begin_turn(a->ctx, a->app->engine, &in);
    const struct turn_out *out = turn_out_of(turn);
    *session = out->session;
    *ids = out->ids;
    return engine_end_turn(a->ctx, a->app->engine, turn, answer);
}

/* Facts that the turn has made: of its messages, and new. */
static enum status gather_facts(struct adding *a, str session, const struct strs *ids,
                                int64_t since)
{
    enum { MOST = 500 };
    struct memory_page_in ask = {.select = SELECT_ALL, .sort = SORT_UPDATED, .limit = MOST};
    struct memory_page page;
    ask.select.pools = &a->pool;
    ask.select.n_pools = 1;
    ask.select.session = session;
    TRY(engine_page(a->ctx, a->app->engine, &ask, &page));
    for (size_t i = 0; i < page.n; i++) {
        bool is_told = SOME(k, a->n, str_eq(page.v[i].id, a->v[k].id));
        if (strs_have(ids, page.v[i].source) && !is_told && page.v[i].created >= since)
            add_result(a, &page.v[i]);
    }
    return OK;
}

static enum status add_by_talk(struct adding *a)
{
    int64_t since = clock_ms();
    struct strs ids;
    str session;
    for (size_t i = 0; i < a->n_said; i++) {
        bool is_last = i + 1 == a->n_said;
        if (!is_kept(&a->said[i]) || !str_is(a->said[i].role, "user") ||
            (!is_last && str_is(a->said[i + 1].role, "user")))
            continue;
        bool has_answer = !is_last && str_is(a->said[i + 1].role, "assistant");
        TRY(say_turn(a, i + 1, has_answer ? a->said[i + 1].text : S(""), &ids, &session));
        TRY(gather_facts(a, session, &ids, since));
    }
    return OK;
}

static enum status add_inferred(struct adding *a, str *message)
{
    struct distil_status distils;
    struct quota more = {.memories = 1, .messages = (int64_t)a->n_said};
    for (size_t i = 0; i < a->n_said; i++)
        more.bytes += (int64_t)a->said[i].text.n;
    if (!engine_remembers(a->app->engine))
        return fail(a->ctx, FORBIDDEN,
                    "memory is switched off, so nothing is learnt from messages; with infer false "
                    "they are kept");
    TRY(engine_check_quota(a->ctx, a->app->engine, a->pool, more));
    TRY(add_by_talk(a));
    /* What the client gives besides goes on what was found. */
    struct change to = {.pool = a->pool,
                        .what = (a->in->metadata.n ? CHANGE_METADATA : 0) |
                                (a->expires ? CHANGE_EXPIRES : 0),
                        .to = {.metadata = a->in->metadata, .expires = a->expires}};
    str *ids = NEW_N(&a->ctx->arena, str, a->n + 1);
    int64_t changed;
    for (size_t i = 0; i < a->n; i++)
        ids[i] = a->v[i].id;
    if (to.what && a->n)
        TRY(engine_change_each(a->ctx, a->app->engine, &to, ids, a->n, &changed));
    TRY(engine_distil_status(a->ctx, a->app->engine, &a->pool, &distils));
    *message = distils.available
                   ? S("Facts found at once are in results; the core model distils the messages "
                       "in the background")
                   : S("Facts found by patterns are in results; no core model is available");
    return OK;
}

/* --- both --- */

enum status mem0_add(struct ctx *ctx, struct app *app, const struct request *in,
                     const struct mem0_add_in *add, const struct json **results, str *message)
{
    struct adding a = {.ctx = ctx, .app = app, .in = add};
    struct mem0_who who;
    TRY(mem0_who(ctx, in, add->ids.user_id, &who));
    TRY(mem0_pool(ctx, app, &who, &add->ids, &a.pool));
    TRY(mem0_expires(ctx, add->expiration_date, &a.expires));
    TRY(read_messages(&a));
    TRY(add->infer ? add_inferred(&a, message) : add_as_given(&a));
    return json_list(ctx, mem0_added_fields, a.v, a.n, sizeof *a.v, results);
}
