/* upstream.h - choosing an upstream, and the request that goes to it. */
#pragma once

#include "surface/surface.h"

struct target {
    const struct upstream *up; /* NULL: the built-in model, which was asked for by its name */
    str model;                 /* as the upstream knows it: without the prefix that chose it */
};

/*
 * The upstream of a model by its prefix, else the default. Only "rememberd/demo" is built in.
 * NOT_FOUND names the setting.
 */
enum status target_of(struct ctx *ctx, const struct settings *settings, str model,
                      struct target *out);

/* The same for any request. One of Anthropic's or Ollama's API whose model has no prefix goes to
 * the first upstream of that dialect, if there is one. UNSUPPORTED: one of Ollama's API, for an
 * upstream that does not speak it. */
enum status target_for(struct ctx *ctx, const struct settings *settings, const struct request *in,
                       str model, struct target *out);

/* Fails, as nothing but a model server could answer and none is set; says what to set. */
enum status target_missing(struct ctx *ctx, const struct request *in);

/* Where memory is put in a request to it: as its upstream says, else the setting. */
enum placement target_placement(const struct settings *settings, const struct target *to);
/* Whether it answers a system message with an error. */
bool target_rejects_system(struct arena *a, const struct target *to);

/*
 * The request as it goes on: same method, the client's headers that are not for us, and for a
 * credential the client's own key (auth_own_key, auth_own_x_key), else the upstream's. path begins
 * with "/v1/" and is encoded; the query stays the same.
 */
struct relay *relay_to(struct ctx *ctx, const struct request *in, const struct upstream *up,
                       str path, str body);
