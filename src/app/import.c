/* import.c - taking over what another program remembers, with progress on a terminal. */
#include "app/bar.h"
#include "app/commands.h"
#include "app/home.h"

/* One import runs in a process, so its progress may be static. */
static struct bar bar;

static void show(int64_t done, int64_t all)
{
    bar_show(&bar, "omniroute", done, all, 1, "memories");
}

/* Whoever comes over has no token yet, and without one a chat looks into the default space alone.
 */
static const char where[] =
    "each key's are in the space of its name: 'rememberd token create --space NAME' makes a token "
    "whose chats see them\n"
    "(or put all where chats without a token look: the same import with --space " DEFAULT_SPACE
    ")\n";

enum status command_import_check(struct ctx *ctx, const struct options *o)
{
    if (str_is(o->words.v[1], "omniroute"))
        return OK;
    return fail(ctx, BAD_INPUT, "say: import omniroute FILE");
}

enum status command_import(struct ctx *ctx, const struct options *o)
{
    CLEANUP(home_close) struct home home = {0};
    struct omniroute_report r = {0};
    TRY(home_open(ctx, o, &home));
    enum status s = engine_import_omniroute(ctx, home.engine, pool_of(o).user,
                                            options_has(o, "space") ? o->space : S(""),
                                            o->words.v[2], show, &r);
    bar_end(&bar);
    TRY(s);
    printf(o->json ? "{\"memories\":%lld,\"updated\":%lld,\"owners\":%lld,\"skipped\":%lld}\n"
                   : "%lld memories, %lld updated, of %lld keys; %lld left out\n",
           (long long)r.memories, (long long)r.updated, (long long)r.owners, (long long)r.skipped);
    if (!o->json && !options_has(o, "space") && r.owners)
        fputs(where, stdout);
    return OK;
}
