/* osaurus.c - Osaurus's endpoints: conversations brought in whole, agents; what they share. */
#include "ext/dialects/osaurus/osaurus.h"

#include "surface/common/list_page.h"

/*
 * Osaurus calls its spaces agents: agent_id and X-Osaurus-Agent-Id name one by any text, and it
 * comes into being with the first thing that is kept under it. /memory/ingest brings in a whole
 * conversation and, unless told otherwise, distils it before it answers; the same conversation_id
 * replaces what was there. /agents lists what the caller may use.
 */

/* --- failures --- */

static const char ingest_path[] = "/memory/ingest", switched_off[] = "memory",
                  unavailable[] = "memory_database_unavailable";

/* The caller is not known yet when the store failed or no worker was free. */
static const struct error_rule rules[] = {
    {BAD_INPUT, .name = "invalid_request"},
    {NO_AUTH, .name = "unauthorized"},
    {FORBIDDEN, .field = switched_off, .code = 503, .name = "memory_disabled"},
    {FORBIDDEN, .name = "forbidden"},
    {NOT_FOUND, .name = "agent_not_found"},
    {CONFLICT, .name = "conflict"},
    {TOO_LARGE, .name = "request_too_large"},
    {TOO_BUSY, .path = ingest_path, .code = 503, .name = unavailable},
    {TOO_BUSY, .name = "busy"},
    {TIMED_OUT, .name = "timeout"},
    {UPSTREAM, .name = "upstream_failed"},
    {STORAGE, .is_before_auth = true, .code = 503, .name = unavailable},
    {STORAGE, .detail = STORAGE_AWAY, .name = unavailable},
    {STORAGE, .path = ingest_path, .name = "memory_ingest_failed"},
    {STORAGE, .name = "memory_failed"},
    {UNSUPPORTED, .name = "unsupported"},
    {0},
};

static FIELDS_OF(error_body, error, (AS_STR, name, "error"), (STR, message),
                 (STR, field, .empty = EMPTY_OUT));

const struct error_shape osaurus_errors = {"OsaurusError", "application/json", error_fields};

/* Osaurus answers input that it cannot read with plain text; here the same sentence is in an object
 * that names the field. */
void word_osaurus_error(struct ctx *ctx, enum status s, const struct request *in, struct reply *out)
{
    struct error_body body = error_body_of(ctx, s, in, rules, "failed", out);
    if (s == BAD_INPUT)
        body.message =
            str_printf(&ctx->arena, "Invalid request format. " S_FMT, S_ARG(body.message));
    else
        body.field = S("");
    error_body_write(out, error_fields, &body);
}

/* Worded as 503 memory_disabled by the first rule of FORBIDDEN, which the field chooses. */
enum status needs_memory(struct ctx *ctx, struct app *app)
{
    if (engine_remembers(app->engine))
        return OK;
    return fail_forbidden(
        ctx, switched_off,
        "Memory is switched off. PUT /memory/config {\"enabled\": true} switches it on.");
}

/* --- agents --- */

/* "" as the space means all of the user's, which only an admin gets by naming none. */
enum status agent_pool(struct ctx *ctx, struct app *app, const struct request *in, str agent,
                       struct pool_ref *out)
{
    const struct identity *who = &in->who;
    TRY(auth_pool(ctx, app, who, agent, "agent_id", out));
    if (!str_trim(agent).n && !who->space_from && who->is_admin)
        out->space = S("");
    return OK;
}

/* Filtered in place: an agent out of reach is not even named. */
enum status agents_of(struct ctx *ctx, struct app *app, const struct request *in,
                      struct pool_sum **out, size_t *n)
{
    struct token *tokens = NULL;
    size_t n_tokens = 0, kept = 0;
    if (!in->who.is_admin)
        TRY(auth_tokens(ctx, app, &in->who, &tokens, &n_tokens));
    TRY(engine_agents(ctx, app->engine, in->who.pool.user, out, n));
    for (size_t i = 0; i < *n; i++)
        if (auth_reaches(&in->who, tokens, n_tokens, (*out)[i].pool.pool.space))
            (*out)[kept++] = (*out)[i];
    *n = kept;
    return OK;
}

SHAPE(agent_out, (STR, id, .help = "as agent_id and X-Osaurus-Agent-Id"),
      (STR, name, .help = "the same"), (STR, description),
      (STR, default_model, .empty = EMPTY_NULL, .help = "null: a request names its model"),
      (STR, effective_model, .empty = EMPTY_NULL), (BOOL, supports_thinking),
      (BOOL, supports_vision), (BOOL, is_built_in),
      (AS_INT, entries, "memory_entry_count", .help = "facts in force"),
      (AS_TIME, created, "created_at", .required = true),
      (AS_TIME, updated, "updated_at", .required = true));

static FIELDS_OF(list_page, agents_out, LIST_ITEMS_AS("agents", agent_out_fields, "by name"));

/* Members about models are there because Osaurus's clients read them; an agent here has no model of
 * its own. */
static struct agent_out agent_shape(const struct pool_sum *a)
{
    return (struct agent_out){.id = a->pool.pool.space,
                              .name = a->pool.pool.space,
                              .entries = a->facts,
                              .created = a->pool.created,
                              .updated = a->updated ? a->updated : a->pool.created};
}

static HANDLER(list_agents)
{
    struct pool_sum *v;
    size_t n;
    TRY(agents_of(ctx, app, in, &v, &n));
    struct agent_out *items = NEW_N(&ctx->arena, struct agent_out, n);
    for (size_t i = 0; i < n; i++)
        items[i] = agent_shape(&v[i]);
    struct list_page page = {0};
    return list_reply(ctx, agents_out_fields, &page, items, n, sizeof *items, out);
}

static HANDLER(show_agent)
{
    struct pool_ref pool = {in->who.pool.user, in->params[0]};
    struct pool_sum found;
    enum status s = auth_space(ctx, app, &in->who, pool.space, "id")
                        ?: engine_agent(ctx, app->engine, pool, &found);
    if (soft_if(ctx, s, FORBIDDEN) || soft_if(ctx, s, NOT_FOUND))
        return fail(ctx, NOT_FOUND, "There is no agent with this id.");
    TRY(s);
    struct agent_out shape = agent_shape(&found);
    return reply_fields(out, agent_out_fields, &shape);
}

/* --- conversations brought in whole --- */

static FIELDS_OF(ingest_turn, turn, (STR, user, .required = true, .help = "what the user said"),
                 (STR, assistant, .required = true, .help = "the assistant's answer; may be empty"),
                 (TIME, date, .help = "time of the turn, ISO 8601; default: session_date"));

SHAPE(ingest_in,
      (AS_STR, agent, "agent_id", .required = true, .min = 1, .max = SPACE_NAME_MAX,
       .help = "agent that owns the memory; any text names one"),
      (AS_STR, conversation, "conversation_id", .required = true, .min = 1, .max = 255,
       .is_name = true, .help = "a conversation with the same id is replaced"),
      (JSON, turns, .required = true, .inside = turn_fields, .help = "in order"),
      (TIME, session_date, .help = "time of the conversation, ISO 8601; default: now"),
      (BOOL, skip_extraction, .help = "store the turns without distilling them"));

/* status is about the turns, distillation about what was made of them: a failure there does not
 * undo the rest. */
SHAPE(
    ingest_out, (STR, status, .help = "ok: the turns are stored"),
    (AS_INT, turns, "turns_ingested"),
    (STR, distillation, .empty = EMPTY_OUT,
     .help = "distilled, no_signals, or skipped, empty, pending or error with the reason behind a "
             "colon; left out when it was to be skipped"),
    (AS_STR, episode, "episode_id", .empty = EMPTY_OUT,
     .help = "id of the episode, when distilled"));

/* Each turn by the table of turn_fields, so that a mistake in the hundredth is named as
 * turns[99].user. */
static enum status read_turns(struct ctx *ctx, const struct json *list, struct ingest_turns_in *out)
{
    size_t i = 0;
    if (list->type != JSON_ARRAY)
        return fail_field(ctx, "turns", "must be an array of {user, assistant, date}");
    struct ingest_turn *turns = NEW_N(&ctx->arena, struct ingest_turn, list->n);
    for (const struct json *v = list->first; v; v = v->next, i++) {
        if (fields_read(ctx, turn_fields, v, false, &turns[i]) == OK)
            continue;
        str field =
            str_printf(&ctx->arena, "turns[%zu]%s%s", i, ctx->field[0] ? "." : "", ctx->field);
        str why = ctx_take_why(ctx);
        return fail_field(ctx, field.p, S_FMT, S_ARG(why));
    }
    out->turns = turns;
    out->n = i;
    return OK;
}

/* Everything is checked before memory being off is reported: a client learns of its mistakes either
 * way. */
static HANDLER(ingest_conversation)
{
    const struct ingest_in *a = in->in;
    struct ingest_turns_in batch = {.conversation = a->conversation,
                                    .session_date = a->session_date,
                                    .skip_extraction = a->skip_extraction};
    struct ingest_turns_out made;
    if (!str_trim(a->agent).n)
        return fail_field(ctx, "agent_id", "must not be empty");
    TRY(agent_pool(ctx, app, in, a->agent, &batch.pool));
    TRY(read_turns(ctx, a->turns, &batch));
    TRY(needs_memory(ctx, app));
    TRY(engine_ingest_turns(ctx, app->engine, &batch, &made));
    struct ingest_out shape = {.status = S("ok"),
                               .turns = made.turns,
                               .distillation = made.distillation,
                               .episode = made.episode_id};
    return reply_fields(out, ingest_out_fields, &shape);
}

static const struct route routes[] = {
    {ROUTE("POST", ingest_path, ingest_conversation), READS(ingest_in), ANSWERS(ingest_out),
     .help = "import a conversation and distil it now; the same id is replaced"},
    {ROUTE("GET", "/agents", list_agents), ANSWERS(agents_out), .help = "your agents"},
    {ROUTE("GET", "/agents/{id}", show_agent), ANSWERS(agent_out), .help = "one agent"},
    {0},
};

const struct surface surface_osaurus = {"osaurus",    routes,          word_osaurus_error,
                                        auth_request, SURFACE_SETTLES, .errors = &osaurus_errors};
