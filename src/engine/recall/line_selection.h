/* line_selection.h - Decides whether memory speaks, and how sure a line must then be. */
#pragma once

#include "engine/recall/candidates.h"

struct verdict {
    str decision, reason;
    double least;       /* score that goes in; 2: nothing does */
    double probability; /* that something answers */
    const double *evidence;
    bool is_sure;  /* it would go in without any phrase */
    bool by_worth; /* lines are given for the coverage, and not each by its score */
};

/* Of what was found. tells: the question states facts and asks for nothing. */
struct verdict verdict_of(struct finder *f, struct gate gate, bool tells);

/* Marks the lines that go in, best first, until they hold as much of what is probably needed as the
 * setting `coverage` asks for. Notes of each how probable it is that it is needed. */
void lines_select(struct finder *f, const struct verdict *v);

/* Of what is injected: "; covers 96 % of what is probably needed (97 % asked)", by the same
 * probabilities, and why it may be more than usual; "" where these did not decide, or nothing is
 * given. */
str lines_covered(const struct finder *f, const struct verdict *v);

/* Whether a line above is the message that this memory was noted from, or the memory that was noted
 * from this message: the two take one place. */
bool lines_is_again(const struct finder *f, size_t i);

/* Tokens that the lines of a question may take: `sure`, and up to `most` while each further line is
 * worth its tokens: each makes the answer by `price` more probable. < 0: without end. */
struct line_budget {
    int64_t sure, most;
    double price;
};

/* Of all that a chat may get. */
struct line_budget lines_budget(const struct finder *f, int64_t budget);

/* A line that was chosen: the tokens it takes, and its place among what was found. */
struct sized_line {
    int64_t tokens;
    size_t at;
};

/* How many of these, best first, go in. The first one always does. */
size_t lines_within(const struct finder *f, const struct sized_line *v, size_t n,
                    struct line_budget b);
