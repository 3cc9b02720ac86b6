/* cortex_users.c - Cortex's users and their tokens. */
#include "surface/cortex.h"

static const struct route routes[] = {
    {0},
};

const struct surface surface_cortex_users = {"cortex", routes, word_cortex_error, admit_own,
                                             TRACE_HEADER};
