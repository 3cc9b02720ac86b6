/* demo_answer.h - the built-in model's answer, by the forms of each API. */
#pragma once

#include "surface/surface.h"

#define DEMO_MODEL "rememberd/demo"

/*
 * JSON in which ' stands for ", and % with a letter for a value:
 *   %a  the answer, %w the next words of it      %p %o %t  tokens of the prompt, the answer, both
 *   %i  the answer's id, %m its message's        %c %z     when it was made: unix seconds, ISO 8601
 *   %v  the id that it goes on from, or null     %s        the number of the event, from 0
 *   %u  "usage": null where usage comes last     %r        why Ollama's answer ends
 */
struct demo_event {
    const char *name; /* of server-sent events; or "" */
    const char *form;
    bool repeats;  /* as long as there are words */
    bool is_usage; /* left out unless the client asks for the usage */
};

struct demo_forms {
    const char *whole;
    const struct demo_event *events; /* a stream; ends with an all-zero row */
    bool is_lines;                   /* which are lines of JSON, not server-sent events */
};
extern const struct demo_forms completion_forms; /* of chat completions */

struct demo {
    struct arena *arena;
    struct reply *out; /* into whose body the answer is written */
    str answer;
    bool stream, with_usage; /* with_usage: stream_options.include_usage */
    int64_t prompt_tokens;
    str id, message, previous; /* previous: "" for none */
};

void demo_write(const struct demo *d, const struct demo_forms *forms);
/* The next words of a text, for an event of a stream. */
str demo_words(str *rest);
