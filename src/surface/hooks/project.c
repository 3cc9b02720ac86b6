/* project.c - the space of a project: its name, and where a session's project is. */
#include "surface/hooks/project.h"

#include <ctype.h>

#include "base/id.h"
#include "base/utf8.h"

/*
 * The name follows from the path alone, so that nothing has to be set up and nothing is read from
 * the disk: a path in a request is the client's, whose machine may be another one. A folder that
 * moves is another project.
 */

enum { NAME_MAX_BYTES = 60, HASH_DIGITS = 8 };

static bool is_separator(char c)
{
    return c == '/' || c == '\\';
}

/* Of the last folder in the path, as far as a header may hold it. */
static str folder_name(struct arena *a, str path)
{
    size_t from = path.n;
    while (from && !is_separator(path.p[from - 1]))
        from--;
    str name = utf8_cut(str_sub(path, from, path.n), NAME_MAX_BYTES);
    char *p = arena_alloc(a, name.n + 1);
    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];
        p[i] = (char)(isalnum(c) || strchr("._-", c) || c >= 0x80 ? c : '-');
    }
    return (str){p, name.n};
}

str project_space(struct arena *a, str path)
{
    path = str_trim(path);
    while (path.n && is_separator(path.p[path.n - 1]))
        path.n--;
    if (!path.n)
        return S("");
    uint64_t hash = hash64(&path, 1);
    return str_printf(a, PROJECT_PREFIX S_FMT "-%.*s", S_ARG(folder_name(a, path)), HASH_DIGITS,
                      hex_of(a, &hash, sizeof hash).p);
}

static enum status has_session(struct ctx *ctx, struct app *app, struct pool_ref pool, str id,
                               bool *out)
{
    struct session found;
    enum status s = engine_session(ctx, app->engine, pool, id, &found);
    *out = s == OK;
    return soft_if(ctx, s, NOT_FOUND) ? OK : s;
}

/* The path's own space is asked first: nearly always the session is there. */
enum status project_pool(struct ctx *ctx, struct app *app, str user, str session, str path,
                         struct pool_ref *out)
{
    struct pool_info *all;
    size_t n;
    bool is_there = false;
    const struct pool_ref own = {user, project_space(&ctx->arena, path)};
    *out = own;
    if (own.space.n)
        TRY(has_session(ctx, app, own, session, &is_there));
    if (is_there)
        return OK;
    TRY(engine_spaces(ctx, app->engine, user, &all, &n));
    for (size_t i = 0; i < n && !is_there; i++) {
        if (!str_starts(all[i].pool.space, S(PROJECT_PREFIX)))
            continue;
        TRY(has_session(ctx, app, all[i].pool, session, &is_there));
        if (is_there)
            *out = all[i].pool;
    }
    return OK;
}
