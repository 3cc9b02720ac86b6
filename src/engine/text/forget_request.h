/* forget_request.h - whether a message asks that something be forgotten, and what. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

enum forget_kind {
    FORGET_NOTHING,
    FORGET_CLAUSE,     /* what says it: "my sister lives in Leeds" */
    FORGET_TOPIC,      /* what has all its words: "Kinga" */
    FORGET_PHRASE,     /* what has its words one behind the other: "my phone number" */
    FORGET_EVERYTHING, /* that was ever said */
    FORGET_UNCLEAR     /* it asks for something, and not clearly enough to be done */
};

struct forget_request {
    enum forget_kind kind;
    str what; /* "" for the last two */
};

/* Whether it says what to forget. */
static inline bool forgets_this(const struct forget_request *r)
{
    return r->kind == FORGET_CLAUSE || r->kind == FORGET_TOPIC || r->kind == FORGET_PHRASE;
}

/*
 * Of a message that somebody writes in a chat: "Please forget that I'm allergic to peanuts",
 * "Vergiss alles, was ich dir über Kinga erzählt habe". The message must do nothing else, but for
 * courtesies: so no letter, quote, joke or task asks for anything. Idioms are FORGET_NOTHING
 * ("forget it", "forget about the pasta"). Two statements, or one with an exception or for a time,
 * are FORGET_UNCLEAR.
 */
struct forget_request forget_request_of(struct arena *a, str message);
