/* tap.h - listening to an upstream's answer as it passes: what the assistant said. */
#pragma once

#include "surface/surface.h"

struct tap;

/* Listens to the relay; when the answer has ended well enough, the turn is kept with what was said.
 * The turn must live as long as the relay. */
void tap_on(struct ctx *ctx, struct relay *relay, struct turn *turn);

/*
 * From now on the turn is kept before the client has its last byte (of a stream: its [DONE]), so
 * that whoever has the answer finds it in the session. Where it cannot be kept, the answer breaks
 * off. The relay has its tap, and its filter if there is one, which works as before.
 */
void tap_before_end(struct relay *relay);

/* Keeps the turn; what goes wrong is logged and fails nothing. */
void turn_keep(struct ctx *ctx, struct app *app, struct turn *turn, str answer);

/* The text of a message's content: a string, or its text parts joined by newlines. */
str text_of_content(struct arena *a, const struct json *content);
