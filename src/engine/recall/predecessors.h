/* predecessors.h - old values that were stored under the keys of the memories that are chosen. */
#pragma once

#include "engine/recall/attribute_lookup.h"

/* Where the question asks how it was: what each chosen memory replaced under its key, and what that
 * replaced. Such a value is closed (valid_to), and no chat may have stated it. */
MUST_USE enum status predecessors_find(struct finder *f, struct added_lines *out);

/* The key that who stored a memory gave it; "" where it was made of the content. */
str recalled_name(struct arena *a, const struct recalled *r);
