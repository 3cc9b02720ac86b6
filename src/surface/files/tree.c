/* tree.c - the files of a space as a tree, their paths, and what the memory tool shows of them. */
#include "surface/files/tree.h"

#include <ctype.h>

/* --- paths --- */

/*
 * There is no folder of the disk behind a path: it is the name of a memory. A path that would leave
 * the folder of another implementation is refused all the same, because files may be exported to
 * one.
 */

/* U+FFFD stands for what is no character: two names that differ only there would be one. */
static bool has_control(str text)
{
    return str_find(text, S("\xEF\xBF\xBD")) < text.n ||
           SOME(i, text.n, iscntrl((unsigned char)text.p[i]));
}

/* Dots and separators as other systems or a URL write them. */
static bool is_disguised(struct arena *a, str path)
{
    static const str marks[] = {S("\\"), S("%2e"), S("%2f"), S("%5c")};
    str lower = str_lower(a, path);
    return SOME(i, sizeof marks / sizeof *marks, str_find(lower, marks[i]) < lower.n);
}

/* False when it goes above the root. */
static bool resolve_parts(struct arena *a, str below, str *out)
{
    struct buf b = buf_make(a, sizeof FILES_ROOT + below.n + 1);
    buf_add(&b, S(FILES_ROOT));
    while (below.n) {
        str part = str_cut(&below, '/');
        if (!part.n || str_is(part, "."))
            continue;
        if (!str_is(part, "..")) {
            buf_printf(&b, "/" S_FMT, S_ARG(part));
            continue;
        }
        if (b.n == S(FILES_ROOT).n)
            return false;
        while (b.p[b.n - 1] != '/')
            b.n--;
        b.n--;
    }
    *out = buf_str(&b);
    return true;
}

bool path_read(struct arena *a, str given, str *out, str *why)
{
    static const str root = S(FILES_ROOT);
    str below = str_starts(given, root) ? str_sub(given, root.n, given.n) : S("");
    if (!str_starts(given, root) || (below.n && below.p[0] != '/'))
        *why = str_printf(a, "Path must start with " FILES_ROOT ", got: " S_FMT, S_ARG(given));
    else if (given.n > PATH_MAX_BYTES)
        *why = str_printf(a, "Path must have at most %d bytes", PATH_MAX_BYTES);
    else if (has_control(given))
        *why = S("Path must not have control characters");
    else if (is_disguised(a, given) || !resolve_parts(a, below, out))
        *why = str_printf(a, "Path " S_FMT " would escape " FILES_ROOT " directory", S_ARG(given));
    else
        return true;
    return false;
}

bool path_is_below(str path, str folder)
{
    return str_starts(path, folder) && path.n > folder.n + 1 && path.p[folder.n] == '/';
}

/* --- the tree --- */

/* In a listing what is in a folder comes right behind it: the slash is less than all else. */
static int by_path(const void *a, const void *b)
{
    str x = ((const struct file *)a)->path, y = ((const struct file *)b)->path;
    for (size_t i = 0; i < x.n && i < y.n; i++) {
        int one = x.p[i] == '/' ? 0 : (unsigned char)x.p[i];
        int other = y.p[i] == '/' ? 0 : (unsigned char)y.p[i];
        if (one != other)
            return one - other;
    }
    return (x.n > y.n) - (x.n < y.n);
}

/* Other doors may give a memory of this layer any key. */
static bool is_path(struct arena *a, str key)
{
    str path, why;
    return path_read(a, key, &path, &why) && str_eq(path, key) && path_is_below(key, S(FILES_ROOT));
}

enum status tree_read(struct ctx *ctx, struct engine *e, struct pool_ref pool, struct tree *out)
{
    struct file *v;
    size_t n;
    TRY(engine_files(ctx, e, pool, &v, &n));
    *out = (struct tree){.v = v};
    for (size_t i = 0; i < n; i++)
        if (is_path(&ctx->arena, v[i].path))
            v[out->n++] = v[i];
    SORT(v, out->n, by_path);
    return OK;
}

const struct file *tree_file(const struct tree *t, str path)
{
    for (size_t i = 0; i < t->n; i++)
        if (str_eq(t->v[i].path, path))
            return &t->v[i];
    return NULL;
}

bool tree_has_folder(const struct tree *t, str path)
{
    return str_is(path, FILES_ROOT) || SOME(i, t->n, path_is_below(t->v[i].path, path));
}

const struct file *tree_blocks(const struct tree *t, str path)
{
    for (size_t i = 0; i < t->n; i++)
        if (path_is_below(path, t->v[i].path))
            return &t->v[i];
    return NULL;
}

/* --- a folder --- */

/* 1536 is 1.5K, 2048 is 2K, and 1025 is 1.0K: the decimal is left out of whole numbers alone. */
static str size_text(struct arena *a, size_t bytes)
{
    static const char units[] = "BKMG";
    size_t unit = 0, one = 1;
    for (; bytes / one >= 1024 && units[unit + 1]; unit++)
        one *= 1024;
    if (bytes % one == 0)
        return str_printf(a, "%zu%c", bytes / one, units[unit]);
    size_t tenths = (bytes * 20 / one + 1) / 2;
    return str_printf(a, "%zu.%zu%c", tenths / 10, tenths % 10, units[unit]);
}

static size_t size_below(const struct tree *t, str folder)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += path_is_below(t->v[i].path, folder) ? t->v[i].text.n : 0;
    return n;
}

/* The entry of a file that is so many names below the folder: itself, or the folder that holds it
 * there, which is listed once. */
static void list_entry(struct arena *a, const struct tree *t, const struct file *file, str entry,
                       str *last, struct buf *b)
{
    bool is_file = entry.n == file->path.n;
    if (!is_file && str_eq(entry, *last))
        return;
    size_t size = is_file ? file->text.n : size_below(t, entry);
    buf_printf(b, "\n" S_FMT "\t" S_FMT "%s", S_ARG(size_text(a, size)), S_ARG(entry),
               is_file ? "" : "/");
    *last = entry;
}

/* Folders are contiguous in this order, so the last one of each level is enough to know them. */
str tree_list(struct arena *a, const struct tree *t, str folder)
{
    enum { LEVELS = 2, LISTING_MAX = 4 << 20 };
    struct buf b = buf_make(a, LISTING_MAX);
    str last[LEVELS] = {{0}};
    buf_printf(&b,
               "Here're the files and directories up to 2 levels deep in " S_FMT
               ", excluding hidden items and node_modules:\n" S_FMT "\t" S_FMT,
               S_ARG(folder), S_ARG(size_text(a, size_below(t, folder))), S_ARG(folder));
    for (size_t i = 0; i < t->n; i++) {
        str path = t->v[i].path;
        if (!path_is_below(path, folder))
            continue;
        str rest = str_sub(path, folder.n + 1, path.n);
        for (size_t level = 0; level < LEVELS && rest.n; level++) {
            str name = str_cut(&rest, '/');
            if (str_starts(name, S(".")) || str_is(name, "node_modules"))
                break;
            size_t n = path.n - rest.n - (rest.n > 0);
            list_entry(a, t, &t->v[i], str_sub(path, 0, n), &last[level], &b);
        }
    }
    return buf_str(&b);
}

/* --- a file --- */

int64_t lines_in(str text)
{
    int64_t n = 1;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    return n;
}

str numbered_lines(struct arena *a, str text, int64_t from, int64_t to)
{
    enum { NUMBER = 24 };
    int64_t n = lines_in(text);
    struct buf b = buf_make(a, text.n + (size_t)n * NUMBER + 1);
    for (int64_t i = 1; i <= n && i <= to; i++) {
        str line = str_cut(&text, '\n');
        if (i >= from)
            buf_printf(&b, "%s%6lld\t" S_FMT, b.n ? "\n" : "", (long long)i, S_ARG(line));
    }
    return buf_str(&b);
}
