/* chat.h - a message in a session: what the model is given, how its answer goes back. */
#pragma once

#include "ext/dialects/cortex/common.h"
#include "surface/proxy/upstream.h"

/* NULL-ended: fast, balanced, powerful. */
extern const char *const chat_preferences[];

/* A user's message, from /v1/chat or from the agents' endpoint; or the next one of a preview, with
 * session, message and preference alone. */
struct chat_wish {
    str session, message;
    str preference; /* one of chat_preferences */
    str key;        /* of the model's server, or "": the user's, else the server's own */
    bool is_stream;
    str in_reply_to; /* the agent's message, where the answer has an envelope; or "" */
    str type;        /* of a whole answer; "" is application/json */
};

/* Answers it, now or by a relay. */
MUST_USE enum status chat_say(struct ctx *ctx, struct app *app, const struct request *in,
                              const struct chat_wish *wish, struct reply *out);

/* All that an answer to a message in a session depends on. */
struct chat_scene {
    const struct request *request;
    struct chat_wish wish;
    struct session session;
    struct target to; /* without an upstream the built-in model answers */
    str model;        /* as it is called here, with the name of its upstream */
    str system;
    struct turn_in in; /* pool, session, model, stand_in and window are set */
    struct window window;
    int64_t room; /* tokens for the message and the memory block */
    /* of a chat, before its answer comes: */
    struct turn *turn; /* begun with the id of the answer's message; kept before the last byte */
    int64_t tokens_in; /* estimated; the server's count wins */
    str key;           /* sent to the model's server */
    struct strs asked; /* what a complaint must not repeat */
};
/* NOT_FOUND: there is no such session, or it is not the caller's. *out must live as long as a turn
 * that is begun with out->in, and as long as the exchange that is answered. */
MUST_USE enum status chat_scene_of(struct ctx *ctx, struct app *app, const struct request *in,
                                   const struct chat_wish *wish, struct chat_scene *out);

/* --- the answer --- */

/* The end of a request for a stream; a server that refuses it is asked again without it. */
#define CHAT_USAGE_WISH ",\"stream_options\":{\"include_usage\":true}}"

extern const struct field chat_out_fields[];

/* The envelope of an answer to an agent's message, as JSON; NULL when in_reply_to is "". */
const struct json *chat_envelope(struct ctx *ctx, str in_reply_to);

/* Adds the filter that gives the relay's answer to the client in Cortex's shape. */
void chat_answer_add(struct ctx *ctx, struct app *app, struct relay *relay,
                     const struct chat_scene *scene);
/* Writes an answer whose text is at hand and whose turn has ended. */
MUST_USE enum status chat_answer_now(struct ctx *ctx, struct app *app,
                                     const struct chat_scene *scene, str text, struct reply *out);
