/* plan_search.c - one layer of memory searched: pinned facts, episodes, or the transcript. */
#include "base/clock.h"
#include "base/words.h"
#include "core/tokens.h"
#include "engine/find.h"
#include "engine/plan.h"

const char *const plan_scope_names[] = {"pinned", "episodes", "transcript", NULL};

/* How far back and how many, unless told; where text is looked for as it stands: the newest
 * messages of so many sessions and each. Messages that may give a title, and bytes of it. */
enum { DAYS = 365, DAYS_MAX = 36500, LIMIT = 10, LIMIT_MAX = 50 };
enum { SESSIONS = 100, OF_SESSION = 200, TITLE_AMONG = 3, TITLE_MAX = 80 };

#define DAY_MS ((int64_t)86400000)

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

enum status plan_find(struct ctx *ctx, struct engine *e, const struct layer_search *in,
                      struct recalled **out, size_t *n)
{
    int64_t now = clock_ms();
    const struct live_osaurus *live = &engine_live(e)->osaurus;
    const struct recall_in recall = {
        .pool = in->pool,
        .question = in->query,
        .exclude = in->exclude,
        .n_exclude = in->n_exclude,
        .gate = in->in_chat,
        .turns_only = in->scope == PLAN_TRANSCRIPT,
        .memories_only = in->scope != PLAN_TRANSCRIPT,
        .layer = layer_of(in->scope),
        .words_only = str_is(live->embedding_backend, "none"),
        .after = in->after,
    };
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

/* --- as it stands --- */

static enum status literal_memories(struct ctx *ctx, struct engine *e, const struct scope_in *in,
                                    size_t limit, struct recalled *out, size_t *n)
{
    struct memory *v;
    size_t found;
    int64_t total;
    const struct memory_filter f = {.pool = in->pool,
                                    .layer = layer_of(in->scope),
                                    .contains = in->query,
                                    .limit = limit};
    TRY(store_list_memories(ctx, e->store, &f, &v, &found, &total));
    for (size_t i = 0; i < found; i++)
        out[i] = (struct recalled){.is_memory = true, .memory = v[i], .text = v[i].content};
    *n = found;
    return OK;
}

static enum status literal_in_session(struct ctx *ctx, struct engine *e, const struct scope_in *in,
                                      str session, int64_t after, size_t limit,
                                      struct recalled *out, size_t *n)
{
    struct message *v;
    size_t all;
    str wanted = utf8_lower(&ctx->arena, in->query);
    TRY(store_session_messages(ctx, e->store, in->pool, session, -OF_SESSION, OF_SESSION, &v,
                               &all));
    for (size_t i = all; i-- > 0 && *n < limit;) {
        struct recalled r = {.message = v[i]};
        r.text = found_text(&r);
        str text = utf8_lower(&ctx->arena, r.text);
        if (v[i].created >= after && str_find(text, wanted) < text.n)
            out[(*n)++] = r;
    }
    return OK;
}

static enum status literal_turns(struct ctx *ctx, struct engine *e, const struct scope_in *in,
                                 int64_t after, size_t limit, struct recalled *out, size_t *n)
{
    struct session *v;
    size_t sessions;
    const struct session_filter newest = {.pool = in->pool, .limit = SESSIONS};
    TRY(store_sessions(ctx, e->store, &newest, &v, &sessions, NULL));
    for (size_t i = 0; i < sessions && *n < limit && ctx_has_time(ctx); i++)
        TRY(literal_in_session(ctx, e, in, v[i].id, after, limit, out, n));
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
                                struct recalled **out, size_t *n)
{
    size_t limit = !in->limit ? LIMIT : in->limit > LIMIT_MAX ? LIMIT_MAX : in->limit, found = 0;
    int64_t days = in->days <= 0 ? DAYS : in->days > DAYS_MAX ? DAYS_MAX : in->days;
    int64_t now = clock_ms();
    struct scope_in what = *in;
    what.query = str_trim(in->query);
    if (!what.query.n)
        return fail_field(ctx, "query", "must say what is looked for");
    struct layer_search search = {.pool = in->pool,
                                  .scope = in->scope,
                                  .query = what.query,
                                  .after = in->scope == PLAN_TRANSCRIPT ? now - days * DAY_MS : 0,
                                  .limit = limit};
    struct recalled *v;
    TRY(plan_find(ctx, e, &search, &v, &found));
    if (!found) {
        v = NEW_N(&ctx->arena, struct recalled, limit + 1);
        if (in->scope == PLAN_TRANSCRIPT)
            TRY(literal_turns(ctx, e, &what, search.after, limit, v, &found));
        else
            TRY(literal_memories(ctx, e, &what, limit, v, &found));
        for (size_t i = 0; i < found; i++) {
            v[i].why = S("holds the query as it stands");
            v[i].tokens = tokens_of(v[i].text);
        }
    }
    if (in->scope == PLAN_TRANSCRIPT)
        TRY(add_titles(ctx, e, in->pool, v, found));
    *out = v;
    *n = found;
    return OK;
}
