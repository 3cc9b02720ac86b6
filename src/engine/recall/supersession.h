/* supersession.h - Decides which lines that a chat would be given a later line may replace. */
#pragma once

#include "base/arena.h"
#include "base/ctx.h"
#include "base/str.h"

struct finder;

/* What a line begins with that a later one may replace. */
#define OUTDATED_MARK "(outdated?) "

struct dated_line {
    str text;
    int64_t created;  /* unix ms */
    int64_t place;    /* its document: which of two of the same time was said later */
    str id, source;   /* a memory and the message that it came from are no pair */
    str space, name;  /* nor are those of two spaces, or memories that have names of their own */
    bool is_doubtful; /* a later line may replace it … */
    size_t by;        /* … this one */
};

/*
 * Decides this of each given line, and of those behind it that may replace one. The judge of pairs
 * (engine/pairs) says how probable it is that a later line of the same space replaces an earlier
 * one. No line is left out for it: in a chat of one topic even the surest verdicts are often wrong.
 */
MUST_USE enum status supersession_judge(struct finder *f, struct dated_line *v, size_t n,
                                        const bool *given);

/* "Where did I live before?" */
bool supersession_asks_past(struct arena *a, str question);
