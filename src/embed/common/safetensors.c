/* safetensors.c - reads a safetensors file; its header and offsets are untrusted. */
#include "embed/common/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"

/*
 * The format (github.com/huggingface/safetensors): eight bytes with the length of the header,
 * little-endian; the header, a JSON object of name to {dtype, shape, data_offsets}; then the bytes
 * of the tensors. Nothing in it is code, which is why this format is read and not pickles. All
 * checks happen here, once: afterwards a tensor's bytes, count and type agree and lie inside the
 * file.
 */

/* HEADER_MAX: the header of a large encoder takes 60 KB. */
enum { LENGTH_BYTES = 8, HEADER_MAX = 1 << 20 };
static const size_t FILE_BYTES_MAX = (size_t)4 << 30;

static const struct {
    const char *name;
    size_t size;
    enum tensor_type type;
} types[] = {
    {"F32", 4, TENSOR_F32},       {"F16", 2, TENSOR_F16},       {"BF16", 2, TENSOR_BF16},
    {"F64", 8, TENSOR_OTHER},     {"I64", 8, TENSOR_OTHER},     {"U64", 8, TENSOR_OTHER},
    {"I32", 4, TENSOR_OTHER},     {"U32", 4, TENSOR_OTHER},     {"I16", 2, TENSOR_OTHER},
    {"U16", 2, TENSOR_OTHER},     {"I8", 1, TENSOR_OTHER},      {"U8", 1, TENSOR_OTHER},
    {"F8_E4M3", 1, TENSOR_OTHER}, {"F8_E5M2", 1, TENSOR_OTHER}, {"BOOL", 1, TENSOR_OTHER},
};

/* Sizes of all types of the format are needed to check the offsets, also of types that are not
 * used. */
static enum status read_type(struct ctx *ctx, struct tensor *t, str name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (str_is(name, types[i].name)) {
            t->type = types[i].type;
            t->size = types[i].size;
            return OK;
        }
    }
    return fail(ctx, BAD_INPUT, "tensor '" S_FMT "' has the unknown type '" S_FMT "'",
                S_ARG(t->name), S_ARG(name));
}

/* A number of the header that may be a size. The limit prevents overflow in later sums. */
static bool size_of(const struct json *v, size_t *out)
{
    int64_t n = v && v->type == JSON_NUMBER ? json_int_or(v, -1) : -1;
    *out = (size_t)n;
    return n >= 0 && n < (int64_t)1 << 48;
}

static enum status read_shape(struct ctx *ctx, struct tensor *t, const struct json *shape)
{
    if (!shape || shape->type != JSON_ARRAY || shape->n > TENSOR_DIMS_MAX)
        return fail(ctx, BAD_INPUT,
                    "tensor '" S_FMT "' must have a shape with at most %d dimensions",
                    S_ARG(t->name), TENSOR_DIMS_MAX);
    t->count = 1;
    for (const struct json *d = shape->first; d; d = d->next) {
        size_t *dim = &t->dims[t->n_dims++];
        if (!size_of(d, dim) || __builtin_mul_overflow(t->count, *dim, &t->count))
            return fail(ctx, BAD_INPUT, "tensor '" S_FMT "' has an invalid shape", S_ARG(t->name));
    }
    return OK;
}

/* Every claim is checked against the file: type, shape, offsets, and that size and shape agree. */
static enum status read_tensor(struct ctx *ctx, const struct json *entry, str data,
                               struct tensor *out)
{
    const struct json *at = json_get(entry, "data_offsets");
    struct tensor t = {.name = json_name(entry)};
    size_t from, to, need;
    TRY(read_type(ctx, &t, json_string(json_get(entry, "dtype"))));
    TRY(read_shape(ctx, &t, json_get(entry, "shape")));
    if (!at || at->type != JSON_ARRAY || at->n != 2 || !size_of(at->first, &from) ||
        !size_of(at->first->next, &to) || from > to || to > data.n)
        return fail(ctx, BAD_INPUT, "tensor '" S_FMT "' is outside the file", S_ARG(t.name));
    if (__builtin_mul_overflow(t.count, t.size, &need) || need != to - from)
        return fail(ctx, BAD_INPUT,
                    "tensor '" S_FMT "' has %zu bytes, which does not match its shape",
                    S_ARG(t.name), to - from);
    t.bytes = (const unsigned char *)data.p + from;
    t.at = from;
    t.size = need;
    *out = t;
    return OK;
}

ORDER(by_place, struct tensor, UP(at) ?: UP(size));

ORDER(by_name, struct tensor, BY_TEXT(name));

/* The format requires that each byte belongs to exactly one tensor, and that names differ. */
static enum status check_places(struct ctx *ctx, struct safetensors *s, size_t size)
{
    size_t end = 0;
    qsort(s->v, s->n, sizeof *s->v, by_place);
    for (size_t i = 0; i < s->n; end += s->v[i++].size)
        if (s->v[i].at != end)
            return fail(ctx, BAD_INPUT, "tensor '" S_FMT "' %s", S_ARG(s->v[i].name),
                        s->v[i].at < end ? "overlaps another one" : "leaves a gap before it");
    if (end != size)
        return fail(ctx, BAD_INPUT, "%zu bytes at the end belong to no tensor", size - end);
    qsort(s->v, s->n, sizeof *s->v, by_name);
    for (size_t i = 1; i < s->n; i++)
        if (str_eq(s->v[i - 1].name, s->v[i].name))
            return fail(ctx, BAD_INPUT, "tensor '" S_FMT "' is listed twice", S_ARG(s->v[i].name));
    return OK;
}

static enum status read_header(struct ctx *ctx, str bytes, str *header, str *data)
{
    uint64_t n = 0;
    if (bytes.n < LENGTH_BYTES)
        return fail(ctx, BAD_INPUT, "the file is too short to be safetensors");
    for (int i = LENGTH_BYTES - 1; i >= 0; i--)
        n = n << 8 | (unsigned char)bytes.p[i];
    if (n > HEADER_MAX)
        return fail(ctx, BAD_INPUT, "the header has %llu bytes; the limit is %d",
                    (unsigned long long)n, HEADER_MAX);
    if (n > bytes.n - LENGTH_BYTES)
        return fail(ctx, BAD_INPUT, "the file ends inside its header");
    *header = str_sub(bytes, LENGTH_BYTES, LENGTH_BYTES + (size_t)n);
    *data = str_sub(bytes, LENGTH_BYTES + (size_t)n, bytes.n);
    return OK;
}

/* Names are copied at the end: the parsed header dies with the ctx. */
enum status safetensors_read(struct ctx *ctx, str bytes, struct safetensors *out)
{
    struct safetensors s = {0};
    str header = {0}, data = {0};
    struct json *root;
    TRY(read_header(ctx, bytes, &header, &data));
    TRY(json_parse(ctx, header, &root));
    if (root->type != JSON_OBJECT)
        return fail(ctx, BAD_INPUT, "the header is not a JSON object");
    struct tensor *v = NEW_N(&ctx->arena, struct tensor, root->n + 1);
    for (const struct json *m = root->first; m; m = m->next)
        if (!str_is(json_name(m), "__metadata__"))
            TRY(read_tensor(ctx, m, data, &v[s.n++]));
    s.v = v;
    TRY(check_places(ctx, &s, data.n));
    s.v = NEW_N(&s.arena, struct tensor, s.n + 1);
    for (size_t i = 0; i < s.n; i++) {
        s.v[i] = v[i];
        s.v[i].name = str_dup(&s.arena, v[i].name);
    }
    *out = s;
    return OK;
}

/* The file is read, not mapped: if another program truncates a mapped file, access to the missing
 * page kills the process. */
static enum status read_file(struct ctx *ctx, const char *path, int fd, size_t size, void **out)
{
    size_t got = 0;
    ssize_t n = 1;
    if (!size || size > FILE_BYTES_MAX)
        return fail(ctx, STORAGE, "%s: %s", path,
                    size ? "is over 4 GiB" : "is not a file, or is empty");
    char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        return fail(ctx, STORAGE, "%s: out of memory (needs %zu MB)", path, size >> 20);
    while (got < size && n > 0) {
        n = read(fd, bytes + got, size - got);
        got += n > 0 ? (size_t)n : 0;
    }
    if (got < size) {
        munmap(bytes, size);
        return fail(ctx, STORAGE, "%s: %s", path,
                    n ? strerror(errno) : "the file ended while it was read");
    }
    *out = bytes;
    return OK;
}

/* NOT_FOUND, STORAGE (the file cannot be read), or BAD_INPUT (its header). The file is read into
 * anonymous memory, whose pages safetensors_keep can give back. */
enum status safetensors_open(struct ctx *ctx, const char *path, struct safetensors *out)
{
    struct stat st;
    struct safetensors s = {0};
    void *bytes = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        int why = errno;
        if (fd >= 0)
            close(fd);
        return fail(ctx, why == ENOENT ? NOT_FOUND : STORAGE, "%s: %s", path, strerror(why));
    }
    size_t size = S_ISREG(st.st_mode) ? (size_t)st.st_size : 0;
    enum status status = read_file(ctx, path, fd, size, &bytes);
    close(fd);
    TRY(status);
    status = safetensors_read(ctx, (str){bytes, size}, &s);
    if (status != OK) {
        munmap(bytes, size);
        return status;
    }
    s.memory = bytes;
    s.memory_size = size;
    *out = s;
    return OK;
}

/* The pages of the other tensors go back to the system: half of the memory of a transformer. Freed
 * pages read as zeros: no other tensor of the file may be read after this. */
void safetensors_keep(struct safetensors *s, const struct tensor *kept)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t from = (size_t)(kept->bytes - (const unsigned char *)s->memory), to = from + kept->size;
    assert(to <= s->memory_size);
    from -= from % page;
    to += (page - to % page) % page;
    madvise(s->memory, from, MADV_DONTNEED);
    if (to < s->memory_size)
        madvise((char *)s->memory + to, s->memory_size - to, MADV_DONTNEED);
}

void safetensors_close(struct safetensors *s)
{
    if (s->memory)
        munmap(s->memory, s->memory_size);
    arena_free(&s->arena);
    *s = (struct safetensors){0};
}

/* check_places has left the tensors sorted by name. */
const struct tensor *safetensors_find(const struct safetensors *s, str name)
{
    struct tensor key = {.name = name};
    return s->n ? bsearch(&key, s->v, s->n, sizeof *s->v, by_name) : NULL;
}

/* memcpy, since a cast between pointer types would break aliasing rules. bfloat16 is the upper half
 * of a float. */
static float float_of_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* IEEE 754 half precision. A subnormal number is a multiple of 2^-24. */
static float float_of_half(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, rest = h & 1023;
    if (exponent == 31)
        return float_of_bits(sign | 0x7f800000 | rest << 13);
    if (exponent)
        return float_of_bits(sign | (exponent + 112) << 23 | rest << 13);
    float f = (float)rest * 0x1p-24f;
    return sign ? -f : f;
}

/* Little-endian by the format, assembled byte by byte for 16-bit types: offsets may be odd. */
void tensor_floats(const struct tensor *t, size_t from, size_t n, float *out)
{
    assert(t->type != TENSOR_OTHER && from <= t->count && n <= t->count - from);
    if (t->type == TENSOR_F32) {
        if (n)
            memcpy(out, t->bytes + from * sizeof *out, n * sizeof *out);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const unsigned char *b = t->bytes + 2 * (from + i);
        uint16_t bits = (uint16_t)(b[0] | b[1] << 8);
        out[i] = t->type == TENSOR_F16 ? float_of_half(bits) : float_of_bits((uint32_t)bits << 16);
    }
}
