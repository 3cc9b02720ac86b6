/* helper_prompt.h - requests that are the front end's own and not its user's. */
#pragma once

#include "base/str.h"

/*
 * Chat front ends ask the model for titles, tags, follow-up questions, search queries and the rest
 * of a half-typed message. Such a prompt is told by its form, since users may word it as they like:
 * it orders, it never says "I" or "my", it demands a form of output, and it brings the conversation
 * that it is about in lines with the names of roles, or speaks of an unfinished text.
 *
 * system is the text of the request's system messages, or ""; user that of its last user message.
 */
bool is_helper_prompt(struct arena *a, str system, str user);
