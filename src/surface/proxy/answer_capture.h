/* answer_capture.h - reading an upstream's answer as it passes: what the assistant said. */
#pragma once

#include "surface/surface.h"

/* What becomes struct answer_names. */
struct answer_naming {
    struct buf name, calls, items;
};

/* Where an API has the assistant's text in its answers. */
struct answer_reader {
    /* Of a whole answer, in the arena. */
    str (*whole)(struct arena *a, const struct json *answer);
    /* Adds what one event of a stream brings; the arena is for this event alone. */
    void (*piece)(struct arena *a, const struct json *event, struct buf *text);
    /* Whether a client goes on at this event; or NULL. */
    bool (*is_end)(str event, str data);
    /* The same for an API that has it in the last piece itself, which is read as well; or NULL. */
    bool (*is_last)(const struct json *piece);
    /* Adds how later requests may refer to the answer: of a whole answer, or what one event brings.
     * NULL: they cannot. */
    void (*name)(const struct json *piece, struct answer_naming *out);
    /* Whether a piece says that the answer is whole, after which more may come; or NULL. Of a
     * stream that has neither this nor an end nothing is kept. */
    bool (*is_finished)(const struct json *piece);
    /* As piece, of events whose text a later one repeats unless the server leaves it out; or NULL.
     */
    void (*early)(struct arena *a, const struct json *event, struct buf *text);
};
extern const struct answer_reader completion_reader; /* of chat completions */

/*
 * Adds a filter to the relay that collects the assistant's text; when an answer with code 200 has
 * ended, the turn is kept with that text. The turn must live as long as the relay. A turn with
 * MODE_OFF is not kept, but its answer is named.
 *
 * is_durable, or where engine_keeps_first: the turn is kept before the client has the last byte (of
 * a stream: its last event), so that a client with a whole answer finds it. A durable turn that
 * cannot be kept breaks the answer off. Else the turn is kept when the client has everything, or
 * when a question of the same pool comes first, and a failure is only logged.
 *
 * trace gets the time of keeping and, if it is recorded, what the answer says of itself.
 */
void answer_capture_add(struct ctx *ctx, struct app *app, struct relay *relay, struct turn *turn,
                        const struct answer_reader *reader, bool is_durable, struct trace *trace);

/* Keeps the turn; a failure is logged and the caller goes on. */
void turn_keep(struct ctx *ctx, struct app *app, struct turn *turn, str answer);
