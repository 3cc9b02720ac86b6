/* config.c - the command config: checks and shows the settings, and changes the file of them. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/command.h"
#include "app/instance.h"
#include "app/key/key.h"
#include "app/print.h"
#include "base/files.h"
#include "core/settings_file.h"
#include "core/settings_set.h"
#include "core/toml_edit.h"

enum { FILE_MAX = 1 << 20 };

static enum status check_value(struct ctx *ctx, str key, str text)
{
    struct settings *checked = NEW(&ctx->arena, struct settings);
    TRY(settings_check_name(ctx, key));
    if (str_is(key, "upstreams") || str_is(key, "config"))
        return fail_field(ctx, str_c(&ctx->arena, key), "cannot be set so; edit the file");
    settings_defaults(checked);
    return setting_set(ctx, checked, key, text);
}

enum status command_config_check(struct ctx *ctx, const struct options *o)
{
    static const struct {
        const char *word;
        size_t words;
    } forms[] = {{"check", 2}, {"show", 2}, {"set", 4}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (str_is(o->words.v[1], forms[i].word) && o->words.n == forms[i].words)
            return o->words.n == 4 ? check_value(ctx, o->words.v[2], o->words.v[3]) : OK;
    return fail(ctx, BAD_INPUT, "must be one of: config check, config show, config set KEY VALUE");
}

/* --- check --- */

static str read_from(struct ctx *ctx, const struct settings *s)
{
    str folders[SETTINGS_FOLDERS];
    if (s->config.n)
        return s->config;
    settings_folders(&ctx->arena, folders);
    return str_printf(&ctx->arena, "no file in " S_FMT "%s" S_FMT, S_ARG(folders[0]),
                      folders[0].n ? " or " : "", S_ARG(folders[1]));
}

/* A wrong value has ended the program by now. No command that prints a key is run. */
static enum status check_settings(struct ctx *ctx, const struct options *o)
{
    const struct settings *s = &o->settings;
    struct settings without = *s;
    CLEANUP(key_free) struct key key = {0};
    if (s->complaint.n)
        return fail(ctx, BAD_INPUT, S_FMT, S_ARG(s->complaint));
    TRY(serve_check_settings(ctx, s));
    without.key_command = S("");
    if (!s->key_command.n || s->store.n || key_is_configured(&without))
        TRY(soft_or(ctx, key_configured(ctx, s, &key), STORAGE)); /* for the server's user alone */
    printf("ok: " S_FMT "\n", S_ARG(read_from(ctx, s)));
    return OK;
}

/* --- show --- */

static const char *const places[] = {"default", "file", "environment", "option", "changed"};

static const char *place_of(const struct settings *s, const struct field *f)
{
    return places[s->from[setting_of(str_of(f->name))]];
}

/* A value as the file has it. */
static str value_text(struct arena *a, const struct field *f, const void *in)
{
    struct buf plain = buf_make(a, PRINT_MAX);
    struct json_out text = json_in(a, PRINT_MAX);
    row_print(&plain, f, in);
    json_str(&text, buf_str(&plain));
    return buf_str(f->type == FIELD_INT || f->type == FIELD_NUM ? &plain : text.b);
}

static void add_line(struct buf *b, const struct field *f, const void *in, const char *from)
{
    enum { PLACE_COLUMN = 50 };
    size_t start = b->n;
    buf_printf(b, "%s = " S_FMT, f->name, S_ARG(value_text(b->arena, f, in)));
    size_t width = b->n - start;
    if (from)
        buf_printf(b, "%*s  # %s", width < PLACE_COLUMN ? (int)(PLACE_COLUMN - width) : 0, "",
                   from);
    buf_byte(b, '\n');
}

/* Upstreams are lists in the file, and printed as such wherever they come from. */
static bool is_shown(const struct field *f)
{
    return strcmp(f->name, "upstream") != 0 && strcmp(f->name, "config") != 0;
}

static void add_settings(struct buf *b, const struct settings *s, bool defaults)
{
    for (const struct field *f = settings_table; f->name; f++) {
        bool is_default = s->from[setting_of(str_of(f->name))] == FROM_DEFAULT;
        if (is_shown(f) && is_default == defaults)
            add_line(b, f, s, defaults ? NULL : place_of(s, f));
    }
}

static void add_upstreams(struct buf *b, const struct settings *s)
{
    for (size_t i = 0; i < s->n_upstreams; i++) {
        buf_add(b, S("\n[[upstreams]]\n"));
        for (const struct field *f = upstream_table; f->name; f++)
            if (((const str *)((const char *)&s->upstreams[i] + f->at))->n)
                add_line(b, f, &s->upstreams[i], NULL);
    }
}

static void write_settings(struct buf *b, const struct settings *s)
{
    struct json_out w = json_to(b);
    json_open(&w, '{');
    json_member_str(&w, "file", s->config);
    json_member_open(&w, "settings", '[');
    for (const struct field *f = settings_table; f->name; f++) {
        if (!is_shown(f))
            continue;
        json_open(&w, '{');
        json_member_str(&w, "name", str_of(f->name));
        json_member_raw(&w, "value", value_text(b->arena, f, s));
        json_member_str(&w, "source", str_of(place_of(s, f)));
        json_close(&w, '}');
    }
    json_close(&w, ']');
    json_member_open(&w, "upstreams", '[');
    for (size_t i = 0; i < s->n_upstreams; i++)
        fields_write(&w, upstream_table, &s->upstreams[i]);
    json_close(&w, ']');
    json_close(&w, '}');
}

/* What is set comes first, in the form of the file. Values set through the API are in the database,
 * which is not opened. */
static enum status show_settings(struct ctx *ctx, const struct options *o)
{
    const struct settings *s = &o->settings;
    struct buf b = buf_make(&ctx->arena, PRINT_MAX);
    if (o->json) {
        write_settings(&b, s);
        return print_buf(&b);
    }
    buf_printf(&b, "# settings: " S_FMT "\n", S_ARG(read_from(ctx, s)));
    add_settings(&b, s, false);
    buf_add(&b, S("\n# defaults; of those that can change while a server runs, what is set through "
                  "the API wins\n"));
    add_settings(&b, s, true);
    add_upstreams(&b, s);
    fwrite(b.p, 1, b.n, stdout);
    return OK;
}

/* --- the file --- */

/* The file that was read, or that would be: a new one has no text. BAD_INPUT for a file of JSON,
 * and where settings are to come from no file. */
static enum status read_file(struct ctx *ctx, const struct settings *s, str *path, str *text)
{
    str folders[SETTINGS_FOLDERS];
    bool is_none = getenv("REMEMBERD_CONFIG") || s->from[SETTING_config] == FROM_OPTION;
    settings_folders(&ctx->arena, folders);
    *text = S("");
    if (!s->config.n && (is_none || !folders[0].n))
        return fail_field(ctx, "config", "names no file; name one with --config FILE");
    if (!s->config.n) {
        *path = str_printf(&ctx->arena, S_FMT "/rememberd.toml", S_ARG(folders[0]));
        return OK;
    }
    /* A file that is a link stays one: what it leads to is changed. */
    char *real = realpath(str_c(&ctx->arena, s->config), NULL);
    *path = real ? str_dup(&ctx->arena, str_of(real)) : s->config;
    free(real);
    TRY(file_read(ctx, str_c(&ctx->arena, *path), FILE_MAX, text));
    if (settings_is_json(str_c(&ctx->arena, *path), *text))
        return fail_field(ctx, "config",
                          "is JSON, where only people change values; edit " S_FMT
                          ", or write the settings as TOML",
                          S_ARG(*path));
    return OK;
}

/* Only root may give a file away, so an owner that cannot be kept is a failure. */
static bool keep_rights(int fd, const struct stat *old)
{
    bool is_same = old->st_uid == geteuid() && old->st_gid == getegid();
    return (is_same || fchown(fd, old->st_uid, old->st_gid) == 0) &&
           fchmod(fd, old->st_mode & 07777) == 0;
}

/* A new file beside the old one takes its place, so nobody ever reads half of it. */
static enum status write_file(struct ctx *ctx, str path, str text)
{
    struct stat old;
    const char *to = str_c(&ctx->arena, path);
    char *part = (char *)str_printf(&ctx->arena, S_FMT ".XXXXXX", S_ARG(path)).p;
    TRY(make_folder_of(ctx, path));
    bool is_new = stat(to, &old) != 0;
    CLEANUP(fd_close) int fd = mkostemp(part, O_CLOEXEC);
    bool done = fd >= 0 && write_all(fd, text) && fsync(fd) == 0 &&
                (is_new || keep_rights(fd, &old)) && rename(part, to) == 0;
    if (done)
        return OK;
    enum status status =
        fail(ctx, STORAGE, S_FMT " cannot be written: %s", S_ARG(path), strerror(errno));
    if (fd >= 0)
        unlink(part);
    return status;
}

/* --- set --- */

static bool is_number(str key, str text)
{
    double v;
    const struct field *f = &settings_table[setting_of(key)];
    bool is_numeric = f->type == FIELD_INT || f->type == FIELD_NUM;
    bool is_plain = EVERY(i, text.n, char_is_one_of(text.p[i], i ? "0123456789." : "-0123456789."));
    bool has_zero = text.n > 1 && *text.p == '0' && text.p[1] != '.';
    return is_numeric && is_plain && !has_zero && str_num(text, &v) &&
           str_has_digit(str_sub(text, text.n - 1, text.n));
}

/* Numbers stay bare, and all else is in quotes: the escapes of JSON are also those of TOML. */
static str value_in_toml(struct ctx *ctx, str key, str text)
{
    struct json_out w = json_in(&ctx->arena, PRINT_MAX);
    if (str_is(key, "port") ||
        (!str_is(key, "host") && !str_is(key, "data_dir") && is_number(key, text)))
        return text;
    json_str(&w, text);
    return buf_str(w.b);
}

/* A file that would then not be read is refused before it is touched. */
static enum status set_setting(struct ctx *ctx, const struct options *o)
{
    str key = o->words.v[2], text = o->words.v[3], before, path;
    struct settings checked = o->settings;
    struct buf after = buf_make(&ctx->arena, FILE_MAX);
    TRY(read_file(ctx, &o->settings, &path, &before));
    TRY(toml_set(ctx, before, str_c(&ctx->arena, key), value_in_toml(ctx, key, text), &after));
    if (after.full)
        return fail(ctx, TOO_LARGE, S_FMT " would be too large", S_ARG(path));
    checked.n_upstreams = 0;
    TRY(settings_read_text(ctx, &checked, str_c(&ctx->arena, path), buf_str(&after)));
    TRY(settings_check(ctx, &checked));
    TRY(write_file(ctx, path, buf_str(&after)));
    printf(S_FMT " is set in " S_FMT "\n", S_ARG(key), S_ARG(path));
    return OK;
}

enum status command_config(struct ctx *ctx, const struct options *o)
{
    str what = o->words.v[1];
    return str_is(what, "check")  ? check_settings(ctx, o)
           : str_is(what, "show") ? show_settings(ctx, o)
                                  : set_setting(ctx, o);
}
