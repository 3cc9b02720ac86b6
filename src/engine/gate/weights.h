/* weights.h - the sets of weights: one for each way in which recall may know a pool. */
#pragma once

enum weights {
#define WEIGHT_SET(name, help) name,
#include "engine/gate/weight_sets.def"
#undef WEIGHT_SET
    WEIGHT_SETS
};
