/* model_chat.h - a chat with memory around it, at any model API: the one handler of all of them. */
#pragma once

#include "surface/proxy/answer_capture.h"
#include "surface/proxy/controls.h"
#include "surface/proxy/demo_answer.h"
#include "surface/proxy/splice.h"
#include "surface/proxy/upstream.h"

/* Rows of a body's table: where it names a person, and a space. */
#define OPENAI_PERSON_ROWS                                                                         \
    (STR, user, .help = "the person who speaks, who has a memory of their own"),                   \
        (STR, safety_identifier, .help = "the same; user wins"),                                   \
        (JSON, metadata, .help = "user_id names the person in the same way")
#define SPACE_ROW                                                                                  \
    (AS_STR, space, SPACE_MEMBER,                                                                  \
     .help = "the space to use, as in X-Memory-Space; it is not forwarded")

/* A body's conversation: what was said, and where a block of memory for it goes in the body. */
struct talk {
    struct said *said;          /* the system text first, if there is one */
    const struct json **places; /* of the same number: a message or item, or NULL */
    size_t n;
};
/* The caller has made room for it. */
static inline void talk_add(struct talk *t, str role, str text, const struct json *place)
{
    t->places[t->n] = place;
    t->said[t->n++] = (struct said){.role = role, .text = text};
}

/* Lives in the arena of the exchange, like the relay: the filters keep pointers into it until the
 * answer has ended. */
struct model_request {
    const struct json *root, *model; /* model: its name in root, or NULL */
    const struct json *messages;     /* where they are model_read_messages's and can be read */
    const struct json **places;      /* as of struct talk, where they can be read */
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
/* Whether memory is off and the loop's thread may pass the request on. */
bool model_is_quick(const struct app *app, const struct request *in);
/* The session, and the member "messages" of a body whose system texts are messages: what was said,
 * whether blocks are put back, and whether the client's program asks for itself. Without memory
 * when the messages cannot be read: the upstream words what is wrong. */
MUST_USE enum status model_read_messages(struct ctx *ctx, struct app *app, const struct request *in,
                                         struct model_request *m);

/* In a body whose messages have a role and a content each: where the blocks go. */
enum placement blocks_placement(const struct app *app, const struct model_request *m);
/* The blocks of earlier turns beside their messages, those of the turn's window left out. Once,
 * before the others. Without messages there are no blocks. */
void blocks_put_earlier(const struct app *app, struct model_request *m);
/* The block of this turn, if its place is the front of the conversation, or if it is not: a caller
 * that splices more may do so in between. */
void blocks_put(struct ctx *ctx, const struct app *app, struct model_request *m, bool is_front);

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
    const struct demo_forms *demo;      /* of the built-in model's answers */
    /* Or NULL. What this API has to say of the built-in model's answer, before the turn ends. */
    void (*begin_demo)(struct ctx *ctx, struct app *app, struct model_request *m, struct demo *d);
};

/* m is empty and in the arena of the exchange. */
MUST_USE enum status model_chat(struct ctx *ctx, struct app *app, const struct request *in,
                                const struct model_dialect *api, struct model_request *m,
                                struct reply *out);
