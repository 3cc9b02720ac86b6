/* search_memory.h - the tool search_memory: one layer of memory, searched by a model that asks. */
#pragma once

#include "surface/surface.h"

#define SEARCH_MEMORY "search_memory"
extern const char search_memory_help[];

struct search_memory_in {
    str scope, query, agent_id;
    int64_t days, top_k;
    /* No arguments: */
    bool is_readonly;        /* what is found does not count as used */
    const struct turn *turn; /* the chat that asks, whose own messages are left out; or NULL */
};
/* The same with agent_id and without: a model behind the proxy has the space of its request. */
extern const struct field search_memory_in_fields[], search_memory_here_fields[];

/* What one search gave; it lives in the ctx's arena. */
struct searched {
    enum plan_scope scope;
    struct recalled *v;
    size_t n;
    str text; /* as a model reads it: "Found 2 …" and a line for each, or that there is none */
};

/* BAD_INPUT says what is wrong with the arguments. agent_id is the caller's affair. */
MUST_USE enum status search_memory(struct ctx *ctx, struct app *app, struct pool_ref pool,
                                   const struct search_memory_in *in, struct searched *out);
