/* folder.c - the files of a folder, for an import. */
#include "ext/import/folder.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

enum { DEPTH_MAX = 32 };

struct listing {
    struct ctx *ctx;
    struct folder_file *v;
    size_t n, cap;
};

static void add_file(struct listing *l, str path, str name, const struct stat *st)
{
    int64_t modified = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;
    ARENA_ADD(&l->ctx->arena, l->v, l->n, l->cap) =
        (struct folder_file){path, name, modified, (int64_t)st->st_size};
}

/* What archives and editors put beside the content; hidden ones, as .obsidian, by their dot. */
static int is_content(const struct dirent *e)
{
    static const char *const others[] = {"__MACOSX", "node_modules", "templates", "Templates",
                                         NULL};
    return e->d_name[0] != '.' && !str_is_one_of(str_of(e->d_name), others);
}

/* Links are passed over: what a folder holds is imported, and not what it points to. */
static enum status list_folder(struct listing *l, str path, str inside, int depth)
{
    struct arena *a = &l->ctx->arena;
    struct dirent **v;
    struct stat st;
    enum status s = OK;
    if (depth > DEPTH_MAX)
        return fail(l->ctx, TOO_LARGE, S_FMT ": folders may be %d deep", S_ARG(path), DEPTH_MAX);
    int n = scandir(str_c(a, path), &v, is_content, alphasort);
    if (n < 0)
        return fail(l->ctx, STORAGE, S_FMT ": %s", S_ARG(path), strerror(errno));
    for (int i = 0; i < n; free(v[i++])) {
        if (s != OK)
            continue;
        str at = str_printf(a, S_FMT "/%s", S_ARG(path), v[i]->d_name);
        str name = str_printf(a, S_FMT "%s%s", S_ARG(inside), inside.n ? "/" : "", v[i]->d_name);
        if (lstat(at.p, &st) < 0)
            s = errno == ENOENT ? OK /* gone meanwhile */
                                : fail(l->ctx, STORAGE, "%s: %s", at.p, strerror(errno));
        else if (S_ISDIR(st.st_mode))
            s = list_folder(l, at, name, depth + 1);
        else if (S_ISREG(st.st_mode))
            add_file(l, at, name, &st);
    }
    free(v);
    return s;
}

str path_name(str path)
{
    return str_sub(path, str_behind_last(path, '/'), path.n);
}

enum status folder_files(struct ctx *ctx, str path, struct folder_file **out, size_t *n,
                         bool *is_folder)
{
    struct listing l = {.ctx = ctx};
    struct stat st;
    while (path.n > 1 && str_ends(path, S("/")))
        path = str_sub(path, 0, path.n - 1);
    if (stat(str_c(&ctx->arena, path), &st) < 0)
        return fail(ctx, NOT_FOUND, S_FMT ": %s", S_ARG(path), strerror(errno));
    *is_folder = S_ISDIR(st.st_mode);
    if (*is_folder)
        TRY(list_folder(&l, path, S(""), 0));
    else
        add_file(&l, path, path_name(path), &st);
    *out = l.v;
    *n = l.n;
    return OK;
}
