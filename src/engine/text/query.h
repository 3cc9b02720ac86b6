/* query.h - a question as recall sees it: the words to search, what kind of answer, which time. */
#pragma once

#include "base/words.h"
#include "core/memory.h"

struct query {
    str stems[QUERY_WORDS_MAX]; /* each once, in the order of the question */
    str texts[QUERY_WORDS_MAX]; /* as they stand there */
    size_t n;
    bool wants_date, wants_name, wants_number;
    int64_t from, to; /* unix ms: it speaks of this time; both 0: of none */
    uint32_t months;  /* it names these (bit 0 is January) … */
    int year;         /* … of this year; 0: it names none */
};

/* asked (unix ms) is what "yesterday" and "last week" are told from. */
struct query query_of(struct arena *a, str question, int64_t asked);

bool query_names_time(const struct query *q);
/* Whether the question speaks of the time t lies in. */
bool query_has_time(const struct query *q, int64_t t);
