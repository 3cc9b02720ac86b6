/* surface.h - the face of the surfaces: what handlers work with, and the list of dialects. */
#pragma once

#include <stdatomic.h>

#include "engine/engine.h"
#include "http/http.h"
#include "surface/doctor.h"
#include "surface/observe.h"

/* How the model's server did when it was last looked at. All zero: never. */
struct model_look {
    atomic_int_least64_t at_us; /* clock_mono_us when someone last set out to look */
    atomic_int_least64_t took_us;
    atomic_int answers; /* 0: not known yet, 1: it does, 2: it does not */
};

/* What a handler may reach. Built by app/, in the order of PLAN. */
struct app {
    const struct settings *settings;
    struct engine *engine;
    const struct surface *const *surfaces; /* what is served, NULL-ended */
    struct server *server;                 /* for its counters */
    int64_t started_us;                    /* clock_mono_us() at start */
    struct model_look model;
    atomic_uint without_memory; /* kinds of enum without_memory that are in the log, as bits */
    struct doctor_in doctor;    /* for GET /v1/doctor */
    struct chat_times *times;
    struct exporter *exporter; /* of traces; NULL: there is none */
    struct backup_state *backups;
};

/* Of the product and of satellites (ext/tables.c): NULL-ended, in the order they are asked. */
extern const struct surface *const surfaces[];

/* All routes as text for a person ("METHOD PATH  help"), and the OpenAPI 3.1 document. */
void surface_routes(const struct surface *const *list, struct buf *b);
void surface_openapi(const struct surface *const *list, struct buf *b);

/* Answers one message of the Model Context Protocol from someone on this machine, on one line
 * without its end; *out stays empty when none is expected. */
void surface_mcp_line(struct ctx *ctx, struct app *app, struct pool_ref pool, str tools, str line,
                      struct buf *out);
/* Whether tools is a list that surface_mcp_line takes: groups and names of tools that are listed,
 * separated by commas; "" is the usual ones. BAD_INPUT names what is unknown. */
MUST_USE enum status surface_mcp_tools(struct ctx *ctx, str tools);

/* Memories and findings as JSON, the same for REST and the command line. TOO_LARGE when there are
 * more than an answer holds. */
void surface_memory_json(const struct memory *m, struct buf *out);
MUST_USE enum status surface_memories_json(struct ctx *ctx, const struct memory *v, size_t n,
                                           int64_t total, struct buf *out);
/* What is held back from chats. */
MUST_USE enum status surface_review_json(struct ctx *ctx, const struct review *v, size_t n,
                                         int64_t total, struct buf *out);
MUST_USE enum status surface_found_json(struct ctx *ctx, const struct recall_out *found,
                                        bool explain, struct buf *out);
