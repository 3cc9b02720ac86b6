/* consolidate.h - a pass over one pool: what it looks at, what it decides, and its report. */
#pragma once

#include "base/clock.h"
#include "engine/dedup/equivalence.h"
#include "engine/state/state.h"
#include "engine/text/rank.h"

enum { MERGED_AMONG = 1000, PROMOTED_BY = 200 }; /* newest episodes that are looked at */

/* What an episode's metadata lists. */
enum listed { LIST_TOPICS, LIST_ENTITIES, LIST_DECISIONS, LIST_ACTIONS, LIST_COUNT };

struct episode {
    struct memory memory;
    const struct json *metadata;
    struct strs lists[LIST_COUNT]; /* its own, and those of what was merged into it */
    int64_t latest;                /* when the last of these was, unix ms */
    struct term_set alike;         /* of summary and topics */
    struct saying says;            /* the summary */
    bool is_gone;                  /* merged into another one, or too old */
    bool has_grown;
};

struct pass {
    struct ctx *ctx;
    struct engine *e;
    const struct settings *by;
    int64_t now;
    struct consolidation change;
    size_t cap_evict, cap_merges, cap_raises, cap_erase, cap_lines, cap_old;
    str *old; /* sessions whose turns are past the retention */
    size_t n_old;
    struct consolidate_report report;
    struct episode *episodes; /* oldest first */
    size_t n_episodes;
    struct mentions *mentions; /* by these */
};

/* The summary of an episode with the texts of its first lists: 1 is the topics, 2 also entities. */
str episode_text(struct arena *a, const struct episode *e, size_t lists);

/* A line of the report; of more than 200 only the first are kept. */
void pass_note(struct pass *p, const char *what, const struct memory *m, str why);

/* Each memory that the filter finds in the pool, the oldest first. own: of its page alone. */
MUST_USE enum status pass_each(struct pass *p, struct memory_filter f,
                               void (*look)(struct pass *p, struct ctx *own, struct memory *m));

/* --- merge_episodes.c --- */

/* What is older than the retention goes, and the newest of the rest are read. */
MUST_USE enum status episodes_read(struct pass *p);
/* Near-duplicates become one: the earliest, with what the others list. */
void episodes_merge(struct pass *p);

/* --- prune_transcript.c --- */

/* Finds the conversations that ended before the retention. */
MUST_USE enum status transcript_read(struct pass *p);
/* Erases their turns. What was learnt from them stays. */
MUST_USE enum status transcript_prune(struct pass *p);

/* --- consolidate.c --- */

/* The counts of a report, as they are logged and shown. */
extern const struct field consolidate_report_fields[];
/* Adds a report of another ctx to a sum, whose lines have place for *cap. */
void report_add(struct ctx *ctx, struct consolidate_report *to, size_t *cap,
                const struct consolidate_report *from);

/* engine_consolidate and engine_consolidate_some at a given time. */
MUST_USE enum status consolidate_at(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                    bool dry_run, int64_t now, struct consolidate_report *out);
MUST_USE enum status consolidate_some_at(struct ctx *ctx, struct engine *e, int64_t now,
                                         bool *more);
