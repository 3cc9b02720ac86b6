/* envelope.h - the words that a person typed, out of a coding agent's message. */
#pragma once

#include "base/str.h"

/* Codex in an editor, Cursor, Cline and Roo Code put open files, selections and results of tools
 * into the message of the user. The text without them; "" when the person typed nothing. */
str envelope_typed(struct arena *a, str text);
