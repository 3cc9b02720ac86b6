/* caller.h - which program asks, and what for: a chat of its user's, or something of its own. */
#pragma once

#include "surface/surface.h"

enum caller {
    CALLER_CHAT,
    CALLER_AGENT, /* a part of the program that works for the chat: its user is the chat's model */
    CALLER_ASIDE  /* the program's own question: a title, a summary, a test of the key */
};

/* words are those of the request's last message of the user. */
enum caller caller_of(struct arena *a, const struct request *in, const struct json *root,
                      str words);
