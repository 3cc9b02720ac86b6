/* embedder.h - a fake server of embeddings and model files, with every way in which it can fail. */
#pragma once

#include "lib/server.h"

enum mode {
    SERVES,
    REFUSES_KEY,
    LIMITS,
    BREAKS,
    CHOKES, /* on a request that contains "poison" */
    STALLS,
    SPEAKS_NO_JSON,
    GIVES_TOO_FEW,
    GIVES_TWICE,
    GIVES_ZEROS,
    GIVES_WORDS,
    TURNS_AROUND /* vectors in reverse order, each with its index */
};

/* POST /v1/embeddings, and the files of a model hub. A request without the key "secret" or for
 * another model than "tiny/model" is answered 400. */
struct app {
    _Atomic enum mode mode;
    atomic_int dimensions, calls, texts;
    atomic_bool let_go; /* ends STALLS */
    str folder;         /* of the model files */
    bool damages;       /* sends each file with one byte changed */
};

/* The test closes it with fake_server_close. */
struct server *embedder_open(struct ctx *ctx, struct app *app);
/* Settings of a process that has this server, or none, as upstream "fake". */
struct settings embedder_settings(struct ctx *ctx, const struct server *s);
