/* cortex_sessions.c - Cortex's sessions: made, changed, listed, read. */
#include "surface/cortex.h"

static const struct route routes[] = {
    {0},
};

const struct surface surface_cortex_sessions = {"cortex", routes, word_cortex_error, admit_own,
                                                TRACE_HEADER};
