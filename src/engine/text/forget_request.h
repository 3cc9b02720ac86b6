/* forget_request.h - messages that ask to forget something. */
#pragma once

#include "base/str.h"

enum forget_request {
    FORGET_NOTHING,
    FORGET_ASKED,  /* and the message says nothing else */
    FORGET_UNCLEAR /* it says more: an exception, a second clause, what is right instead */
};

/*
 * Of a message that somebody writes in a chat: "Please forget that I'm allergic to peanuts",
 * "Vergiss alles, was ich dir über Kinga erzählt habe". Idioms and orders for a text are
 * FORGET_NOTHING: "forget that idea", "delete the second paragraph". A guess by the wording.
 */
enum forget_request forget_request_of(str message);
