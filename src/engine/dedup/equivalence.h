/* equivalence.h - comparing two memories: the same, fuller, changed or different. */
#pragma once

#include "engine/state/state.h"
#include "engine/text/term_set.h"

/* What a short text says, ready to be compared with others. */
struct saying {
    struct term_set plain;   /* its words in order, those that mean the same as one; not sorted */
    struct term_set telling, /* of these the ones that tell something */
        numbers, names;
    struct term_set written; /* its words as they are written, between blanks */
    struct term_set news;    /* of its words in lower case the ones that may tell the user more */
    size_t denials;          /* how many of its words turn it round */
    str slot;                /* the one thing that it is about ("name", "favorite color"), or "" */
    str value;               /* with a slot: what it says of it */
    uint64_t all;            /* hash of plain */
};
struct saying saying_of(struct arena *a, str text);

/* Shared telling words by all; 0 when there are none. */
double sayings_share(const struct saying *one, const struct saying *other);

/* Whether they have the same numbers and names, and neither denies the other. */
bool sayings_agree(const struct saying *one, const struct saying *other);

/* What a newer text is to an older one. The model knows the names of the first three. */
enum relation {
    DIFFERENT, /* about another thing */
    SAME,      /* adds nothing */
    CHANGED,   /* the opposite, or another value of the same thing: takes the older one's place */
    FULLER,    /* says all that the older one says, and more: takes its place, too */
    UNSURE     /* the words do not tell; a model may */
};

static inline bool relation_replaces(enum relation r)
{
    return r == CHANGED || r == FULLER;
}

/* What shows that two texts sound alike, and so by which rule they are compared. */
struct likeness {
    enum { BY_LINE, BY_WORDS, BY_VECTOR } by; /* shared words as written; telling words; cosine */
    const struct settings *settings;          /* dedup_…; not BY_LINE */
    double cosine;                            /* BY_VECTOR */
    bool with_model;                          /* BY_VECTOR: there is one that may be asked */
};
enum relation relation_of(const struct saying *newer, const struct saying *older,
                          const struct likeness *by);

/* The least cosine that is worth a look. */
double same_least(const struct settings *s);

/* --- the model --- */

struct doubt {
    str older, newer;
    enum relation relation; /* DIFFERENT, unless the model says otherwise */
};
/* Whether the core model may be asked: it is set, allowed (dedup_llm), and has tokens left. */
bool same_may_ask(struct ctx *ctx, struct engine *e);
/* Some doubts at a time, within core_timeout_ms for all. What is not answered stays different; the
 * first failure ends it, since the next would fail, too. */
void same_ask(struct ctx *ctx, struct engine *e, struct pool_ref pool, struct doubt *v, size_t n);

/* --- before something is kept --- */

/* Lines of one call that are held against what is kept. */
struct same_seeker {
    struct engine *e;
    struct pool_ref pool;
    int64_t until_us; /* clock_mono_us; nothing is waited for any longer */
    int questions;    /* that may still be put to the model */
};
/* The memory that sounds like the line, by vectors, and what the line is to it. Of another layer
 * only one that says the same. Never fails: without vectors it is DIFFERENT. *like is copied into
 * ctx's arena. */
enum relation same_seek(struct ctx *ctx, struct same_seeker *s, str line, enum layer layer,
                        struct memory *like);

/* The newest memory with the key, open or closed; its id is "" when there is none. */
MUST_USE enum status memory_with_key(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                     str key, enum memory_closed closed, struct memory *out);
/* Whether a memory says this already in the same words, under another key or, without a key, at
 * all; it counts as used then. What has the key itself is for the store to decide. *like (or NULL)
 * is copied into ctx's arena. */
bool same_is_kept(struct ctx *ctx, struct engine *e, struct pool_ref pool, const struct memory *m,
                  struct memory *like);
