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
                              struct pool_ref **out, size_t *n)
{
    struct pool_info *v;
    size_t all;
    bool is_one = options_has(o, "space");
    TRY(engine_spaces(ctx, e, o->user, &v, &all));
    if (!all && options_has(o, "user"))
        return fail(ctx, NOT_FOUND, "the user '" S_FMT "' has nothing here", S_ARG(o->user));
    *out = NEW_N(&ctx->arena, struct pool_ref, all + 1);
    *n = 0;
    for (size_t i = 0; i < all; i++)
        if (!is_one || str_eq(v[i].pool.space, o->space))
            (*out)[(*n)++] = v[i].pool;
    if (is_one && !*n && !str_is(o->space, DEFAULT_SPACE))
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
        if (s != OK)
            return fail(ctx, s, "%s", part.why);
        if (!write_all(fd, buf_str(&b)))
            return fail(ctx, STORAGE, "cannot write: %s", strerror(errno));
    }
    return OK;
}

/* A file that exists is kept. It has its name once it is whole: what a killed export leaves is
 * called FILE.part. */
static enum status export_spaces(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    int fd = STDOUT_FILENO;
    struct export_order order = {.select = SELECT_ALL,
                                 .format =
                                     str_is(o->format, "markdown") ? EXPORT_MARKDOWN : EXPORT_JSONL,
                                 .all = true};
    struct pool_ref *pools = NULL;
    const char *path = o->words.n > 1 ? str_c(&ctx->arena, o->words.v[1]) : "-";
    const char *part = str_printf(&ctx->arena, "%s.part", path).p;
    bool is_file = strcmp(path, "-") != 0;
    TRY(instance_open(ctx, o, TO_READ, &instance));
    TRY(find_pools(ctx, o, instance.engine, &pools, &order.select.n_pools));
    order.select.pools = pools;
    if (is_file && access(path, F_OK) == 0)
        return fail(ctx, CONFLICT, "%s: %s", path, strerror(EEXIST));
    if (is_file)
        fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(ctx, errno == EEXIST ? CONFLICT : STORAGE, "%s: %s", part, strerror(errno));
    if (is_file)
        leftover_add(part);
    enum status s = write_parts(ctx, instance.engine, engine_export_begin(ctx, &order), fd);
    if (s == OK && is_file && (fsync(fd) < 0 || rename(part, path) < 0))
        s = fail(ctx, STORAGE, "%s: %s", path, strerror(errno));
    if (s != OK && is_file)
        unlink(part);
    if (is_file)
        close(fd);
    if (s == OK)
        audit_note(ctx, "exported", o->user, "all=1");
    return s;
}

const struct command export_commands[] = {
    {"export", "export [FILE]",
     "Export everything of a user, which import reads again, to a new file or to standard output",
     "export copy.md --format markdown", " user space format ", 0, 1, check_format, export_spaces,
     false, "all spaces of the user", .own_help = {{"format", "jsonl (the default) or markdown"}}},
    {0},
};
