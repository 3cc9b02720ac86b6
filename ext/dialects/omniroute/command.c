/* command.c - compacts old memories on the command line, and opens them again. */
#include "ext/dialects/omniroute/common.h"

#include "app/command.h"
#include "app/instance.h"
#include "app/print.h"

/*
 * compact runs the same compaction as OmniRoute's endpoint, and reopen is the way back from one
 * summary. Both work on the database directly. With --dry-run compact reports what it would do, and
 * reopen lists what it would open again.
 */

/* "kept" lines say by reason what was left alone, so that a run that changes little explains
 * itself. */
static void print_report(const struct condense_out *r)
{
    printf("%s%lld of %lld old memories in %lld summaries: %lld tokens become %lld\n",
           r->dry_run ? "would put " : "", (long long)r->replaced, (long long)r->considered,
           (long long)r->n_summaries, (long long)r->before, (long long)r->after);
    if (r->asks_model)
        printf("the core model would be asked about %lld of them\n", (long long)r->asks_model);
    for (size_t i = 0; i < SKIP_COUNT; i++)
        if (r->skipped[i])
            printf("kept, %-8s  %lld\n", condense_skip_names[i], (long long)r->skipped[i]);
    for (size_t i = 0; i < r->summaries.n; i++)
        printf("summary " S_FMT "\n", S_ARG(r->summaries.v[i]));
    if (r->is_cut)
        puts("cut short; another run goes on from there");
}

/* Without --space in every space of the user. */
static enum status run_compact(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    struct condense_in in = {.pool = {o->user, options_has(o, "space") ? o->space : S("")},
                             .older_than_days = o->older_than,
                             .dry_run = o->dry_run};
    struct condense_out done;
    TRY(instance_open(ctx, o, o->dry_run ? TO_READ : TO_CHANGE, &instance));
    TRY(engine_condense(ctx, instance.engine, &in, &done));
    if (!o->json) {
        print_report(&done);
        return OK;
    }
    struct buf b = buf_make(&ctx->arena, PRINT_MAX);
    TRY(condensed_json(ctx, &done, &b));
    return print_buf(&b);
}

static enum status print_replaced(struct ctx *ctx, const struct options *o, struct engine *e,
                                  struct pool_ref pool)
{
    struct memory *v;
    size_t n;
    TRY(engine_replaced(ctx, e, pool, o->words.v[1], &v, &n));
    if (o->json) {
        struct buf b = buf_make(&ctx->arena, PRINT_MAX);
        TRY(surface_memories_json(ctx, v, n, (int64_t)n, &b));
        return print_buf(&b);
    }
    for (size_t i = 0; i < n; i++) {
        printf(S_FMT "  " S_FMT "  ", S_ARG(v[i].id), S_ARG(date_of(&ctx->arena, v[i].created)));
        print_line(v[i].content);
    }
    return OK;
}

/* The id says which space it is in. */
static enum status run_reopen(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    struct pool_ref pool = {.user = o->user, .space = options_has(o, "space") ? o->space : S("")};
    int64_t n;
    TRY(instance_open(ctx, o, o->dry_run ? TO_READ : TO_CHANGE, &instance));
    if (o->dry_run)
        return print_replaced(ctx, o, instance.engine, pool);
    TRY(engine_reopen(ctx, instance.engine, pool, o->words.v[1], &n));
    printf(o->json ? "{\"reopened\":%lld}\n" : "reopened %lld\n", (long long)n);
    return OK;
}

const struct command omniroute_commands[] = {
    {"compact", "compact [--older-than DAYS] [--dry-run] [--space NAME]",
     "Replace old memories by short summaries, where that saves tokens; reopen undoes it",
     "compact --older-than 90 --dry-run", POOL "older_than dry_run ", 0, 0, NULL, run_compact,
     false, "all spaces of the user"},
    {"reopen", "reopen ID [--dry-run]",
     "Undo a compaction: restore the memories that a summary replaced; with --dry-run list them",
     "reopen ID --dry-run", POOL "dry_run ", 1, 1, NULL, run_reopen, false,
     "all spaces of the user"},
    {0},
};
