/* tiny_models.h - tiny models made on the spot, and folders that end with the program. */
#pragma once

#include "embed/embed.h"
#include "t.h"

/* --- folders --- */

/* A fresh folder, removed with all in it when the program ends. */
str folder_new(struct ctx *ctx);
void file_write(struct ctx *ctx, str folder, const char *name, str bytes);
/* The bytes of a file; fails the test when it cannot be read. */
str file_bytes(struct ctx *ctx, str folder, const char *name);
size_t folder_count(str folder);

/* --- models --- */

struct floats {
    const char *name;
    size_t rows, columns; /* columns 0: a vector */
    const float *v;
};
/* A safetensors file of these in F32. */
str safetensors_of(struct ctx *ctx, const struct floats *v, size_t n);

/* A safetensors file with this header and as many bytes of data. */
str safetensors_with(struct ctx *ctx, const char *header, size_t data);

/* A tokenizer.json with these tokens, numbered from 0; NULL-ended. */
str tokenizer_of(struct ctx *ctx, const char *const *tokens);

/* The six tokens of the tiny models after [PAD], [UNK], [CLS] and [SEP]: the cat sat mat ##s . */
enum { TINY_TOKENS = 10, TINY_STATIC = 4, TINY_HIDDEN = 16, TINY_WIDE = 24, TINY_HEADS = 2 };
extern const char *const tiny_tokens[];

/* A static table of TINY_TOKENS × TINY_STATIC; row i, column j is 1 + i * j. */
void tiny_static(struct ctx *ctx, str folder);

/* A BERT of one layer with weights from a fixed sequence. */
struct tiny_bert {
    struct floats v[32];
    size_t n;
};
struct tiny_bert tiny_bert(struct ctx *ctx, str folder);
const float *tiny_floats(const struct tiny_bert *b, const char *name);

/* --- references of ../shared --- */

/* NULL when ../shared/models is there; else words. */
const char *missing_models(void);
/* NULL when oneDNN is installed; else words. */
const char *no_onednn(void);
/* The cases of a reference file. */
const struct json *reference(struct ctx *ctx, const char *model);
str model_path(struct ctx *ctx, const char *model);
