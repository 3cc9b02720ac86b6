/* server.h - the fake HTTP server of a test: a route table, served on loopback. */
#pragma once

#include <stdatomic.h>

#include "core/settings.h"
#include "http/http.h"
#include "t.h"

/*
 * Serves the routes on a free port of 127.0.0.1 to everyone. Below the routes is the product's own
 * http room: an unknown path is answered 404, an unknown method 405, a body that is not JSON (of a
 * route that wants JSON) 400. What else a real server would refuse, a handler refuses.
 *
 * struct app is the test's: what its handlers count, keep and are scripted by. Handlers run in
 * several threads. The server must be closed before ctx and app end.
 */
struct server *fake_server_open(struct ctx *ctx, const struct route *routes, struct app *app);
/* Waits for the handlers first. */
void fake_server_close(struct server *s);
/* The server as upstream "fake" with the key "secret". */
struct upstream fake_server_upstream(struct ctx *ctx, const struct server *s);

/* What a handler returns: an answer with this body. code 0: 200. */
enum status fake_reply(struct reply *out, int code, const char *body);

/* --- a server that the test plays itself, with blocking calls --- */

/* A listening socket on a free port of 127.0.0.1. */
int listener_open(struct ctx *ctx, str *url);
/* The next connection; fails the test after ten seconds without one. */
int listener_accept(int listener);
