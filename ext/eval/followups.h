/* followups.h - measures recall on follow-up questions, made from LoCoMo's. */
#pragma once

#include "engine/state/state.h"
#include "ext/import/exam.h"

/*
 * Pairs of consecutive questions whose evidence is in the same session. The first question and its
 * answer are the conversation so far. In the second, names that the first one mentioned are
 * replaced by pronouns, as people do. Each conversation has its own pool, named by its id. Writes
 * the report.
 */
MUST_USE enum status eval_follow_ups(struct ctx *ctx, struct engine *e, const struct exam *all,
                                     size_t n, bool as_json, struct buf *out);

struct person {
    str name;
    bool is_she;
};
struct follow_up {
    str question;
    int persons, things; /* that became pronouns; none: all of it is new */
};
/* The question as a follow-up of what was said before. people: the two who talk. */
struct follow_up follow_up_of(struct arena *a, str question, str before,
                              const struct person people[2]);
