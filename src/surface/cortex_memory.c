/* cortex_memory.c - Cortex's long-term memory: searched, listed, tidied, deleted. */
#include "surface/cortex.h"

static const struct route routes[] = {
    {0},
};

const struct surface surface_cortex_memory = {"cortex", routes, word_cortex_error, admit_own,
                                              TRACE_HEADER};
