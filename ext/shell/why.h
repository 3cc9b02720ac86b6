/* why.h - the receipt of a chat, for people. */
#pragma once

#include "ext/shell/call.h"

/* Prints what memory the newest chat of the session got, and why. The session has had that many
 * chats; a receipt can be read once it is on disk. */
MUST_USE enum status why_print(struct ctx *ctx, const struct shell_server *s, str session,
                               int64_t chats);
