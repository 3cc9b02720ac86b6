/* plan_search.c - one layer of memory searched: pinned facts, episodes, or the transcript. */
#include "base/clock.h"
#include "base/words.h"
#include "core/tokens.h"
#include "engine/find.h"
#include "engine/plan.h"

const char *const plan_scope_names[] = {"pinned", "episodes", "transcript", NULL};

/* How far back and how many, unless told; messages that may give a title, and bytes of it. */
enum { DAYS = 365, DAYS_MAX = 36500, LIMIT = 10, LIMIT_MAX = 50 };
enum { TITLE_AMONG = 3, TITLE_MAX = 80 };

static str layer_of(enum plan_scope scope)
{
    return scope == PLAN_PINNED     ? str_of(layer_names[LAYER_FACT])
           : scope == PLAN_EPISODES ? str_of(layer_names[LAYER_EPISODE])
                                    : S("");
}

static bool is_true_now(const struct recalled *r, int64_t now)
{
    const struct memory *m = &r->memory;
    return !r->is_memory ||
           (!m->valid_to && !m->superseded_by.n && (!m->expires || m->expires > now));
}

struct recall_in plan_ask(struct engine *e, const struct layer_search *in)
{
    const struct live_osaurus *live = &engine_live(e)->osaurus;
    return (struct recall_in){
        .pool = in->pool,
        .question = in->query,
        .exclude = in->exclude,
        .n_exclude = in->n_exclude,
        .session = in->session,
        .gate = in->in_chat,
        .turns_only = in->scope == PLAN_TRANSCRIPT,
        .memories_only = in->scope != PLAN_TRANSCRIPT,
        .layer = layer_of(in->scope),
        .words_only = str_is(live->embedding_backend, "none"),
        .after = in->after,
    };
}

enum status plan_find(struct ctx *ctx, struct engine *e, const struct layer_search *in,
                      struct recalled **out, size_t *n)
{
    int64_t now = clock_ms();
    const struct recall_in recall = plan_ask(e, in);
    struct finder f = {.ctx = ctx, .e = e, .in = &recall};
    f.query = query_of(&ctx->arena, in->query, now);
    if (f.query.n)
        TRY(find_answers(&f, in->limit));
    size_t kept = 0;
    for (size_t i = 0; i < f.n; i++) {
        struct recalled *r = &f.found[i];
        if (!is_true_now(r, now))
            continue;
        r->text = found_text(r);
        r->tokens = tokens_of(r->text);
        r->why = found_why(&ctx->arena, &f.query, f.of[i], r);
        f.found[kept++] = *r;
    }
    *out = f.found;
    *n = kept;
    return OK;
}

/* --- titles --- */

/* A session is called by the first line that its user said. */
static enum status title_of(struct ctx *ctx, struct engine *e, struct pool_ref pool, str session,
                            str *out)
{
    struct message *v;
    size_t n;
    TRY(store_session_messages(ctx, e->store, pool, session, 0, TITLE_AMONG, &v, &n));
    *out = S("");
    for (size_t i = 0; i < n && !out->n; i++) {
        str text = str_trim(v[i].text);
        if (str_is(v[i].role, "user"))
            *out = utf8_cut(str_cut(&text, '\n'), TITLE_MAX);
    }
    return OK;
}

static enum status add_titles(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                              struct recalled *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t same = 0;
        while (same < i && !str_eq(v[same].message.session, v[i].message.session))
            same++;
        if (same < i)
            v[i].title = v[same].title;
        else
            TRY(title_of(ctx, e, pool, v[i].message.session, &v[i].title));
    }
    return OK;
}

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
        return fail_field(ctx, "query", "must say what is looked for");
    TRY(plan_find(ctx, e, &search, &found.v, &found.n));
    if (!found.n)
        TRY(plan_find_literal(ctx, e, &search, &found));
    if (is_transcript)
        TRY(add_titles(ctx, e, in->pool, found.v, found.n));
    *out = found;
    return OK;
}
