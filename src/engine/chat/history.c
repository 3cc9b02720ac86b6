/* history.c - the session's earlier messages that a model is shown. */
#include "core/tokens.h"
#include "engine/state/state.h"

/*
 * For clients that send only the new message with a session's name: the server puts the session's
 * last messages in front. How many follows from the model's size, as small models lose the thread
 * in long contexts; then, where session_budget is set, the token share for history cuts the oldest.
 * Tool results are skipped, so pages are read backwards until enough other messages are found.
 */

enum {
    EXCHANGES = 10, /* shown when no model is named */
    LEAST = 2,      /* messages that stay even when they are over the budget */
    PAGE = 64,      /* messages that are read at once */
    READ_MAX = 2048 /* messages that are read in all: tools may have left very many answers */
};

/* By tier of the model, from the smallest to the largest: a question and its answer count one. */
static int64_t exchanges_of(const struct engine *e, str model)
{
    static const int64_t by_tier[TIER_COUNT] = {3, 6, 10, 15};
    bool is_known = model.n && e->settings->dynamic_window;
    return is_known ? by_tier[tier_of_model(model)] : EXCHANGES;
}

static bool is_shown(const struct message *m)
{
    return str_is(m->role, "user") || str_is(m->role, "assistant");
}

/* The last `most` users' and assistants' messages, in order, at the end of v; *n counts them. */
static enum status read_back(struct ctx *ctx, struct engine *e, const struct window_in *in,
                             struct message *v, size_t most, size_t *n)
{
    struct message *page;
    size_t got, found = 0;
    int64_t end = -1;
    for (int read = 0; end && found < most && read < READ_MAX; read += PAGE) {
        TRY(messages_before(ctx, e, in->pool, in->session, PAGE, &end, &page, &got));
        for (size_t i = got; i-- > 0 && found < most;)
            if (is_shown(&page[i]))
                v[most - ++found] = page[i];
    }
    *n = found;
    return OK;
}

/* The oldest messages go first: those without room, then answers whose question is gone. */
static void fit_window(struct window *w, bool has_budget)
{
    for (size_t i = 0; i < w->n; i++)
        w->tokens += tokens_of(w->v[i].text);
    while (w->n > LEAST &&
           ((has_budget && w->tokens > w->shares.history) || str_is(w->v[0].role, "assistant"))) {
        w->tokens -= tokens_of(w->v[0].text);
        w->v++;
        w->n--;
    }
}

/* One message more than the exchanges need is read (most): an unanswered last question that is
 * asked again is dropped, and without it the window must still be full. */
enum status engine_window(struct ctx *ctx, struct engine *e, const struct window_in *in,
                          struct window *out)
{
    const struct settings *s = e->settings;
    struct window w = {.exchanges = exchanges_of(e, in->model)};
    size_t most = (size_t)w.exchanges * 2 + 1;
    struct message *v = NEW_N(&ctx->arena, struct message, most);
    w.shares = shares_of(tier_of_model(in->model), s->context_tokens, in->system_tokens);
    if (in->session.n) {
        engine_catch_up(ctx, e, in->pool);
        TRY(read_back(ctx, e, in, v, most, &w.n));
    }
    assert(w.n <= most);
    w.v = v + (most - w.n);
    const struct message *last = w.n && in->asked.n ? &w.v[w.n - 1] : NULL;
    str asked = str_trim(buf_words(&ctx->arena, in->asked));
    w.n -= last && str_is(last->role, "user") && str_eq(str_trim(last->text), asked);
    if (w.n == most) {
        w.v++;
        w.n--;
    }
    fit_window(&w, s->session_budget);
    *out = w;
    return OK;
}
