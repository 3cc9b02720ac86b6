/* prompt.h - the core model's prompt for a session, and the shape of its answer. */
#pragma once

#include "engine/distil/known.h"

/* A model's answer about a session. Without a salience a rule decides it. */
#define SALIENCE_UNSAID (-1)
struct said_episode {
    str summary;
    struct strs topics, decisions, action_items;
    double salience;
};
/* A fact, or a line about who the user is. */
struct said_fact {
    str content, type; /* type: of kind_names, or whatever the model wrote */
    double salience;
    struct strs tags, replaces; /* replaces: ids or texts of earlier facts that were shown */
    str from;                   /* the user's words for it, or "" */
};
struct said_of_session {
    struct said_episode episode;
    struct strs entities;
    const struct json *pinned_candidates, *identity_facts; /* arrays of said_fact */
};
extern const struct field said_of_session_fields[], said_fact_fields[];

/* Most turns of a part, and most of their characters. */
enum { PART_TURNS = 60, PART_CHARS = 64000, MESSAGE_MAX = 8000 };

extern const char distil_instructions[];
/* The conversation and what is known already, as lines of JSON: data, whatever they say. */
str distil_prompt(struct arena *a, const struct distilling *d);
/* How many of the first turns go into one question, when at most `most` may. */
size_t distil_part(const struct pending_signal *signals, size_t n, size_t most);
/* A summary without the pleasantries that models begin with. */
str distil_summary(struct arena *a, str text);
