/* window.c - what a model is shown of the session it goes on with. */
#include "core/tokens.h"
#include "engine/engine_int.h"

/* How much is shown where no model is named; what stands; messages that are read at once, and in
 * all: behind so many tools' answers nothing is looked for. */
enum { EXCHANGES = 10, LEAST = 2, PAGE = 64, READ_MAX = 2048 };

static int64_t exchanges_of(const struct engine *e, str model)
{
    static const int64_t by_tier[TIER_COUNT] = {3, 6, 10, 15};
    bool is_known = model.n && str_is(e->settings->dynamic_window, "on");
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
    size_t got, found = 0, read = 0;
    int64_t from = -PAGE, limit = PAGE;
    while (limit > 0 && found < most && read < READ_MAX) {
        TRY(store_session_messages(ctx, e->store, in->pool, in->session, from, (size_t)limit, &page,
                                   &got));
        for (size_t i = got; i-- > 0 && found < most;)
            if (is_shown(&page[i]))
                v[most - ++found] = page[i];
        int64_t first = got ? doc_position(page[0].doc) : 0;
        read += got;
        limit = first < PAGE ? first : PAGE;
        from = first - limit;
    }
    *n = found;
    return OK;
}

/* A question that stands at the end without an answer and is asked again now is the same one. */
static bool is_asked_again(const struct window_in *in, const struct message *last)
{
    return in->asked.n && str_is(last->role, "user") &&
           str_eq(str_trim(last->text), str_trim(in->asked));
}

/* The oldest go first: what has no room, and then answers to what is not shown any more. */
static void fit(struct window *w, bool has_budget)
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

enum status engine_window(struct ctx *ctx, struct engine *e, const struct window_in *in,
                          struct window *out)
{
    const struct settings *s = e->settings;
    struct window w = {.exchanges = exchanges_of(e, in->model)};
    size_t most = (size_t)w.exchanges * 2 + 1;
    struct message *v = NEW_N(&ctx->arena, struct message, most);
    w.shares = shares_of(tier_of_model(in->model), s->context_tokens, in->system_tokens, 0);
    if (in->session.n) {
        if (store_settle(ctx, e->store) != OK) /* what could not be written is not there */
            ctx_clear_failure(ctx);
        TRY(read_back(ctx, e, in, v, most, &w.n));
    }
    w.v = v + (most - w.n);
    if (w.n && is_asked_again(in, &w.v[w.n - 1]))
        w.n--;
    if (w.n == most) {
        w.v++;
        w.n--;
    }
    fit(&w, str_is(s->session_budget, "on"));
    *out = w;
    return OK;
}
