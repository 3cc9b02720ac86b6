/* s3.c - objects of an S3-compatible storage: listed, stored, read and deleted. */
#include "http/s3.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "base/files.h"
#include "base/id.h"
#include "http/http.h"

/*
 * The bucket is a part of the path, not of the host's name: storages of one's own seldom have names
 * for each bucket. An object carries its SHA-256 twice: in x-amz-content-sha256, which is signed
 * and checked by the storage, and in x-amz-meta-sha256, which comes back with the object.
 */
enum {
    CALL_MS = 30000,
    SILENCE_MS = 120000, /* a storage checks a large object before it answers */
    ANSWER_MAX = 4 << 20 /* a list of 1,000 objects */
};
#define SHA_OF_NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
static const char sha_header[] = "x-amz-meta-sha256";

void s3_of(struct ctx *ctx, const struct settings *s, struct s3 *out)
{
    struct arena *a = &ctx->arena;
    str bucket = {0}, prefix = {0}, endpoint = s->backup_s3_endpoint;
    bool is_read = s3_place_read(s->backup_s3, &bucket, &prefix);
    assert(is_read); /* as settings_load has checked */
    (void)is_read;
    if (!endpoint.n)
        endpoint = str_printf(a, "https://s3." S_FMT ".amazonaws.com", S_ARG(s->backup_s3_region));
    endpoint = str_trim_end(endpoint, "/");
    *out = (struct s3){.place = str_printf(a, S3_SCHEME S_FMT "%s" S_FMT, S_ARG(bucket),
                                           prefix.n ? "/" : "", S_ARG(prefix)),
                       .url = str_printf(a, S_FMT "/" S_FMT, S_ARG(endpoint), S_ARG(bucket)),
                       .prefix = prefix.n ? str_printf(a, S_FMT "/", S_ARG(prefix)) : S(""),
                       .key = {s->backup_s3_key_id, s->backup_s3_secret, s->backup_s3_region}};
}

/* --- answers --- */

/* The text between <NAME> and </NAME>, and *rest behind it; "" where there is none. The names that
 * are looked for need no escapes. */
static str xml_text(str *rest, const char *name)
{
    char tag[40];
    int n = snprintf(tag, sizeof tag, "<%s>", name);
    size_t from = str_find(*rest, (str){tag, (size_t)n});
    if (from == rest->n)
        return S("");
    str text = str_sub(*rest, from + (size_t)n, rest->n);
    n = snprintf(tag, sizeof tag, "</%s>", name);
    size_t to = str_find(text, (str){tag, (size_t)n});
    *rest = str_sub(text, to, text.n);
    return str_sub(text, 0, to);
}

static bool is_word(str s)
{
    return s.n && s.n <= 80 && EVERY(i, s.n, s.p[i] >= '0' && s.p[i] <= 'z');
}

/* The call of an object, or the bucket with a query. A 2xx, or a failure that names the place. A
 * call without headers has no body. */
static enum status call_storage(struct ctx *ctx, const struct s3 *s, struct call call,
                                struct answer *got)
{
    static const struct header of_nothing = {S("x-amz-content-sha256"), S(SHA_OF_NOTHING)};
    call.key = &s->key;
    call.answer_max = ANSWER_MAX;
    call.wants = sha_header;
    if (!call.headers) {
        call.headers = &of_nothing;
        call.n_headers = 1;
    }
    if (!call.timeout_ms)
        call.timeout_ms = CALL_MS;
    enum status status = http_call(ctx, &call, got);
    if (status != OK) {
        str why = ctx_take_why(ctx);
        return fail(ctx, status, S_FMT ": " S_FMT, S_ARG(s->place), S_ARG(why));
    }
    if (got->code >= 200 && got->code < 300)
        return OK;
    /* The code of an error is one word, such as SignatureDoesNotMatch. */
    str body = got->body, code = xml_text(&body, "Code");
    return fail(ctx, UPSTREAM, S_FMT ": the storage answers %d%s" S_FMT, S_ARG(s->place), got->code,
                is_word(code) ? " " : "", S_ARG(is_word(code) ? code : S("")));
}

static str url_of(struct ctx *ctx, const struct s3 *s, str name)
{
    return str_printf(&ctx->arena, S_FMT "/" S_FMT S_FMT, S_ARG(s->url), S_ARG(s->prefix),
                      S_ARG(name));
}

/* --- listing --- */

/* Objects that one answer may list, as S3 does, and answers that are read. */
enum { PAGE = 1000, PAGES_MAX = 100 };

/* Adds what one answer lists, at most PAGE objects, whose number it gives; *last is the name of the
 * last one. */
static size_t read_list(struct ctx *ctx, const struct s3 *s, str body, struct backup_file *v,
                        size_t *n, str *last)
{
    for (size_t i = 0; i < PAGE; i++) {
        str one = xml_text(&body, "Contents"), in = one, key = xml_text(&in, "Key");
        if (!key.n)
            return i;
        *last = key;
        in = one;
        str size = xml_text(&in, "Size");
        struct backup_file *f = &v[*n];
        if (!str_starts(key, s->prefix) ||
            !backup_name_read(BACKUP_STEM, str_sub(key, s->prefix.n, key.n), f) || f->schema ||
            !str_int(size, &f->bytes) || f->bytes <= 0)
            continue;
        f->name = str_dup(&ctx->arena, f->name);
        f->is_remote = true;
        *n += 1;
    }
    return PAGE;
}

enum status s3_list(struct ctx *ctx, const struct s3 *s, struct backup_file **out, size_t *n)
{
    struct arena *a = &ctx->arena;
    str last = {0}, prefix = percent_encode(a, s->prefix);
    bool is_cut = true;
    *n = 0;
    *out = NULL;
    for (int i = 0; is_cut && i < PAGES_MAX; i++) {
        struct answer got;
        str after =
            last.n ? str_printf(a, "&start-after=" S_FMT, S_ARG(percent_encode(a, last))) : S("");
        str url = str_printf(a, S_FMT "?list-type=2&prefix=" S_FMT S_FMT "-" S_FMT, S_ARG(s->url),
                             S_ARG(prefix), S_ARG(BACKUP_STEM), S_ARG(after));
        TRY(call_storage(ctx, s, (struct call){.method = S("GET"), .url = url}, &got));
        *out = DUP_N(a, *out, *n, *n + PAGE + 1);
        str rest = got.body, before = last;
        is_cut = str_is(xml_text(&rest, "IsTruncated"), "true");
        /* a storage that lists more than that at once is asked for the rest */
        is_cut |= read_list(ctx, s, got.body, *out, n, &last) == PAGE;
        is_cut &= !str_eq(before, last);
    }
    backup_files_sort(*out, *n);
    return OK;
}

/* --- storing --- */

static enum status check_stored(struct ctx *ctx, const struct s3 *s, str name, str sha,
                                int64_t bytes)
{
    struct answer got;
    TRY(call_storage(ctx, s, (struct call){.method = S("HEAD"), .url = url_of(ctx, s, name)},
                     &got));
    if (got.bytes == bytes && str_eq(got.wanted, sha))
        return OK;
    return fail(ctx, UPSTREAM,
                S_FMT "/" S_FMT ": the storage has %lld bytes of another object than was sent",
                S_ARG(s->place), S_ARG(name), (long long)got.bytes);
}

enum status s3_put(struct ctx *ctx, const struct s3 *s, str name, const char *path)
{
    static const int64_t most = INT64_C(5) << 30;
    struct stat st = {0};
    struct answer got;
    str sha;
    CLEANUP(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        return fail(ctx, STORAGE, "%s: %s", path, strerror(errno));
    const struct upload upload = {fd, st.st_size};
    if (upload.bytes > most)
        return fail(ctx, TOO_LARGE,
                    "a backup of %.1f GB is too large for S3, which takes 5.3 GB in one call; use "
                    "backup_dir",
                    (double)upload.bytes / 1e9);
    TRY(file_sha256(ctx, path, &sha));
    const struct header headers[] = {{S("x-amz-content-sha256"), sha}, {str_of(sha_header), sha}};
    TRY(call_storage(ctx, s,
                     (struct call){.url = url_of(ctx, s, name),
                                   .headers = headers,
                                   .n_headers = 2,
                                   .timeout_ms = SILENCE_MS,
                                   .upload = &upload},
                     &got));
    return check_stored(ctx, s, name, sha, upload.bytes);
}

/* --- reading --- */

struct arrival {
    struct intake intake; /* first member: http passes the pieces to it */
    FILE *to;
    int64_t bytes, most;
    crypto_hash_sha256_state sum;
};

static bool write_piece(struct intake *intake, str bytes)
{
    struct arrival *a = (struct arrival *)intake;
    a->bytes += (int64_t)bytes.n;
    crypto_hash_sha256_update(&a->sum, (const unsigned char *)bytes.p, bytes.n);
    return a->bytes <= a->most && fwrite(bytes.p, 1, bytes.n, a->to) == bytes.n;
}

static enum status get_into(struct ctx *ctx, const struct s3 *s, const struct backup_file *file,
                            struct arrival *a)
{
    unsigned char sum[crypto_hash_sha256_BYTES];
    struct answer got;
    TRY(call_storage(ctx, s,
                     (struct call){.url = url_of(ctx, s, file->name),
                                   .timeout_ms = SILENCE_MS,
                                   .intake = &a->intake},
                     &got));
    crypto_hash_sha256_final(&a->sum, sum);
    if (a->bytes != file->bytes || !str_eq(got.wanted, hex_of(&ctx->arena, sum, sizeof sum)))
        return fail(ctx, STORAGE,
                    S_FMT "/" S_FMT " is damaged: it differs from its SHA-256; use another backup",
                    S_ARG(s->place), S_ARG(file->name));
    return fflush(a->to) == 0 ? OK : fail(ctx, STORAGE, "the disk: %s", strerror(errno));
}

enum status s3_get(struct ctx *ctx, const struct s3 *s, const struct backup_file *file,
                   const char *path)
{
    struct arrival a = {.intake = {write_piece}, .most = file->bytes};
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    a.to = fd < 0 ? NULL : fdopen(fd, "w");
    if (!a.to)
        return fail(ctx, STORAGE, "%s: %s", path, strerror(errno));
    crypto_hash_sha256_init(&a.sum);
    enum status status = get_into(ctx, s, file, &a);
    if (fclose(a.to) != 0 && status == OK)
        status = fail(ctx, STORAGE, "%s: %s", path, strerror(errno));
    if (status != OK)
        unlink(path);
    return status;
}

enum status s3_delete(struct ctx *ctx, const struct s3 *s, str name)
{
    struct answer got;
    return call_storage(ctx, s, (struct call){.method = S("DELETE"), .url = url_of(ctx, s, name)},
                        &got);
}

enum status backups_made(struct ctx *ctx, const struct settings *s, struct backup_file **out,
                         size_t *n, str *why)
{
    struct backup_file *local = NULL, *remote = NULL;
    size_t n_local = 0, n_remote = 0;
    *why = S("");
    if (s->backup_dir.n)
        TRY(backups_by_clock(ctx, s->backup_dir, &local, &n_local));
    if (s->backup_s3.n) {
        struct s3 s3;
        s3_of(ctx, s, &s3);
        enum status status = s3_list(ctx, &s3, &remote, &n_remote);
        if (status != OK && !s->backup_dir.n)
            return status;
        if (status != OK)
            *why = ctx_take_why(ctx);
    }
    *n = n_local + n_remote;
    *out = DUP_N(&ctx->arena, local, n_local, *n + 1);
    memcpy(*out + n_local, n_remote ? remote : *out, n_remote * sizeof **out);
    backup_files_sort(*out, *n);
    return OK;
}
