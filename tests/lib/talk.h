/* talk.h - a conversation over an engine, as a client leads it. */
#pragma once

#include "engine/chat/turn.h"
#include "lib/engine.h"

/* The client holds what was said so far and sends all of it with each turn, to the pool mine. */
struct talk {
    struct ctx *ctx;
    struct engine *e;
    struct store *s;
    struct said said[64];
    size_t n;
    const char *session; /* NULL: the client names none */
    enum memory_mode mode;
    struct turn *turn; /* the last one */
};

struct talk talk_of(struct ctx *ctx, struct engine *e, struct store *s);

/* Adds a line to what the client holds. */
void talk_say(struct talk *t, const char *role, const char *text);
/* Begins t->turn over what the client holds. */
void talk_begin(struct talk *t);
/* Ends t->turn; its messages and facts are written when this returns. */
void talk_end(struct talk *t, const char *answer);
/* A whole turn: the user says text and gets the answer. Gives the block of memories for it. */
str talk_ask(struct talk *t, const char *text, const char *answer);
