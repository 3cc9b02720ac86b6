/* dialects.h - the surfaces that are part of the product, each defined in its own folder. */
#pragma once

#include "http/http.h"

/* In the order they are asked. */
/* clang-format off */
#define EACH_SURFACE(F)                                                                            \
    F(openai) F(anthropic) F(responses) F(memories) F(hooks) F(files) F(review) F(erasures)        \
    F(preview) F(receipts) F(messages) F(conversations) F(stats) F(doctors) F(events) F(jobs)      \
    F(parts) F(records) F(settings) F(tokens) F(sign_in) F(studio) F(users) F(mcp) F(ollama)       \
    F(metrics) F(admin)
/* clang-format on */

#define SURFACE_DECLARED(NAME) extern const struct surface surface_##NAME;
#define SURFACE_LISTED(NAME) &surface_##NAME,

EACH_SURFACE(SURFACE_DECLARED)
#define CORE_SURFACES EACH_SURFACE(SURFACE_LISTED)
