/* fixture.h - a server with a small surface and raw clients. */
#pragma once

#include "lib/clock.h"
#include "lib/server.h"

/* What the test's handlers work with. */
struct app {
    str upstream;       /* base URL for the relay routes */
    atomic_int held;    /* handlers of /hold that wait */
    atomic_bool let_go; /* ends /hold */
    atomic_int done, done_ok, done_code;
    atomic_size_t seen; /* bytes that the filter w watched */
    char calls[400];    /* of the filters u, v and l, in order: "u.head=200 u.end u.done" */
    atomic_bool done_blocks;
    atomic_bool again_blocks; /* holds the worker that says what is asked next */
    atomic_int again;         /* how often one was asked */
    atomic_bool was_cut;      /* and that it was told of the client's leaving */
};

extern const struct surface *const test_surfaces[];

struct server_settings test_settings(void);
struct server *serve(struct ctx *ctx, struct app *app, const struct server_settings *settings);

/* --- a raw client; every wait ends after ten seconds and fails the test --- */

int dial(const struct server *s);
void say(int fd, str text);
#define SAY(fd, text) say(fd, str_of(text))
/* Reads until the bytes hold what, which may be "" for the first ones. */
str hear_until(struct ctx *ctx, int fd, const char *what);
/* Reads to the end of the connection. */
str hear_all(struct ctx *ctx, int fd);
/* True when the other side ends the connection (bytes before that are dropped). */
bool hears_end(int fd);
/* One request on a fresh connection with Connection: close; the whole reply. */
str ask(struct ctx *ctx, const struct server *s, const char *method, const char *target,
        const char *headers, str body);
int code_of(str reply);
str body_of(str reply);
