/* slots.h - the attribute that a line about the user is of: name, employer, home. */
#pragma once

#include "base/str.h"

/* The attribute that an identity line is about ("name", "employer") when it can be told, with its
 * value; else "". */
str slot_of(str line, str *value);
