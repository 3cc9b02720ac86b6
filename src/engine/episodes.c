/* episodes.c - which episodes have had their time, and which say the same as an earlier one. */
#include "engine/consolidate.h"

#include "base/time_text.h"

/*
 * Two are near-duplicates when their shingles overlap by nine tenths (Jaccard). The later one is
 * closed in favour of the earlier, which takes over what it lists and the day it was held on: an
 * episode is as old as the last conversation it stands for.
 */
#define ALIKE 0.9

enum { PAGE = 1000, EPISODE_METADATA_MAX = 1 << 20 };

static const char *const list_names[LIST_COUNT] = {"topics", "entities", "decisions",
                                                   "action_items"};

/* --- reading --- */

static bool holds(const struct strs *list, str text)
{
    for (size_t i = 0; i < list->n; i++)
        if (str_eq_nocase(list->v[i], text))
            return true;
    return false;
}

static void unite(struct arena *a, struct strs *list, const struct strs *with)
{
    str *v = NEW_N(a, str, list->n + with->n + 1);
    if (list->n)
        memcpy(v, list->v, list->n * sizeof *v);
    list->v = v;
    for (size_t i = 0; i < with->n; i++)
        if (!holds(list, with->v[i]))
            list->v[list->n++] = with->v[i];
}

static struct strs list_of(struct arena *a, const struct json *metadata, const char *name)
{
    const struct json *array = json_get(metadata, name);
    struct strs list = {0};
    if (!array || array->type != JSON_ARRAY)
        return list;
    list.v = NEW_N(a, str, array->n + 1);
    for (const struct json *v = array->first; v; v = v->next)
        if (v->type == JSON_STRING && v->string.n)
            list.v[list.n++] = v->string;
    return list;
}

static struct strs list_with_text(struct arena *a, const struct json *metadata, const char *name)
{
    str text = json_string(json_get(metadata, name));
    if (!text.n)
        return list_of(a, metadata, name);
    struct strs one = {NEW(a, str), 1};
    one.v[0] = text;
    return one;
}

/*
 * Each bit that differs between two sketches comes from a shingle that only one of them has, so
 * most pairs are told apart without looking at their shingles.
 */
static void measure(struct arena *a, struct episode *e)
{
    struct buf b = buf_make(a, EPISODE_METADATA_MAX);
    buf_add(&b, e->memory.content);
    for (size_t i = 0; i < e->lists[LIST_TOPICS].n; i++) {
        buf_byte(&b, ' ');
        buf_add(&b, e->lists[LIST_TOPICS].v[i]);
    }
    e->alike = rank_shingles(a, buf_str(&b));
    memset(e->sketch, 0, sizeof e->sketch);
    for (size_t i = 0; i < e->alike.n; i++) {
        uint64_t bit = e->alike.v[i] * 0x9E3779B97F4A7C15u >> 56;
        e->sketch[bit >> 6] |= (uint64_t)1 << (bit & 63);
    }
}

static void read_episode(struct ctx *ctx, const struct memory *m, struct episode *out)
{
    struct json *metadata = NULL;
    int64_t latest;
    *out = (struct episode){.memory = *m, .latest = m->created};
    if (m->metadata.n && json_parse(ctx, m->metadata, &metadata) != OK)
        ctx_clear_failure(ctx);
    out->metadata = metadata;
    for (int i = 0; i < LIST_COUNT; i++)
        out->lists[i] = list_with_text(&ctx->arena, metadata, list_names[i]);
    str held = json_string(json_get(metadata, "latest"));
    if (held.n && time_read(held, &latest) && latest > out->latest)
        out->latest = latest;
}

/* --- retention --- */

static bool is_too_old(const struct pass *p, const struct episode *e)
{
    return p->by->episode_days > 0 && e->latest < p->now - p->by->episode_days * DAY_MS;
}

static void prune(struct pass *p, const struct episode *e)
{
    struct arena *a = &p->ctx->arena;
    struct consolidation *c = &p->change;
    c->erase = arena_more(a, (str *)c->erase, c->n_erase, &p->cap_erase, sizeof *c->erase);
    ((str *)c->erase)[c->n_erase++] = str_dup(a, e->memory.id);
    p->report.pruned++;
    pass_note(p, "prune", &e->memory,
              str_printf(a, "older than %lld days", (long long)p->by->episode_days));
}

/* One page of what was made before the retention, closed ones too. */
static enum status prune_page(struct pass *p, struct memory_filter *f)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    struct memory *v;
    struct episode e;
    size_t n;
    int64_t total;
    enum status s = store_list_memories(&own, p->e->store, f, &v, &n, &total);
    if (s != OK)
        return fail(p->ctx, s, "%s", own.why);
    for (size_t i = 0; i < n; i++) {
        read_episode(&own, &v[i], &e);
        if (is_too_old(p, &e))
            prune(p, &e);
    }
    f->offset += n;
    f->limit = n == f->limit ? f->limit : 0;
    return OK;
}

static enum status prune_old(struct pass *p)
{
    struct memory_filter f = {.pool = p->change.pool,
                              .layer = S("episode"),
                              .with_closed = true,
                              .with_expired = true,
                              .before = p->now - p->by->episode_days * DAY_MS,
                              .oldest_first = true,
                              .limit = PAGE};
    while (p->by->episode_days > 0 && f.limit)
        TRY(prune_page(p, &f));
    return OK;
}

enum status episodes_read(struct pass *p)
{
    struct memory_filter f = {.pool = p->change.pool, .layer = S("episode"), .limit = MERGED_AMONG};
    struct memory *v;
    size_t n;
    int64_t total;
    TRY(prune_old(p));
    TRY(store_list_memories(p->ctx, p->e->store, &f, &v, &n, &total));
    p->episodes = NEW_N(&p->ctx->arena, struct episode, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct episode *e = &p->episodes[n - 1 - i];
        read_episode(p->ctx, &v[i], e);
        e->is_gone = is_too_old(p, e) || e->memory.updated > p->change.seen;
        measure(&p->ctx->arena, e);
    }
    p->n_episodes = n;
    p->report.looked_at += total;
    return OK;
}

/* --- merging --- */

static bool is_alike(const struct episode *a, const struct episode *b)
{
    size_t all = a->alike.n + b->alike.n, differ = 0;
    for (int i = 0; i < 4; i++) {
        differ += (size_t)__builtin_popcountll(a->sketch[i] ^ b->sketch[i]);
        if (differ * 19 > all) /* J >= 0.9 means differ <= all * (1 - J) / (1 + J) */
            return false;
    }
    return rank_jaccard(&a->alike, &b->alike) >= ALIKE;
}

static void merge(struct pass *p, struct episode *keep, struct episode *drop)
{
    struct arena *a = &p->ctx->arena;
    struct consolidation *c = &p->change;
    for (int i = 0; i < LIST_COUNT; i++)
        unite(a, &keep->lists[i], &drop->lists[i]);
    if (drop->latest > keep->latest)
        keep->latest = drop->latest;
    drop->is_gone = true;
    keep->has_grown = true;
    measure(a, keep);
    c->merges = arena_more(a, c->merges, c->n_merges, &p->cap_merges, sizeof *c->merges);
    c->merges[c->n_merges++] = (struct merged){.keep = keep->memory.id, .drop = drop->memory.id};
    p->report.merged++;
    pass_note(p, "merge", &drop->memory,
              str_printf(a, "says the same as " S_FMT, S_ARG(keep->memory.id)));
}

static bool is_listed(str key)
{
    for (int i = 0; i < LIST_COUNT; i++)
        if (str_is(key, list_names[i]))
            return true;
    return str_is(key, "latest");
}

/* What it says besides stays as it is. */
static str metadata_of(struct ctx *ctx, const struct episode *e)
{
    struct buf b = buf_make(&ctx->arena, EPISODE_METADATA_MAX);
    struct json_out w = json_to(&b);
    json_open(&w, '{');
    for (const struct json *m = e->metadata ? e->metadata->first : NULL; m; m = m->next)
        if (!is_listed(m->key)) {
            json_key(&w, str_c(&ctx->arena, m->key));
            json_raw(&w, m->source);
        }
    for (int i = 0; i < LIST_COUNT; i++) {
        json_key(&w, list_names[i]);
        json_open(&w, '[');
        for (size_t k = 0; k < e->lists[i].n; k++)
            json_str(&w, e->lists[i].v[k]);
        json_close(&w, ']');
    }
    json_key(&w, "latest");
    json_time(&w, e->latest);
    json_close(&w, '}');
    return b.full ? e->memory.metadata : buf_str(&b);
}

/* Each merge says what its keeper says in the end, so whichever is left out, the others hold. */
static void write_metadata(struct pass *p)
{
    struct consolidation *c = &p->change;
    for (size_t i = 0; i < p->n_episodes; i++) {
        const struct episode *e = &p->episodes[i];
        if (!e->has_grown)
            continue;
        str metadata = metadata_of(p->ctx, e);
        for (size_t k = 0; k < c->n_merges; k++)
            if (str_eq(c->merges[k].keep, e->memory.id))
                c->merges[k].metadata = metadata;
    }
}

/* What took over the topics of another one may be like a third by now, so this goes on until
 * nothing changes: a second pass finds nothing to do. */
void episodes_merge(struct pass *p)
{
    bool has_merged = true;
    while (has_merged) {
        has_merged = false;
        for (size_t i = 0; i < p->n_episodes; i++)
            for (size_t k = i + 1; k < p->n_episodes && !p->episodes[i].is_gone; k++)
                if (!p->episodes[k].is_gone && is_alike(&p->episodes[i], &p->episodes[k])) {
                    merge(p, &p->episodes[i], &p->episodes[k]);
                    has_merged = true;
                }
    }
    write_metadata(p);
}
