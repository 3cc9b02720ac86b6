/* context.c - the memory that a session's next message would bring, written nowhere. */
#include "core/tokens.h"
#include "ext/dialects/cortex/chat.h"
#include "surface/common/memory_json.h"

/*
 * GET /v1/session/{id}/context answers what the model would be given if the next message were said
 * now. It takes the same steps as chat.c with the same functions, so that it cannot drift from what
 * a chat does, but begins no turn: no message and no receipt is written. reasons tells in words why
 * this much and no more.
 */

enum { REASONS = 3, QUERY_MAX = 8000 };

/* --- shapes --- */

SHAPE(context_in,
      (STR, query, .otherwise_str = "", .max = QUERY_MAX,
       .help = "the next message; without it memory is not searched"),
      (INT, budget, .max = 10000000, .help = "token budget; 0: context_tokens minus the answer"),
      (STR, model_preference, .otherwise_str = "balanced", .one_of = chat_preferences,
       .help = "the model's size decides how much context it gets"));

SHAPE(context_memory, (STR, id), (STR, kind, .help = "memory, or message: of another conversation"),
      (STR, content), (NUM, score, .help = "0 to 1: how likely it helps"), (STR, why),
      (INT, token_count), (TIME, created_at));
SHAPE(context_message, (STR, id), (STR, role), (STR, content), (INT, token_count),
      (TIME, created_at));
SHAPE(context_out, (STR, session_id), (STR, model), (STR, system),
      (JSON, memories, .inside = context_memory_fields,
       .help = "memories that would be added to the message"),
      (JSON, messages, .inside = context_message_fields, .help = "the session's earlier messages"),
      (STR, block, .help = "the memories as the model reads them"),
      (INT, token_count, .help = "of system, block and messages"), (INT, budget),
      (STRS, reasons, .help = "reasons for this choice"));

/* --- assembling --- */

/* Reasons are at most one about messages, one about the query and one about memory: REASONS. */
struct context {
    struct chat_scene scene;
    int64_t system_tokens;
    struct recall_out found;
    struct context_out shape;
};

static void add_reason(struct context *c, str text)
{
    assert(c->shape.reasons.n < REASONS);
    c->shape.reasons.v[c->shape.reasons.n++] = text;
}

/* A budget below the model's own is divided as a context window of that size; the oldest messages
 * are left out first. */
static void fit_messages(struct ctx *ctx, struct context *c, int64_t wanted)
{
    struct window *w = &c->scene.window;
    const struct shares *given = &w->shares;
    size_t before = w->n;
    c->shape.budget = given->total - given->generation;
    if (wanted && wanted < c->shape.budget) {
        const struct shares shares = shares_of(given->tier, wanted, c->system_tokens);
        int64_t left = wanted - c->system_tokens;
        int64_t most = shares.history < left ? shares.history : left;
        c->shape.budget = wanted;
        for (; w->n && w->tokens > most; w->v++, w->n--)
            w->tokens -= tokens_of(w->v[0].text);
    }
    add_reason(c, str_printf(&ctx->arena,
                             "messages: the last %zu, of at most %lld exchanges for a %s model%s",
                             w->n, (long long)w->exchanges, tier_names[given->tier],
                             w->n < before ? "; older ones have no room in the budget" : ""));
}

/* Rewritten as a chat would do it, or the preview would show other memories than the chat gets. */
static str question_of(struct ctx *ctx, struct app *app, struct context *c)
{
    str query = c->scene.wish.message;
    const struct window *w = &c->scene.window;
    struct said *before = NEW_N(&ctx->arena, struct said, w->n + 1);
    struct rewritten out;
    for (size_t i = 0; i < w->n; i++)
        before[i] = (struct said){.role = w->v[i].role, .text = w->v[i].text};
    const struct rewrite_in in = {.pool = c->scene.in.pool,
                                  .question = query,
                                  .before = before,
                                  .n = w->n,
                                  .model = c->scene.to.model,
                                  .wait_ms = app->settings->rewrite_timeout_ms};
    engine_rewrite(ctx, app->engine, &in, &out);
    if (!str_eq(out.search, query))
        add_reason(c, str_printf(&ctx->arena, "query: searched as \"" S_FMT "\": " S_FMT,
                                 S_ARG(out.search), S_ARG(out.why)));
    return out.search;
}

/* By the same rules as a chat. A block over the budget is searched again with the smaller one. */
static enum status find_memories(struct ctx *ctx, struct app *app, struct context *c)
{
    str query = c->scene.wish.message;
    const struct window *w = &c->scene.window;
    int64_t left = c->shape.budget - c->system_tokens - w->tokens;
    bool is_whole = w->n && doc_position(w->v[0].doc) == 0;
    str *shown = NEW_N(&ctx->arena, str, w->n + 1);
    bool is_off = !engine_remembers(app->engine) || c->scene.in.mode == MODE_OFF ||
                  c->scene.in.mode == MODE_AFTER;
    if (!query.n || left <= 0 || is_off) {
        add_reason(c, !query.n    ? S("memory: no query, so nothing was searched")
                      : left <= 0 ? S("memory: the token budget is used up")
                                  : S("memory: switched off"));
        return OK;
    }
    for (size_t i = 0; i < w->n; i++)
        shown[i] = w->v[i].id;
    struct recall_in in = {.pool = c->scene.in.pool,
                           .question = question_of(ctx, app, c),
                           .seen.ids = shown,
                           .seen.n = w->n,
                           .seen.session = is_whole ? c->scene.session.id : S("")};
    TRY(engine_context(ctx, app->engine, &in, &c->found, &c->shape.block));
    in.budget_tokens = left;
    if (tokens_of(c->shape.block) > left)
        TRY(engine_context(ctx, app->engine, &in, &c->found, &c->shape.block));
    add_reason(c, str_printf(&ctx->arena, "memory: " S_FMT ": " S_FMT, S_ARG(c->found.decision),
                             S_ARG(c->found.reason)));
    return OK;
}

/* --- showing --- */

/* Only what is in the block: candidates that recall weighed and left out are not shown. */
static enum status list_memories(struct ctx *ctx, const struct context *c, const struct json **out)
{
    const struct recall_out *found = &c->found;
    struct context_memory *v = NEW_N(&ctx->arena, struct context_memory, found->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < found->n; i++) {
        const struct recalled *r = &found->v[i];
        if (r->state != LINE_INJECTED || !c->shape.block.n)
            continue;
        v[n++] = (struct context_memory){
            .id = recalled_id(r),
            .kind = r->is_memory ? S("memory") : S("message"),
            .content = r->text,
            .why = r->why,
            .score = r->score,
            .token_count = r->tokens,
            .created_at = r->is_memory ? r->memory.created : r->message.created,
        };
    }
    return json_list(ctx, context_memory_fields, v, n, sizeof *v, out);
}

static enum status list_messages(struct ctx *ctx, const struct window *w, const struct json **out)
{
    struct context_message *v = NEW_N(&ctx->arena, struct context_message, w->n + 1);
    for (size_t i = 0; i < w->n; i++)
        v[i] = (struct context_message){.id = w->v[i].id,
                                        .role = w->v[i].role,
                                        .content = w->v[i].text,
                                        .token_count = tokens_of(w->v[i].text),
                                        .created_at = w->v[i].created};
    return json_list(ctx, context_message_fields, v, w->n, sizeof *v, out);
}

/* The budget covers system, messages and block; what the message itself would take is left to the
 * caller, who has not written it yet. */
static HANDLER(chat_context)
{
    const struct context_in *asked = in->in;
    struct context *c = NEW(&ctx->arena, struct context);
    struct context_out *shape = &c->shape;
    const struct chat_wish next = {.session = in->params[0],
                                   .message = str_trim(asked->query),
                                   .preference = asked->model_preference};
    shape->reasons.v = NEW_N(&ctx->arena, str, REASONS);
    TRY(chat_scene_of(ctx, app, in, &next, &c->scene));
    c->system_tokens = tokens_of(c->scene.system);
    fit_messages(ctx, c, asked->budget);
    TRY(find_memories(ctx, app, c));
    shape->session_id = c->scene.session.id;
    shape->model = c->scene.to.model;
    shape->system = c->scene.system;
    shape->token_count = c->system_tokens + c->scene.window.tokens + tokens_of(shape->block);
    TRY(list_memories(ctx, c, &shape->memories));
    TRY(list_messages(ctx, &c->scene.window, &shape->messages));
    return reply_fields(out, context_out_fields, shape);
}

static const struct route routes[] = {
    {ROUTE("GET", "/v1/session/{id}/context", chat_context), READS(context_in),
     ANSWERS(context_out), .help = "what the model would receive with the next message"},
    {0},
};

const struct surface surface_cortex_context = CORTEX_SURFACE(routes);
