/* search.c - a search: what a chat would be given for the question, then what else is found. */
#include "base/clock.h"
#include "core/tokens.h"
#include "engine/recall/block.h"
#include "engine/recall/candidates.h"
#include "engine/recall/outside_rankers.h"
#include "engine/recall/quarantine.h"
#include "engine/state/state.h"
#include "engine/text/rank.h"

/* In the order of the chat; as a search shows it where the search has found it, too. A chat reads
 * first what bears on a request; who searches wants the answer first, and what the user asks of
 * every chat is no answer. */
static void merge_given(struct ctx *ctx, const struct recall_out *given, bool is_chat,
                        struct recall_out *out)
{
    const struct recall_out rest = *out;
    out->v = NEW_N(&ctx->arena, struct recalled, given->n + rest.n + 1);
    out->n = 0;
    for (int aside = 0; aside < 2; aside++)
        for (size_t i = 0; i < given->n; i++) {
            const struct recalled *r = &given->v[i];
            bool is_aside = !is_chat && r->origin == LINE_SIDE_NOTE;
            bool is_answer = is_chat || r->origin != LINE_STANDING;
            if (r->state != LINE_INJECTED || !is_answer || is_aside != (bool)aside)
                continue;
            const struct recalled *shown = recalled_find(rest.v, rest.n, r);
            out->v[out->n++] = shown ? *shown : *r;
        }
    out->n_given = out->n;
    for (size_t i = 0; i < rest.n; i++)
        if (!recalled_find(out->v, out->n_given, &rest.v[i]))
            out->v[out->n++] = rest.v[i];
}

/* A search that asks nothing is given the newest. A search that asks something has no use for the
 * newest, where the settings give these to chats: it looks for words. */
static struct recall_in search_of(struct engine *e, const struct recall_in *in, size_t limit)
{
    const struct settings *runtime = engine_runtime(e);
    struct recall_in ask = *in;
    bool is_newest = runtime->strategy == STRATEGY_RECENT;
    ask.only.after = in->only.after ? in->only.after : runtime_after(runtime, clock_ms());
    ask.limit = limit;
    ask.by.is_patient = true;
    if (in->gate)
        return ask;
    ask.budget_tokens = -1;
    if (in->by.has_strategy)
        return ask;
    ask.by.words_only |= is_newest;
    ask.by.strategy = !str_trim(in->question).n ? STRATEGY_RECENT
                      : is_newest               ? STRATEGY_HYBRID
                                                : runtime->strategy;
    return ask;
}

/* What a chat is given: within its own budget, as its block holds it. */
static enum status give_chat(struct ctx *ctx, struct engine *e, const struct recall_in *ask,
                             struct recall_out *out)
{
    struct recall_in chat = *ask;
    int64_t own = runtime_budget(engine_runtime(e));
    chat.gate = true;
    chat.limit = (size_t)e->settings->recall_limit;
    chat.budget_tokens = own;
    TRY(find_recalled(ctx, e, &chat, out));
    block_render(&ctx->arena, out->v, out->n, own, clock_ms());
    return OK;
}

/* The order knows more than each line's score, so the scores are laid over it (decisions/024).
 *
 * Two recalls: one as a chat makes it, whose results come first, and one without a gate for the
 * rest. One alone lost answers (decisions/024). A search with a gate and without limits of its own
 * is the first of them alone. */
static enum status search(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                          struct recall_out *out)
{
    size_t least = (size_t)e->settings->recall_limit, limit = in->limit ? in->limit : least;
    struct recall_in ask = search_of(e, in, limit);
    struct recall_out given = {0};
    bool has_chat = in->gate || ask.by.strategy != STRATEGY_RECENT;
    bool is_all = in->gate && !in->limit && !in->budget_tokens;
    if (has_chat)
        TRY(give_chat(ctx, e, &ask, &given));
    *out = given;
    out->n_given = given.n;
    if (is_all)
        return OK;
    ask.by.is_unordered = true; /* it has ordered what a chat is given */
    TRY(find_recalled(ctx, e, &ask, out));
    merge_given(ctx, &given, in->gate, out);
    out->n = out->n < limit ? out->n : limit;
    if (!in->gate)
        scores_by_place(&ctx->arena, out->v, out->n);
    if (has_chat) {
        out->decision = given.decision;
        out->reason = given.reason;
        out->steps = given.steps;
    }
    return OK;
}

/* For answers that have no place for messages: drops them and what was not chosen, and counts the
 * tokens of whole memories anew, as those are shown and not excerpts. */
void engine_memories_within(struct ctx *ctx, struct recall_out *io, size_t limit, int64_t budget)
{
    int64_t *tokens = NEW_N(&ctx->arena, int64_t, io->n + 1);
    size_t n = 0;
    budget = budget < 1 ? 1 : budget > RECALL_BUDGET_MAX ? RECALL_BUDGET_MAX : budget;
    for (size_t i = 0; i < io->n && n < limit; i++) {
        if (!io->v[i].is_memory || io->v[i].state != LINE_INJECTED)
            continue;
        io->v[n] = io->v[i];
        tokens[n] = io->v[n].tokens = tokens_of(io->v[n].memory.content);
        n++;
    }
    io->n = rank_walk(tokens, n, budget);
    io->tokens = 0;
    for (size_t i = 0; i < io->n; i++)
        io->tokens += tokens[i];
}

enum status engine_search(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                          struct recall_out *out)
{
    size_t n = 0;
    TRY(recall_counted(ctx, e, in, search, out));
    const size_t n_given = out->n_given;
    for (size_t i = 0; in->for_model && i < out->n; i++) {
        str space = out->v[i].space.n ? out->v[i].space : in->pool.space;
        const struct pool_ref pool = {in->pool.user, space};
        if (quarantine_leaves(ctx, e, pool, &out->v[i]))
            out->v[n++] = out->v[i];
        else
            out->n_given -= i < n_given;
    }
    out->n = in->for_model ? n : out->n;
    return OK;
}
