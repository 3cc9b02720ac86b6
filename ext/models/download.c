/* download.c - installs a local model in one step, from a server or a folder. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "base/files.h"
#include "base/id.h"
#include "core/url.h"
#include "ext/models/download.h"
#include "http/http.h"

/*
 * A model is pinned by repository, revision, size and SHA-256, so that an upstream change cannot
 * change vectors unnoticed: vectors of different weights are not comparable. Installation writes to
 * .NAME.new, renames an older model to .NAME.old, renames the new folder to NAME and removes the
 * old one. A crash leaves the old model, the new model, or for a moment none, and hidden folders
 * that the next installation removes.
 */

static const char *path_of(struct ctx *ctx, str folder, const char *name)
{
    return str_printf(&ctx->arena, S_FMT "/%s", S_ARG(folder), name).p;
}

static int64_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1;
}

/* --- receiving a file --- */

struct arrival {
    struct intake intake; /* first member: http passes the pieces to it */
    FILE *to;
    int64_t size, max, before, total; /* bytes so far, at most, of earlier files, of all files */
    int error;                        /* of writing, or 0 */
    const char *name;
    crypto_hash_sha256_state sum;
    struct model_progress *progress;
};

/* False stops the transfer: more bytes than any listed form has, or a full disk. */
static bool write_piece(struct intake *intake, str bytes)
{
    struct arrival *a = (struct arrival *)intake;
    assert(a->to);
    a->size += (int64_t)bytes.n;
    if (a->size <= a->max && fwrite(bytes.p, 1, bytes.n, a->to) != bytes.n)
        a->error = errno;
    if (a->size > a->max || a->error)
        return false;
    crypto_hash_sha256_update(&a->sum, (const unsigned char *)bytes.p, bytes.n);
    if (a->progress)
        a->progress->say(a->progress, a->name, a->before + a->size, a->total);
    return true;
}

/* Through the same intake as a download, so both are checked in the same way while they are
 * written. */
static enum status copy_into(struct ctx *ctx, const char *from, struct arrival *a)
{
    FILE *f = fopen(from, "re");
    if (!f)
        return fail(ctx, errno == ENOENT ? NOT_FOUND : STORAGE, "%s: %s", from, strerror(errno));
    char piece[65536];
    size_t n;
    while ((n = fread(piece, 1, sizeof piece, f)) > 0 && write_piece(&a->intake, (str){piece, n}))
        ;
    bool is_broken = ferror(f) != 0;
    fclose(f);
    return is_broken ? fail(ctx, STORAGE, "%s cannot be read", from) : OK;
}

/* Model hosts redirect to a CDN, so redirects are followed here. The size limit stops a server
 * that never ends its answer. */
static enum status fetch_into(struct ctx *ctx, const char *url, struct arrival *a)
{
    enum { SILENCE_MS = 60000, ANSWER_MAX = 1 << 16, REDIRECTS = 5 };
    struct call call = {.url = str_of(url),
                        .method = S("GET"),
                        .timeout_ms = SILENCE_MS,
                        .answer_max = ANSWER_MAX,
                        .intake = &a->intake,
                        .redirects = REDIRECTS};
    struct answer answer;
    TRY(http_call(ctx, &call, &answer));
    if (answer.code != 200)
        return fail(ctx, UPSTREAM, "%s answers %d", url, answer.code);
    return OK;
}

/* A file may be listed in two forms; only what is larger than both ends a transfer early. */
static int64_t size_max(const struct model_card *card, const char *name)
{
    int64_t most = 0;
    for (const struct model_file *f = card->files; f < card->files + MODEL_FILES_MAX; f++)
        if (f->name && !strcmp(f->name, name) && f->size > most)
            most = f->size;
    return most;
}

/* Where the files come from: a local folder, or a URL. */
struct source {
    const struct model_card *card;
    str from;
    bool is_url;
    struct model_progress *progress;
};

/* The checksum is computed while the bytes arrive: the file is never trusted before it matches. */
static enum status write_file(struct ctx *ctx, const struct source *s, const char *name,
                              struct arrival *a)
{
    const char *path = path_of(ctx, s->from, name);
    crypto_hash_sha256_init(&a->sum);
    enum status got = s->is_url ? fetch_into(ctx, path, a) : copy_into(ctx, path, a);
    if (a->size > a->max) {
        ctx_clear_failure(ctx);
        return fail(ctx, s->is_url ? UPSTREAM : TOO_LARGE,
                    "%s is larger than the expected %lld bytes", path, (long long)a->max);
    }
    TRY(got);
    unsigned char sum[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_final(&a->sum, sum);
    str hex = hex_of(&ctx->arena, sum, sizeof sum);
    if (!model_form(s->card, name, a->size, str_c(&ctx->arena, hex)))
        return fail(ctx, s->is_url ? UPSTREAM : BAD_INPUT,
                    "%s is not the expected file: %lld bytes, SHA-256 " S_FMT, path,
                    (long long)a->size, S_ARG(hex));
    return OK;
}

/* Synced before the rename, or a crash could leave an empty file under the final name. "x" in the
 * mode: a file that exists already is an error, as the folder has just been made. */
static enum status install_file(struct ctx *ctx, const struct source *s, str to, const char *name,
                                int64_t total, int64_t *done)
{
    const char *path = path_of(ctx, to, name);
    struct arrival a = {.intake = {write_piece},
                        .name = name,
                        .before = *done,
                        .total = total,
                        .max = size_max(s->card, name),
                        .progress = s->progress};
    a.to = fopen(path, "wxe");
    if (!a.to)
        return fail(ctx, STORAGE, "%s: %s", path, strerror(errno));
    enum status status = write_file(ctx, s, name, &a);
    if ((fflush(a.to) != 0 || fsync(fileno(a.to)) != 0) && !a.error)
        a.error = errno;
    fclose(a.to);
    if (a.error) {
        ctx_clear_failure(ctx); /* what came of it elsewhere, as that the transfer was cut */
        return fail(ctx, STORAGE, "%s: %s", path, strerror(a.error));
    }
    TRY(status);
    *done += a.size;
    return OK;
}

/* --- folders --- */

/* Of files only: a model's folder has no folders. A failure shows when the name is needed. */
static void remove_folder(const char *path)
{
    DIR *d = opendir(path);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));)
        unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    rmdir(path);
}

/* Not an error when it fails: some file systems cannot sync a folder, and the files in it are
 * synced. */
static void sync_folder(const char *path)
{
    CLEANUP(fd_close) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        fsync(fd);
}

/* Removes what an interrupted installation left: folders that begin with a dot and the name. */
static void remove_leftovers(struct ctx *ctx, str folder, const struct model_card *card)
{
    DIR *d = opendir(str_c(&ctx->arena, folder));
    str prefix = str_printf(&ctx->arena, ".%s.", card->name);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));)
        if (str_starts(str_of(e->d_name), prefix))
            remove_folder(path_of(ctx, folder, e->d_name));
    closedir(d);
}

static enum status put_in_place(struct ctx *ctx, str folder, const struct model_card *card,
                                const char *ready)
{
    const char *place = path_of(ctx, folder, card->name);
    const char *aside = str_printf(&ctx->arena, S_FMT "/.%s.old", S_ARG(folder), card->name).p;
    bool had_one = rename(place, aside) == 0;
    if (rename(ready, place) != 0) {
        int why = errno;
        if (had_one && rename(aside, place) != 0)
            return fail(ctx, STORAGE, "%s is now called %s: %s", place, aside, strerror(errno));
        return fail(ctx, STORAGE, "%s: %s", place, strerror(why));
    }
    sync_folder(str_c(&ctx->arena, folder));
    remove_folder(aside);
    return OK;
}

static enum status install_files(struct ctx *ctx, str folder, const struct source *s)
{
    const struct model_card *card = s->card;
    int64_t total = 0, done = 0;
    const char *ready = str_printf(&ctx->arena, S_FMT "/.%s.new", S_ARG(folder), card->name).p;
    const char *missing = folders_make(&ctx->arena, str_of(ready));
    if (missing)
        return fail(ctx, STORAGE, "%s: %s", missing, strerror(errno));
    remove_leftovers(ctx, folder, card);
    if (mkdir(ready, 0700) != 0)
        return fail(ctx, STORAGE, "%s: %s", ready, strerror(errno));
    enum status status = OK;
    for (const struct model_file *f = NULL; (f = model_next_file(card, f));) {
        int64_t here = s->is_url ? -1 : size_of(path_of(ctx, s->from, f->name));
        total += here >= 0 ? here : f->size;
    }
    for (const struct model_file *f = NULL; status == OK && (f = model_next_file(card, f));)
        status = install_file(ctx, s, str_of(ready), f->name, total, &done);
    if (status == OK) {
        sync_folder(ready);
        status = put_in_place(ctx, folder, card, ready);
    }
    if (status != OK)
        remove_folder(ready);
    return status;
}

/* --- the face --- */

enum status model_install(struct ctx *ctx, str folder, const struct model_card *card, str from,
                          struct model_progress *progress)
{
    return install_files(ctx, folder, &(struct source){card, from, false, progress});
}

/* The revision is part of the URL ("resolve" is Hugging Face's path for a file of a revision), so a
 * branch that moves changes nothing. */
enum status model_pull(struct ctx *ctx, str folder, const struct model_card *card, str base,
                       struct model_progress *progress)
{
    struct url url;
    TRY(url_read(ctx, "model_url", base, true, &url));
    base = str_trim_end(base, "/");
    str from =
        str_printf(&ctx->arena, S_FMT "/%s/resolve/%s", S_ARG(base), card->repo, card->revision);
    return install_files(ctx, folder, &(struct source){card, from, true, progress});
}

enum status model_check(struct ctx *ctx, str folder, const struct model_card *card)
{
    str at = str_of(path_of(ctx, folder, card->name));
    for (const struct model_file *f = NULL; (f = model_next_file(card, f));) {
        const char *path = path_of(ctx, at, f->name);
        str hex;
        int64_t size = size_of(path);
        if (size < 0)
            return fail(ctx, NOT_FOUND, "%s is not installed: %s is missing", card->name, f->name);
        if (!model_form(card, f->name, size, NULL))
            return fail(ctx, STORAGE,
                        "%s has an unexpected size of %lld bytes; pull the model again", path,
                        (long long)size);
        TRY(file_sha256(ctx, path, &hex));
        if (!model_form(card, f->name, size, hex.p))
            return fail(ctx, STORAGE, "%s has an unexpected SHA-256 " S_FMT, path, S_ARG(hex));
    }
    return OK;
}

/* Renamed first, so that a crash leaves no half-deleted model under its name. */
enum status model_remove(struct ctx *ctx, str folder, const struct model_card *card)
{
    const char *place = path_of(ctx, folder, card->name);
    const char *aside = str_printf(&ctx->arena, S_FMT "/.%s.old", S_ARG(folder), card->name).p;
    remove_leftovers(ctx, folder, card);
    if (rename(place, aside) != 0)
        return errno == ENOENT ? fail(ctx, NOT_FOUND, "%s is not installed", card->name)
                               : fail(ctx, STORAGE, "%s: %s", place, strerror(errno));
    remove_folder(aside);
    return OK;
}
