/* telling.h - sentences of people, and whether they tell something: what tells.def is fitted to. */
#pragma once

#include "base/arena.h"
#include "base/json.h"

struct telling {
    str sentence, language;
    bool is_accepted; /* by the rules: as a statement */
    bool tells;
};

struct tellings {
    struct telling *v;
    size_t n, cap;
};

/*
 * Of the lines of a person of tests/life. A sentence of a line that a question needs tells
 * something if it is accepted, holds words of the answer or is all of the line. Of a line that none
 * needs a sentence that is not accepted tells nothing. Others are left out.
 */
void telling_of_lines(struct arena *a, const struct json *person, struct tellings *out);

/* A question or a request; tells: something of its person, too. */
void telling_of_ask(struct arena *a, str ask, str language, bool tells, struct tellings *out);

/* What stands before a question of the same sentence: "I can't wear latex, which gloves?" */
void telling_of_head(struct arena *a, str head, str language, bool tells, struct tellings *out);

/* Whether people write it: what nobody tells anything in would look like questions. */
bool telling_is_in(str language);
