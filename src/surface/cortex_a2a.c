/* cortex_a2a.c - Cortex's conversations between agents, in envelopes. */
#include "surface/cortex.h"

static const struct route routes[] = {
    {0},
};

const struct surface surface_cortex_a2a = {"cortex", routes, word_cortex_error, admit_own,
                                           TRACE_HEADER};
