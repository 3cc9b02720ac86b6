/* common.h - the common part of OmniRoute's endpoints: a memory, callers, failures. */
#pragma once

#include "surface/common/error_body.h"
#include "surface/common/tool.h"

/* A memory as OmniRoute shows it. */
extern const struct field memory_shown_fields[];

/* auth_request in OmniRoute's words. What concerns the server is for admins; memories are for
 * whoever reaches their space. */
enum status auth_manager_request(struct ctx *ctx, struct app *app, enum route_access needs,
                                 struct request *in);
extern const struct error_shape omniroute_errors;
#define OMNIROUTE_SURFACE(ROUTES)                                                                  \
    {                                                                                              \
        "omniroute", ROUTES, word_omniroute_error, auth_manager_request, SURFACE_SETTLES,          \
            .errors = &omniroute_errors                                                            \
    }
void word_omniroute_error(struct ctx *ctx, enum status s, const struct request *in,
                          struct reply *out);

/* The pool of a key's id; without an id all spaces, for a caller that reaches all (auth_spaces). */
enum status managed_pool(struct ctx *ctx, struct app *app, const struct request *in, str key,
                         struct pool_ref *out);

/* OmniRoute gives a search 2,000 tokens until someone sets another budget; chats have the budget of
 * this server. */
enum { OMNIROUTE_BUDGET = 2000 };
int64_t omniroute_budget(const struct settings *s);

/* The report of a compaction, the same for REST and the command line. */
MUST_USE enum status condensed_json(struct ctx *ctx, const struct condense_out *done,
                                    struct buf *out);

/* The three memory tools, for MCP. Ends with an all-zero row. */
extern const struct tool omniroute_tools[];
