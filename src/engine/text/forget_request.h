/* forget_request.h - messages that ask to forget something. */
#pragma once

#include "core/memory.h"

enum forget_request {
    FORGET_NOTHING,
    FORGET_ASKED,  /* and the message says nothing else */
    FORGET_UNCLEAR /* it says more: an exception, a second clause, what is right instead */
};

/* Of a message that somebody writes in a chat: "Please forget that I'm allergic to peanuts",
 * "Vergiss alles, was ich dir über Kinga erzählt habe". Idioms and orders for a text are
 * FORGET_NOTHING: "forget that idea", "delete the second paragraph". A guess by the wording. */
enum forget_request forget_request_of(str message);

/* Of what is kept of a conversation mere requests are not found, nor what answers any request, or
 * the question before them if it is one: each says again what should be gone. */
void forget_requests_leave(str question, struct message *v, size_t n);
