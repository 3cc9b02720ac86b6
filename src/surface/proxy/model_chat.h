/* model_chat.h - a chat with memory around it, at any model API: the one handler of all of them. */
#pragma once

#include "surface/proxy/answer_capture.h"
#include "surface/proxy/demo_answer.h"
#include "surface/proxy/model_request.h"

/*
 * What differs between the APIs. A function that may be NULL says so. An API with something of its
 * own to remember has a struct around the model_request, which container_of finds.
 */
#define MESSAGES_RULE "must be an array of messages, each with a role"
struct model_dialect {
    const char *member, *rule; /* of the body: where the messages are, and what they must be */
    bool has_wishes;           /* X-Memory-Tools and X-Session-History belong to this API */
    bool streams;              /* unless the request asks for a whole answer */
    /* Or NULL. Whether the body has to be read although memory takes no part: it may name what
     * others have stored. */
    bool (*must_read)(const struct app *app, const struct request *in);
    /* The session and the messages; where the latter cannot be read, in.said is NULL and memory is
     * dropped: the upstream words what is wrong. */
    enum status (*read)(struct ctx *ctx, struct app *app, const struct request *in,
                        struct model_request *m);
    /* Puts the blocks of memory into m->body. */
    void (*put)(struct ctx *ctx, struct app *app, struct model_request *m);
    /* Or NULL. Filters that come before the one that keeps the answer. */
    void (*add_filters)(struct ctx *ctx, struct app *app, struct relay *r, struct model_request *m);
    const struct answer_reader *reader; /* unless read chooses another one */
    /* Or NULL. Names the built-in model's answer, before the turn ends. */
    void (*name_demo)(struct ctx *ctx, struct app *app, struct model_request *m);
    void (*write_demo)(struct ctx *ctx, const struct model_request *m, struct demo *d,
                       struct reply *out);
};

/* m is empty and in the arena of the exchange. */
MUST_USE enum status model_chat(struct ctx *ctx, struct app *app, const struct request *in,
                                const struct model_dialect *api, struct model_request *m,
                                struct reply *out);
