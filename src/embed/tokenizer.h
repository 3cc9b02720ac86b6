/* tokenizer.h - text to the numbers of its word pieces, as tokenizer.json says. */
#pragma once

#include "base/ctx.h"

struct tokenizer;

/* UNSUPPORTED, with words, for any other kind than BERT's normaliser and WordPiece. */
MUST_USE enum status tokenizer_open(struct ctx *ctx, const char *path, struct tokenizer **out);
MUST_USE enum status tokenizer_read(struct ctx *ctx, str json, struct tokenizer **out);
void tokenizer_free(struct tokenizer *t);

enum { TOKEN_NONE = UINT32_MAX };

/* The numbers of "[CLS]" and the like; TOKEN_NONE when the vocabulary has none. */
uint32_t tokenizer_id(const struct tokenizer *t, str token);
/* The number of what is not known. */
uint32_t tokenizer_unknown(const struct tokenizer *t);
/* No number is greater. */
uint32_t tokenizer_greatest(const struct tokenizer *t);

/*
 * The first max numbers of a text, without any at its ends ([CLS], [SEP]); gives how many. A text
 * cannot name special tokens: "[SEP]" in it is a bracket, a word and a bracket. Bytes that are no
 * UTF-8 are left out.
 */
size_t tokenizer_ids(const struct tokenizer *t, str text, bool with_unknown, uint32_t *out,
                     size_t max);
