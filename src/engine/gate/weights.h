/* weights.h - the sets of weights: one for each way in which recall may know a pool. */
#pragma once

#include <stdbool.h>

/* How many messages that memory cannot answer it assumes for one that it can: GATE_ODDS in a large
 * pool, fewer in a small one, where a missed line costs more than one too many; and fewer still
 * there where somebody speaks of himself (self: 1), who mostly asks for what he told. */
#define GATE_OTHERS(small, self)                                                                   \
    ((1 + (GATE_ODDS - 1) * (1 - (small)) * (1 - (small))) /                                       \
     (1 + GATE_OF_SELF * (self) * (small) * (small)))
#define GATE_OF_SELF 6

enum weights {
#define WEIGHT_SET(name, help) name,
#include "engine/gate/weight_sets.def"
#undef WEIGHT_SET
    WEIGHT_SETS
};

/* Of words alone only what a signal is worth more in a chat was fitted to chats (decisions/007). It
 * orders lines, and how sure one is was fitted without it. */
#define WEIGHTS_CHAT_ALONE(set) ((set) == WORDS_ALONE)

/* Whether the encoder's vectors of tokens take part. */
static inline bool weights_by_encoder(enum weights set)
{
    return set == WITH_ENCODER || set == OTHER_LANGUAGE;
}
