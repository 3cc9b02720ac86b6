/* sink.c - one import: what its readers give goes through it into the store. */
#include "ext/import/sink.h"

enum {
    PROGRESS_STEP = 1 << 18, /* bytes between two calls */
    PROBLEM_MAX = 1000       /* characters: a path and the rule */
};

void import_note(struct import_run *run, str path, const char *what, int64_t no)
{
    struct import_report *r = run->report;
    struct arena *a = &run->ctx->arena;
    struct ctx *from = &run->record;
    r->broken++;
    if (r->problems.n < IMPORT_PROBLEMS_MAX) {
        str place = no ? str_printf(a, ", %s %lld", what, (long long)no) : S("");
        str problem = str_printf(a, S_FMT S_FMT ": %s%s%s", S_ARG(path), S_ARG(place), from->field,
                                 from->field[0] ? ": " : "", from->why);
        r->problems.v[r->problems.n++] = engine_line(a, problem, PROBLEM_MAX);
    }
    ctx_clear_failure(from);
}

void import_progress(struct import_run *run, int64_t done)
{
    int64_t now = run->done + done;
    if (!run->in->progress || (now - run->told < PROGRESS_STEP && now < run->all))
        return;
    run->told = now;
    run->in->progress(now, run->all);
}

enum status import_write_memories(struct import_run *run)
{
    struct bundle b = {.pool = run->in->pool,
                       .memories = run->memories,
                       .n_memories = run->n_memories,
                       .rule = PUT_IMPORT};
    enum status s = OK;
    if (run->n_memories && !run->in->dry_run)
        s = quota_check(&run->batch, run->e, b.pool,
                        (struct quota){.memories = (int64_t)run->n_new,
                                       .bytes = run->n_new ? (int64_t)run->bytes : 0});
    if (s == OK && run->n_memories && !run->in->dry_run)
        s = store_write(&run->batch, run->e->store, &b);
    s = importer_pass(&run->record, &run->batch, s);
    run->memories = NULL;
    run->n_memories = run->n_new = run->bytes = 0;
    arena_reset(&run->batch.arena);
    return s;
}
