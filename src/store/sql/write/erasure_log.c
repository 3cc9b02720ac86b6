/* erasure_log.c - the file beside the database that outlives it: what was erased, without content.
 */
#include "store/sql/write/erasure_log.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fields.h"
#include "base/files.h"
#include "base/id.h"
#include "base/log.h"
#include "base/seal.h"
#include "store/sql/db/file.h"
#include "store/sql/records/erasure.h"
#include "store/sql/records/tokens.h"
#include "store/sql/state/commits.h"
#include "store/sql/write/erase_again.h"

/*
 * Lines of JSON, the rows of erasure in the order of their numbers, behind a line with the key of
 * their hashes. A lineage is a database with all its backups, and has one key: a database of
 * another origin that lies in this place for a while leaves lines of its own, and each applies only
 * those of its lineage. The key and the bars are sealed when the database is encrypted, with a key
 * that follows from its key: so the file tells no more than the database.
 *
 * In step means: the last line is a row of the database. Then what follows is appended. Otherwise
 * the file is read as a whole, what the database lacks is applied and added to it, and the file is
 * written anew beside its place and renamed. Every change is made under flock.
 */

enum { LINEAGE_BYTES = 8, TEXT_MAX = 1 << 30 };

SHAPE(log_line, (STR, lineage, .required = true), (STR, key, .empty = EMPTY_OUT),
      (INT, no, .empty = EMPTY_OUT), (STR, id, .empty = EMPTY_OUT), (STR, call, .empty = EMPTY_OUT),
      (TIME, at, .empty = EMPTY_OUT), (STR, what, .empty = EMPTY_OUT),
      (INT, memories, .empty = EMPTY_OUT), (INT, messages, .empty = EMPTY_OUT),
      (STR, undo, .empty = EMPTY_OUT), (STR, bar, .empty = EMPTY_OUT),
      (STR, owner, .empty = EMPTY_OUT), (STR, hashes, .empty = EMPTY_OUT));

struct log_file {
    int fd;
    const char *path;
    str text; /* mapped: whole lines */
    size_t bytes;
};
#define LOG_FILE(f) CLEANUP(log_close) struct log_file f = {.fd = -1, .text = S("")}

/* The database's side. */
struct side {
    struct store *s;
    struct db *db;
    struct erasure_key key;
    str lineage;
    uint8_t seal[SEAL_KEY_BYTES];
};

/* --- the file --- */

static void log_close(struct log_file *f)
{
    if (f->bytes)
        munmap((void *)f->text.p, f->bytes);
    fd_close(&f->fd);
}

static enum status file_failed(struct ctx *ctx, const struct log_file *f, const char *what)
{
    return fail(ctx, STORAGE, "the log of erasures '%s' cannot be %s: %s", f->path, what,
                strerror(errno));
}

/* Another process may have put a new file in the place before the lock was given. A link is
 * followed by log_read: one that is left leads to a disk that is not mounted now, where no log is
 * made. */
static enum status log_lock(struct ctx *ctx, struct log_file *f)
{
    for (;;) {
        struct stat own, now;
        f->fd = open(f->path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (f->fd < 0 && errno == ELOOP)
            return fail(ctx, STORAGE,
                        "the log of erasures '%s' is a link to a file that is missing: put that "
                        "back, or make an empty one there",
                        f->path);
        if (f->fd < 0 || flock(f->fd, LOCK_EX) != 0 || fstat(f->fd, &own) != 0)
            return file_failed(ctx, f, "opened");
        if (stat(f->path, &now) == 0 && now.st_ino == own.st_ino && now.st_dev == own.st_dev) {
            f->bytes = (size_t)own.st_size;
            return OK;
        }
        close(f->fd);
    }
}

/* A line that a crash has cut is written again, so it goes. */
static enum status log_read(struct ctx *ctx, const char *path, struct log_file *f)
{
    f->path = file_whole(&ctx->arena, path).p;
    TRY(log_lock(ctx, f));
    if (!f->bytes)
        return OK;
    void *p = mmap(NULL, f->bytes, PROT_READ, MAP_PRIVATE, f->fd, 0);
    if (p == MAP_FAILED) {
        f->bytes = 0;
        return file_failed(ctx, f, "read");
    }
    const char *end = memrchr(p, '\n', f->bytes);
    f->text = (str){p, end ? (size_t)(end + 1 - (const char *)p) : 0};
    if (f->text.n < f->bytes && ftruncate(f->fd, (off_t)f->text.n) != 0)
        return file_failed(ctx, f, "written");
    return OK;
}

static enum status write_synced(struct ctx *ctx, const struct log_file *f, int fd, str text)
{
    bool done = write_all(fd, text);
    return done && fdatasync(fd) == 0 ? OK : file_failed(ctx, f, done ? "synced" : "written");
}

static enum status write_anew(struct ctx *ctx, const struct log_file *f, str text)
{
    const char *part = str_printf(&ctx->arena, "%s.part", f->path).p;
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return file_failed(ctx, f, "written");
    enum status status = write_synced(ctx, f, fd, text);
    close(fd);
    if (status == OK && rename(part, f->path) != 0)
        status = file_failed(ctx, f, "put in place");
    if (status != OK)
        unlink(part);
    return status;
}

/* --- lines --- */

static str close_secret(struct arena *a, const struct side *side, str id, const void *p, size_t n)
{
    if (!n)
        return S("");
    str hex = hex_of(a, p, n);
    return side->s->key ? seal(a, side->seal, id, hex) : hex;
}

static enum status open_secret(struct ctx *ctx, const struct side *side, str id, str text, str *out)
{
    str hex = text;
    unsigned char *p = arena_alloc(&ctx->arena, text.n + 1);
    if (text.n && side->s->key && !unseal(&ctx->arena, side->seal, id, text, &hex))
        return fail(ctx, FORBIDDEN,
                    "the log of erasures '%s' was written under another key of the database; use "
                    "that key, or move the file away",
                    side->s->erasures);
    if (!hex_read(hex, p, hex.n / 2))
        return fail(ctx, STORAGE,
                    "the log of erasures '%s' is damaged, or of an encrypted database",
                    side->s->erasures);
    *out = (str){(const char *)p, hex.n / 2};
    return OK;
}

static enum status refuse_damaged(struct ctx *ctx, const struct side *side, const char *what)
{
    return fail(ctx, STORAGE, "the log of erasures '%s' has a damaged %s", side->s->erasures, what);
}

static void add_line(struct buf *b, const struct log_line *line)
{
    struct json_out w = json_to(b);
    fields_write(&w, log_line_fields, line);
    buf_add(b, S("\n"));
}

static enum status read_line(struct ctx *ctx, str text, struct log_line *out)
{
    struct json *v;
    *out = (struct log_line){0};
    TRY(json_parse(ctx, text, &v));
    return fields_read(ctx, log_line_fields, v, false, out);
}

static void read_row(struct query *q, struct log_line *out)
{
    SQL_GET(q, out->no, out->id, out->call, out->at, out->what, out->memories, out->messages,
            out->undo);
    out->bar = str_dup(&q->ctx->arena, sql_see_blob(q));
    str owner = sql_see_blob(q);
    out->owner = hex_of(&q->ctx->arena, owner.p, owner.n);
}

static enum status read_hashes(struct ctx *ctx, struct db *db, int64_t no, str *out)
{
    struct buf b = buf_make(&ctx->arena, TEXT_MAX);
    SQL_RUN(q, ctx, db, SQL_ERASURE_HASHES, no);
    while (sql_row(&q))
        buf_add(&b, hex_of(&ctx->arena, sql_see_blob(&q).p, ERASURE_HASH_BYTES));
    *out = buf_str(&b);
    return sql_end(&q);
}

/* The rows behind a number, as lines. */
static enum status rows_as_lines(struct ctx *ctx, const struct side *side, int64_t behind,
                                 struct buf *b, int64_t *newest)
{
    SQL_ALL(struct log_line, v, n, ctx, side->db, read_row, SQL_ERASURE_AFTER, behind);
    *newest = n ? v[n - 1].no : behind;
    for (size_t i = 0; i < n; i++) {
        v[i].lineage = side->lineage;
        v[i].bar = close_secret(&ctx->arena, side, v[i].id, v[i].bar.p, v[i].bar.n);
        TRY(read_hashes(ctx, side->db, v[i].no, &v[i].hashes));
        add_line(b, &v[i]);
    }
    return b->full ? fail(ctx, STORAGE, "the log of erasures is too large") : OK;
}

/* --- in step --- */

/* The first line has our key, and the last one is a row of the database: then *no is its number. */
static enum status look_at_ends(struct ctx *ctx, const struct side *side, str text, bool *in_step,
                                int64_t *no)
{
    struct log_line first, last;
    str key, rest = text, body = str_sub(text, 0, text.n ? text.n - 1 : 0);
    const char *begin = body.n ? memrchr(body.p, '\n', body.n) : NULL;
    if (!body.n)
        return OK;
    str end = begin ? (str){begin + 1, (size_t)(body.p + body.n - begin - 1)} : body;
    if (!soft(ctx, read_line(ctx, str_cut(&rest, '\n'), &first)) ||
        !soft(ctx, read_line(ctx, end, &last)) || !str_eq(first.lineage, side->lineage) ||
        !str_eq(last.lineage, side->lineage) ||
        !soft(ctx, open_secret(ctx, side, first.lineage, first.key, &key)))
        return OK;
    *no = last.no;
    if (!last.id.n) { /* the key alone */
        *in_step = true;
        return OK;
    }
    return SQL_ANY(ctx, side->db, in_step, SQL_ERASURE_AT, last.no, last.id);
}

/* --- the whole --- */

struct whole {
    struct log_line *v;
    size_t n, cap;
};

static enum status take_line(struct ctx *ctx, const struct store *s, str *rest, int64_t at,
                             struct log_line *out)
{
    return soft(ctx, read_line(ctx, str_cut(rest, '\n'), out))
               ? OK
               : fail(ctx, STORAGE, "the log of erasures '%s' is damaged in line %lld", s->erasures,
                      (long long)at);
}

static enum status read_whole(struct ctx *ctx, const struct store *s, str text, struct whole *w)
{
    int64_t at = 0;
    for (str rest = text; rest.n;) {
        struct log_line line;
        TRY(take_line(ctx, s, &rest, ++at, &line));
        ARENA_ADD(&ctx->arena, w->v, w->n, w->cap) = line;
    }
    return OK;
}

static str lineage_of(struct arena *a, const struct erasure_key *key)
{
    uint8_t hash[crypto_generichash_BYTES_MIN];
    crypto_generichash(hash, sizeof hash, key->bytes, ERASURE_KEY_BYTES, NULL, 0);
    return hex_of(a, hash, LINEAGE_BYTES);
}

/* A database without a key is new, or older than the log: it belongs to what lay here last. */
static enum status take_key(struct ctx *ctx, struct side *side, const struct whole *w)
{
    TRY(erasure_key_find(ctx, side->db, false, &side->key));
    for (size_t i = w->n; i-- && !side->key.is_there;) {
        str key;
        if (!w->v[i].key.n)
            continue;
        TRY(open_secret(ctx, side, w->v[i].lineage, w->v[i].key, &key));
        if (key.n != ERASURE_KEY_BYTES)
            return refuse_damaged(ctx, side, "key");
        memcpy(side->key.bytes, key.p, key.n);
        side->key.is_there = true;
        TRY(erasure_key_put(ctx, side->db, &side->key));
    }
    TRY(erasure_key_find(ctx, side->db, true, &side->key));
    side->lineage = lineage_of(&ctx->arena, &side->key);
    return OK;
}

static enum status add_row(struct ctx *ctx, const struct side *side, const struct log_line *line)
{
    uint8_t hash[ERASURE_HASH_BYTES], owner[2 * ERASURE_HASH_BYTES];
    size_t n;
    str bar;
    TRY(open_secret(ctx, side, line->id, line->bar, &bar));
    if (sodium_hex2bin(owner, sizeof owner, line->owner.p, line->owner.n, NULL, &n, NULL) != 0)
        return refuse_damaged(ctx, side, "owner");
    TRY(SQL_DO(ctx, side->db, SQL_ERASURE_ADD, line->id, line->call, line->at, line->what,
               line->undo, blob_of(bar), blob_at(owner, n)));
    int64_t no = db_last_row(side->db);
    for (str rest = line->hashes; rest.n >= 2 * sizeof hash;
         rest = str_sub(rest, 2 * sizeof hash, rest.n)) {
        if (!hex_read(str_sub(rest, 0, 2 * sizeof hash), hash, sizeof hash))
            return refuse_damaged(ctx, side, "hash");
        TRY(SQL_DO(ctx, side->db, SQL_ERASURE_HASH_ADD, no, blob_at(hash, sizeof hash)));
    }
    return SQL_DO(ctx, side->db, SQL_ERASURE_END, no, line->at, line->memories, line->messages);
}

/* Rows that the database lacks, all in one transaction with what follows from them. */
static enum status add_missing(struct ctx *ctx, const struct side *side, const struct whole *w,
                               struct store_restored *done)
{
    int64_t before = 0, added = 0;
    TXN(t);
    TRY(txn_begin(ctx, side->db, &t));
    TRY(SQL_NUMBER(ctx, side->db, &before, SQL_ERASURE_NEWEST));
    for (size_t i = 0; i < w->n; i++) {
        bool is_known = true;
        if (w->v[i].id.n && str_eq(w->v[i].lineage, side->lineage))
            TRY(SQL_ANY(ctx, side->db, &is_known, SQL_ERASURE_KNOWN, w->v[i].id));
        if (!is_known)
            TRY(add_row(ctx, side, &w->v[i]));
        added += !is_known;
    }
    if (added && done->brings_again)
        TRY(erasure_taken_back(ctx, side->db, S(""), before));
    else if (added)
        TRY(erase_again(ctx, side->db, &side->key, before, &done->erased));
    if (added)
        TRY(rights_taken_again(ctx, side->db, &side->key, before, &done->taken));
    return txn_commit(&t);
}

/* Lines of others first, as they were; rows of this database behind them, so that it is in step. A
 * row that is not in the database is another's, too: it is looked at when the store is opened. */
static enum status write_whole(struct ctx *ctx, struct side *side, const struct log_file *f,
                               const struct whole *w)
{
    struct buf b = buf_make(&ctx->arena, TEXT_MAX);
    const struct log_line key = {.lineage = side->lineage,
                                 .key = close_secret(&ctx->arena, side, side->lineage,
                                                     side->key.bytes, ERASURE_KEY_BYTES)};
    int64_t newest;
    add_line(&b, &key);
    for (size_t i = 0; i < w->n; i++) {
        bool is_ours = str_eq(w->v[i].lineage, side->lineage);
        if (is_ours && w->v[i].id.n)
            TRY(SQL_ANY(ctx, side->db, &is_ours, SQL_ERASURE_KNOWN, w->v[i].id));
        if (!is_ours)
            add_line(&b, &w->v[i]);
    }
    TRY(rows_as_lines(ctx, side, 0, &b, &newest));
    TRY(write_anew(ctx, f, buf_str(&b)));
    side->s->erasures_no = newest;
    return OK;
}

static enum status append_rows(struct ctx *ctx, const struct side *side, const struct log_file *f,
                               int64_t behind)
{
    struct buf b = buf_make(&ctx->arena, TEXT_MAX);
    int64_t newest;
    TRY(rows_as_lines(ctx, side, behind, &b, &newest));
    if (b.n)
        TRY(write_synced(ctx, f, f->fd, buf_str(&b)));
    side->s->erasures_no = newest;
    return OK;
}

/* applies: at the opening, before anybody reads. */
static enum status follow_file(struct ctx *ctx, struct store *s, struct db *db, bool applies,
                               struct store_restored *done)
{
    static const char purpose[] = "rememberd log of erasures";
    struct side side = {.s = s, .db = db};
    struct whole w = {.n = 0};
    bool in_step = false;
    int64_t no = 0;
    LOG_FILE(f);
    if (s->key)
        crypto_generichash(side.seal, sizeof side.seal, (const uint8_t *)purpose,
                           sizeof purpose - 1, s->key, STORE_KEY_BYTES);
    TRY(log_read(ctx, s->erasures, &f));
    TRY(erasure_key_find(ctx, db, false, &side.key));
    if (side.key.is_there) {
        side.lineage = lineage_of(&ctx->arena, &side.key);
        TRY(look_at_ends(ctx, &side, f.text, &in_step, &no));
    }
    if (in_step)
        return append_rows(ctx, &side, &f, no);
    TRY(read_whole(ctx, s, f.text, &w));
    TRY(take_key(ctx, &side, &w));
    if (applies)
        TRY(add_missing(ctx, &side, &w, done));
    return write_whole(ctx, &side, &f, &w);
}

static bool is_missing(const char *path)
{
    struct stat st;
    return lstat(path, &st) != 0 && errno == ENOENT;
}

static void log_failure(const struct store *s, const struct ctx *why)
{
    log_event(LOG_ERROR, "store.erasures", "file=\"%s\" why=\"%s\"", s->erasures, why->why);
}

enum status erasure_log_open(struct ctx *ctx, struct store *s, struct db *db)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    struct store_restored *restored = s->asked.restored;
    struct store_restored done = {.brings_again = restored && restored->brings_again};
    int64_t newest;
    if (!s->erasures)
        return OK;
    TRY(SQL_NUMBER(ctx, db, &newest, SQL_ERASURE_NEWEST));
    if (!newest && is_missing(s->erasures)) /* it is made with the first erasure */
        return OK;
    enum status status = follow_file(&own, s, db, true, &done);
    if (status != OK && restored)
        return ctx_pass(ctx, &own, status);
    if (status != OK)
        log_failure(s, &own);
    if (restored)
        *restored = done;
    if (!done.erased && !done.taken)
        return OK;
    if (!restored)
        log_event(LOG_WARN, "store.erased_again", "rows=%lld rights=%lld", (long long)done.erased,
                  (long long)done.taken);
    return is_postgres(db) ? OK : commits_settle(ctx, db, s->path, SQLITE_CHECKPOINT_TRUNCATE);
}

void erasure_log_follow(struct ctx *ctx, struct store *s, struct db *db)
{
    CLEANUP(ctx_free) struct ctx own = ctx_detached(ctx);
    int64_t newest = 0;
    if (!s->erasures)
        return;
    enum status status = SQL_NUMBER(&own, db, &newest, SQL_ERASURE_NEWEST);
    if (status == OK && newest > s->erasures_no)
        status = follow_file(&own, s, db, false, NULL);
    if (status != OK)
        log_failure(s, &own);
}

enum status store_check_erasures(struct ctx *ctx, struct store *s)
{
    CLEANUP(ctx_free) struct ctx one = ctx_child(ctx, 0);
    struct log_line line;
    int64_t at = 0;
    LOG_FILE(f);
    if (!s->erasures || is_missing(s->erasures))
        return OK;
    TRY(log_read(ctx, s->erasures, &f));
    for (str rest = f.text; rest.n; arena_reset(&one.arena))
        TRY(ctx_pass(ctx, &one, take_line(&one, s, &rest, ++at, &line)));
    return OK;
}
