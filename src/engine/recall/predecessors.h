/* successors.h - memories that replace a given line, and those that it replaced under its key. */
#pragma once

#include "engine/recall/attribute_lookup.h"
#include "engine/recall/supersession.h"

/* A line as supersession compares it. What an assistant said replaces nothing. */
struct dated_line dated_line_of(struct arena *a, const struct recalled *r);

/*
 * "Aled and Nerys have split up" for "Is my brother seeing anyone?": of the best lines that are
 * chosen, the names and the words are searched. Only lines that replace one of these are taken.
 *
 * Where the question asks how it was, also those that one of these replaced; and, in a chat, what
 * was stored before under the keys of the memories that are chosen. Such a value is closed
 * (valid_to), and no chat may have stated it.
 */
MUST_USE enum status replacing_find(struct finder *f, struct added_lines *out);
