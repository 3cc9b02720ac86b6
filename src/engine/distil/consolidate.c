/* consolidate.c - memories with time: merged, promoted, evicted, pruned. */
#include "engine/distil/consolidate.h"

#include <unistd.h>

#include "engine/extract/extract.h"
#include "engine/text/content_key.h"
#include "engine/text/lexicon.h"
#include "words/words.h"

/*
 * A fact counts as mentioned by an episode that holds two fifths of its words. The share is of the
 * fact's own words (containment), because a short fact never makes up two fifths of a long summary;
 * words that say nothing about the topic do not count, or every summary would mention every fact.
 *
 * The pass runs over one space at a time: read the newest episodes, merge near repeats
 * (merge_episodes.c), raise the salience of facts that many recent episodes mention, mark faded
 * facts for eviction, and prune old transcripts where a number of days is set. All changes except
 * pruning are one write at the end, so a pass that is cut short changes nothing.
 *
 * engine/distil.h has the rules behind the numbers. PAGE rows are read at once; LINES_MAX bounds
 * the report, not the work.
 */
enum { IDLE_DAYS = 30, MENTION_DAYS = 60, MENTIONS = 3 };
enum { PAGE = 5000, LINES_MAX = 200, WORDS_MAX = 4000, TEXT_MAX = 1 << 20, WAIT_MS = 5000 };
#define MENTION 0.4
#define STEP 0.05

void pass_note(struct pass *p, const char *what, const struct memory *m, str why)
{
    struct arena *a = &p->ctx->arena;
    struct consolidate_report *r = &p->report;
    if (r->n == LINES_MAX)
        return;
    ARENA_ADD(a, r->lines, r->n, p->cap_lines) = (struct consolidate_line){
        .what = str_of(what), .id = str_dup(a, m->id), .text = str_dup(a, m->content), .why = why};
}

/* A page in a child ctx, so that a pool of any size needs the memory of one page. */
enum status pass_each(struct pass *p, struct memory_filter f,
                      void (*look)(struct pass *p, struct ctx *own, struct memory *m))
{
    struct memory *v;
    f.pool = p->change.pool;
    f.oldest_first = true;
    f.limit = PAGE;
    for (size_t n = PAGE; n == PAGE; f.offset += n) {
        CLEANUP(ctx_free) struct ctx own = ctx_child(p->ctx, 0);
        TRY(ctx_pass(p->ctx, &own, store_list_memories(&own, p->e->store, &f, &v, &n, NULL)));
        for (size_t i = 0; i < n; i++)
            look(p, &own, &v[i]);
    }
    return OK;
}

/* --- which episodes mention a fact --- */

struct mention {
    int64_t word; /* a hash, sought by doc_place */
    size_t episode;
};
struct mentions {
    struct mention *v; /* by word */
    size_t n;
};

/* Stems of the words that say something, as shingles. */
static struct term_set topic_of(struct arena *a, str text)
{
    struct words words = words_of(a, text, WORDS_MAX);
    struct buf b = buf_make(a, TEXT_MAX);
    for (size_t i = 0; i < words.n; i++)
        if (!words.v[i].is_stop && !lexicon_is(words.v[i].text, LEX_USER)) {
            buf_add(&b, words.v[i].stem);
            buf_byte(&b, ' ');
        }
    return shingles_of(a, buf_str(&b));
}

ORDER(by_word, struct mention, UP(word));

/* An inverted index, sorted by word: n facts against m episodes cost n look-ups for each word
 * instead of n times m comparisons. */
static struct mentions mentions_of(const struct pass *p)
{
    struct arena *a = &p->ctx->arena;
    struct mentions m = {0};
    size_t cap = 0, taken = 0;
    for (size_t i = p->n_episodes; i-- > 0 && taken < PROMOTED_BY;) {
        const struct episode *e = &p->episodes[i];
        if (e->is_gone || e->latest < p->now - MENTION_DAYS * DAY_MS)
            continue;
        struct term_set words = topic_of(a, episode_text(a, e, LIST_ENTITIES + 1));
        for (size_t k = 0; k < words.n; k++)
            ARENA_ADD(a, m.v, m.n, cap) = (struct mention){(int64_t)words.v[k], taken};
        taken++;
    }
    SORT(m.v, m.n, by_word);
    return m;
}

/* How many episodes hold at least MENTION of the fact's words; each episode counts once. */
static int64_t count_mentions(struct arena *a, const struct mentions *m, str fact)
{
    size_t shared[PROMOTED_BY] = {0};
    int64_t n = 0;
    struct term_set words = topic_of(a, fact);
    for (size_t i = 0; i < words.n; i++) {
        int64_t word = (int64_t)words.v[i];
        size_t k = doc_place(m->v, m->n, sizeof *m->v, word);
        for (; k < m->n && m->v[k].word == word; k++) {
            assert(m->v[k].episode < PROMOTED_BY);
            shared[m->v[k].episode]++;
        }
    }
    for (size_t i = 0; i < PROMOTED_BY; i++)
        n += shared[i] > 0 && (double)shared[i] >= MENTION * (double)words.n;
    return n;
}

/* --- facts --- */

/* Counted from the importance at first, so another pass over the same episodes adds nothing. */
static void promote_fact(struct pass *p, struct arena *own, struct memory *fact)
{
    const struct mentions *m = p->mentions;
    struct consolidation *c = &p->change;
    bool is_seen = m->n && fact->updated <= c->seen;
    int64_t n = is_seen ? count_mentions(own, m, fact->content) : 0;
    double due = fact->importance + STEP * (double)(n / MENTIONS);
    due = due > 1 ? 1 : due;
    if (n < MENTIONS || due <= fact->salience + STEP / 1000)
        return;
    fact->salience = due;
    ARENA_ADD(&p->ctx->arena, c->raises, c->n_raises, p->cap_raises) =
        (struct raised){.id = str_dup(&p->ctx->arena, fact->id), .salience = due};
    p->report.promoted++;
    pass_note(p, "promote", fact,
              str_printf(&p->ctx->arena, "%lld episodes of the last %d days mention it",
                         (long long)n, MENTION_DAYS));
}

/* Found in what the user said, and not asked to be kept or done from then on. What the compatible
 * table finds has a retention of its own. */
static bool is_by_pattern(const struct memory *fact)
{
    return fact->origin == ORIGIN_USER && fact->importance < ASKED_FOR &&
           !str_is(fact->category, STANDING_CATEGORY) &&
           str_find(fact->metadata, S("\"source\":\"user_message\"")) < fact->metadata.n;
}

/* What nobody chose to keep is forgotten: distilled facts, and those that a pattern has found. What
 * may hurt someone when it is forgotten stays. */
static bool is_forgotten(const struct pass *p, struct arena *own, const struct memory *fact)
{
    int64_t since = p->now - IDLE_DAYS * DAY_MS;
    return (fact->origin == ORIGIN_DISTILLED || is_by_pattern(fact)) && fact->last_used <= since &&
           fact->updated <= since && salience_now(fact, p->now) < p->by->salience_floor &&
           importance_by_rule(own, fact) < priority_least[PRIORITY_CRITICAL];
}

/* Written with the pass; the report's line says how little it was worth. */
static void evict_fact(struct pass *p, const struct memory *fact)
{
    struct arena *a = &p->ctx->arena;
    struct consolidation *c = &p->change;
    assert(fact->origin == ORIGIN_DISTILLED || fact->origin == ORIGIN_USER);
    ARENA_ADD(a, c->evict, c->n_evict, p->cap_evict) = str_dup(a, fact->id);
    p->report.evicted++;
    pass_note(p, "evict", fact,
              str_printf(a, "worth %.3f, and not used for %lld days", salience_now(fact, p->now),
                         (long long)((p->now - fact->last_used) / DAY_MS)));
}

static void tidy_fact(struct pass *p, struct ctx *own, struct memory *fact)
{
    promote_fact(p, &own->arena, fact);
    if (is_forgotten(p, &own->arena, fact))
        evict_fact(p, fact);
    p->report.looked_at++;
}

/* --- a pass --- */

/* The caller holds is_consolidating. `seen` is the time before reading: facts that change later are
 * left alone by the store's write. */
static enum status run_pass(struct pass *p)
{
    const struct consolidation *c = &p->change;
    int64_t changed;
    assert(p->e->work.is_consolidating);
    p->change.seen = clock_ms();
    TRY(episodes_read(p));
    episodes_merge(p);
    struct mentions m = mentions_of(p);
    p->mentions = &m;
    TRY(pass_each(p, (struct memory_filter){.layer = S("fact")}, tidy_fact));
    TRY(transcript_read(p));
    if (p->report.dry_run)
        return OK;
    if (c->n_merges + c->n_evict + c->n_raises + c->n_erase)
        TRY(store_consolidate(p->ctx, p->e->store, c, &changed));
    return transcript_prune(p);
}

/* One pass in the process at a time, of any space. Others wait for at most WAIT_MS. */
static enum status run_alone(struct pass *p)
{
    atomic_bool *busy = &p->e->work.is_consolidating;
    for (int ms = 0; atomic_exchange(busy, true); ms++) {
        if (ms == WAIT_MS || !ctx_has_time(p->ctx))
            return fail(p->ctx, TOO_BUSY, "another consolidation is running");
        usleep(1000);
    }
    enum status s = run_pass(p);
    *busy = false;
    return s;
}

void report_add(struct ctx *ctx, struct consolidate_report *to, size_t *cap,
                const struct consolidate_report *from)
{
    struct arena *a = &ctx->arena;
    to->looked_at += from->looked_at;
    to->merged += from->merged;
    to->promoted += from->promoted;
    to->evicted += from->evicted;
    to->pruned += from->pruned;
    for (size_t i = 0; i < from->n && to->n < LINES_MAX; i++) {
        struct consolidate_line l = from->lines[i];
        STRS_DUP(a, &l.what, &l.id, &l.text, &l.why);
        ARENA_ADD(a, to->lines, to->n, *cap) = l;
    }
}

/* In a child ctx: a user may have thousands of spaces. */
static enum status one_pool(struct ctx *ctx, struct engine *e, struct pool_ref pool, size_t *cap,
                            struct consolidate_report *sum)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    struct pass p = {.ctx = &own,
                     .e = e,
                     .by = engine_runtime(e),
                     .now = sum->began,
                     .change.pool = pool,
                     .report.dry_run = sum->dry_run};
    assert(pool.user.n && pool.space.n);
    TRY(ctx_pass(ctx, &own, run_alone(&p)));
    report_add(ctx, sum, cap, &p.report);
    return OK;
}

/* --- the report --- */

FIELDS(consolidate_report, (INT, looked_at), (INT, merged), (INT, promoted), (INT, evicted),
       (INT, pruned));

/* engine_consolidated reads the last report back from there. */
static enum status log_report(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                              const struct consolidate_report *r, enum status how)
{
    struct json_out w = json_in(&ctx->arena, 4096);
    fields_write(&w, consolidate_report_fields, r);
    bool is_empty = !(r->merged + r->promoted + r->evicted + r->pruned);
    struct work work = {.pool = pool,
                        .kind = S("consolidate"),
                        .status = how == TIMED_OUT ? S("skipped")
                                  : how != OK      ? S("error")
                                  : is_empty       ? S("empty")
                                                   : S("success"),
                        .details = buf_str(w.b),
                        .took_ms = r->took_ms,
                        .created = r->began};
    if (!is_empty)
        log_event(LOG_INFO, "consolidate.done",
                  "merged=%lld promoted=%lld evicted=%lld pruned=%lld", (long long)r->merged,
                  (long long)r->promoted, (long long)r->evicted, (long long)r->pruned);
    return store_log_work(ctx, e->store, &work);
}

enum status engine_consolidated(struct ctx *ctx, struct engine *e, str user,
                                struct consolidate_report *out)
{
    struct pool_ref anywhere = {.user = user};
    struct work *v;
    struct json *details;
    struct consolidate_report found = {0};
    size_t n;
    TRY(store_work_log(ctx, e->store, &anywhere, S("consolidate"), 1, &v, &n));
    if (!n)
        return NOT_FOUND;
    TRY(json_parse(ctx, v->details, &details));
    TRY(fields_read(ctx, consolidate_report_fields, details, false, &found));
    found.began = v->created;
    found.took_ms = v->took_ms;
    *out = found;
    return OK;
}

/* --- the face --- */

/* A pool that fails does not stop the others. */
enum status consolidate_at(struct ctx *ctx, struct engine *e, struct pool_ref pool, bool dry_run,
                           int64_t now, struct consolidate_report *out)
{
    struct consolidate_report sum = {.dry_run = dry_run, .began = now};
    int64_t began_us = clock_mono_us();
    enum status how = OK;
    struct pool_info named = {.pool = pool}, *pools = &named;
    size_t n = 1, cap = 0;
    if (!pool.space.n)
        TRY(store_pools(ctx, e->store, pool.user, &pools, &n));
    for (size_t i = 0; i < n && ctx_has_time(ctx); i++) {
        enum status s = one_pool(ctx, e, pools[i].pool, &cap, &sum);
        how = how == OK ? s : how;
    }
    if (how == OK && !ctx_has_time(ctx))
        how = fail(ctx, TIMED_OUT, "the time limit ended before all spaces were consolidated");
    sum.took_ms = (clock_mono_us() - began_us) / 1000;
    if (!dry_run)
        TRY(log_report(ctx, e, pool, &sum, how));
    TRY(how);
    *out = sum;
    return OK;
}

enum status engine_consolidate(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                               bool dry_run, struct consolidate_report *out)
{
    engine_catch_up(ctx, e, pool);
    return consolidate_at(ctx, e, pool, dry_run, clock_ms(), out);
}

/* A failing user is logged and does not keep the others from their turn. The time is written at the
 * end: a pass that a crash cut short is repeated, which changes nothing that the first one did. */
enum status consolidate_some_at(struct ctx *ctx, struct engine *e, int64_t now, bool *more)
{
    str last;
    int64_t then;
    struct strs users;
    *more = false;
    TRY(store_setting(ctx, e->store, S("consolidated"), &last));
    const struct settings *by = engine_runtime(e);
    /* A time in the future counts as due: a clock that was set back must not stop consolidation. */
    bool is_early =
        str_int(last, &then) && then <= now && now - then < by->consolidation_hours * 3600000;
    if (!by->memory || is_early)
        return OK;
    TRY(store_users(ctx, e->store, S(""), &users));
    for (size_t i = 0; i < users.n && ctx_has_time(ctx); i++) {
        CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
        struct consolidate_report report;
        struct pool_ref all = {.user = users.v[i]};
        if (consolidate_at(&own, e, all, false, now, &report) != OK)
            log_event(LOG_WARN, "consolidate.failed", "id=%s why=\"%s\"", own.id, own.why);
    }
    if (!ctx_has_time(ctx))
        return OK;
    str done = str_printf(&ctx->arena, "%lld", (long long)now);
    return store_put_setting(ctx, e->store, S("consolidated"), done);
}

enum status engine_consolidate_some(struct ctx *ctx, struct engine *e, bool *more)
{
    return consolidate_some_at(ctx, e, clock_ms(), more);
}
