/* path.c - paths of the memory tool: always under /memories. */
#include "surface/files/path.h"

#include <ctype.h>

#include "base/buf.h"

/*
 * There is no folder of the disk behind a path: it is the name of a memory. A path that would leave
 * the folder of another implementation is refused all the same, because files may be exported to
 * one.
 */

/* U+FFFD stands for what is no character: two names that differ only there would be one. */
static bool has_control(str text)
{
    if (str_find(text, S("\xEF\xBF\xBD")) < text.n)
        return true;
    return SOME(i, text.n, iscntrl((unsigned char)text.p[i]));
}

/* Dots and separators as other systems or a URL write them. */
static bool is_disguised(struct arena *a, str path)
{
    static const char *const marks[] = {"\\", "%2e", "%2f", "%5c", NULL};
    str lower = str_lower(a, path);
    for (const char *const *m = marks; *m; m++)
        if (str_find(lower, str_of(*m)) < lower.n)
            return true;
    return false;
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

bool path_is_below(str path, str folder, str *rest)
{
    if (!str_starts(path, folder) || path.n <= folder.n + 1 || path.p[folder.n] != '/')
        return false;
    *rest = str_sub(path, folder.n + 1, path.n);
    return true;
}
