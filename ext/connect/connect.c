/* connect.c - the command connect: shows what it will write into a program's settings; writes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/id.h"
#include "core/suggest.h"
#include "ext/connect/clients.h"

#include "app/print.h"
#include "ext/connect/connect.h"

/*
 * The settings are another program's, with things in them that no one has a copy of. So all files
 * of the program are read and changed in memory first; what cannot be read stops everything before
 * a byte is written. Then the differences are shown, the user agrees, and each file is replaced by
 * a whole new one.
 */

enum { FILE_MAX = 32 << 20, VALUE_MAX = 1 << 20, FILES_MAX = 4 };

struct edited_file {
    str path, before, after;
    bool is_there;
};

struct plan {
    const struct client *client;
    struct target_server to;
    bool is_removal, has_hooks;
    struct edited_file files[FILES_MAX]; /* in the end those that change */
    size_t n;
};

/* --- reading --- */

static const struct client *client_of(str name)
{
    const struct client *c = clients;
    while (c->name && !str_is(name, c->name))
        c++;
    return c->name ? c : NULL;
}

static enum status check_client(struct ctx *ctx, const struct options *o)
{
    if (o->words.n < 2)
        return o->remove ? fail(ctx, BAD_INPUT, "--remove needs the name of a program") : OK;
    const struct client *c = client_of(o->words.v[1]);
    struct suggestion near = {.typed = o->words.v[1]};
    for (const struct client *one = clients; !c && one->name; one++)
        suggest_name(&near, one->name);
    if (!c)
        return fail(ctx, BAD_INPUT,
                    "no program '" S_FMT "' is known%s%s%s; rememberd connect lists them",
                    S_ARG(near.typed), near.best ? "; did you mean '" : "",
                    near.best ? near.best : "", near.best ? "'?" : "");
    if (c->is_local && o->url.n)
        return fail(ctx, BAD_INPUT, "%s starts rememberd itself and takes no --url", c->name);
    return OK;
}

static enum status read_file(struct ctx *ctx, struct edited_file *f)
{
    struct stat st;
    f->before = S("");
    if (access(f->path.p, R_OK) != 0)
        return errno == ENOENT ? OK : fail(ctx, STORAGE, "cannot be opened: %s", strerror(errno));
    f->is_there = true;
    if (stat(f->path.p, &st) != 0 || !S_ISREG(st.st_mode))
        return fail(ctx, STORAGE, "is not a file");
    if (st.st_size > FILE_MAX)
        return fail(ctx, TOO_LARGE, "has more than %d bytes", FILE_MAX);
    TRY(file_read(ctx, f->path.p, FILE_MAX, &f->before));
    return memchr(f->before.p, 0, f->before.n) ? fail(ctx, BAD_INPUT, "is not text") : OK;
}

/* "/home/ana/.cursor/mcp.json: not valid JSON: …; nothing was changed" */
static enum status with_path(struct ctx *ctx, enum status s, str path)
{
    if (s == OK)
        return OK;
    str why = ctx_take_why(ctx);
    return fail(ctx, s, S_FMT ": " S_FMT "; nothing was changed", S_ARG(path), S_ARG(why));
}

/* --- planning --- */

/* From the root on. The links of people who keep their settings elsewhere stay links, as does one
 * to a file that is not there yet. */
static str real_path(struct arena *a, str path)
{
    char to[PATH_MAX], *whole = realpath(path.p, NULL);
    if (!whole && *path.p != '/' && getcwd(to, sizeof to))
        return real_path(a, str_printf(a, "%s/" S_FMT, to, S_ARG(path)));
    ssize_t n = !whole && errno == ENOENT ? readlink(path.p, to, sizeof to) : 0;
    str found = whole ? str_dup(a, str_of(whole)) : path;
    free(whole);
    if (n <= 0)
        return found;
    str folder = *to == '/' ? S("") : str_sub(path, 0, str_behind_last(path, '/'));
    return real_path(a, str_printf(a, S_FMT "%.*s", S_ARG(folder), (int)n, to));
}

static enum status file_of(struct ctx *ctx, struct plan *p, str path, struct edited_file **out)
{
    path = real_path(&ctx->arena, path);
    for (*out = p->files; *out < p->files + p->n; ++*out)
        if (str_eq((*out)->path, path))
            return OK;
    p->n++;
    (*out)->path = path;
    TRY(with_path(ctx, read_file(ctx, *out), path));
    (*out)->after = (*out)->before;
    return OK;
}

/* What an entry of before says otherwise, such as a token or the program that a client started. */
static enum status take_stale(struct ctx *ctx, const struct client_entry *e, str value, str *io)
{
    str names = S("type,url,httpUrl,serverUrl,command,args,environment,headers.Authorization,"
                  "headers.X-Memory-Space,headers.authorization,headers.x-memory-space,"
                  "headers.AUTHORIZATION,headers.X-MEMORY-SPACE");
    struct json *now;
    TRY(json_parse(ctx, value, &now));
    while (names.n) {
        const char *name = str_c(&ctx->arena, str_cut(&names, ','));
        str path = str_printf(&ctx->arena, "%s.%s", e->place.path, name);
        if (json_at(now, name))
            continue;
        enum status s = edit_json_take(ctx, *io, &(struct place){.path = path.p}, io);
        TRY(strchr(name, '.') ? soft_or(ctx, s, BAD_INPUT) : s); /* headers may be null */
    }
    return OK;
}

static enum status edit_entry(struct ctx *ctx, const struct plan *p, const struct client_entry *e,
                              struct edited_file *f)
{
    struct buf value = buf_make(&ctx->arena, VALUE_MAX);
    struct place at = e->place;
    at.program = shell_word(&ctx->arena, p->to.program);
    if (p->is_removal)
        return e->table ? edit_toml_take(ctx, f->after, e->table, &f->after)
                        : edit_json_take(ctx, f->after, &at, &f->after);
    e->write(ctx, e, &p->to, &value);
    if (e->table)
        return edit_toml_put(ctx, f->after, e->table, buf_str(&value), &f->after);
    TRY(edit_json_put(ctx, f->after, &at, buf_str(&value), &f->after));
    return e->place.is_ours ? OK : take_stale(ctx, e, buf_str(&value), &f->after);
}

static enum status plan_entries(struct ctx *ctx, struct plan *p)
{
    for (const struct client_entry *e = p->client->entries; e->file; e++) {
        struct edited_file *f;
        str path;
        TRY(entry_path(ctx, e, &path));
        TRY(file_of(ctx, p, path, &f));
        TRY(with_path(ctx, edit_entry(ctx, p, e, f), f->path));
        p->has_hooks |= e->place.is_ours != NULL;
    }
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (!str_eq(p->files[i].before, p->files[i].after))
            p->files[n++] = p->files[i];
    p->n = n;
    return OK;
}

static enum status find_server(struct ctx *ctx, const struct options *o, struct target_server *out)
{
    out->token = server_token();
    out->space = options_has(o, "space") ? o->space : S("");
    out->is_far = o->url.n || !str_is(o->settings.listen, "127.0.0.1:7077");
    out->data = o->settings.data;
    if (out->data.n)
        out->data = real_path(&ctx->arena, str_dup(&ctx->arena, out->data));
    return server_address(ctx, o, &out->url);
}

/* --- showing --- */

/* Tokens of an earlier entry, and of other servers around it, too. */
static str without_tokens(struct arena *a, str text)
{
    static const str mark = S("Bearer ");
    struct buf b = buf_make(a, 2 * text.n + 1);
    for (;;) {
        size_t to = str_find(text, mark);
        buf_add(&b, str_sub(text, 0, to));
        if (to == text.n)
            return buf_str(&b);
        buf_add(&b, S("Bearer ***"));
        text = str_sub(text, to + mark.n, text.n);
        while (text.n && !char_is_one_of(*text.p, "\"' \n"))
            text = str_sub(text, 1, text.n);
    }
}

static void show_changes(struct ctx *ctx, const struct plan *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct edited_file *f = &p->files[i];
        printf("%s" S_FMT "%s\n", i ? "\n" : "", S_ARG(f->path),
               !f->is_there  ? " (new file)"
               : !f->after.n ? " (is removed: nothing is left)"
                             : "");
        str rest = without_tokens(&ctx->arena, diff_lines(&ctx->arena, f->before, f->after));
        while (rest.n)
            print_line(str_cut(&rest, '\n'));
    }
}

static bool is_agreed(const struct options *o, const struct plan *p)
{
    char answer[16] = "";
    if (o->yes)
        return true;
    printf("\n%s [y/N] ", p->is_removal ? "Take this out?" : "Write this?");
    fflush(stdout);
    if (!fgets(answer, sizeof answer, stdin))
        putchar('\n');
    return char_is_one_of(answer[0], "yY");
}

/* --- writing --- */

/* A new file takes the old one's place, rights and, as far as they may be kept, group and owner;
 * with our token in it, it is its owner's alone. */
static enum status write_file(struct ctx *ctx, const struct edited_file *f, str token)
{
    struct arena *a = &ctx->arena;
    struct stat st = {.st_mode = 0600, .st_uid = geteuid(), .st_gid = getegid()};
    str name = random_text(a, 9);
    const char *part = str_printf(a, S_FMT "." S_FMT ".part", S_ARG(f->path), S_ARG(name)).p;
    mode_t kept = token.n && str_find(f->after, token) < f->after.n ? 0700 : 07777;
    if (f->is_there && !f->after.n && unlink(f->path.p) == 0)
        return OK;
    CLEANUP(fd_close)
    int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool done = fd >= 0 && write_all(fd, f->after) && fsync(fd) == 0 &&
                (stat(f->path.p, &st) == 0 || errno == ENOENT) &&
                (fchown(fd, st.st_uid, st.st_gid) == 0 || geteuid() != 0) &&
                fchmod(fd, st.st_mode & kept) == 0 && rename(part, f->path.p) == 0;
    int why = errno;
    if (done)
        return OK;
    unlink(part);
    return fail(ctx, STORAGE, S_FMT " cannot be written: %s", S_ARG(f->path), strerror(why));
}

/* The question may have waited for an answer while the program itself wrote its settings. Missing
 * folders are made. */
static enum status check_file(struct ctx *ctx, const struct edited_file *f)
{
    struct arena *a = &ctx->arena;
    struct edited_file now = {.path = f->path};
    TRY(read_file(ctx, &now));
    if (!str_eq(now.before, f->before) || now.is_there != f->is_there)
        return fail(ctx, CONFLICT, "was changed meanwhile");
    const char *folder = str_c(a, str_sub(f->path, 0, str_behind_last(f->path, '/')));
    if (!folders_make(a, f->path) && access(folder, W_OK) == 0)
        return OK;
    return fail(ctx, STORAGE, "cannot be written: %s", strerror(errno));
}

/* All are looked at before the first is written: half an entry is worse than none. */
static enum status write_changes(struct ctx *ctx, const struct plan *p)
{
    for (size_t i = 0; i < p->n; i++)
        TRY(with_path(ctx, check_file(ctx, &p->files[i]), p->files[i].path));
    for (size_t i = 0; i < p->n; i++)
        TRY(write_file(ctx, &p->files[i], p->to.token));
    return OK;
}

/* --- the command --- */

/* A file that cannot be read counts as one without the entry. */
static bool is_connected(struct ctx *ctx, const struct client *c)
{
    struct plan p = {.client = c, .is_removal = true};
    return soft(ctx, plan_entries(ctx, &p)) && p.n > 0;
}

static enum status connect_client(struct ctx *ctx, const struct options *o)
{
    struct plan *p = NEW(&ctx->arena, struct plan);
    for (const struct client *c = clients; o->words.n < 2 && c->name; c++)
        printf("%-16s%-34s%s\n", c->name, c->title, is_connected(ctx, c) ? "connected" : "");
    if (o->words.n < 2)
        return OK;
    p->client = client_of(o->words.v[1]);
    p->is_removal = o->remove;
    p->to.program = real_path(&ctx->arena, S("/proc/self/exe"));
    if (!p->is_removal)
        TRY(find_server(ctx, o, &p->to));
    TRY(plan_entries(ctx, p));
    show_changes(ctx, p);
    if (!p->n) {
        puts(p->is_removal ? "There is no entry to take out." : "It is connected so already.");
        return OK;
    }
    if (!is_agreed(o, p))
        return fail(ctx, BAD_INPUT, "nothing was changed");
    TRY(write_changes(ctx, p));
    puts(p->is_removal ? "Taken out." : "Written.");
    if (!p->is_removal && p->to.token.n && p->has_hooks)
        puts("Set " TOKEN_VARIABLE " where it starts, too: its hooks read the token from there.");
    if (!p->is_removal && p->client->after)
        puts(p->client->after);
    return OK;
}

/* These set up clients, and speak for them. */
const struct command connect_commands[] = {
    {"connect", "connect [NAME [--remove] [--yes] [--url URL] [--space NAME]]",
     "Configure another program, such as Claude Code or Cursor, to use this server; shows the "
     "change and asks. Without NAME: list the programs",
     "connect claude-code", " url space remove yes ", 0, 1, check_client, connect_client, false,
     "the token's own space for tools, and the project's for hooks"},
    {"hook", "hook [--url URL] [--space NAME]",
     "Pass a coding agent's hook event from standard input to the server, and print the answer",
     "hook --url http://127.0.0.1:7077", " url space ", 0, 0, NULL, command_hook, false,
     "the space of the project, beside the user's own", true},
    {0},
};
