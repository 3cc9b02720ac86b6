/* cortex_profile.c - Cortex's profiles: facts of a user, name by name. */
#include "surface/cortex.h"

static const struct route routes[] = {
    {0},
};

const struct surface surface_cortex_profile = {"cortex", routes, word_cortex_error, admit_own,
                                               TRACE_HEADER};
