/* demo_answer.h - the built-in model's answer in OpenAI's shapes. */
#pragma once

#include "surface/surface.h"

#define DEMO_MODEL "rememberd/demo"

struct demo {
    struct arena *arena;
    struct reply *out; /* into whose body the answer is written */
    str answer;
    bool stream, with_usage; /* with_usage: stream_options.include_usage */
    int64_t prompt_tokens;
};

/* Writes a completion, or a stream of chunks that ends with [DONE]. */
void demo_write(const struct demo *d);

/* Of any API's stream of events: the head of the reply, and the next words of a text. */
void demo_begin_stream(const struct demo *d);
str demo_words(str *rest);
