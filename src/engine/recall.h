/* recall.h - a part of the engine's face: from a question to what is remembered. */
#pragma once

#include "core/memory.h"
#include "core/settings.h"

struct candidate;
struct engine;

enum { SIGNALS_MAX = 40 };

/* How far a line has come on its way into a block. */
enum line_state {
    LINE_FOUND,
    LINE_CHOSEN,   /* sure enough, and worth its room */
    LINE_QUOTABLE, /* … and nothing in it keeps it from a chat */
    LINE_INJECTED  /* … and within the budget */
};

/* Why a line is there. */
enum line_origin {
    LINE_BY_QUESTION,  /* the question found it, or what it replaces */
    LINE_BY_ATTRIBUTE, /* it tells of an attribute that the question asks for */
    LINE_SIDE_NOTE,    /* it does not answer the question, but bears on what is asked */
    LINE_BY_NAME,      /* it tells of a name in a line that the question found */
    LINE_BY_NEXT,      /* the user said it right behind a line that is given */
    LINE_STANDING      /* an instruction that the user gave for all chats */
};

/* What ranks a line. */
struct line_measures {
    double rank; /* log of its odds against others that were found: what orders them. By meaning
                    alone its cosine */
    double signals[SIGNALS_MAX]; /* by signal_names */
    double cosine;               /* of the vectors of it and the question; 0: none */
    double ordered;              /* the reranking model's score; NAN: it gave none */
    double worth; /* 0 to 1: how probable it is that it is worth its room beside those above it; 0
                     where that is not known (recall/line_selection.h) */
};

/* What of a message or memory is shown. */
struct line_part {
    str quotable;    /* of a message: what of it a chat may be given; "" is all */
    str telling;     /* the sentence of it that tells of what is asked for; or "" */
    bool is_passage; /* the text is a passage of it */
    bool is_cut;     /* sentences of it are left out, as they were forgotten */
};

/* One thing found, with the reasons. */
struct recalled {
    bool is_memory;
    struct message message; /* valid when !is_memory */
    struct memory memory;   /* valid when is_memory */
    struct line_part part;
    str text;     /* what is shown of it: all, or the part that answers */
    str space;    /* where it was found, from engine_recall; or "" */
    str title;    /* of a message's session, from engine_search_scope; or "" */
    double score; /* 0 to 1: how likely it helps to answer */
    struct line_measures measured;
    const struct candidate *by; /* how the question found it, for recall alone; NULL: it did not */
    int64_t tokens;
    enum line_state state;
    enum line_origin origin;
    str why; /* in words, for receipts and --explain */
};

static inline str recalled_id(const struct recalled *r)
{
    return r->is_memory ? r->memory.id : r->message.id;
}

/* Of a memory the time when it was learnt. */
static inline int64_t recalled_created(const struct recalled *r)
{
    return r->is_memory ? r->memory.created : r->message.created;
}

static inline bool recalled_is(const struct recalled *x, const struct recalled *y)
{
    return x->is_memory == y->is_memory && str_eq(recalled_id(x), recalled_id(y));
}

/* The same message or memory in a list, or NULL. */
const struct recalled *recalled_find(const struct recalled *v, size_t n, const struct recalled *r);

/* NULL-ended names of the signals. */
extern const char *const signal_names[];
/* One of them by its name: "share", "dense", … */
double recalled_signal(const struct recalled *r, const char *name);

/* Which memories and messages: of the space, of one session in it, of every space of the user. */
enum scope { SCOPE_SPACE, SCOPE_SESSION, SCOPE_USER };
extern const char *const scope_names[]; /* space, session, user */

/* Most tokens of a budget that count; most results of a search. */
enum { RECALL_BUDGET_MAX = 8000, RECALL_LIMIT_MAX = 100 };

/* What the reader of the answer has in front of it. */
struct recall_seen {
    const str *ids; /* of messages */
    size_t n;
    str session; /* one that it has whole, with its episode; or "" */
};

/* What may be found at all. */
struct recall_only {
    bool turns;    /* no memories: for measuring */
    bool memories; /* no messages */
    str type;      /* with memories: only of this type; "" for any */
    str layer;     /* with memories: only of this layer; "" for any */
    int64_t after; /* only what was made since (unix ms); 0: any age */
    int64_t as_of; /* what was said and true at that time (unix ms), as far as it is kept: what was
                      closed or has expired since is there, what came later is not, and what was
                      forgotten or corrected does not come back; 0: now */
};

/* How it is searched. */
struct recall_means {
    enum strategy strategy;
    bool has_strategy; /* engine_search: it is named, so the setting does not count */
    bool words_only;   /* no vectors */
    bool is_unordered; /* the reranking model is not asked */
    bool is_patient;   /* a search: missing vectors are made first */
};

struct recall_in {
    struct pool_ref pool;
    enum scope scope;
    str within; /* the session of SCOPE_SESSION */
    str question;
    int64_t asked; /* unix ms: the time the question is asked at, for "last week"; 0: now */
    struct recall_seen seen;
    struct recall_only only;
    struct recall_means by;
    size_t limit;          /* most results; 0: the setting */
    int64_t budget_tokens; /* 0: the setting; < 0: no budget */
    bool gate;             /* apply the relevance gate and the score threshold, as a chat does */
    double bar; /* with gate: what the best must reach, as a share of the threshold; 0: by the
                   phrases of the question */
    bool is_caught_up; /* the caller has waited for what was said before (engine_catch_up) */
    bool for_model;    /* a search: a model reads its result, without what is held for review */
    bool is_preview;   /* nothing is noted: neither what is held back for review, nor in counters */
};

/* What a recall was made by. */
struct recall_steps {
    enum strategy strategy; /* that was used in the end */
    str source, model;      /* of the vectors that took part (static, potion-base-8M), or "" */
    str store;              /* where they were searched: sqlite-vec, qdrant or none */
    bool is_reranked;
    str reranker; /* what reranked, as the setting names it: upstream/model, local/model; or "" */
    size_t reranked; /* how many of what was found it gave a score; they come first */
    str fallback;    /* each step down from what was asked for, in words; "" when there was none */
};

/* Begins the reason where the gate was silent, and only what applies to every chat is given; the
 * gate's follows. */
#define ONLY_STANDING "standing instructions of the user"

struct recall_out {
    struct recalled *v; /* best first; with a gate also those below the threshold, not injected */
    size_t n;
    size_t n_given;         /* of engine_search: how many of the first a chat considers */
    str decision, reason;   /* what the gate said and why */
    double probability;     /* that something of it answers, as the gate sees it */
    const double *evidence; /* what it saw, by gate_signal_names; NULL: it did not look */
    int64_t tokens;         /* of what is injected */
    int64_t took_us;
    str vectors; /* what made the vectors that took part ("static:potion-base-8M:256"), or "" */
    str without; /* why vectors did not take part although a source is chosen, else "" */
    struct recall_steps steps;
};

/* TIMED_OUT when ctx's deadline passed; nothing found is OK. */
MUST_USE enum status engine_recall(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                                   struct recall_out *out);

/* The same with the gate, and the block that a chat would be given within the budget; "" when it
 * would be given none. */
MUST_USE enum status engine_context(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                                    struct recall_out *out, str *block);

/*
 * A search: what a chat would be given for the question, in its order, then what else is found, at
 * most in->limit of all. Without a question the newest memories. Strategy and retention are those
 * of the settings.
 *
 * With in->gate it shows what a chat would be given, by in->strategy, and nothing that the gate
 * keeps out. With in->limit, or budget_tokens < 0 for no budget, what would go in as well stands
 * behind that.
 */
MUST_USE enum status engine_search(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                                   struct recall_out *out);

/* Keeps the first memories that are injected, whose whole contents fit into the budget (tokens, at
 * most RECALL_BUDGET_MAX): the first one whatever its size, up to the first that does not fit. */
void engine_memories_within(struct ctx *ctx, struct recall_out *io, size_t limit, int64_t budget);
