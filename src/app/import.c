/* import.c - imports the memories of another program, with progress on a terminal. */
#include "app/command.h"
#include "app/instance.h"
#include "app/progress.h"

/* One import runs in a process, so its progress may be static. */
static struct progress progress;

static void show_progress(int64_t done, int64_t all)
{
    progress_show(&progress, "omniroute", done, all, 1, "memories");
}

/* A new user has no token yet, and a chat without a token searches the default space only. */
static const char where[] =
    "The memories of each key are in the space with the name of the key. A chat uses them with a "
    "token of that space:\n"
    "  rememberd token create --space NAME\n"
    "For chats without a token, repeat the import with --space " DEFAULT_SPACE ".\n";

enum status command_import_check(struct ctx *ctx, const struct options *o)
{
    if (str_is(o->words.v[1], "omniroute"))
        return OK;
    return fail(ctx, BAD_INPUT, "must be: import omniroute FILE");
}

/* Each memory of the other database is added under its key, and one that is there already is
 * updated, so that an import may be repeated. Without --space each key gets a space of its own. */
enum status command_import(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    struct omniroute_report r = {0};
    TRY(instance_open(ctx, o, &instance));
    enum status s = engine_import_omniroute(ctx, instance.engine, pool_of(o).user,
                                            options_has(o, "space") ? o->space : S(""),
                                            o->words.v[2], show_progress, &r);
    progress_end(&progress);
    TRY(s);
    printf(o->json ? "{\"memories\":%lld,\"updated\":%lld,\"owners\":%lld,\"skipped\":%lld}\n"
                   : "%lld memories, %lld updated, of %lld keys; %lld skipped\n",
           (long long)r.memories, (long long)r.updated, (long long)r.owners, (long long)r.skipped);
    if (!o->json && !options_has(o, "space") && r.owners)
        fputs(where, stdout);
    return OK;
}
