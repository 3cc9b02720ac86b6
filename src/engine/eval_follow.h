/* eval_follow.h - measures recall on follow-up questions, made from LoCoMo's. */
#pragma once

#include "engine/engine_int.h"
#include "engine/locomo.h"

/*
 * Pairs of questions whose evidence stands in the same session, each the next one after the other.
 * The first and its answer are what was said before; of the second, what the first named already is
 * replaced by a pronoun, as people do. Each conversation is in a pool of its own by its id. Writes
 * the report.
 */
MUST_USE enum status eval_follow_ups(struct ctx *ctx, struct engine *e, const struct locomo *all,
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
