/* tools.c - the general tools: search, context, add, get, update, forget. */
#include "base/clock.h"
#include "base/time_text.h"
#include "core/tokens.h"
#include "surface/common/memory_json.h"
#include "surface/mcp/mcp.h"
#include "surface/proxy/memory_tool.h"

/*
 * Each tool is two tables, what it takes and what it gives, and a function of a few lines over the
 * engine. The descriptions in memory_tools are read by models that decide whether to call: they say
 * when a tool helps, not how it works. tool_call.text, where set, is what the model reads; without
 * it the result is shown as JSON.
 */

enum { CONTENT_MAX = 65536, NAME_MAX_BYTES = 200, OTHERS_MAX = 50 };
enum { SHOWN_WHOLE = 2000 }; /* ten long texts would fill a model's context */

static const char space_help[] = "name of one of your spaces";

/* scope widens or narrows the search: the space, one conversation in it, or all spaces of the
 * user. */
SHAPE(search_in,
      (STR, query, .required = true, .min = 1, .max = CONTENT_MAX, .help = "a question or words"),
      (INT, limit, .otherwise = 10, .min = 1, .max = 100, .help = "most results"),
      (STR, type, .one_of = type_names, .help = "only memories of this type"),
      (BOOL, explain, .help = "with the reasons"),
      (STR, space, .max = NAME_MAX_BYTES, .help = space_help),
      (ENUM_OF, scope, enum scope, .otherwise_str = "space", .one_of = scope_names,
       .help = "where: the space, one conversation, or all your spaces"),
      (STR, session, .max = 256, .is_name = true,
       .help = "id of the conversation, also for follow-ups"));

SHAPE(search_out,
      (JSON, results, .required = true, .inside = found_out_fields,
       .help = "memories and messages, best first"),
      (STRS, other_spaces, .empty = EMPTY_OUT, .help = "where else to search, if nothing is found"),
      (INT, took_us, .required = true, .help = "duration in microseconds"));

/* A model knows no names of spaces, such as those of projects. */
static enum status list_others(struct tool_call *c, struct strs *out)
{
    struct pools in;
    TRY(auth_pools(c->ctx, c->app, c->who, &in));
    out->v = NEW_N(&c->ctx->arena, str, in.n);
    for (size_t i = 0; i < in.n && out->n < OTHERS_MAX; i++)
        if (!str_eq(in.v[i].space, c->pool.space))
            out->v[out->n++] = in.v[i].space;
    return OK;
}

/* The results are a member of an object, since MCP wants structuredContent to be one. All spaces of
 * a user are for whom any of them is open. */
static enum status tool_search(struct tool_call *c)
{
    const struct search_in *in = c->in;
    TRY(auth_pool(c->ctx, c->app, c->who, in->space, "space", &c->pool));
    if (in->scope == SCOPE_USER && !c->who->is_admin)
        return fail_field(c->ctx, "scope", "user: needs an admin token");
    struct recall_in ask = {.pool = c->pool,
                            .scope = in->scope,
                            .within = in->session,
                            .question = engine_question_in(c->ctx, c->app->engine, c->pool,
                                                           in->session, in->query),
                            .limit = (size_t)in->limit,
                            .for_model = true,
                            .only.memories = in->type.n > 0,
                            .only.type = in->type};
    struct recall_out found;
    TRY(engine_search(c->ctx, c->app->engine, &ask, &found));
    struct search_out *out = c->out;
    TRY(found_list(c->ctx, found.v, found.n, SHOWN_WHOLE, in->explain, &out->results));
    out->took_us = found.took_us;
    return found.n || in->scope == SCOPE_USER ? OK : list_others(c, &out->other_spaces);
}

SHAPE(layer_out,
      (STR, scope, .required = true, .one_of = plan_scope_names,
       .help = "the layer that was searched"),
      (INT, count, .required = true, .help = "how many were found"),
      (JSON, results, .required = true, .inside = found_out_fields,
       .help = "memories or messages, best first"));

/* text is what the model behind the proxy would read as well: one search, two ways to it. */
static enum status search_layer(struct tool_call *c)
{
    const struct search_memory_in *in = c->in;
    struct searched found;
    TRY(auth_pool(c->ctx, c->app, c->who, in->agent_id, "space", &c->pool));
    TRY(search_memory(c->ctx, c->app, c->pool, in, &found));
    struct layer_out *out = c->out;
    *out = (struct layer_out){.scope = str_of(plan_scope_names[found.scope]),
                              .count = (int64_t)found.n};
    TRY(found_list(c->ctx, found.v, found.n, SHOWN_WHOLE, false, &out->results));
    c->text = found.text;
    return OK;
}

/* A budget in tokens for the block; 0 takes the setting. */
SHAPE(context_in,
      (STR, question, .required = true, .min = 1, .max = CONTENT_MAX,
       .help = "what the user says or asks"),
      (INT, budget_tokens, .min = 0, .max = 100000, .help = "token budget; 0: as in a chat"),
      (STR, space, .max = NAME_MAX_BYTES, .help = space_help),
      (STR, session, .max = 256, .is_name = true,
       .help = "id of the conversation, for follow-ups"));

SHAPE(context_out,
      (STR, block, .required = true,
       .help = "memory to add to the question; empty when nothing is relevant"),
      (INT, tokens, .required = true, .help = "tokens of the block"),
      (STR, decision, .required = true, .help = "the decision of the relevance gate"),
      (STR, reason, .required = true, .help = "why"),
      (INT, took_us, .required = true, .help = "duration in microseconds"));

/* The same retrieval and block as in a chat, for clients whose chats do not pass through the proxy.
 * "Nothing" is said in words, since an empty text would look like a failure to a model. */
static enum status tool_context(struct tool_call *c)
{
    const struct context_in *in = c->in;
    TRY(auth_pool(c->ctx, c->app, c->who, in->space, "space", &c->pool));
    struct recall_in ask = {.pool = c->pool,
                            .question = engine_question_in(c->ctx, c->app->engine, c->pool,
                                                           in->session, in->question),
                            .budget_tokens = in->budget_tokens};
    struct recall_out found;
    struct context_out *out = c->out;
    TRY(engine_context(c->ctx, c->app->engine, &ask, &found, &out->block));
    out->decision = found.decision;
    out->reason = found.reason;
    out->tokens = tokens_of(out->block);
    out->took_us = found.took_us;
    c->text = out->block.n ? out->block : S("Nothing that is remembered matters here.");
    return OK;
}

/* A model that is not told of what recall leaves out promises its user to remember it. */
static void say_if_held(struct tool_call *c, struct pool_ref pool, struct memory *m)
{
    str whole = m->content;
    (void)engine_memory_for_model(c->ctx, c->app->engine, pool, m);
    if (!str_eq(whole, m->content))
        c->text = str_printf(&c->ctx->arena,
                             "Stored with the id " S_FMT ", but what reads as an instruction to a "
                             "model is not recalled until a person allows it in the review. Tell "
                             "the user.",
                             S_ARG(m->id));
}

/* engine_add, not engine_replace: with a key the old memory is closed and kept as history.
 * OmniRoute's tool changes it in place. A model may take another year for this one. */
static enum status tool_add(struct tool_call *c)
{
    struct memory *m = c->out;
    *m = *(const struct memory *)c->in;
    m->origin = ORIGIN_MCP;
    if (m->expires && m->expires <= clock_ms())
        return fail_field(c->ctx, "expires", "must be later than now, " S_FMT,
                          S_ARG(time_write(&c->ctx->arena, clock_ms(), "%Y-%m-%d %H:%M")));
    TRY(auth_pool(c->ctx, c->app, c->who, m->space, "space", &c->pool));
    TRY(engine_add(c->ctx, c->app->engine, c->pool, m));
    say_if_held(c, c->pool, m);
    return OK;
}

SHAPE(id_in, (STR, id, .required = true, .min = 1, .max = 256, .help = "its id"),
      (STR, space, .max = NAME_MAX_BYTES, .help = space_help));

/* Narrows the caller to the space that is named, and makes an id whole: the block of a chat has
 * begins of ids. */
static enum status find_scope(struct tool_call *c, str space, struct identity *who, str *id)
{
    struct pools in;
    *who = *c->who;
    TRY(auth_name_space(c->ctx, c->app, who, space, "space"));
    TRY(auth_pools(c->ctx, c->app, who, &in));
    return soft_or(c->ctx, engine_whole_id(c->ctx, c->app->engine, in.v, in.n, *id, id), NOT_FOUND);
}

/* By id in every space in reach, since a model rarely knows in which space it found something. */
static enum status tool_get(struct tool_call *c)
{
    const struct id_in *in = c->in;
    struct identity who;
    str id = in->id;
    TRY(find_scope(c, in->space, &who, &id));
    TRY(auth_find_memory(c->ctx, c->app, &who, id, c->out));
    if (!engine_memory_for_model(c->ctx, c->app->engine, c->pool, c->out))
        return fail(c->ctx, FORBIDDEN, "it is quarantined until somebody reviews it");
    return OK;
}

SHAPE(erased_out, (INT, erased, .required = true, .help = "number of erased memories and messages"),
      (INT, barred, .required = true,
       .help = "number of statements in messages that recall no longer gives; the messages stay in "
               "their conversation's history unless it is erased"),
      (STR, erasure, .empty = EMPTY_OUT, .help = "id of its certificate"));

/* Whole conversations, too, by their id, and what was learnt from them. The hint destroys is set:
 * clients ask their user. */
static enum status tool_forget(struct tool_call *c)
{
    const struct id_in *in = c->in;
    struct erased_out *out = c->out;
    struct identity who = *c->who;
    TRY(auth_name_space(c->ctx, c->app, &who, in->space, "space"));
    struct forget what = {.id = in->id, .barred = &out->barred, .erasure = &out->erasure};
    return auth_forget(c->ctx, c->app, &who, &what, &out->erased);
}

static FIELDS_OF(memory, update_in,
                 (STR, id, .required = true, .min = 1, .max = 256, .help = "its id"),
                 (STR, content, .max = CONTENT_MAX, .help = "the new text"),
                 (STR, key, .max = 512, .help = "its new key; empty removes the key"),
                 (ENUM, type, .one_of = type_names, .help = "kind of knowledge"),
                 (STR, category, .max = 128, .help = "preference, decision, …, or free"),
                 (STRS, tags, .help = "its new labels"), (RAW, metadata, .help = "its new object"),
                 (NUM, importance, .min = 0, .max = 1, .help = "0 to 1"),
                 (TIME, expires, .help = "when it expires"),
                 (STR, space, .max = NAME_MAX_BYTES, .help = space_help));

/* The spaces are tried one after the other, as in auth_find_memory, but with the change itself:
 * between finding and changing, nothing can come. */
static enum status tool_update(struct tool_call *c)
{
    const struct memory *in = c->in;
    struct identity who;
    struct change change = {.id = in->id, .what = change_members(c->arguments, false), .to = *in};
    TRY(find_scope(c, in->space, &who, &change.id));
    enum status s = AUTH_FIND(c->ctx, c->app, &who, change.pool,
                              engine_change(c->ctx, c->app->engine, &change, c->out));
    if (soft_if(c->ctx, s, NOT_FOUND))
        return fail(c->ctx, NOT_FOUND,
                    "no memory '" S_FMT "'; a message cannot be changed: add what is right",
                    S_ARG(in->id));
    TRY(s);
    say_if_held(c, change.pool, c->out);
    return OK;
}

/* The five of the group "default" come first. */
const struct tool memory_tools[] = {
    {"memory_search", "Search memory",
     "Search what the user said in earlier conversations or asked to remember. Call it before you "
     "answer what may depend on the user's facts, preferences or plans. Gives memories and "
     "messages with their ids, best first.",
     USUAL_TOOLS, tool_search, TAKES(search_in), RESULT(search_out), .reads = true},
    {"memory_context", "Recall for a question",
     "Get a short text of what matters from earlier conversations for the user's message, ready to "
     "use, or nothing when nothing matters. Call it at the start of a conversation.",
     USUAL_TOOLS, tool_context, TAKES(context_in), RESULT(context_out), .reads = true},
    {"memory_add", "Remember",
     "Remember one fact, preference, decision or event for later conversations. Adding the same "
     "again adds nothing. With a key, what was remembered under it before is replaced.",
     USUAL_TOOLS, tool_add, TAKES_AS(memory_add, memory), RESULT(memory)},
    {"memory_update", "Correct a memory",
     "Correct one memory by its id, in place. Only the members that you give change. Its old text "
     "is not recalled any more.",
     USUAL_TOOLS, tool_update, TAKES_AS(update_in, memory), RESULT(memory), .destroys = true,
     .repeats = true},
    {"memory_forget", "Forget",
     "Erase a memory, a message or a whole conversation by its id, with everything that came from "
     "it. It cannot be undone.",
     USUAL_TOOLS, tool_forget, TAKES(id_in), RESULT(erased_out), .destroys = true},
    {"memory_get", "Read a memory", "One memory by its id.", NULL, tool_get, TAKES(id_in),
     RESULT(memory), .reads = true},
    {SEARCH_MEMORY, "Search a layer of memory", search_memory_help, "osaurus", search_layer,
     TAKES(search_memory_in), RESULT(layer_out), .reads = true},
    {0},
};
