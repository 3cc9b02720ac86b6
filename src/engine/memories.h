/* memories.h - a part of the engine's face: memories one by one, and those that are alike. */
#pragma once

#include "core/memory_ops.h"

struct engine;

/* --- memories --- */

/*
 * Keeps one memory; content is required. Defaults: fact, factual, importance_by_rule, origin api.
 * Fills *m as it was kept. Without an id and a key, what says the same as a memory of the same
 * layer and conversation is that memory, which takes what else is given.
 */
MUST_USE enum status engine_add(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                struct memory *m);
/* Whether a memory of the same layer and conversation says this already; *like is that one. */
bool engine_is_said(struct ctx *ctx, struct engine *e, struct pool_ref pool, const struct memory *m,
                    struct memory *like);
/* As engine_add, but a memory with the same key is changed in place, and its metadata is merged.
 * Without a key one is made of the content. */
MUST_USE enum status engine_replace(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                    struct memory *m);
/* Changes a memory in place, under the rules of engine_add. Recall no longer gives what its old
 * content stated. */
MUST_USE enum status engine_change(struct ctx *ctx, struct engine *e, const struct change *change,
                                   struct memory *out);
MUST_USE enum status engine_get(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                                struct memory *out);
MUST_USE enum status engine_list(struct ctx *ctx, struct engine *e, const struct memory_filter *f,
                                 struct memory **out, size_t *n, int64_t *total);
/* A user's spaces, by name. */
MUST_USE enum status engine_spaces(struct ctx *ctx, struct engine *e, str user,
                                   struct pool_info **out, size_t *n);
MUST_USE enum status engine_totals(struct ctx *ctx, struct engine *e, const struct memory_filter *f,
                                   struct memory_totals *out);
/* Recall gives none of the messages' statements that the erased memories and messages made, until
 * they are made again; the other messages stay in their conversations word for word. */
MUST_USE enum status engine_forget(struct ctx *ctx, struct engine *e, const struct forget *what,
                                   int64_t *erased);
/* Removes old receipts, and memories that have expired, whose statements stay barred. */
MUST_USE enum status engine_prune(struct ctx *ctx, struct engine *e, int64_t receipts_before,
                                  int64_t now, int64_t *removed);
MUST_USE enum status engine_receipt(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                                    struct receipt *out);

/* These memories were looked at: one use more for each, now. Nobody waits; when too much waits to
 * be written, it is not counted. */
void engine_accessed(struct ctx *ctx, struct engine *e, struct pool_ref pool, const doc_id *docs,
                     size_t n);

/* --- memories that are alike --- */

struct similar_in {
    struct pool_ref pool;
    str query;
    double least;  /* similarity, 0 to 1 */
    int64_t after; /* only what was made since (unix ms); 0: any age */
    size_t offset, limit;
};
struct similar {
    struct memory memory;
    double similarity;
};
/* Memories by similarity to a text, the greatest first: the cosine, or the weight of the text's
 * words that the memory holds, whichever is more. total counts all of at least that similarity, up
 * to 1000. */
MUST_USE enum status engine_similar(struct ctx *ctx, struct engine *e, const struct similar_in *in,
                                    struct similar **out, size_t *n, int64_t *total);

/* Memories that say the same as an older one. */
struct duplicates {
    struct memory first; /* the oldest */
    struct similar *v;   /* the others, by age; similarity is to the first */
    size_t n;
};
/* The groups of a pool, by age; by vectors where there are some, else by words. Those that differ
 * in a number, a name or a negation are not the same, however alike. */
MUST_USE enum status engine_duplicates(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                       struct duplicates **out, size_t *n);
/* Closes the others in favour of the first of each group, all or nothing; they remain as history.
 */
MUST_USE enum status engine_deduplicate(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                        int64_t *groups, int64_t *closed);

/* --- spaces as agents --- */

/* A space as an agent. */
struct agent {
    struct pool_info pool;
    int64_t pinned, episodes, signals; /* facts and episodes that are true; turns that wait */
    int64_t updated;                   /* when something came last, unix ms */
};
MUST_USE enum status engine_agents(struct ctx *ctx, struct engine *e, str user, struct agent **out,
                                   size_t *n);
/* NOT_FOUND when the space does not exist. */
MUST_USE enum status engine_agent(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                  struct agent *out);

/* --- compacting --- */

struct condense_in {
    struct pool_ref pool; /* space "": each space of the user separately */
    int64_t older_than_days;
    bool dry_run;
};
struct condense_out {
    struct memory *candidates; /* oldest first */
    size_t n;
    int64_t tokens;        /* of the candidates */
    int64_t removed;       /* 0 when dry_run */
    int64_t left;          /* old as well, kept as they are: their summary had no room for them */
    struct strs summaries; /* ids, one for each space that had candidates */
    bool dry_run;
};
/* Puts one summary in the place of what is old: written by the setting core_model, else by rule.
 * Space by space, each all or nothing. Summaries, identity and what expires stay as they are. */
MUST_USE enum status engine_condense(struct ctx *ctx, struct engine *e,
                                     const struct condense_in *in, struct condense_out *out);
