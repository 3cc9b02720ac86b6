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

/* Of any API's stream of events: the head of the reply, and the next words of a text. */
void demo_begin_stream(struct reply *out);
str demo_words(str *rest);
