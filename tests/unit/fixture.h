/* fixture.h - an engine over a fresh store. */
#pragma once

#include "engine/engine.h"

#include "store/fixture.h"

static void engine_closep(struct engine **e)
{
    engine_close(*e);
}

/* The defaults, with time enough for a recall under sanitizers on a busy machine. */
static struct settings settings_for_test(void)
{
    struct settings s = {0};
    fields_defaults(settings_table, &s);
    s.recall_deadline_ms = 5000;
    return s;
}

/* A test may change its settings as it goes: the engine reads them at each call. */
#define ENGINE(e, s, p)                                                                            \
    PLACE(p);                                                                                      \
    STORE(s, p);                                                                                   \
    struct settings settings = settings_for_test();                                                \
    CLEANUP(engine_closep) struct engine *e = NULL;                                                \
    CHECK_OK(engine_open(ctx, s, &settings, &e))
