/* forget_request.h - whether a message asks that something be forgotten, and what. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

enum forget_kind {
    FORGET_NOTHING,
    FORGET_THIS,      /* what states `what`: "I'm allergic to peanuts", "Kinga" */
    FORGET_EVERYTHING /* that was ever said */
};

struct forget_request {
    enum forget_kind kind;
    str what; /* a clause, or a topic */
    str rest; /* of the message, what does not ask for it: "" when it does nothing else */
};

/*
 * Of a message that somebody writes in a chat: "Please forget that I'm allergic to peanuts",
 * "Vergiss alles, was ich dir über Kinga erzählt habe". It must begin a sentence, in a message of
 * at most 600 bytes: longer ones are pasted. Idioms ("forget it", "forget about the pasta") and a
 * topic of which nothing can be found ("what I said about that") are FORGET_NOTHING.
 */
struct forget_request forget_request_of(struct arena *a, str message);
