/* project_root.c - the root of the repository that a folder is in. */
#include <sys/stat.h>

#include "ext/connect/connect.h"

/*
 * Git's own rule: the nearest folder upwards that has .git. That is a folder in a repository and a
 * file in a further work tree of one, which names the repository it belongs to: all of its work
 * trees are one project. A repository of the whole home folder, where people keep their settings,
 * is no project of the folders in it.
 */

enum { LINK_MAX = 4096 };

static bool read_link(const char *file, char *text, size_t size)
{
    FILE *f = fopen(file, "re");
    if (!f)
        return false;
    size_t n = fread(text, 1, size - 1, f);
    fclose(f);
    text[n] = 0;
    return true;
}

/* "gitdir: /path/of/the/repository/.git/worktrees/name"; of a submodule it is .git/modules. */
static str main_tree_of(struct arena *a, str folder, str link)
{
    str to = str_trim(str_cut(&link, '\n'));
    if (!str_starts(to, S("gitdir:")))
        return folder;
    to = str_trim(str_sub(to, S("gitdir:").n, to.n));
    size_t at = str_find(to, S("/.git/worktrees/"));
    if (at == to.n)
        return folder;
    str root = str_sub(to, 0, at);
    if (!str_starts(root, S("/")))
        root = str_printf(a, S_FMT "/" S_FMT, S_ARG(folder), S_ARG(root));
    char *whole = realpath(str_c(a, root), NULL);
    str found = whole ? str_dup(a, str_of(whole)) : folder;
    free(whole);
    return found;
}

static str parent_of(str folder)
{
    while (folder.n && folder.p[folder.n - 1] != '/')
        folder.n--;
    return folder.n > 1 ? str_sub(folder, 0, folder.n - 1) : S("");
}

str project_root(struct arena *a, str folder)
{
    const char *home = getenv("HOME");
    for (str at = folder; at.n; at = parent_of(at)) {
        struct stat st;
        char link[LINK_MAX];
        const char *git = str_printf(a, S_FMT "/.git", S_ARG(at)).p;
        bool is_home = home && str_is(at, home) && !str_eq(at, folder);
        if (is_home || stat(git, &st) != 0)
            continue;
        if (S_ISREG(st.st_mode) && read_link(git, link, sizeof link))
            return main_tree_of(a, at, str_of(link));
        return at;
    }
    return folder;
}
