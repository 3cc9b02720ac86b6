/* stubs.c - what is declared and not built yet; each goes when its file comes. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "store/store.h"

enum status store_read_omniroute(struct ctx *ctx, str path,
                                 enum status (*row)(struct ctx *ctx, void *own,
                                                    const struct omniroute_row *row, int64_t done,
                                                    int64_t all),
                                 void *own)
{
    return fail(ctx, UNSUPPORTED, "store_read_omniroute is not built yet");
}
