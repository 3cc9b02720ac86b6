/* layer_search.c - one layer of memory searched: pinned facts, episodes, or the transcript. */
#include "base/clock.h"
#include "core/session_title.h"
#include "core/tokens.h"
#include "engine/layers/context.h"
#include "engine/recall/candidates.h"

const char *const plan_scope_names[] = {"pinned", "episodes", "transcript", NULL};

/*
 * One layer searched on its own: facts, episodes or the transcript. It is recall without a gate, as
 * somebody has decided to ask; where words and vectors find nothing, the text is looked for as it
 * stands (literal_search.c), as for codes and part numbers.
 */

/* How far back and how many, unless told; messages that may give a title. */
enum { DAYS = 365, DAYS_MAX = 36500, LIMIT = 10, LIMIT_MAX = 50 };
enum { TITLE_AMONG = 3 };

static str layer_of(enum plan_scope scope)
{
    return scope == PLAN_PINNED     ? str_of(layer_names[LAYER_FACT])
           : scope == PLAN_EPISODES ? str_of(layer_names[LAYER_EPISODE])
                                    : S("");
}

/* The one place that says what a layer is for recall; the caller sets bar, budget and limit. */
struct recall_in plan_ask(struct engine *e, const struct layer_search *in)
{
    const struct settings *runtime = engine_runtime(e);
    assert(in->pool.user.n && in->scope <= PLAN_TRANSCRIPT);
    return (struct recall_in){
        .pool = in->pool,
        .question = in->query,
        .seen.ids = in->exclude,
        .seen.n = in->n_exclude,
        .seen.session = in->session,
        .gate = in->in_chat,
        .only.turns = in->scope == PLAN_TRANSCRIPT,
        .only.memories = in->scope != PLAN_TRANSCRIPT,
        .only.layer = layer_of(in->scope),
        .by.words_only = runtime->embedding_backend == BACKEND_NONE,
        .only.after = in->after,
    };
}

/* By words and vectors, varied, best first; nothing when the query has no word to search. */
static enum status plan_find(struct ctx *ctx, struct engine *e, const struct layer_search *in,
                             struct recalled **out, size_t *n)
{
    const struct recall_in recall = plan_ask(e, in);
    struct finder f;
    assert(in->limit);
    TRY(find_open(ctx, e, &recall, &f));
    if (f.asked.query.n)
        TRY(find_answers(&f, in->limit));
    for (size_t i = 0; i < f.n; i++) {
        struct recalled *r = &f.found[i];
        r->text = found_text(r);
        r->tokens = tokens_of(r->text);
        r->why = found_why(&f, r);
    }
    *out = f.found;
    *n = f.n;
    return OK;
}

/* --- titles --- */

/* A session is called by the first line that its user said. */
static enum status title_of(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                            const struct tombstones *tombstones, str session, str *out)
{
    struct message *v;
    size_t n;
    TRY(store_session_messages(ctx, e->store, pool, session, 0, TITLE_AMONG, &v, &n));
    *out = S("");
    for (size_t i = 0; i < n && !out->n; i++) {
        str text = tombstones_left(tombstones, &ctx->arena, &v[i]);
        if (str_is(v[i].role, "user"))
            *out = session_title(text);
    }
    return OK;
}

static enum status add_titles(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                              struct recalled *v, size_t n)
{
    struct tombstones tombstones;
    TRY(tombstones_load(ctx, e, pool, &tombstones));
    for (size_t i = 0; i < n; i++) {
        size_t same = 0;
        while (same < i && !str_eq(v[same].message.session, v[i].message.session))
            same++;
        if (same < i)
            v[i].title = v[same].title;
        else
            TRY(title_of(ctx, e, pool, &tombstones, v[i].message.session, &v[i].title));
    }
    return OK;
}

/* Limits out of range are clamped and not refused. */
enum status engine_search_scope(struct ctx *ctx, struct engine *e, const struct scope_in *in,
                                struct scope_out *out)
{
    size_t limit = !in->limit ? LIMIT : in->limit > LIMIT_MAX ? LIMIT_MAX : in->limit;
    int64_t days = in->days <= 0 ? DAYS : in->days > DAYS_MAX ? DAYS_MAX : in->days;
    bool is_transcript = in->scope == PLAN_TRANSCRIPT;
    struct layer_search search = {.pool = in->pool,
                                  .scope = in->scope,
                                  .query = str_trim(in->query),
                                  .exclude = in->exclude,
                                  .n_exclude = in->n_exclude,
                                  .session = in->session,
                                  .after = is_transcript ? clock_ms() - days * DAY_MS : 0,
                                  .limit = limit};
    struct scope_out found = {0};
    if (!search.query.n)
        return fail_field(ctx, "query", "must not be empty");
    engine_catch_up(ctx, e, in->pool);
    TRY(plan_find(ctx, e, &search, &found.v, &found.n));
    if (!found.n)
        TRY(plan_find_literal(ctx, e, &search, &found));
    if (is_transcript)
        TRY(add_titles(ctx, e, in->pool, found.v, found.n));
    *out = found;
    return OK;
}
