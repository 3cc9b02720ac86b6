/* spaces.c - where a question looks, and what it may be shown of that. */
#include "base/clock.h"
#include "base/rule.h"
#include "engine/recall/candidates.h"
#include "engine/text/form.h"
#include "engine/text/rank.h"

/*
 * A finder is one question at one place. With a scope of the user it has a finder for each space,
 * and each of these keeps its own tombstones, vectors and reasons; else it is its own only space
 * (spaces points to itself), so that callers loop over f->spaces in both cases.
 */

/* Memories and messages that are looked at where few of a pool are wanted. */
enum { WANTED_MAX = 5000 };

const char *const scope_names[] = {"space", "session", "user", NULL};

/* --- one space --- */

static struct memory_filter filter_of(const struct finder *f, size_t limit)
{
    const struct recall_in *in = f->in;
    return (struct memory_filter){.type = in->only.type,
                                  .layer = in->only.layer,
                                  .session = in->scope == SCOPE_SESSION ? in->within : S(""),
                                  .after = in->only.after,
                                  .limit = in->only.turns ? 0 : limit};
}

/* The strategy `recent`: nothing is searched, and the score is 1 for all. */
static enum status find_newest(struct finder *f, size_t limit)
{
    struct memory *v;
    size_t n = 0;
    const struct memory_filter filter = filter_of(f, limit);
    TRY(past_list(&f->past, &filter, &v, &n));
    f->found = NEW_N(&f->ctx->arena, struct recalled, n + 1);
    f->n = 0;
    f->how.steps.strategy = STRATEGY_RECENT;
    for (size_t i = 0; i < n; i++) {
        f->found[f->n] =
            (struct recalled){.is_memory = true, .memory = v[i], .score = 1, .why = S("newest")};
        f->n += find_shows(f, &f->found[f->n]);
    }
    return OK;
}

/* For searches where the hundred best of the pool hold too few: up to WANTED_MAX of either kind. */
enum status find_wanted(struct finder *f, doc_id **out, size_t *n)
{
    const struct recall_in *in = f->in;
    struct memory *memories;
    struct message *messages = NULL;
    size_t n_memories, n_messages = 0;
    const struct memory_filter wanted = filter_of(f, WANTED_MAX);
    *n = 0;
    if (!wanted.session.n && !in->only.type.n && !in->only.layer.n)
        return OK;
    TRY(past_list(&f->past, &wanted, &memories, &n_memories));
    if (wanted.session.n && !in->only.memories)
        TRY(store_session_messages(f->ctx, f->e->store, in->pool, wanted.session, -WANTED_MAX,
                                   WANTED_MAX, &messages, &n_messages));
    *out = NEW_N(&f->ctx->arena, doc_id, n_memories + n_messages + 1);
    for (size_t i = 0; i < n_memories; i++)
        (*out)[(*n)++] = memories[i].doc;
    for (size_t i = 0; i < n_messages; i++)
        (*out)[(*n)++] = messages[i].doc;
    return OK;
}

/* --- all of them --- */

/* Also spaces that are empty; they cost a look-up of tombstones each. */
static enum status open_spaces(struct finder *f)
{
    struct arena *a = &f->ctx->arena;
    struct pool_info *all;
    size_t n;
    TRY(store_pools(f->ctx, f->e->store, f->in->pool.user, &all, &n));
    struct recall_in *in = NEW_N(a, struct recall_in, n + 1);
    f->spaces = NEW_N(a, struct finder, n + 1);
    for (size_t i = 0; i < n; i++) {
        in[i] = *f->in;
        in[i].scope = SCOPE_SPACE;
        in[i].pool = all[i].pool;
        TRY(find_open(f->ctx, f->e, &in[i], &f->spaces[f->n_spaces++]));
    }
    return OK;
}

enum status find_open(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                      struct finder *out)
{
    if (in->scope == SCOPE_SESSION && !in->within.n)
        return fail_field(ctx, "session", "is required by this scope");
    *out = (struct finder){.ctx = ctx, .e = e, .in = in};
    out->asked.query = query_of(&ctx->arena, in->question, in->asked ? in->asked : clock_ms());
    out->asked.aggregation = in->by.strategy != STRATEGY_RECENT && RULE("aggregation") &&
                             query_is_broad(&ctx->arena, in->question);
    if (!out->asked.aggregation)
        out->asked.query.asks_reply = rank_logistic(form_odds_of(FORM_REPLY, in->question).by[0]);
    if (in->scope == SCOPE_USER)
        return open_spaces(out);
    out->spaces = out;
    out->n_spaces = 1;
    if (in->by.strategy != STRATEGY_RECENT)
        TRY(store_ask_words(ctx, e->store, in->pool, out->asked.query.stems, out->asked.query.n,
                            in->only.memories, FOUND_HITS_MAX));
    TRY(past_open(ctx, e, in->pool, in->only.as_of, &out->past));
    TRY(tombstones_load(ctx, e, in->pool, &out->tombstones));
    if (in->only.as_of) /* what was replaced, or ended, later than that was true */
        tombstones_lift(&out->tombstones, 1 << BAR_SUPERSEDED | 1 << BAR_EXPIRED, in->only.as_of);
    return OK;
}

/* Scores of several spaces are compared as they are, since they are probabilities. */
static bool is_before(const struct recalled *x, const struct recalled *y)
{
    return x->score != y->score ? x->score > y->score : recalled_created(x) > recalled_created(y);
}

/* The space whose next result is the best; n_spaces: none has one. */
static size_t best_space(const struct finder *f, const size_t *taken)
{
    size_t best = f->n_spaces;
    for (size_t i = 0; i < f->n_spaces; i++) {
        const struct finder *one = &f->spaces[i];
        if (taken[i] < one->n &&
            (best == f->n_spaces ||
             is_before(&one->found[taken[i]], &f->spaces[best].found[taken[best]])))
            best = i;
    }
    return best;
}

void find_name_space(const struct finder *f, struct recalled *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i].space = f->in->pool.space;
}

/* What made the best result is what is told of the whole search. */
static void tell_steps(struct finder *f, const struct finder *best)
{
    const enum weights weighed = f->how.weighed; /* a set of weights is of one space */
    memcpy(f->asked.weights, best->asked.weights, sizeof f->asked.weights);
    f->how = best->how;
    f->how.weighed = weighed;
}

/* Each space keeps its order. */
static void merge_spaces(struct finder *f)
{
    struct arena *a = &f->ctx->arena;
    size_t all = 0, best, *taken = NEW_N(a, size_t, f->n_spaces + 1);
    for (size_t i = 0; i < f->n_spaces; i++)
        all += f->spaces[i].n;
    f->found = NEW_N(a, struct recalled, all + 1);
    for (f->n = 0; (best = best_space(f, taken)) < f->n_spaces; f->n++) {
        f->found[f->n] = f->spaces[best].found[taken[best]++];
        if (!f->n)
            tell_steps(f, &f->spaces[best]);
    }
    assert(f->n == all);
    if (!f->n && f->n_spaces)
        tell_steps(f, f->spaces);
}

enum status find_in_scope(struct finder *f, size_t limit)
{
    bool is_newest = f->in->by.strategy == STRATEGY_RECENT;
    for (size_t i = 0; i < f->n_spaces; i++) {
        TRY((is_newest ? find_newest : find_answers)(&f->spaces[i], limit));
        find_name_space(&f->spaces[i], f->spaces[i].found, f->spaces[i].n);
    }
    if (f->spaces == f)
        return OK;
    merge_spaces(f);
    f->n = f->n < limit ? f->n : limit;
    return OK;
}

/* --- what may be shown --- */

/* Linear: callers exclude the messages of one conversation that the model reads anyway. */
static bool is_excluded(const struct recall_in *in, str id)
{
    return id.n && SOME(i, in->seen.n, str_eq(in->seen.ids[i], id));
}

/* By its state and not its words. The episode of the running session is left out, as it retells
 * what the model reads. */
bool find_wants(const struct finder *f, const struct recalled *r)
{
    const struct recall_in *in = f->in;
    const struct memory *memory = &r->memory;
    str id = recalled_id(r), session = r->is_memory ? memory->session : r->message.session;
    int64_t created = recalled_created(r);
    /* What was said before 1970 has a negative time. */
    bool is_old = (in->only.after && created < in->only.after) ||
                  (in->only.as_of && created > in->only.as_of);
    bool is_within = in->scope != SCOPE_SESSION || str_eq(in->within, session);
    if (!id.n || !is_within || is_old || is_excluded(in, id))
        return false;
    if (!r->is_memory)
        return !r->message.is_echo || str_trim(r->message.says).n;
    bool is_of_now =
        in->seen.session.n && memory->layer == LAYER_EPISODE && str_eq(session, in->seen.session);
    bool is_over =
        memory->valid_to || memory->superseded_by.n ||
        (memory->expires && memory->expires <= (in->only.as_of ? in->only.as_of : clock_ms()));
    return !is_over && !is_of_now &&
           (!is_excluded(in, memory->source) || tombstones_touch(&f->tombstones, memory->source)) &&
           (!in->only.layer.n || str_is(in->only.layer, layer_names[memory->layer])) &&
           (!in->only.type.n || str_is(in->only.type, type_names[memory->type]));
}

bool find_shows(const struct finder *f, struct recalled *r)
{
    return find_wants(f, r) && tombstones_keep(&f->tombstones, &f->ctx->arena, r);
}

const struct recalled *recalled_find(const struct recalled *v, size_t n, const struct recalled *r)
{
    for (size_t i = 0; i < n; i++)
        if (recalled_is(&v[i], r))
            return &v[i];
    return NULL;
}

str found_text(const struct recalled *r)
{
    if (r->is_memory)
        return r->memory.content;
    if (r->part.quotable.n)
        return r->part.quotable;
    return r->message.is_echo ? str_trim(r->message.says) : r->message.text;
}

struct quotable found_quotable(const struct finder *f, const struct message *m)
{
    struct message left = *m;
    *(m->is_echo ? &left.says : &left.text) = tombstones_left(&f->tombstones, &f->ctx->arena, m);
    struct quotable given = quotable_of(&f->ctx->arena, &left);
    if (!given.text.n && !given.why)
        given.why = "its text is suppressed";
    return given;
}

str found_stated(const struct finder *f, struct recalled *r)
{
    const struct message *m = &r->message;
    if (!m->id.n || !str_is(m->role, "user") || m->speaker.n || !find_wants(f, r))
        return S("");
    return r->part.quotable = found_quotable(f, m).text;
}
