/* audit.c - a log of what was done by whom, each line chained to the last. No content in it. */
#include "base/audit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/id.h"
#include "base/key_file.h"
#include "base/log.h"
#include "base/syslog.h"
#include "base/utf8.h"
#include "base/workers.h"

/*
 * A line is {"no":…,"at":…,"kind":…,"by":…,"who":…,"what":…,"mac":"…"}. mac is BLAKE2b under the
 * key over the mac before and the line up to ',"mac"'. A file that is full gets the number of its
 * last line behind its name, and the chain goes on in a new one.
 *
 * flock on the key's file keeps processes apart: it is never renamed. A line that a crash or a full
 * disk has cut is cut off by the next one, and the end is at most one line behind the log.
 */

/* A text of a line is cut at TEXT_MAX; JSON may write each of its bytes as six. */
enum { MAC = 32, TEXT_MAX = 512, AUDIT_LINE = 8192, AUDIT_FILE = 16 << 20, MINUTE_MS = 60000 };
#define LOG_NAME "rememberd.audit"
#define KEY_NAME "audit.key"
#define MAC_MEMBER ",\"mac\":\"" /* texts in front of it have their quotes escaped */

static struct {
    pthread_mutex_t lock;
    struct audit_place place;
    char why[400];
    int64_t failed, failed_since; /* log-ins that are counted */
} audit = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The chain's end, and what it takes to go on. */
struct chain {
    struct ctx *ctx;
    const char *folder;
    int lock_fd;
    uint8_t key[KEY_FILE_BYTES];
    int64_t no;
    uint8_t mac[MAC];
    int64_t bytes; /* of the file */
};
#define CHAIN(c, ...) CLEANUP(chain_leave) struct chain c = {__VA_ARGS__, .lock_fd = -1}

static void chain_leave(struct chain *c)
{
    fd_close(&c->lock_fd);
    sodium_memzero(c->key, sizeof c->key);
}

static const char *path_of(struct chain *c, const char *name)
{
    return str_printf(&c->ctx->arena, "%s/%s", c->folder, name).p;
}

/* --- lines --- */

static FIELDS(audit_line, (INT, no, .required = true), (TIME, at), (STR, kind), (STR, by),
              (STR, who), (STR, what), (STR, mac, .required = true));

static void mac_of(const struct chain *c, str body, uint8_t out[MAC])
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, c->key, KEY_FILE_BYTES, MAC);
    crypto_generichash_update(&state, c->mac, MAC);
    crypto_generichash_update(&state, (const unsigned char *)body.p, body.n);
    crypto_generichash_final(&state, out, MAC);
}

static enum status broken(struct chain *c, int64_t no, const char *why)
{
    return fail(c->ctx, CONFLICT, "line %lld %s", (long long)no, why);
}

/* Takes one line, which must be the next one. */
static enum status chain_check(struct chain *c, str text, struct audit_line *out)
{
    struct json *v;
    uint8_t mac[MAC];
    size_t at = str_find(text, S(MAC_MEMBER));
    if (json_parse(c->ctx, text, &v) != OK ||
        fields_read(c->ctx, audit_line_fields, v, true, out) != OK || at == text.n) {
        ctx_clear_failure(c->ctx);
        return broken(c, c->no + 1, "was changed: it is no line of this log");
    }
    if (out->no > c->no + 1)
        return broken(c, c->no + 1, "was removed");
    mac_of(c, str_sub(text, 0, at), mac);
    if (out->no <= c->no || !str_eq(out->mac, hex_of(&c->ctx->arena, mac, MAC)))
        return broken(c, c->no + 1, "was changed, or a line was added before it");
    memcpy(c->mac, mac, MAC);
    c->no = out->no;
    return OK;
}

static str line_of(struct chain *c, struct audit_line line, uint8_t mac[MAC])
{
    struct arena *a = &c->ctx->arena;
    struct buf b = buf_make(a, AUDIT_LINE);
    struct json_out w = json_to(&b);
    line.no = c->no + 1;
    line.at = clock_ms();
    fields_write(&w, audit_line_fields, &line);
    assert(!b.full && !line.mac.n);
    str body = str_sub(buf_str(&b), 0, str_find(buf_str(&b), S(MAC_MEMBER)));
    mac_of(c, body, mac);
    return str_printf(a, S_FMT MAC_MEMBER S_FMT "\"}\n", S_ARG(body), S_ARG(hex_of(a, mac, MAC)));
}

/* --- the end of the log --- */

static enum status read_file(struct chain *c, const char *path, int64_t from, str *out)
{
    struct stat st;
    CLEANUP(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    *out = S("");
    if (fd < 0 && errno == ENOENT)
        return OK;
    if (fd < 0 || fstat(fd, &st) != 0)
        return fail_file(c->ctx, path, "read");
    from = from < 0 && st.st_size + from > 0 ? st.st_size + from : 0;
    char *p = arena_alloc(&c->ctx->arena, (size_t)(st.st_size - from) + 1);
    ssize_t n = pread(fd, p, (size_t)(st.st_size - from), from);
    if (n < 0)
        return fail_file(c->ctx, path, "read");
    c->bytes = st.st_size;
    *out = (str){p, (size_t)n};
    return OK;
}

/* The number and hash of the last line, and a hash of both under the key. */
static enum status read_end(struct chain *c, int64_t *no, uint8_t mac[MAC], bool *is_there)
{
    str text, number;
    TRY(read_file(c, path_of(c, LOG_NAME ".end"), 0, &text));
    *is_there = text.n > 0;
    number = str_cut(&text, ' ');
    if (*is_there && (!str_int(number, no) || !hex_read(str_trim(text), mac, MAC)))
        return fail(c->ctx, CONFLICT, "the file " LOG_NAME ".end was changed");
    return OK;
}

/* A pipe or a terminal has nothing to sync. */
static enum status write_file(struct chain *c, const char *path, int flags, str text)
{
    CLEANUP(fd_close) int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
    bool done = fd >= 0 && write_all(fd, text) && (fdatasync(fd) == 0 || errno == EINVAL);
    return done ? OK : fail_file(c->ctx, path, "written");
}

/* A rename, so that the end is never half written. */
static enum status write_end(struct chain *c)
{
    const char *path = path_of(c, LOG_NAME ".end"), *part = path_of(c, LOG_NAME ".part");
    TRY(write_file(c, part, O_TRUNC,
                   str_printf(&c->ctx->arena, "%lld " S_FMT "\n", (long long)c->no,
                              S_ARG(hex_of(&c->ctx->arena, c->mac, MAC)))));
    return rename(part, path) == 0 ? OK : fail_file(c->ctx, path, "put in place");
}

/* The line after the end, where a crash or a full disk came between both: until the end names it,
 * no other one is written. */
static enum status go_to_end(struct chain *c)
{
    const char *path = path_of(c, LOG_NAME);
    struct audit_line line;
    bool is_there;
    str text;
    TRY(read_end(c, &c->no, c->mac, &is_there));
    TRY(read_file(c, path, -2 * AUDIT_LINE, &text));
    size_t whole = str_behind_last(text, '\n');
    if (whole < text.n && truncate(path, c->bytes -= (int64_t)(text.n - whole)) != 0)
        return fail_file(c->ctx, path, "written");
    str last = str_trim(str_sub(text, 0, whole));
    last = str_sub(last, str_behind_last(last, '\n'), last.n);
    str mine = str_printf(&c->ctx->arena, "\"mac\":\"" S_FMT "\"}",
                          S_ARG(hex_of(&c->ctx->arena, c->mac, MAC)));
    if (last.n && !str_ends(last, mine) && soft(c->ctx, chain_check(c, last, &line)))
        return write_end(c);
    return OK; /* if it is another one, audit_read says so */
}

/* --- writing --- */

/* Renamed under the number of its last line, so that names sort as the lines do. */
static enum status rotate(struct chain *c)
{
    const char *path = path_of(c, LOG_NAME);
    size_t most = audit.place.file_max ? audit.place.file_max : AUDIT_FILE;
    if ((size_t)c->bytes < most)
        return OK;
    str old = str_printf(&c->ctx->arena, "%s.%012lld", path, (long long)c->no);
    return rename(path, old.p) == 0 ? OK : fail_file(c->ctx, path, "renamed");
}

static enum status copy_line(struct chain *c, str line)
{
    const char *to = audit.place.to;
    if (!to || !*to)
        return OK;
    if (strcmp(to, "syslog") == 0 || str_starts(str_of(to), S("syslog:")))
        return syslog_send(c->ctx, str_of(to[6] ? to + 7 : ""), str_trim(line));
    return write_file(c, to, O_APPEND, line);
}

/* Where the log of an older key is gone, the new one begins with line 2: verify misses line 1. */
static enum status append_line(struct chain *c, const struct audit_line *in, bool is_new, str *line)
{
    uint8_t mac[MAC];
    TRY(go_to_end(c));
    TRY(rotate(c));
    if (!c->no)
        c->no = !is_new;
    *line = line_of(c, *in, mac);
    TRY(write_file(c, path_of(c, LOG_NAME), O_APPEND, *line));
    memcpy(c->mac, mac, MAC);
    c->no++;
    return OK;
}

/* The key is made with the first line, and again where that is missing. The lock is held until the
 * chain is left. */
static enum status write_line(struct ctx *ctx, const struct audit_line *in)
{
    CHAIN(c, ctx, audit.place.folder);
    bool is_new;
    str line;
    TRY(key_file_take(ctx, path_of(&c, KEY_NAME), true, c.key, &is_new, &c.lock_fd));
    enum status status = append_line(&c, in, is_new, &line);
    if (status != OK && is_new && !c.no)
        (void)!ftruncate(c.lock_fd, 0);
    TRY(status);
    status = write_end(&c);
    TRY(copy_line(&c, line));
    return status;
}

/* The lock is held. A failure is logged when it begins. */
static void note_locked(const struct audit_line *line)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    enum status status = write_line(&own, line);
    if (status != OK && !audit.why[0])
        log_event(LOG_ERROR, "audit.failing", "why=\"%s\"", own.why);
    snprintf(audit.why, sizeof audit.why, "%s", status == OK ? "" : own.why);
}

static str actor_of(const char *actor)
{
    return str_of(*actor ? actor : audit.place.by ? audit.place.by : "");
}

static void write_failed_logins(int64_t least_ms)
{
    char what[40];
    if (!audit.place.folder || !audit.failed || clock_ms() - audit.failed_since < least_ms)
        return;
    snprintf(what, sizeof what, "n=%lld", (long long)audit.failed);
    audit.failed = 0;
    note_locked(
        &(struct audit_line){.kind = S("login.failed"), .by = actor_of(""), .what = str_of(what)});
}

void audit_setup(const struct audit_place *place)
{
    HOLD(&audit.lock);
    audit.place = *place;
}

void audit_note(const struct ctx *ctx, const char *kind, str who, const char *fmt, ...)
{
    char what[TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    who = utf8_cut(who, TEXT_MAX);
    HOLD(&audit.lock);
    if (!audit.place.folder)
        return;
    write_failed_logins(MINUTE_MS);
    note_locked(&(struct audit_line){
        .kind = str_of(kind), .by = actor_of(ctx->actor), .who = who, .what = str_of(what)});
}

void audit_failed_login(void)
{
    HOLD(&audit.lock);
    if (!audit.failed)
        audit.failed_since = clock_ms();
    audit.failed++;
    write_failed_logins(MINUTE_MS);
}

void audit_end(void)
{
    HOLD(&audit.lock);
    write_failed_logins(0);
    audit.place.folder = NULL;
}

void audit_why(struct ctx *ctx, char *out, size_t n)
{
    struct chain c = {.ctx = ctx};
    HOLD(&audit.lock);
    bool is_well = audit.why[0] || copy_line(&c, S("")) == OK;
    snprintf(out, n, "%s", is_well ? audit.why : ctx->why);
    ctx_clear_failure(ctx);
}

/* --- reading --- */

static int is_log(const struct dirent *d)
{
    str name = str_of(d->d_name);
    return str_starts(name, S(LOG_NAME)) && !str_ends(name, S(".end")) &&
           !str_ends(name, S(".part"));
}

/* "rememberd.audit" itself is the newest. */
static int by_age(const struct dirent **a, const struct dirent **b)
{
    bool first = strcmp((*a)->d_name, LOG_NAME) == 0, second = strcmp((*b)->d_name, LOG_NAME) == 0;
    return first != second ? first - second : strcmp((*a)->d_name, (*b)->d_name);
}

struct reading {
    struct chain *c;
    audit_see *see;
    void *own;
    int64_t end; /* of the file .end */
    uint8_t mac[MAC];
    bool has_end;
};

static enum status read_line(struct reading *r, str text)
{
    struct chain *c = r->c;
    struct audit_line line;
    TRY(chain_check(c, text, &line));
    if (r->has_end && c->no == r->end && memcmp(c->mac, r->mac, MAC) != 0)
        return fail(c->ctx, CONFLICT, "the file " LOG_NAME ".end was changed");
    return r->see ? r->see(c->ctx, r->own, &line) : OK;
}

/* The memory of a line, and that of a file, is given back: a log has hundreds of thousands. */
static enum status read_lines(struct reading *r, const char *name)
{
    struct chain *c = r->c;
    struct ctx *ctx = c->ctx;
    CLEANUP(ctx_free) struct ctx file = ctx_child(ctx, 0);
    CLEANUP(ctx_free) struct ctx one = ctx_child(ctx, 0);
    str text;
    c->ctx = &file;
    enum status status = read_file(c, path_of(c, name), 0, &text);
    if (strcmp(name, LOG_NAME) == 0) /* a cut line is none, and its number may come again */
        text.n = str_behind_last(text, '\n');
    c->ctx = &one;
    while (status == OK && text.n) {
        arena_reset(&one.arena);
        status = read_line(r, str_cut(&text, '\n'));
    }
    c->ctx = ctx;
    return status == OK ? OK : fail(ctx, status, "%s%s", file.why, one.why);
}

enum status audit_read(struct ctx *ctx, const char *folder, audit_see *see, void *own,
                       int64_t *lines)
{
    CHAIN(c, ctx, folder);
    bool is_new;
    struct reading r = {.c = &c, .see = see, .own = own};
    struct dirent **names = NULL;
    enum status taken =
        key_file_take(ctx, path_of(&c, KEY_NAME), false, c.key, &is_new, &c.lock_fd);
    if (soft_if(ctx, taken, NOT_FOUND))
        return fail(ctx, NOT_FOUND,
                    "there is no audit log in '%s': nothing was noted yet, or the log and its key "
                    "are gone",
                    folder);
    TRY(taken);
    TRY(read_end(&c, &r.end, r.mac, &r.has_end));
    int n = scandir(folder, &names, is_log, by_age);
    enum status status = OK;
    for (int i = 0; i < n; i++) {
        if (status == OK)
            status = read_lines(&r, names[i]->d_name);
        free(names[i]);
    }
    free(names);
    TRY(status);
    if (c.no < r.end || !r.has_end)
        return broken(&c, c.no + 1,
                      n > 0 ? "was removed, and all behind it" : "was removed: the log is missing");
    *lines = c.no;
    return OK;
}
