/* query.h - a question as recall sees it: the words to search, what kind of answer, which time. */
#pragma once

#include "core/memory.h"
#include "engine/questions/time_phrase.h"

struct query {
    str stems[QUERY_WORDS_MAX]; /* each once, in the order of the question */
    str texts[QUERY_WORDS_MAX]; /* as they stand there */
    size_t n;
    bool wants_date, wants_name, wants_number;
    bool asks_past; /* what was, or what was said: "What did I …", "Summarise our conversations" */
    bool asks_advice;   /* "Suggest …", "Can I have …": what suits somebody counts */
    double asks_reply;  /* 0 to 1: "What was the book you told me of?"; recall sets it */
    struct times times; /* that it speaks of */
};

/* "Yesterday" is told from asked (unix ms). The texts point into the question or the arena. */
struct query query_of(struct arena *a, str question, int64_t asked);

/* Whether the question speaks of the time that t (unix ms) lies in. */
bool query_has_time(const struct query *q, int64_t t);

/* The first stretch of time that it names, in unix ms; both 0 where it names none. */
struct time_span query_span(const struct query *q);

/* Whether its answer is spread over many places: "list in order", "how many times"; in English and
 * German. "How much was the bike?" is not: one statement holds it. */
bool query_is_broad(struct arena *a, str question);
