/* mcp_tools.c - OmniRoute's three memory tools in its own shapes. */
#include "ext/dialects/omniroute/common.h"
#include "surface/common/memory_json.h"

/*
 * The three tools of OmniRoute's MCP server, under its names and with its members, for prompts and
 * agents that were written for it. They run over the same engine as the general tools
 * (surface/mcp/tools.c).
 */

enum { CONTENT_MAX = 65536 };

static const char key_help[] = "id of one of your keys; default: the key of the request";

/* {success: true, data: …} around each answer. */
#define GIVES(NAME)                                                                                \
    SHAPE(NAME##_out, (BOOL, success, .required = true),                                           \
          (OBJECT, data, struct NAME, .required = true, .inside = NAME##_fields))

/* --- search --- */

SHAPE(search_in, (AS_STR, api_key, "apiKeyId", .max = SPACE_NAME_MAX, .help = key_help),
      (STR, query, .max = CONTENT_MAX, .help = "words to search; default: the newest memories"),
      (STR, type, .one_of = type_names, .help = "only this type"),
      (AS_INT, max_tokens, "maxTokens", .min = 1, .max = RECALL_BUDGET_MAX,
       .help = "token budget of all contents; default: the setting maxTokens"),
      (INT, limit, .otherwise = RECALL_LIMIT_MAX, .min = 1, .max = RECALL_LIMIT_MAX,
       .help = "most results"));

SHAPE(page, (JSON, memories, .required = true, .inside = memory_shown_fields),
      (INT, count, .required = true), (AS_INT, total_tokens, "totalTokens", .required = true));
GIVES(page);

/* Memories only: OmniRoute has no conversations to search. The budget counts the tokens of the
 * contents. The setting is the default of a call. A tool also searches when chats have no memory,
 * with the default budget. */
static enum status tool_search(struct tool_call *c)
{
    const struct search_in *in = c->in;
    const struct settings *now = engine_runtime(c->app->engine);
    int64_t setting = now->memory ? omniroute_budget(now) : 0;
    struct recall_out found;
    TRY(auth_key_pool(c->ctx, c->app, c->who, in->api_key, &c->pool));
    const struct recall_in ask = {.pool = c->pool,
                                  .question = in->query,
                                  .limit = (size_t)in->limit,
                                  .for_model = true,
                                  .only.memories = true,
                                  .only.type = in->type};
    TRY(engine_search(c->ctx, c->app->engine, &ask, &found));
    engine_memories_within(c->ctx, &found, ask.limit,
                           in->max_tokens ?: setting ?: OMNIROUTE_BUDGET);
    struct page_out *out = c->out;
    struct memory *items = NEW_N(&c->ctx->arena, struct memory, found.n);
    for (size_t i = 0; i < found.n; i++)
        items[i] = found.v[i].memory;
    out->success = true;
    out->data.count = (int64_t)found.n;
    out->data.total_tokens = found.tokens;
    TRY(json_list(c->ctx, memory_shown_fields, items, found.n, sizeof *items, &out->data.memories));
    return OK;
}

/* --- add --- */

struct add_in {
    str api_key;
    struct memory memory;
};
static FIELDS(add_in, (AS_STR, api_key, "apiKeyId", .max = SPACE_NAME_MAX, .help = key_help),
              (AS_STR, memory.session, "sessionId", .max = 256, .is_name = true,
               .help = "the conversation it belongs to"),
              (AS_ENUM, memory.type, "type", .required = true, .one_of = type_names,
               .help = "kind of knowledge"),
              (AS_STR, memory.key, "key", .required = true, .min = 1, .max = 512,
               .help = "a memory with the same key is changed in place"),
              (AS_STR, memory.content, "content", .required = true, .min = 1, .max = CONTENT_MAX,
               .help = "what to remember"),
              (AS_RAW, memory.metadata, "metadata", .help = "an object"));

SHAPE(added, (OBJECT, memory, struct memory, .required = true, .inside = memory_shown_fields),
      (STR, message, .required = true));
GIVES(added);

static enum status tool_add(struct tool_call *c)
{
    const struct add_in *in = c->in;
    struct memory m = in->memory;
    m.origin = ORIGIN_MCP;
    TRY(auth_key_pool(c->ctx, c->app, c->who, in->api_key, &c->pool));
    TRY(engine_replace(c->ctx, c->app->engine, c->pool, &m));
    struct added_out *out = c->out;
    out->success = true;
    out->data.memory = m;
    (void)engine_memory_for_model(c->ctx, c->app->engine, c->pool, &m);
    bool is_given = str_eq(m.content, out->data.memory.content);
    const char *held = ", but not recalled until a person allows it: it reads as an instruction";
    out->data.message = str_printf(&c->ctx->arena, "remembered under \"" S_FMT "\"%s", S_ARG(m.key),
                                   is_given ? "" : held);
    return OK;
}

/* --- clear --- */

/* Both limits are optional. Without them all memories of the space are erased. */
SHAPE(clear_in, (AS_STR, api_key, "apiKeyId", .max = SPACE_NAME_MAX, .help = key_help),
      (STR, type, .one_of = type_names, .help = "only this type"),
      (AS_TIME, older_than, "olderThan", .help = "only memories created before"));

SHAPE(cleared, (AS_INT, count, "deletedCount", .required = true), (STR, message, .required = true));
GIVES(cleared);

/* Nothing to forget is a success with 0, as OmniRoute answers it. */
static enum status tool_clear(struct tool_call *c)
{
    const struct clear_in *in = c->in;
    struct cleared_out *out = c->out;
    TRY(auth_key_pool(c->ctx, c->app, c->who, in->api_key, &c->pool));
    struct forget what = {.pool = c->pool,
                          .memories = true,
                          .type = in->type,
                          .before = in->older_than};
    TRY(soft_or(c->ctx, engine_forget(c->ctx, c->app->engine, &what, &out->data.count), NOT_FOUND));
    out->success = true;
    out->data.message =
        str_printf(&c->ctx->arena, "forgot %lld memories", (long long)out->data.count);
    return OK;
}

#define GROUP "omniroute"

const struct tool omniroute_tools[] = {
    {"omniroute_memory_search", "Search memories (OmniRoute)",
     "Memories of a key, best first, within a budget of tokens.", GROUP, tool_search,
     TAKES(search_in), RESULT(page_out), .reads = true, .repeats = true},
    {"omniroute_memory_add", "Add a memory (OmniRoute)",
     "Remembers a content under a key; the same key is changed in place.", GROUP, tool_add,
     TAKES(add_in), RESULT(added_out), .destroys = true, .repeats = true},
    {"omniroute_memory_clear", "Clear memories (OmniRoute)",
     "Erases all memories of a key, or those of a type or made before a date. It cannot be undone.",
     GROUP, tool_clear, TAKES(clear_in), RESULT(cleared_out), .destroys = true, .repeats = true},
    {0},
};
