/* quotable.h - Decides what of a message a chat may be given: statements, and nothing else. */
#pragma once

#include "core/memory.h"
#include "engine/judge/directive.h"

/*
 * Decided when it is recalled and not when it is kept, so that a better rule acts on old
 * conversations, too, and the history stays as it was said. Two steps: the first is cheap and runs
 * over every candidate, before any takes the place of another; the second looks closely at the few
 * lines that would be given.
 */
struct quotable {
    str text;        /* "" when nothing of it may be given */
    const char *why; /* why nothing, or not all, may be given; NULL: it is whole */
    bool is_held;    /* a sentence of it reads as an instruction to the model */
};

/* A question is no answer, "noted" is no knowledge, and text that was pasted or fetched is not what
 * the user said. A message with a speaker's name is from a conversation of people, and counts whole
 * unless a tool wrote it. */
struct quotable quotable_of(struct arena *a, const struct message *m);

/* A line without secrets and without what tells a model what to do, unless the caller allows that;
 * "" when nothing is left. whose as for text_directed. */
struct quotable quotable_line(struct arena *a, str text, enum whose whose, bool allows);
