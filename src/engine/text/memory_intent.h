/* memory_intent.h - messages that ask for memory, by the phrases that people use. */
#pragma once

#include "base/ctx.h"

enum gate_section { GATE_NONE, GATE_IDENTITY, GATE_TRANSCRIPT, GATE_EPISODE, GATE_PINNED };
extern const char *const gate_section_names[];

struct gate {
    enum gate_section section;
    str phrase;   /* what fired, or "" */
    bool is_weak; /* speaks of the user's things ("my garden") or a name, asks for no memory */
    bool is_time; /* names a time ("last May"), of nobody who asks, and asks no more */
};

/* Phrases that ask for memory; the first hit wins. "exactly", "before" and "when did" alone do not
 * fire, as they are as common in requests without memory. entities are names known in the pool. */
struct gate gate_of(struct arena *a, str message, const str *entities, size_t n);
