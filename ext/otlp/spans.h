/* spans.h - a chat as spans of OpenTelemetry, in the JSON of OTLP. */
#pragma once

#include "surface/observe.h"

enum { SPAN_TEXT = 128, STATE_TEXT = 520 };

/* What is kept of a chat until it is sent: no pointer, so that a queue of them is one block. Longer
 * texts are cut. */
struct chat_row {
    struct trace trace; /* its texts are those below */
    int64_t began_us;
    int code;
    enum status how;
    char method[8], path[SPAN_TEXT], state[STATE_TEXT], provider[16], upstream[SPAN_TEXT],
        model[SPAN_TEXT], answered_by[SPAN_TEXT], answer_id[SPAN_TEXT], session[40], receipt[40];
};

void row_of(const struct request *in, int code, enum status how, struct chat_row *out);
size_t row_spans(const struct chat_row *row);

/* The body of a call: all spans of these chats. epoch_us is unix time less clock_mono_us. */
void spans_write(struct buf *b, str service, const struct chat_row *rows, size_t n,
                 int64_t epoch_us);
