/* session_title.h - a title for a session that nobody has given one. */
#pragma once

#include "base/str.h"

/* The first line of what the user said first; at most 80 characters as a reader counts them. */
str session_title(str text);
/* Whether a title was made from this text, now or by an earlier version, which counted bytes. */
bool is_title_of(str title, str text);
