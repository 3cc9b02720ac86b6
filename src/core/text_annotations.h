/* text_annotations.h - Findings about a message's text, kept beside the message in memory. */
#pragma once

#include "base/str.h"

/* Who works it out, knows what the bytes of a kind mean. */
enum note_kind { NOTE_GIVEN, NOTE_CLEAN, NOTE_GLANCE, NOTE_KINDS };

struct note {
    uint64_t of; /* hash of the text; 0: there is none */
    str bytes;
};

/*
 * Of one message that the store gave. The store takes what is added when the view ends, keeps it as
 * long as it keeps the message, and forgets both together. So a note is worth its room only where
 * it follows from the text alone and takes long to work out again.
 */
struct text_annotations {
    struct note v[NOTE_KINDS];
    bool is_new; /* some were added */
    int64_t pool, doc;
    uint64_t view;                 /* the rest is the store's */
    struct text_annotations *next; /* given to the same call */
};

/* The bytes that were noted of this text (aligned for any type), or NULL. notes may be NULL. */
const void *annotation_find(const struct text_annotations *notes, enum note_kind kind, str text);
/* Without notes it does nothing. bytes must live as long as the call, and stand aligned. */
void annotation_add(struct text_annotations *notes, enum note_kind kind, str text, str bytes);
