/* export.c - writes everything that a user has as lines of JSON or as Markdown. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "app/command.h"
#include "app/instance.h"
#include "app/leftovers.h"
#include "base/audit.h"
#include "base/files.h"
#include "ext/import/export.h"

enum { PART_BYTES = 1 << 20, PART_MAX = 256 << 20 };

static enum status check_format(struct ctx *ctx, const struct options *o)
{
    if (o->format.n && name_index(export_formats, o->format, -1) < 0)
        return fail_field(ctx, "--format", "must be jsonl or markdown");
    return OK;
}

/* Every space of the user, or the one that --space names. */
static enum status find_pools(struct ctx *ctx, const struct options *o, struct engine *e,
                              struct memory_select *out)
{
    struct pool_info *v;
    size_t all;
    bool is_one = options_has(o, "space");
    TRY(engine_spaces(ctx, e, o->user, &v, &all));
    if (!all && options_has(o, "user"))
        return fail(ctx, NOT_FOUND, "the user '" S_FMT "' has nothing here", S_ARG(o->user));
    struct pool_ref *pools = NEW_N(&ctx->arena, struct pool_ref, all + 1);
    out->pools = pools;
    for (size_t i = 0; i < all; i++)
        if (!is_one || str_eq(v[i].pool.space, o->space))
            pools[out->n_pools++] = v[i].pool;
    if (is_one && !out->n_pools && !str_is(o->space, DEFAULT_SPACE))
        return fail(ctx, NOT_FOUND,
                    "there is no space '" S_FMT "'; without --space all are exported",
                    S_ARG(o->space));
    return OK;
}

static enum status write_parts(struct ctx *ctx, struct engine *e, struct exporting *x, int fd)
{
    for (bool is_last = false; !is_last;) {
        CLEANUP(ctx_free) struct ctx part = ctx_child(ctx, 0);
        struct buf b = buf_make(&part.arena, PART_MAX);
        enum status s = engine_export_part(&part, e, x, PART_BYTES, &b, &is_last);
        if (s == OK && b.full)
            s = fail(&part, TOO_LARGE, "a part has over %d bytes", PART_MAX);
        TRY(ctx_pass(ctx, &part, s));
        if (!write_all(fd, buf_str(&b)))
            return fail(ctx, STORAGE, "cannot write: %s", strerror(errno));
    }
    return OK;
}

/* A file that exists is kept. It has its name once it is whole: what a killed export leaves is
 * called FILE.part. */
static enum status write_file(struct ctx *ctx, struct engine *e, struct exporting *x,
                              const char *path)
{
    const char *part = str_printf(&ctx->arena, "%s.part", path).p;
    if (access(path, F_OK) == 0)
        return fail(ctx, CONFLICT, "%s: %s", path, strerror(EEXIST));
    CLEANUP(fd_close) int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(ctx, errno == EEXIST ? CONFLICT : STORAGE, "%s: %s", part, strerror(errno));
    leftover_add(part);
    enum status s = write_parts(ctx, e, x, fd);
    if (s == OK && (fsync(fd) < 0 || rename(part, path) < 0))
        s = fail(ctx, STORAGE, "%s: %s", path, strerror(errno));
    if (s != OK)
        unlink(part);
    return s;
}

static enum status export_spaces(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    struct export_order order = {.select = SELECT_ALL, .all = true};
    const char *path = o->words.n > 1 ? str_c(&ctx->arena, o->words.v[1]) : "-";
    order.format = str_is(o->format, "markdown") ? EXPORT_MARKDOWN : EXPORT_JSONL;
    TRY(instance_open(ctx, o, TO_READ, &instance));
    TRY(find_pools(ctx, o, instance.engine, &order.select));
    struct exporting *x = engine_export_begin(ctx, &order);
    TRY(strcmp(path, "-") == 0 ? write_parts(ctx, instance.engine, x, STDOUT_FILENO)
                               : write_file(ctx, instance.engine, x, path));
    audit_note(ctx, "exported", o->user, "all=1");
    return OK;
}

const struct command export_commands[] = {
    {"export", "export [FILE]",
     "Export everything of a user, which import reads again, to a new file or to standard output",
     "export copy.md --format markdown", " user space format ", 0, 1, check_format, export_spaces,
     false, "all spaces of the user", .own_help = {{"format", "jsonl (the default) or markdown"}}},
    {0},
};
