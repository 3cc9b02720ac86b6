/* memories.h - a part of the engine's face: memories one by one, and those that are alike. */
#pragma once

#include "core/memory_ops.h"
#include "core/memory_select.h"
#include "engine/accounts.h"

/* --- memories --- */

/* Keeps one memory; content is required. Defaults: fact, factual, importance_by_rule, origin api.
 * Fills *m as it was kept. Without an id and a key, what says the same as a memory of the same
 * layer and conversation is that memory, which takes what else is given. */
MUST_USE enum status engine_add(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                struct memory *m);
/* Whether a memory of the same layer and conversation says this already; *like is that one. */
bool engine_is_said(struct ctx *ctx, struct engine *e, struct pool_ref pool, const struct memory *m,
                    struct memory *like);
/* As engine_add, but a memory with the same key is changed in place, and its metadata is merged.
 * Without a key one is made of the content. */
MUST_USE enum status engine_replace(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                    struct memory *m);
/* Changes a memory in place, as engine_add does. Recall no longer gives what it stated before. */
MUST_USE enum status engine_change(struct ctx *ctx, struct engine *e, const struct change *change,
                                   struct memory *out);
MUST_USE enum status engine_get(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                                struct memory *out);
MUST_USE enum status engine_list(struct ctx *ctx, struct engine *e, const struct memory_filter *f,
                                 struct memory **out, size_t *n, int64_t *total);
/* A page of the selected memories, and with in->counts how many there are of each kind. */
MUST_USE enum status engine_page(struct ctx *ctx, struct engine *e, const struct memory_page_in *in,
                                 struct memory_page *out);
/* FORBIDDEN, with the limit and its setting, when the user would have more than it may: so many
 * memories, messages and bytes, and the pool's space when it is a new one. */
MUST_USE enum status engine_check_quota(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                        struct quota more);
/* A user's spaces, by name. */
MUST_USE enum status engine_spaces(struct ctx *ctx, struct engine *e, str user,
                                   struct pool_info **out, size_t *n);
MUST_USE enum status engine_totals(struct ctx *ctx, struct engine *e, const struct memory_filter *f,
                                   struct memory_totals *out);
/* The same of several, which must not get a content or key: all or nothing. Those that are missing
 * or closed are left out. */
MUST_USE enum status engine_change_each(struct ctx *ctx, struct engine *e,
                                        const struct change *change, const str *ids, size_t n,
                                        int64_t *changed);
/* What it said and what it replaced: see store_history. */
MUST_USE enum status engine_history(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                                    struct history_item **out, size_t *n);

/* How long a deletion that asks for it can be undone. */
enum { UNDO_MS = 10 * 60 * 1000 };
/* For forget.undo and change.undo: a new id, and the end of the time. */
struct undo_mark engine_undo_mark(struct ctx *ctx);
/* Puts back exactly what was: see store_undo. */
MUST_USE enum status engine_undo(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                                 int64_t *restored);
/* Erases what can be undone no more; called often. */
MUST_USE enum status engine_undo_prune(struct ctx *ctx, struct engine *e);

/* Recall gives none of the messages' statements that the erased memories and messages made, until
 * they are made again; the other messages stay in their conversations word for word. erased may be
 * NULL. */
MUST_USE enum status engine_forget(struct ctx *ctx, struct engine *e, const struct forget *what,
                                   int64_t *erased);
/* The id of a memory or message in these pools that begins so, as the lines of a block show it.
 * NOT_FOUND when `id` has another length or begins none; BAD_INPUT when it begins several. Only
 * UUIDs: a client that erased its "memory-1" twice would else lose "memory-10". */
MUST_USE enum status engine_whole_id(struct ctx *ctx, struct engine *e,
                                     const struct pool_ref *pools, size_t n_pools, str id,
                                     str *out);
/* Removes old receipts, and memories that have expired, whose statements stay barred. */
MUST_USE enum status engine_prune(struct ctx *ctx, struct engine *e, int64_t receipts_before,
                                  int64_t now, int64_t *removed);
MUST_USE enum status engine_receipt(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                                    struct receipt *out);

/* These memories were looked at: one use more for each, now. Nobody waits; when too much waits to
 * be written, it is not counted. */
void engine_accessed(struct ctx *ctx, struct engine *e, struct pool_ref pool, const doc_id *docs,
                     size_t n);

/* Takes out of the content what is held back from models for review: false when nothing is left. */
bool engine_memory_for_model(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                             struct memory *m);

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
 * to 1000. Programs give them to models: without what is held back for review. */
MUST_USE enum status engine_similar(struct ctx *ctx, struct engine *e, const struct similar_in *in,
                                    struct similar **out, size_t *n, int64_t *total);

/* --- spaces as agents --- */

/* An agent is a space under another name: nothing is stored for it. */
MUST_USE enum status engine_agents(struct ctx *ctx, struct engine *e, str user,
                                   struct pool_sum **out, size_t *n);
/* NOT_FOUND, with the name, when the space does not exist. */
MUST_USE enum status engine_agent(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                  struct pool_sum *out);

/* --- compacting --- */

/* Why an old memory stays as it is. */
enum condense_skip {
    SKIP_SUMMARY,  /* it is a summary already */
    SKIP_LAYER,    /* identity and episodes are not compacted */
    SKIP_PINNED,   /* tag, category or metadata say "pinned" */
    SKIP_EXPLICIT, /* they say "explicit", or the user's message asked to remember it */
    SKIP_CRITICAL, /* health and safety: importance from 0.9 on, given or by rule */
    SKIP_EXPIRES,  /* it ends at a time of its own */
    SKIP_BARRED,   /* recall may not give all of it */
    SKIP_CHANGED,  /* it was changed or closed during the run */
    SKIP_UNSAVED,  /* no summary would be shorter and say all that it says */
    SKIP_COUNT
};
extern const char *const condense_skip_names[];

/* Most candidates that a report lists; it counts all. */
enum { CONDENSE_LISTED = 1000 };

struct condense_in {
    struct pool_ref pool; /* space "": each space of the user separately */
    int64_t older_than_days;
    bool dry_run;
};
struct condense_out {
    struct memory *candidates; /* memories that a summary replaces, or in a dry run would replace;
                                  the first CONDENSE_LISTED, oldest first in each space */
    size_t n;                  /* how many are listed */
    int64_t considered;        /* old memories that were looked at */
    int64_t replaced;          /* all candidates */
    int64_t before, after;     /* tokens of the candidates, and of their summaries */
    int64_t asks_model;        /* in a dry run: candidates of which only the core model can say
                                  whether a summary saves; not in before and after */
    int64_t skipped[SKIP_COUNT];
    int64_t n_summaries;   /* written, or in a dry run by rule */
    struct strs summaries; /* their ids; none in a dry run */
    str why;               /* why rules replaced the core model in part of it, or "" */
    bool is_cut;           /* time ran out, or nobody waits; another run goes on */
    bool dry_run;
};
/* Puts short summaries in the place of old memories where that saves tokens: written by the setting
 * core_model, else by rule, which only leaves out what is said twice. A few summaries are written
 * at once, so other writers wait little, and a run that is cut has done a part of the work. */
MUST_USE enum status engine_condense(struct ctx *ctx, struct engine *e,
                                     const struct condense_in *in, struct condense_out *out);

/* What a summary replaced, oldest first. pool.space "": in any space of the user. NOT_FOUND;
 * BAD_INPUT when the memory is not a summary. */
MUST_USE enum status engine_replaced(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                     str id, struct memory **out, size_t *n);
/* Opens them all again and closes the summary, all or nothing. One whose key another memory
 * has by now stays closed, in favour of that one. CONFLICT when the summary is closed already. */
MUST_USE enum status engine_reopen(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                                   int64_t *reopened);
