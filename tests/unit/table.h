/* table.h - an engine whose vectors come from a tiny table of words with known meanings. */
#pragma once

#include <sys/stat.h>

#include "lib/engine.h"
#include "lib/tiny_models.h"

/* A text is the mean of the words in it that the table knows, each a direction and a part of
 * another one. */
struct table_word {
    const char *word;
    size_t axis, other;
    float much, more;
};

enum { TABLE_MAX = 32, TABLE_AXES = 16 };

__attribute__((unused)) static void table_write(struct ctx *ctx, str folder,
                                                const struct table_word *words, size_t n)
{
    static const char *tokens[TABLE_MAX + 5] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"};
    static float v[(TABLE_MAX + 4) * TABLE_AXES];
    CHECK(n <= TABLE_MAX);
    memset(v, 0, sizeof v);
    for (size_t i = 0; i < n; i++) {
        tokens[4 + i] = words[i].word;
        v[(4 + i) * TABLE_AXES + words[i].axis] += words[i].much;
        v[(4 + i) * TABLE_AXES + words[i].other] += words[i].more;
    }
    tokens[4 + n] = NULL;
    struct floats table = {"embeddings", 4 + n, TABLE_AXES, v};
    file_write(ctx, folder, "model.safetensors", safetensors_of(ctx, &table, 1));
    file_write(ctx, folder, "tokenizer.json", tokenizer_of(ctx, tokens));
    file_write(ctx, folder, "config.json", S("{\"model_type\":\"model2vec\"}"));
}

__attribute__((unused)) static struct settings settings_with_table(struct ctx *ctx,
                                                                   const struct table_word *words,
                                                                   size_t n)
{
    struct settings s = settings_for_test();
    s.model_dir = folder_new(ctx);
    str folder = str_printf(&ctx->arena, S_FMT "/table", S_ARG(s.model_dir));
    CHECK_INT(mkdir(folder.p, 0700), 0);
    table_write(ctx, folder, words, n);
    s.static_model = S("table");
    s.embedding_source = EMBED_STATIC;
    s.embedding_static = true;
    return s;
}

#define WITH_TABLE(e, s, p, words)                                                                 \
    ENGINE_WITH(e, s, p, settings_with_table(ctx, words, sizeof(words) / sizeof *(words)))

/* What waits gets its vector. */
__attribute__((unused)) static void table_embed(struct ctx *ctx, struct engine *e)
{
    for (bool more = true; more;)
        CHECK_OK(engine_embed_some(ctx, e, &more));
}
