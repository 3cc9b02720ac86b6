/* tiny_models.c - tiny models made on the spot, and folders that end with the program. */
#define _XOPEN_SOURCE 700
#include "lib/tiny_models.h"

#include <dirent.h>
#include <ftw.h>
#include <unistd.h>

#include "base/files.h"
#include "ext/models/onednn.h"

/* --- folders --- */

enum { FOLDERS_MAX = 64 };
static char folders[FOLDERS_MAX][64];
static size_t n_folders;

static int remove_one(const char *path, __attribute__((unused)) const struct stat *st,
                      __attribute__((unused)) int kind, __attribute__((unused)) struct FTW *at)
{
    return remove(path);
}

static void remove_folders(void)
{
    for (size_t i = 0; i < n_folders; i++)
        nftw(folders[i], remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

str folder_new(struct ctx *ctx)
{
    if (!n_folders)
        atexit(remove_folders);
    CHECK(n_folders < FOLDERS_MAX);
    char *name = folders[n_folders++];
    snprintf(name, sizeof folders[0], "/tmp/rememberd-embed-XXXXXX");
    CHECK(mkdtemp(name) != NULL);
    return str_dup(&ctx->arena, str_of(name));
}

void file_write(struct ctx *ctx, str folder, const char *name, str bytes)
{
    FILE *f = fopen(str_printf(&ctx->arena, S_FMT "/%s", S_ARG(folder), name).p, "we");
    CHECK(f != NULL);
    CHECK_INT(fwrite(bytes.p, 1, bytes.n, f), bytes.n);
    CHECK_INT(fclose(f), 0);
}

str file_bytes(struct ctx *ctx, str folder, const char *name)
{
    str bytes;
    CHECK_OK(file_read(ctx, str_printf(&ctx->arena, S_FMT "/%s", S_ARG(folder), name).p, 256 << 20,
                       &bytes));
    return bytes;
}

size_t folder_count(str folder)
{
    size_t n = 0;
    DIR *d = opendir(folder.p);
    CHECK(d != NULL);
    for (struct dirent *e; (e = readdir(d));)
        n += !str_is(str_of(e->d_name), ".") && !str_is(str_of(e->d_name), "..");
    closedir(d);
    return n;
}

/* --- models --- */

str safetensors_with(struct ctx *ctx, const char *header, size_t data)
{
    size_t n = strlen(header);
    char *p = arena_alloc(&ctx->arena, 8 + n + data);
    for (int i = 0; i < 8; i++)
        p[i] = (char)(n >> 8 * i);
    memcpy(p + 8, header, n);
    return (str){p, 8 + n + data};
}

str safetensors_of(struct ctx *ctx, const struct floats *v, size_t n)
{
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    size_t at = 0, header;
    buf_add(&b, S("{\"__metadata__\":{\"format\":\"pt\"}"));
    for (size_t i = 0; i < n; i++) {
        size_t count = v[i].rows * (v[i].columns ? v[i].columns : 1);
        buf_printf(&b, ",\"%s\":{\"dtype\":\"F32\",\"shape\":[%zu", v[i].name, v[i].rows);
        if (v[i].columns)
            buf_printf(&b, ",%zu", v[i].columns);
        buf_printf(&b, "],\"data_offsets\":[%zu,%zu]}", at, at + 4 * count);
        at += 4 * count;
    }
    buf_byte(&b, '}');
    while (b.n % 4)
        buf_byte(&b, ' ');
    header = b.n;
    str out = safetensors_with(ctx, str_c(&ctx->arena, buf_str(&b)), at);
    char *p = (char *)out.p + 8 + header;
    for (size_t i = 0; i < n; i++) {
        size_t size = 4 * v[i].rows * (v[i].columns ? v[i].columns : 1);
        memcpy(p, v[i].v, size);
        p += size;
    }
    return out;
}

str tokenizer_of(struct ctx *ctx, const char *const *tokens)
{
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    buf_add(&b, S("{\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,"
                  "\"handle_chinese_chars\":true,\"strip_accents\":null,\"lowercase\":true},"
                  "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"model\":{"
                  "\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\","
                  "\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":100,"
                  "\"vocab\":{"));
    for (size_t i = 0; tokens[i]; i++)
        buf_printf(&b, "%s\"%s\":%zu", i ? "," : "", tokens[i], i);
    buf_add(&b, S("}}}"));
    return buf_str(&b);
}

const char *const tiny_tokens[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat",
                                   "sat",   "mat",   "##s",   ".",     NULL};

void tiny_static(struct ctx *ctx, str folder)
{
    float *v = NEW_N(&ctx->arena, float, TINY_TOKENS *TINY_STATIC);
    for (size_t i = 0; i < TINY_TOKENS; i++)
        for (size_t j = 0; j < TINY_STATIC; j++)
            v[i * TINY_STATIC + j] = (float)(1 + i * j);
    struct floats table = {"embeddings", TINY_TOKENS, TINY_STATIC, v};
    file_write(ctx, folder, "model.safetensors", safetensors_of(ctx, &table, 1));
    file_write(ctx, folder, "tokenizer.json", tokenizer_of(ctx, tiny_tokens));
    file_write(ctx, folder, "config.json", S("{\"model_type\":\"model2vec\"}"));
}

static void add_tensor(struct ctx *ctx, struct tiny_bert *b, uint32_t *seed, const char *name,
                       size_t rows, size_t columns)
{
    size_t n = rows * (columns ? columns : 1);
    float *v = NEW_N(&ctx->arena, float, n);
    for (size_t i = 0; i < n; i++) {
        *seed = *seed * 1664525 + 1013904223;
        v[i] = ((float)(*seed >> 8) / (1 << 24) - 0.5f) * (columns ? 0.6f : 1);
    }
    b->v[b->n++] = (struct floats){name, rows, columns, v};
}

struct tiny_bert tiny_bert(struct ctx *ctx, str folder)
{
    enum { H = TINY_HIDDEN, W = TINY_WIDE };
    static const struct {
        const char *name;
        size_t rows, columns;
    } parts[] = {
        {"embeddings.word_embeddings.weight", TINY_TOKENS, H},
        {"embeddings.position_embeddings.weight", 8, H},
        {"embeddings.token_type_embeddings.weight", 2, H},
        {"embeddings.LayerNorm.weight", H, 0},
        {"embeddings.LayerNorm.bias", H, 0},
        {"encoder.layer.0.attention.self.query.weight", H, H},
        {"encoder.layer.0.attention.self.query.bias", H, 0},
        {"encoder.layer.0.attention.self.key.weight", H, H},
        {"encoder.layer.0.attention.self.key.bias", H, 0},
        {"encoder.layer.0.attention.self.value.weight", H, H},
        {"encoder.layer.0.attention.self.value.bias", H, 0},
        {"encoder.layer.0.attention.output.dense.weight", H, H},
        {"encoder.layer.0.attention.output.dense.bias", H, 0},
        {"encoder.layer.0.attention.output.LayerNorm.weight", H, 0},
        {"encoder.layer.0.attention.output.LayerNorm.bias", H, 0},
        {"encoder.layer.0.intermediate.dense.weight", W, H},
        {"encoder.layer.0.intermediate.dense.bias", W, 0},
        {"encoder.layer.0.output.dense.weight", H, W},
        {"encoder.layer.0.output.dense.bias", H, 0},
        {"encoder.layer.0.output.LayerNorm.weight", H, 0},
        {"encoder.layer.0.output.LayerNorm.bias", H, 0},
    };
    struct tiny_bert b = {0};
    uint32_t seed = 7;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        add_tensor(ctx, &b, &seed, parts[i].name, parts[i].rows, parts[i].columns);
    file_write(ctx, folder, "model.safetensors", safetensors_of(ctx, b.v, b.n));
    file_write(ctx, folder, "tokenizer.json", tokenizer_of(ctx, tiny_tokens));
    file_write(ctx, folder, "config.json",
               S("{\"model_type\":\"bert\",\"hidden_act\":\"gelu\",\"hidden_size\":16,"
                 "\"num_hidden_layers\":1,\"num_attention_heads\":2,\"intermediate_size\":24,"
                 "\"max_position_embeddings\":8,\"layer_norm_eps\":1e-12}"));
    return b;
}

const float *tiny_floats(const struct tiny_bert *b, const char *name)
{
    for (size_t i = 0; i < b->n; i++)
        if (str_ends(str_of(b->v[i].name), str_of(name)))
            return b->v[i].v;
    fail_msg("no tensor %s", name);
    return NULL;
}

const char *no_onednn(void)
{
    struct ctx ctx = {0};
    struct onednn onednn;
    enum status s = onednn_load(&ctx, onednn_names, &onednn);
    ctx_free(&ctx);
    return s == OK ? NULL : "oneDNN is not installed";
}
