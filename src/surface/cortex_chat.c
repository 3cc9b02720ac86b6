/* cortex_chat.c - Cortex's chat: a message in a session, answered whole or as events. */
#include "surface/cortex.h"

static const struct route routes[] = {
    {0},
};

const struct surface surface_cortex_chat = {"cortex", routes, word_cortex_error, admit_own,
                                            TRACE_HEADER};
