/* migrate.c - the command migrate: all memory copied to another database, and compared. */
#include "app/command.h"
#include "app/instance.h"
#include "app/key/key.h"
#include "app/print.h"
#include "app/progress.h"
#include "store/move.h"

static FIELDS_OF(store_moved, moved, (INT, rows), (INT, users), (INT, resumed));

static const str file_scheme = {"sqlite:", 7};

/* A database in PostgreSQL, or a folder with a file, which has an instance and maybe a key. */
static enum status find_side(struct ctx *ctx, const struct options *o, const char *flag, str url,
                             struct instance *instance, struct key *key,
                             struct store_settings *settings)
{
    struct settings own = o->settings;
    settings->path = url;
    if (str_starts(url, S("postgres://")) || str_starts(url, S("postgresql://")))
        return OK;
    if (!str_starts(url, file_scheme) || url.n == file_scheme.n)
        return fail(ctx, BAD_INPUT,
                    "%s must be sqlite:FOLDER or postgres://USER@HOST/DATABASE?schema=NAME", flag);
    own.data = str_sub(url, file_scheme.n, url.n);
    TRY(instance_find(ctx, &own, instance));
    TRY(key_find(ctx, &own, instance->folder, instance->file, key));
    *settings = (struct store_settings){.path = instance->file,
                                        .key = key->bytes,
                                        .keeps_old = true,
                                        .erasures = instance->erasures};
    return OK;
}

static void show_progress(void *own, const char *what, int64_t done, int64_t all)
{
    progress_show(own, what, done, all, 1, all > 1 ? "rows" : "");
}

static void print_words(const struct instance *from, const struct store_moved *moved)
{
    printf("copied and compared: %lld rows of %lld user%s", (long long)moved->rows,
           (long long)moved->users, moved->users == 1 ? "" : "s");
    if (moved->resumed)
        printf(" (%lld were there from an earlier try)", (long long)moved->resumed);
    printf("\nthe source is unchanged; what could be undone there is final here\n");
    if (from->folder.n)
        printf("if " S_FMT
               " has seal.key, rememberd.audit or audit.key, take them to the new data folder\n",
               S_ARG(from->folder));
}

enum status command_migrate_check(struct ctx *ctx, const struct options *o)
{
    return o->from.n && o->to.n ? OK : fail(ctx, BAD_INPUT, "needs --from URL and --to URL");
}

enum status command_migrate(struct ctx *ctx, const struct options *o)
{
    CLEANUP(key_free) struct key from_key = {0};
    CLEANUP(key_free) struct key to_key = {0};
    struct instance from = {0}, to = {0};
    struct progress progress = {0};
    struct store_moved moved;
    struct store_move move = {.progress = show_progress, .own = &progress};
    TRY(find_side(ctx, o, "--from", o->from, &from, &from_key, &move.from));
    move.from.must_exist = true;
    TRY(find_side(ctx, o, "--to", o->to, &to, &to_key, &move.to));
    if (from.folder.n && instance_is_new(ctx, &from))
        return fail(ctx, NOT_FOUND, "--from: there is no database in '" S_FMT "'",
                    S_ARG(from.folder));
    if (to.folder.n)
        TRY(make_folder_of(ctx, to.file));
    enum status status = store_move(ctx, &move, &moved);
    progress_end(&progress);
    TRY(status);
    if (o->json)
        return print_fields(ctx, moved_fields, &moved);
    print_words(&from, &moved);
    return OK;
}
