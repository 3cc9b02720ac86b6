/* stubs.c - what is declared and not built yet; each goes when its file comes. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "engine/engine.h"

enum status engine_import_omniroute(struct ctx *ctx, struct engine *e, str user, str space,
                                    str path, void (*progress)(int64_t done, int64_t all),
                                    struct omniroute_report *out)
{
    return fail(ctx, UNSUPPORTED, "engine_import_omniroute is not built yet");
}
