/* splice.h - changing a few bytes of a body and no others. */
#pragma once

#include "core/settings.h"
#include "surface/common/json_form.h"

/* At one place of the body: drop bytes go, put comes in. */
struct cut {
    const char *at;
    size_t drop;
    str put;
};

struct splice {
    struct arena *arena;
    str body;
    struct cut *cuts; /* in the order of their places */
    size_t n, cap;
};

/* Places must not overlap; they may come in any order. */
void splice_at(struct splice *s, const char *at, size_t drop, str put);

/* The new body in the arena, or the old one when nothing was cut. */
str splice_done(const struct splice *s);

/* Makes a model's name shorter by the prefix that chose its upstream. */
void splice_model(struct splice *s, const struct json *model, str shorter);

/* Puts a text beside the message's own: in front of it or behind it, with a blank line in between,
 * or as a part of its own. False when the message's content is neither text nor parts. */
bool splice_beside(struct splice *s, const struct json *message, bool is_front, str text);

/* The text as a part of its own at the end; a message that is plain text becomes parts, of which
 * its text is the first. False as above. */
bool splice_part(struct splice *s, const struct json *message, str text);

/* Whether the block stands beside the user's text, so that it can be put there again. */
static inline bool placement_is_beside(enum placement where)
{
    return where == PLACE_USER_SUFFIX || where == PLACE_USER_PREFIX;
}

struct block {
    str text;
    enum placement where;
    bool no_system; /* the provider rejects the role system */
};

/*
 * Puts the block beside the message at (an element of messages). With the placements that take the
 * front of the conversation, a body that marks a cached prefix (cache_control anywhere in root)
 * gets it right before that message, so that the prefix stays as it was.
 */
void splice_block(struct splice *s, const struct json *root, const struct json *messages,
                  const struct json *at, const struct block *block);

/* Providers that answer a system message with an error, by name of upstream or model. */
bool rejects_system(struct arena *a, str name);
