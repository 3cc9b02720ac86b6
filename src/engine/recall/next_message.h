/* next_message.h - The next message of a user, which puts a given line right or completes it. */
#pragma once

#include "engine/recall/candidates.h"

/* "Mum's operation is on the 9th." … "hang on, it's the 19th": the next short message of the same
 * conversation goes behind each line that was chosen of what the user said, as it rarely has a word
 * of the question. The lines that come so are as worth their room as those that they follow. */
MUST_USE enum status next_messages(struct finder *f);
