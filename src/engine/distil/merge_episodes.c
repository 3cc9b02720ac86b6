/* merge_episodes.c - episodes that are too old, and those that repeat an earlier one. */
#include "engine/distil/consolidate.h"

#include "base/time_text.h"

/*
 * Two episodes are near-duplicates when their shingles overlap by nine tenths (Jaccard), and no
 * number, name or denial differs. The later one is closed. The earlier one takes over its lists and
 * its date: an episode is as old as the last conversation that it covers.
 *
 * Cost: up to MERGED_AMONG episodes are compared with each other, half a million pairs. Only of two
 * of about the same length the shingles are counted, as J is at most the shorter by the longer.
 */
#define ALIKE 0.9

enum { EPISODE_METADATA_MAX = 1 << 20 };

static const char *const list_names[LIST_COUNT] = {"topics", "entities", "decisions",
                                                   "action_items"};

/* --- reading --- */

/* Without regard to case: models write "Oslo" and "oslo". */
static void unite_lists(struct arena *a, struct strs *list, const struct strs *with)
{
    list->v = DUP_N(a, list->v, list->n, list->n + with->n + 1);
    for (size_t i = 0; i < with->n; i++)
        if (!SOME(k, list->n, str_eq_nocase(list->v[k], with->v[i])))
            list->v[list->n++] = with->v[i];
}

/* Clients may have written the metadata: one text is a list of one, and anything else is empty. */
static struct strs list_of(struct arena *a, const struct json *metadata, const char *name)
{
    const struct json *v = json_get(metadata, name);
    bool is_list = v && v->type == JSON_ARRAY;
    struct strs list = {.v = NEW_N(a, str, is_list ? v->n + 1 : 1)};
    for (v = is_list ? v->first : v; v; v = is_list ? v->next : NULL)
        if (v->type == JSON_STRING && json_string(v).n)
            list.v[list.n++] = json_string(v);
    return list;
}

str episode_text(struct arena *a, const struct episode *e, size_t lists)
{
    struct buf b = buf_make(a, EPISODE_METADATA_MAX);
    buf_add(&b, e->memory.content);
    for (size_t i = 0; i < lists; i++)
        for (size_t k = 0; k < e->lists[i].n; k++) {
            buf_byte(&b, ' ');
            buf_add(&b, e->lists[i].v[k]);
        }
    return buf_str(&b);
}

static void read_shingles(struct arena *a, struct episode *e)
{
    e->alike = shingles_of(a, episode_text(a, e, LIST_TOPICS + 1));
    e->says = saying_of(a, e->memory.content);
}

static void read_episode(struct ctx *ctx, const struct memory *m, struct episode *out)
{
    const struct json *metadata = json_of_text(ctx, m->metadata);
    int64_t latest;
    *out = (struct episode){.memory = *m, .latest = m->created, .metadata = metadata};
    for (int i = 0; i < LIST_COUNT; i++)
        out->lists[i] = list_of(&ctx->arena, metadata, list_names[i]);
    if (time_read(json_string(json_get(metadata, "latest")), &latest) && latest > out->latest)
        out->latest = latest;
}

/* --- retention --- */

static bool is_too_old(const struct pass *p, const struct episode *e)
{
    return p->by->episode_days > 0 && e->latest < p->now - p->by->episode_days * DAY_MS;
}

/* Erased and not closed: retention means that nothing is left of it. */
static void prune_if_old(struct pass *p, struct ctx *own, struct memory *m)
{
    struct arena *a = &p->ctx->arena;
    struct consolidation *c = &p->change;
    struct episode e;
    read_episode(own, m, &e);
    if (!is_too_old(p, &e))
        return;
    ARENA_ADD(a, c->erase, c->n_erase, p->cap_erase) = str_dup(a, m->id);
    p->report.pruned++;
    pass_note(p, "prune", m, str_printf(a, "older than %lld days", (long long)p->by->episode_days));
}

/* Closed ones, too. */
static enum status prune_old(struct pass *p)
{
    const struct memory_filter f = {.layer = S("episode"),
                                    .with_closed = true,
                                    .with_expired = true,
                                    .before = p->now - p->by->episode_days * DAY_MS};
    return p->by->episode_days > 0 ? pass_each(p, f, prune_if_old) : OK;
}

/* Oldest first, so that of a pair the earlier episode is kept. Those changed since the pass began
 * count as gone: the store would refuse to merge them. */
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
        read_shingles(&p->ctx->arena, e);
    }
    p->n_episodes = n;
    p->report.looked_at += total;
    return OK;
}

/* --- merging --- */

static bool is_alike(const struct episode *a, const struct episode *b)
{
    double x = (double)a->alike.n, y = (double)b->alike.n;
    return x >= ALIKE * y && y >= ALIKE * x && terms_jaccard(&a->alike, &b->alike) >= ALIKE &&
           sayings_agree(&a->says, &b->says);
}

/* In memory only; the pass writes it. keep's shingles are read again, as it has more topics now. */
static void merge_pair(struct pass *p, struct episode *keep, struct episode *drop)
{
    struct arena *a = &p->ctx->arena;
    struct consolidation *c = &p->change;
    assert(keep != drop && !keep->is_gone && !drop->is_gone);
    for (int i = 0; i < LIST_COUNT; i++)
        unite_lists(a, &keep->lists[i], &drop->lists[i]);
    if (drop->latest > keep->latest)
        keep->latest = drop->latest;
    drop->is_gone = true;
    keep->has_grown = true;
    read_shingles(a, keep);
    ARENA_ADD(a, c->merges, c->n_merges, p->cap_merges) =
        (struct merged){.keep = keep->memory.id, .drop = drop->memory.id};
    p->report.merged++;
    pass_note(p, "merge", &drop->memory,
              str_printf(a, "says the same as " S_FMT, S_ARG(keep->memory.id)));
}

/* Other members of the metadata are kept unchanged. */
static str metadata_of(struct ctx *ctx, const struct episode *e)
{
    struct json_out w = json_in(&ctx->arena, EPISODE_METADATA_MAX);
    json_open(&w, '{');
    for (const struct json *m = e->metadata ? e->metadata->first : NULL; m; m = m->next) {
        str name = json_name(m);
        if (!str_is(name, "latest") && !SOME(i, LIST_COUNT, str_is(name, list_names[i])))
            json_member_raw(&w, str_c(&ctx->arena, name), m->source);
    }
    for (int i = 0; i < LIST_COUNT; i++) {
        json_member_open(&w, list_names[i], '[');
        for (size_t k = 0; k < e->lists[i].n; k++)
            json_str(&w, e->lists[i].v[k]);
        json_close(&w, ']');
    }
    json_key(&w, "latest");
    json_time(&w, e->latest);
    json_close(&w, '}');
    return w.b->full ? e->memory.metadata : buf_str(w.b);
}

/* Each merge gets the final metadata of its keeper: the store may skip a merge whose memories were
 * changed meanwhile, and the others must be right without it. */
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

/* An episode that took over topics may now be like a third one, so merging is repeated until
 * nothing changes. A second consolidation then finds nothing to do. */
void episodes_merge(struct pass *p)
{
    int64_t merged;
    do {
        merged = p->report.merged;
        for (size_t i = 0; i < p->n_episodes; i++)
            for (size_t k = i + 1; k < p->n_episodes && !p->episodes[i].is_gone; k++)
                if (!p->episodes[k].is_gone && is_alike(&p->episodes[i], &p->episodes[k]))
                    merge_pair(p, &p->episodes[i], &p->episodes[k]);
    } while (p->report.merged > merged);
    write_metadata(p);
}
