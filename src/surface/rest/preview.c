/* preview.c - the lines that a chat would be given now, without the chat. */
#include "base/clock.h"
#include "surface/common/error_body.h"
#include "surface/common/helper_calls.h"
#include "surface/common/memory_json.h"
#include "surface/common/said.h"
#include "surface/proxy/splice.h"
#include "surface/proxy/upstream.h"

/*
 * The same turn that POST /v1/chat/completions begins, up to the point where the model would be
 * asked (engine_preview). Nothing is written: no receipt, no use, nothing for review. So a page can
 * try a question again and again, and compare it with what it would be without a memory, with
 * another budget, or at another time.
 */

enum { WITHOUT_MAX = 200, PLAN_LEAST = 100, PLAN_MOST = 4000 };

static const char *const preview_scopes[] = {"space", "session", NULL};
SHAPE(
    preview_in, (JSON, messages, .help = "the messages of the chat, as OpenAI's API has them"),
    (STR, question, .max = 65536, .help = "in place of messages: one message of the user"),
    (STR, session, .max = 256, .is_name = true, .help = "as the chat would name it"),
    (STR, model, .max = 256,
     .help = "of the chat: it decides whether the blocks of earlier requests stay where they were"),
    (ENUM_OF, mode, enum memory_mode, .otherwise_str = "full", .one_of = memory_mode_names,
     .help = "as in X-Memory-Mode"),
    (ENUM_OF, scope, enum scope, .otherwise_str = "space", .one_of = preview_scopes,
     .help = "as in X-Memory-Scope"),
    (INT, budget, .max = RECALL_BUDGET_MAX, .help = "most tokens of the block; 0: the setting"),
    (STRS, without, .help = "ids of memories and messages that count as not there"),
    (TIME, as_of, .help = "what was said and true at this time; absent: now"));

static FIELDS_OF(
    receipt_out, preview_out,
    (AS_STR, r.decision, "decision", .help = "the decision of the relevance gate"),
    (AS_STR, r.reason, "reason", .help = "why"),
    (AS_STR, r.block, "block", .help = "text that would be added to the chat, byte for byte"),
    (AS_INT, r.tokens, "tokens", .help = "tokens of the block"),
    (AS_STR, r.question, "question", .help = "the query that was searched"),
    (AS_STR, r.session, "session", .help = "the conversation that the chat would be kept in"),
    (AS_INT, r.took_us, "took_us", .help = "duration of the recall in microseconds"),
    (JSON, lines, .help = "every candidate: kind, id, source, score, tokens, injected, why"));

static enum status read_question(struct ctx *ctx, const struct preview_in *p, struct turn_in *out)
{
    struct said *said = NEW(&ctx->arena, struct said);
    if ((p->question.n > 0) == (p->messages != NULL))
        return fail_field(ctx, p->messages ? "question" : "messages",
                          p->messages ? "cannot be combined with messages"
                                      : "or question is needed");
    *said = (struct said){.role = S("user"), .text = p->question};
    out->n_said = 1;
    if (p->messages && !said_read(ctx, p->messages, &said, &out->n_said))
        return fail_field(ctx, "messages", "must be an array of messages, each with a role");
    out->said = said;
    return OK;
}

/* An agent's chat has a budget with other limits, and layers that know no past. */
static enum status check_agent(struct ctx *ctx, const struct preview_in *p)
{
    if (p->as_of)
        return fail_field(ctx, "as_of", "is not possible for an agent's chat");
    if (p->scope == SCOPE_SESSION)
        return fail_field(ctx, "scope", "must not be session for an agent's chat");
    if (p->budget && (p->budget < PLAN_LEAST || p->budget > PLAN_MOST))
        return fail_field(ctx, "budget", "must be %d to %d for an agent's chat", PLAN_LEAST,
                          PLAN_MOST);
    return OK;
}

static enum status check_preview(struct ctx *ctx, const struct preview_in *p, bool is_agents)
{
    if (p->as_of > clock_ms())
        return fail_field(ctx, "as_of", "must not be in the future");
    if (p->without.n > WITHOUT_MAX)
        return fail_field(ctx, "without", "must name at most %d", WITHOUT_MAX);
    return is_agents ? check_agent(ctx, p) : OK;
}

/* As complete_chat decides it: what was given earlier in the conversation is not given again where
 * it still stands. */
static enum status read_model(struct ctx *ctx, struct app *app, const struct preview_in *p,
                              struct turn_in *out)
{
    struct target to = {0};
    enum status s = target_of(ctx, app->settings, p->model, &to);
    if (p->model.n || !soft_if(ctx, s, NOT_FOUND)) /* unnamed, and without a default upstream */
        TRY(s);
    out->model = to.model;
    out->replays =
        to.up && (out->is_planned || placement_is_beside(target_placement(app->settings, &to)));
    return OK;
}

static HANDLER(preview_show)
{
    const struct preview_in *p = in->in;
    struct receipt r;
    struct receipt_out shown;
    struct preview preview = {.budget_tokens = p->budget,
                              .without = p->without.v,
                              .n_without = p->without.n,
                              .as_of = p->as_of};
    struct turn_in turn = {.pool = in->who.pool,
                           .session = str_trim(p->session),
                           .mode = p->mode,
                           .scope = p->scope,
                           .has_helpers = true,
                           .is_planned = str_trim(request_header(in, AGENT_HEADER)).n > 0,
                           .preview = &preview};
    TRY(read_question(ctx, p, &turn));
    TRY(check_preview(ctx, p, turn.is_planned));
    TRY(read_model(ctx, app, p, &turn));
    /* The request's own body is not the chat's: headers and words decide. */
    helper_call_read(&ctx->arena, in, NULL, &turn);
    engine_preview(ctx, app->engine, &turn, &r);
    TRY(receipt_shape(ctx, &r, &shown));
    return reply_fields(out, preview_out_fields, &shown);
}

static const struct route routes[] = {
    {ROUTE("POST", "/v1/preview", preview_show), .scope = MAY_READ, READS(preview_in),
     ANSWERS(preview_out), .help = "the block a chat would get now, and why; nothing is written"},
    {0},
};

const struct surface surface_preview = STRICT_SURFACE("preview", routes);
