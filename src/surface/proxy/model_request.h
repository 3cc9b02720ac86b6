/* model_request.h - the parts of a chat's request to any model API besides its messages. */
#pragma once

#include "surface/proxy/controls.h"
#include "surface/proxy/splice.h"
#include "surface/proxy/upstream.h"

/* Which program asks, and what for. */
enum caller {
    CALLER_CHAT,  /* the user's own words */
    CALLER_AGENT, /* a part of the program that works for the chat: its user is the chat's model */
    CALLER_ASIDE  /* the program's own question: a title, a summary, a test of the key */
};

/* Lives in the arena of the exchange, like the relay: the filters keep pointers into it until the
 * answer has ended. */
struct model_request {
    const struct json *root, *model; /* model: its name in root, or NULL */
    const struct json *messages;     /* where they are model_read_messages's and can be read */
    str sent;                        /* the body as the upstream may get it */
    bool wants_tools, wants_history; /* the headers X-Memory-Tools and X-Session-History */
    bool asks_nothing;               /* there are no messages, and the API allows that */
    struct target to;
    struct identity who; /* by the body as well, unless memory is off */
    struct turn_in in;
    struct turn *turn;
    enum without_memory without; /* why there is no memory, unless the request asked so */
    struct splice body;
    const struct answer_reader *reader; /* of the answer */
};

/* Off from here on, for a reason that the answer tells. */
void model_drop_memory(struct model_request *m, enum without_memory why);
/* A packed body (Content-Encoding) cannot be read here. */
bool model_is_packed(const struct request *in);

/* What headers say. An API without the two wishes refuses them: a client that counts on them must
 * learn that. Memory is dropped when it is off for everyone, or the body is packed. */
MUST_USE enum status model_begin(struct ctx *ctx, struct app *app, const struct request *in,
                                 bool has_wishes, struct model_request *m);

/* Whether the body can be passed on as it is, without memory: it is packed, or memory is off and no
 * upstream depends on the model's name. */
bool model_passes(const struct app *app, const struct request *in, const struct model_request *m);
/* The same without a look into the headers of the chat: the loop's thread may pass it on. */
bool model_is_quick(const struct app *app, const struct request *in);

/* Parses the body: whose memory, the model and its upstream. The messages are left to the API. */
MUST_USE enum status model_read(struct ctx *ctx, struct app *app, const struct request *in,
                                struct model_request *m);
/* The member "messages" of a body whose system texts are messages: what was said, and whether the
 * client's program asks for itself. Without memory when it cannot be read: the upstream words what
 * is wrong. */
void model_read_messages(struct ctx *ctx, const struct request *in, struct model_request *m);
/* Agents and the program's own questions see what the chat sees and teach nothing. */
void model_set_caller(struct model_request *m, enum caller caller);

/* Asks the upstream, when all else is spliced. */
struct relay *model_relay(struct ctx *ctx, const struct request *in, struct model_request *m,
                          str path);
