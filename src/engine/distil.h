/* distil.h - a part of the engine's face: what conversations leave behind. */
#pragma once

#include "core/memory.h"
#include "core/work.h"

struct engine;

/* One exchange of a whole conversation. */
struct ingest_turn {
    str user, assistant;
    int64_t date; /* unix ms; 0: the session's */
};
struct ingest_turns_in {
    struct pool_ref pool;
    str conversation;
    const struct ingest_turn *turns;
    size_t n;
    int64_t session_date; /* unix ms; 0: now */
    bool skip_extraction; /* keep the turns, distil nothing */
};
struct ingest_turns_out {
    int64_t turns;
    str distillation; /* distilled, no_signals, skipped:WHY, empty:WHY, pending:WHY, error:WHY; ""
                         when it was to be skipped */
    str episode_id;
};
/* Replaces the conversation by these turns, distils it now if a core model is there, and says what
 * came of it. The same again leaves one episode. */
MUST_USE enum status engine_ingest_turns(struct ctx *ctx, struct engine *e,
                                         const struct ingest_turns_in *in,
                                         struct ingest_turns_out *out);

/* Background: distils what is due, some sessions at once; like engine_embed_some. */
MUST_USE enum status engine_distil_some(struct ctx *ctx, struct engine *e, bool *more);
/* What waits is due now (pool.space "": in all of the user's); dead ones again. */
MUST_USE enum status engine_sync(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                 int64_t *sessions);

struct distil_status {
    str core_model; /* "" without one: turns stay pending */
    bool available;
    str reason;                       /* why nothing is distilled, or the last failure; else "" */
    struct signal_stats signals;      /* its error is "" when the last question went well */
    struct work_sum day;              /* the last 24 hours */
    int64_t hour_tokens, hour_budget; /* spent in the running hour; most, 0: no limit */
};
MUST_USE enum status engine_distil_status(struct ctx *ctx, struct engine *e,
                                          const struct pool_ref *pool, struct distil_status *out);
/* What was done in the background, newest first; space "": in all of the user's; kind "": any. */
MUST_USE enum status engine_work_log(struct ctx *ctx, struct engine *e, const struct pool_ref *pool,
                                     str kind, size_t limit, struct work **out, size_t *n);

/*
 * Consolidation, pool by pool, each all or nothing. Nothing is lost silently: episodes that say the
 * same become one, which lists what each of them listed; facts that the conversations of the last
 * 60 days come back to weigh more, by 0.05 for each full three episodes, counted from the
 * importance they were kept with; what a model distilled or a pattern found, and nobody has used
 * for 30 days, is closed once it is worth less than the floor, and remains as history; episodes
 * older than the retention are erased, and so are the turns of conversations that ended before it
 * when someone has set it. What someone added, imported or asked to be kept, and what is about
 * health, is never closed. A second pass at the same time changes nothing.
 */
struct consolidate_line {
    str what; /* merge, promote, evict, prune */
    str id, text, why;
};
struct consolidate_report {
    bool dry_run;
    int64_t looked_at, merged, promoted, evicted, pruned, began, took_ms;
    struct consolidate_line *lines; /* at most 200 */
    size_t n;
};
/* Of a pool (space "": each of the user's). The report is kept in the work log, without its lines.
 * TOO_BUSY when another one does not end within five seconds, or until the deadline. */
MUST_USE enum status engine_consolidate(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                        bool dry_run, struct consolidate_report *out);
/* {"report": {…}, "changes": […]}, as POST /memory/consolidate answers, with those fields. */
void consolidate_write(struct buf *out, const struct consolidate_report *r,
                       const struct field *report_fields, const struct field *line_fields);
/* The last report about anything of the user's; NOT_FOUND without a note. */
MUST_USE enum status engine_consolidated(struct ctx *ctx, struct engine *e, str user,
                                         struct consolidate_report *out);
/* Background: everyone's pools, when the time has come, which the store remembers. */
MUST_USE enum status engine_consolidate_some(struct ctx *ctx, struct engine *e, bool *more);

/* --- extraction --- */

/* Facts that a text states, by patterns. EXTRACT_TABLE: by the fixed table of the setting's third
 * value. EXTRACT_USER: by mended patterns, weighed by importance_by_rule, without facts below the
 * setting importance_min. Times are now. m (or NULL) is the message with that text: what a named
 * person wishes is not said to the assistant. */
struct memory *engine_extract(struct ctx *ctx, struct engine *e, enum extract_rules rules,
                              const struct message *m, str text, size_t *n);
