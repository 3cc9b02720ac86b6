/* prune_transcript.c - conversations that ended before the retention lose their turns. */
#include "engine/distil/consolidate.h"

/*
 * The setting is for episodes and for the transcript. By its default both would go after a year,
 * and so would each old chat that someone imports: nobody loses what was said for a default. The
 * turns go only when someone has set the days.
 *
 * Pages of such sessions are read from the oldest on. Reading and erasing are two steps: a dry run
 * only reads.
 */
enum { PAGE = 500 };

static void note_old(struct pass *p, const struct session *session)
{
    struct arena *a = &p->ctx->arena;
    const struct memory shown = {.id = session->id, .content = session->title};
    ARENA_ADD(a, p->old, p->n_old, p->cap_old) = str_dup(a, session->id);
    p->report.pruned++;
    pass_note(p, "prune", &shown,
              str_printf(a, "%lld turns, the last older than %lld days",
                         (long long)session->messages, (long long)p->by->episode_days));
}

enum status transcript_read(struct pass *p)
{
    struct session_filter f = {.pool = p->change.pool,
                               .before = p->now - p->by->episode_days * DAY_MS,
                               .limit = 1};
    struct session *v;
    size_t n;
    int64_t total;
    if (!runtime_prunes(p->by) || p->by->episode_days <= 0)
        return OK;
    TRY(store_sessions(p->ctx, p->e->store, &f, &v, &n, &total));
    for (size_t end = (size_t)total; end > 0; end = f.offset) {
        CLEANUP(ctx_free) struct ctx own = ctx_child(p->ctx, 0);
        f.offset = end > PAGE ? end - PAGE : 0;
        f.limit = end - f.offset;
        TRY(ctx_pass(p->ctx, &own, store_sessions(&own, p->e->store, &f, &v, &n, NULL)));
        for (size_t i = 0; i < n; i++)
            if (v[i].messages > 0)
                note_old(p, &v[i]);
    }
    return OK;
}

/* Memories of the session stay (keeps_memories): the days are for what was said word by word. */
enum status transcript_prune(struct pass *p)
{
    assert(!p->report.dry_run);
    for (size_t i = 0; i < p->n_old; i++) {
        int64_t erased;
        struct forget what = {.pool = p->change.pool,
                              .session = p->old[i],
                              .keeps_memories = true,
                              .is_upkeep = true};
        TRY(soft_or(p->ctx, store_forget(p->ctx, p->e->store, &what, &erased), NOT_FOUND));
    }
    return OK;
}
