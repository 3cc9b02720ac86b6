/* tokenizer.h - text to token ids, by a tokenizer.json. */
#pragma once

#include "base/ctx.h"

struct tokenizer;

/* UNSUPPORTED: another kind than BERT's normaliser and WordPiece. */
MUST_USE enum status tokenizer_open(struct ctx *ctx, const char *path, struct tokenizer **out);
MUST_USE enum status tokenizer_read(struct ctx *ctx, str json, struct tokenizer **out);
/* BERT's uncased tokenizer, from a vocabulary with a token a line, in the order of their ids. */
MUST_USE enum status tokenizer_of_lines(struct ctx *ctx, str lines, struct tokenizer **out);
void tokenizer_free(struct tokenizer *t);

enum { TOKEN_NONE = UINT32_MAX };

/* The id of a special token such as "[CLS]"; TOKEN_NONE: not in the vocabulary. */
uint32_t tokenizer_id(const struct tokenizer *t, str token);
/* The greatest id. */
uint32_t tokenizer_greatest(const struct tokenizer *t);

/*
 * The first max ids of a text, without [CLS] and [SEP]; returns how many. A text cannot contain
 * special tokens: "[SEP]" in a text is a bracket, a word and a bracket. Invalid UTF-8 is skipped.
 */
size_t tokenizer_ids(const struct tokenizer *t, str text, bool with_unknown, uint32_t *out,
                     size_t max);
