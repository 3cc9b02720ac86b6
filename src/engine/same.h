/* same.h - whether two memories say the same: by their words, by a band of cosines, by a model. */
#pragma once

#include "engine/distil.h"

/* What a short text says, ready to be held against others. */
struct saying {
    struct terms {
        uint64_t *v;
        size_t n;
    } plain,      /* its words in order, those that mean the same as one */
        telling,  /* of these the ones that tell something: ascending, each once */
        numbers,  /* ascending, each once */
        names;    /* ascending, each once */
    bool denies;  /* an odd number of its words turns it round */
    str slot;     /* the one thing that it is about ("name", "favorite color"), or "" */
    str value;    /* with a slot: what it says of it */
    uint64_t all; /* hash of plain */
};
struct saying saying_of(struct arena *a, str text);

/* Shared telling words by all; 0 when there are none. */
double sayings_share(const struct saying *one, const struct saying *other);

/* What a newer text is to an older one that sounds alike. */
enum relation {
    ALIKE,     /* nothing in their words tells them apart */
    UNSURE,    /* something stands in the place of something, in another order, or is new */
    DIFFERENT, /* another number or name: another thing */
    FULLER,    /* it says all that the older one says, and more */
    CHANGED    /* the opposite, or another value of the same thing */
};
enum relation sayings_relate(const struct saying *newer, const struct saying *older);

/* --- the band --- */

enum sameness { NOT_SAME, IS_SAME, ASK_MODEL };
/* By the settings dedup_…; with_model: there is one that may be asked. */
enum sameness same_by_cosine(const struct settings *s, enum relation relation, double cosine,
                             bool with_model);
/* The least cosine that is worth a look. */
double same_least(const struct settings *s);

/* --- the model --- */

/* In the order of verdict_names. */
enum verdict { VERDICT_DIFFERENT, VERDICT_EQUIVALENT, VERDICT_CHANGED };
struct doubt {
    str older, newer;
    enum verdict verdict; /* different, unless the model says otherwise */
};
/* Whether the core model may be asked: it is set, allowed (dedup_llm), and has tokens left. */
bool same_may_ask(struct ctx *ctx, struct engine *e);
/* Some doubts at a time, within core_timeout_ms for all. What is not answered stays different; the
 * first failure ends it. */
void same_ask(struct ctx *ctx, struct engine *e, struct pool_ref pool, struct doubt *v, size_t n);

/* --- before something is kept --- */

/* Lines of one call that are held against what is kept. */
struct same_seeker {
    struct engine *e;
    struct pool_ref pool;
    int64_t until_us; /* clock_mono_us; nothing is waited for any longer */
    int questions;    /* that may still be put to the model */
};
/*
 * The memory that sounds like the line, by vectors, and what the line is to it. Of another layer
 * only one that says the same. Never fails: without vectors it is ANOTHER. *like is copied into
 * ctx's arena.
 */
enum likeness same_seek(struct ctx *ctx, struct same_seeker *s, str line, enum layer layer,
                        struct memory *like);

/* Whether a memory says this already in the same words, under another key; it counts as used then.
 * What has the key itself is for the store to decide. */
bool same_is_kept(struct ctx *ctx, struct engine *e, struct pool_ref pool, const struct memory *m);
