/* without_memory.h - an answer without memory says so where the client may expect memory. */
#pragma once

#include "surface/surface.h"

/* Why memory takes no part in a request, though nobody asked for that in the request itself. */
enum without_memory {
    WITH_MEMORY, /* or without, as the request asked */
    WITHOUT_AT_COMPLETIONS,
    WITHOUT_AT_GENERATE,
    WITHOUT_FOR_ENCODING, /* a packed body, which cannot be read here */
    WITHOUT_FOR_MESSAGES, /* a body without messages that can be read */
    WITHOUT_FOR_SETTING,  /* memory is switched off for everyone */
    WITHOUT_FOR_HELPER,   /* the client's own call; some of these read */
    WITHOUT_KINDS
};

/* Adds the header X-Memory to the answer, and the first time of each kind a line to the log. */
void without_memory_note(struct app *app, enum without_memory kind, struct reply *out);
/* The same for a call of the client's own: what memory does for it ("off", "readonly"), and what
 * the call is for. */
void without_memory_helper(struct app *app, struct ctx *ctx, const char *mode, str call,
                           struct reply *out);
