/* supersession.h - Decides which lines that a chat would be given a later line replaces. */
#pragma once

#include "base/arena.h"
#include "base/ctx.h"
#include "base/str.h"

struct finder;

enum supersession {
    CURRENT,  /* nothing later speaks against it */
    DOUBTFUL, /* a later line may replace it: given, and marked */
    REPLACED  /* left out, unless the question asks how it was */
};

struct dated_line {
    str text;
    int64_t created; /* unix ms */
    int64_t place;   /* its document: which of two of the same time was said later */
    str id, source;  /* a memory and the message that it came from are no pair */
    str space, name; /* nor are those of two spaces, or memories that have names of their own */
    enum supersession is;
    size_t by; /* the line that replaces it */
};

/*
 * Decides `is` of each given line, and of those behind it that replace one; a line that is REPLACED
 * already stays so. The judge of pairs (engine/pairs) says how probable it is that a later line of
 * the same space replaces an earlier one. What was noted from a message goes with it.
 */
MUST_USE enum status supersession_judge(struct finder *f, struct dated_line *v, size_t n,
                                        const bool *given);

/* "Where did I live before?" */
bool supersession_asks_past(struct arena *a, str question);

/* What a line that is given begins with; "" when it is current. */
str supersession_mark(enum supersession is);
