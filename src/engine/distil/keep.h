/* keep.h - memories in the making, from the model's answer about a session. */
#pragma once

#include "engine/dedup/equivalence.h"
#include "engine/distil/grounding.h"
#include "engine/distil/prompt.h"

/* How many were kept and left out, and why. */
struct kept {
    int pinned, identity;      /* of these: */
    int unconfirmed;           /* kept, and not trusted */
    int known, unsaid, secret; /* said before; not in the user's words; nothing to keep */
    int replaced;              /* earlier facts that are closed */
};
/* Memories in the making. */
struct keeper {
    struct ctx *ctx;
    const struct distilling *d;
    struct bundle *b;
    struct kept *kept;
    struct told_words told;
    struct same_seeker seeker;
    int64_t now;
};
/* What is not confirmed weighs at most so much. */
#define UNCONFIRMED_MOST 0.3

/* Makes the bundle's memories. NOT_FOUND without a note when the answer has no summary; BAD_INPUT
 * when the summary is that of another conversation, and the model was not asked again yet. */
MUST_USE enum status distil_keep(struct ctx *ctx, const struct distilling *d,
                                 const struct said_of_session *said, struct bundle *b,
                                 struct kept *kept);
/* Keeps one fact of the layer; or nothing, which k->kept counts. */
MUST_USE enum status keep_fact(struct keeper *k, const struct said_fact *said, enum layer layer);
/* The model's kind of a fact, or the rule's when the model names an unknown one. */
enum memory_kind distil_kind(struct arena *a, const struct memory *m, str said);
/* Adds a memory without a key to the bundle. */
struct memory *keeper_add(struct keeper *k, enum layer layer, str content);
/* Adds a text to a list, once, without secrets. */
void keeper_add_item(struct keeper *k, struct strs *list, str text);
/* The model's weight (0 to 1, or SALIENCE_UNSAID), or the rule's. */
void keeper_weigh(struct keeper *k, struct memory *m, double said, bool is_confirmed);
