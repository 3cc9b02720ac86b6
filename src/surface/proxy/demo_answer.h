/* demo_answer.h - the built-in model's answer in OpenAI's shapes. */
#pragma once

#include "surface/surface.h"

#define DEMO_MODEL "rememberd/demo"

struct demo {
    str answer;
    bool stream, with_usage; /* with_usage: stream_options.include_usage */
    int64_t prompt_tokens;
};

/* Writes a completion, or a stream of chunks that ends with [DONE]. */
void demo_write(struct ctx *ctx, const struct demo *d, struct reply *out);

/* The next words of a text, as its stream has them. */
str demo_words(str *rest);
