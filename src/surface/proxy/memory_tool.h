/* memory_tool.h - the tool search_memory: a model searches one layer of memory. */
#pragma once

#include "surface/surface.h"

#define SEARCH_MEMORY "search_memory"
extern const char search_memory_help[];

struct search_memory_in {
    str scope, query, agent_id;
    int64_t days, top_k;
    const struct turn_out *turn; /* no argument: the chat that asks, whose own messages are left
                                    out; or NULL */
};
/* With agent_id and without: a model behind the proxy has the space of its request. */
extern const struct field search_memory_in_fields[], search_memory_here_fields[];

/* The result of one search, in the ctx's arena. */
struct searched {
    enum plan_scope scope;
    struct recalled *v;
    size_t n;
    str text; /* for the model: "Found 2 …" and a line each, or "No … match" */
};

/* BAD_INPUT: the arguments are wrong. The caller turns agent_id into a pool. */
MUST_USE enum status search_memory(struct ctx *ctx, struct app *app, struct pool_ref pool,
                                   const struct search_memory_in *in, struct searched *out);
