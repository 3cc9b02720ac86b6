/* kinds.h - the kinds of local models, each a folder with model.safetensors. */
#pragma once

#include "embed/embed.h"
#include "embed/reranker.h"

/* How a kind ends to open a model: nothing stays open on failure. */
static inline enum status model_opened(enum status s, void *model, void (*close)(void *model),
                                       void **out)
{
    if (s == OK)
        *out = model;
    else
        close(model);
    return s;
}

/* model2vec's tables, with tokenizer.json: one vector for each token, and a text is the mean. */
extern const struct local_kind local_static;

/* BERT encoders, with config.json and tokenizer.json: the mean of its token vectors is the vector
 * of a text, of which only the first 512 tokens count. UNSUPPORTED: oneDNN is not installed, or the
 * model is of another kind. */
extern const struct local_kind local_transformer;

/* BERTs that read a question and a passage, with config.json, and vocab.txt or tokenizer.json. */
extern const struct reranking_kind local_cross_encoder;
