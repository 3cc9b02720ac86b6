/* recall.h - a part of the engine's face: from a question to what is remembered. */
#pragma once

#include "core/memory.h"
#include "core/runtime.h"
#include "core/settings.h"

struct engine;

enum { SIGNALS_MAX = 32 };

/* One thing found, with the reasons. */
struct recalled {
    bool is_memory;
    struct message message;      /* when it is none */
    struct memory memory;        /* when it is one */
    str given;                   /* of a message: what of it a chat may be given; "" is all */
    str text;                    /* what is shown of it: all, or the part that answers */
    str title;                   /* of a message's session, from engine_search_scope; or "" */
    double score;                /* 0 to 1: how likely it helps to answer */
    double signals[SIGNALS_MAX]; /* by signal_names */
    int64_t tokens;
    bool injected;
    bool is_cut; /* sentences of it are left out, as they were forgotten */
    str why;     /* in words, for receipts and --explain */
};

/* NULL-ended names of the signals. */
extern const char *const signal_names[];

struct recall_in {
    struct pool_ref pool;
    str question;
    int64_t asked;      /* unix ms: the time the question is asked at, for "last week"; 0: now */
    const str *exclude; /* ids of messages that the reader has in front of it */
    size_t n_exclude;
    str session;  /* one that the reader has in front of it whole, with its episode; or "" */
    size_t limit; /* most results; 0: the setting */
    int64_t budget_tokens; /* 0: the setting; < 0: no budget */
    bool gate;             /* apply the relevance gate and the score threshold, as a chat does */
    double bar;      /* with gate: what the best must reach, as a share of the threshold; 0: by the
                        phrases of the question */
    bool turns_only; /* no memories: for measuring */
    bool memories_only; /* no messages */
    str type;           /* with memories_only: only of this type; "" for any */
    str layer;          /* with memories_only: only of this layer; "" for any */
    bool words_only;    /* no vectors */
    enum strategy strategy;
    int64_t after; /* only what was made since (unix ms); 0: any age */
};

struct recall_out {
    struct recalled *v; /* best first; with a gate also those below the threshold, not injected */
    size_t n;
    str decision, reason; /* what the gate said and why */
    int64_t tokens;       /* of what is injected */
    int64_t took_us;
    str vectors; /* what made the vectors that took part ("static:potion-base-8M:256"), or "" */
    str without; /* why vectors did not take part although a source is chosen, else "" */
};

/* TIMED_OUT when ctx's deadline passed; nothing found is OK. */
MUST_USE enum status engine_recall(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                                   struct recall_out *out);

/* The same with the gate, and the block that a chat would be given within the budget; "" when it
 * would be given none. */
MUST_USE enum status engine_context(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                                    struct recall_out *out, str *block);

/* --- hybrid retrieval: memories by words and vectors, fused by rank --- */

/* Which memories: those of the space, of one session in it, or of every space of the user. */
enum scope { SCOPE_SPACE, SCOPE_SESSION, SCOPE_USER };

enum { RETRIEVE_BUDGET_MAX = 8000, RETRIEVE_LIMIT = 100 };

struct retrieve_in {
    struct pool_ref pool;
    enum scope scope;
    str session; /* of SCOPE_SESSION */
    str query;   /* "": the newest, whatever the strategy */
    enum strategy strategy;
    int64_t budget_tokens;  /* at most RETRIEVE_BUDGET_MAX count */
    size_t limit;           /* 0: RETRIEVE_LIMIT, of vectors the setting vec_top_k */
    str type;               /* "" for any; applied before the budget is spent */
    int64_t retention_days; /* 0: any age */
};

struct retrieved {
    struct memory memory;
    double score;
    int64_t tokens;
    const char *tier;    /* fts5, vector, hybrid-rrf, qdrant */
    double vector_score; /* cosine; NAN: vectors were not used */
    double words_score;  /* NAN: the words had none */
};

struct retrieve_out {
    struct retrieved *v; /* best first, within the budget; the first one may exceed it alone */
    size_t n;
    int64_t tokens;
    const char *source; /* remote, static, transformers; NULL: no vectors */
    str model;
    const char *store;      /* sqlite-vec, qdrant, none */
    enum strategy strategy; /* that was used in the end */
    bool is_reranked;
    str fallback; /* why it is not what was asked for, in words; "" when it is */
};
/* What has expired, is superseded or older than the retention is never found, on any path. */
MUST_USE enum status engine_retrieve(struct ctx *ctx, struct engine *e,
                                     const struct retrieve_in *in, struct retrieve_out *out);
