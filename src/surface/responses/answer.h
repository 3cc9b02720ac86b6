/* answer.h - answers of the Responses API: read, and written by the built-in model. */
#pragma once

#include "surface/proxy/answer_capture.h"
#include "surface/proxy/demo_answer.h"

/* Of answers that the model's server keeps under their id, and of those that it does not keep. */
extern const struct answer_reader response_reader, unkept_response_reader;

/* An id for an answer of the built-in model ("resp_"), or for its message ("msg_"). */
str response_id(struct arena *a, const char *prefix);
extern const struct demo_forms response_forms;
