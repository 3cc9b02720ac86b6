/* upgrade.c - the upgrade of the database: told, and done. */
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "app/command.h"
#include "app/instance.h"
#include "app/key/key.h"
#include "app/print.h"

/* needed and free are bytes: of the copy that is made before, and of the disk that it goes to. */
SHAPE(upgrade_out, (STR, file), (INT, schema), (INT, newest), (BOOL, upgrades), (INT, needed),
      (INT, free), (BOOL, done));

static enum status look(struct ctx *ctx, const struct options *o, struct upgrade_out *out)
{
    CLEANUP(key_free) struct key key = {0};
    struct instance instance;
    struct stat st;
    struct statvfs fs;
    TRY(instance_find_file(ctx, &o->settings, "a server upgrades it when it starts", &instance));
    TRY(key_find(ctx, &o->settings, instance.folder, instance.file, &key));
    out->file = instance.file;
    TRY(store_schema(ctx, instance.file, key.bytes, &out->schema, &out->newest));
    out->upgrades = out->schema < out->newest;
    if (out->upgrades && stat(str_c(&ctx->arena, instance.file), &st) == 0)
        out->needed = st.st_size;
    if (statvfs(str_c(&ctx->arena, instance.folder), &fs) == 0)
        out->free = (int64_t)(fs.f_bavail * fs.f_frsize);
    return OK;
}

static void print_words(const struct upgrade_out *out)
{
    if (!out->upgrades)
        printf(S_FMT ": schema %lld, which is this program's; nothing changes\n", S_ARG(out->file),
               (long long)out->schema);
    else if (out->done)
        printf(S_FMT ": upgraded from schema %lld to %lld; the copy from before is beside it\n",
               S_ARG(out->file), (long long)out->schema, (long long)out->newest);
    else
        printf(S_FMT ": schema %lld; this program brings it to %lld when it opens it, after a copy "
                     "beside it (%.1f MB; %.1f MB are free)\n",
               S_ARG(out->file), (long long)out->schema, (long long)out->newest,
               (double)out->needed / 1e6, (double)out->free / 1e6);
}

enum status command_upgrade(struct ctx *ctx, const struct options *o)
{
    struct upgrade_out out = {0};
    TRY(look(ctx, o, &out));
    if (out.upgrades && !o->check) {
        struct instance instance;
        TRY(instance_open(ctx, o, TO_CHANGE, &instance));
        instance_close(&instance);
        out.done = true;
    }
    if (o->json)
        return print_fields(ctx, upgrade_out_fields, &out);
    print_words(&out);
    return OK;
}
