/* quotable.h - Decides what of a message a chat may be given: statements, and nothing else. */
#pragma once

#include "core/memory.h"

/* Decided when it is recalled and not when it is kept, so that a better rule acts on old
 * conversations, too, and the history stays as it was said. Two steps: the first is cheap and runs
 * over every candidate, before any takes the place of another; the second (quarantine.h) looks
 * closely at the few lines that would be given. */
struct quotable {
    str text;        /* "" when nothing of it may be given */
    const char *why; /* why nothing, or not all, may be given; NULL: it is whole */
    bool is_held;    /* a sentence of it reads as an instruction to the model */
};

/* A question is no answer, "noted" is no knowledge, and text that was pasted or fetched is not what
 * the user said. A message with a speaker's name is from a conversation of people, and counts whole
 * unless a tool wrote it. */
struct quotable quotable_of(struct arena *a, const struct message *m);
