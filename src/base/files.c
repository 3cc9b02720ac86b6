/* files.c - reads whole files, writes whole texts, makes folders, and computes checksums. */
#include "base/files.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "base/id.h"

/* Weights are read by safetensors.c, into memory that can be given back in parts. */

enum status fail_file(struct ctx *ctx, const char *path, const char *what)
{
    return fail(ctx, STORAGE, "'%s' cannot be %s: %s", path, what, strerror(errno));
}

void fd_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

bool write_all(int fd, str text)
{
    while (text.n) {
        ssize_t n = write(fd, text.p, text.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text = str_sub(text, (size_t)n, text.n);
    }
    return true;
}

const char *folders_make(struct arena *a, str path)
{
    for (size_t i = 1; i < path.n; i++) {
        const char *folder = path.p[i] == '/' ? str_c(a, str_sub(path, 0, i)) : NULL;
        if (folder && mkdir(folder, 0700) != 0 && errno != EEXIST)
            return folder;
    }
    return NULL;
}

/* In pieces: a model is large, and need not fit into memory. Either of the two takes them. */
static enum status read_pieces(struct ctx *ctx, const char *path, struct buf *to,
                               crypto_hash_sha256_state *sum)
{
    unsigned char piece[65536];
    size_t n;
    FILE *f = fopen(path, "re");
    if (!f)
        return fail(ctx, errno == ENOENT ? NOT_FOUND : STORAGE, "%s: %s", path, strerror(errno));
    while (!(to && to->full) && (n = fread(piece, 1, sizeof piece, f)) > 0)
        if (to)
            buf_add(to, (str){(char *)piece, n});
        else
            crypto_hash_sha256_update(sum, piece, n);
    bool is_broken = ferror(f) != 0;
    fclose(f);
    return is_broken ? fail(ctx, STORAGE, "%s: cannot be read", path) : OK;
}

/* NOT_FOUND, STORAGE, or TOO_LARGE above max bytes. The content is in the ctx's arena. */
enum status file_read(struct ctx *ctx, const char *path, size_t max, str *out)
{
    struct buf b = buf_make(&ctx->arena, max);
    TRY(read_pieces(ctx, path, &b, NULL));
    *out = buf_str(&b);
    return b.full ? fail(ctx, TOO_LARGE, "%s: is too large", path) : OK;
}

enum status file_sha256(struct ctx *ctx, const char *path, str *out)
{
    unsigned char sum[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    TRY(read_pieces(ctx, path, NULL, &state));
    crypto_hash_sha256_final(&state, sum);
    *out = hex_of(&ctx->arena, sum, sizeof sum);
    return OK;
}
