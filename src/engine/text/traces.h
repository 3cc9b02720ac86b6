/* traces.h - output of a failing program within a message. */
#pragma once

#include "base/str.h"

/*
 * The text without stack traces, compiler errors and such: a run of lines that look printed by a
 * program, at least two of them. Nobody is asked about by the words of one. text itself when it
 * holds none.
 */
str text_without_traces(struct arena *a, str text);
