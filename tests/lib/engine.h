/* engine.h - an engine over a fresh store. */
#pragma once

#include "engine/engine.h"
#include "lib/store.h"

/* The store s at the place p and the engine e over it, to the end of the scope. A test may change
 * its settings later: the engine reads them at each call. */
#define ENGINE(e, s, p) ENGINE_WITH(e, s, p, settings_for_test())
#define ENGINE_WITH(e, s, p, of)                                                                   \
    PLACE(p);                                                                                      \
    STORE(s, p);                                                                                   \
    struct settings settings = of;                                                                 \
    CLEANUP(engine_closep) struct engine *e = NULL;                                                \
    CHECK_OK(engine_open(ctx, s, &settings, &e))
void engine_closep(struct engine **e);

/* The defaults, with enough time for a recall under sanitizers on a busy machine. */
struct settings settings_for_test(void);
/* Changes runtime settings: "{\"budget_tokens\":100}". */
void change_runtime_settings(struct ctx *ctx, struct engine *e, const char *members);

/* What a question recalls; of the pool mine unless in names another. */
struct recall_out recall_question(struct ctx *ctx, struct engine *e, const char *question,
                                  struct recall_in in);
