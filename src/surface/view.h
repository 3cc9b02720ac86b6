/* view.h - what the client sees of several answers: a single one, without our calls. */
#pragma once

#include "surface/calls.h"

struct view {
    struct ctx *ctx;           /* of what lives over the answers */
    str id, created;           /* JSON, of the first chunk shown; later ones take them */
    bool has_role;             /* the client was told who speaks */
    bool owes_role;            /* what said so was not shown */
    bool has_text;             /* an earlier answer showed some */
    bool shows_text;           /* this one has */
    bool is_later;             /* there was an earlier answer */
    struct buf usage;          /* of this answer: the last that was heard */
    const struct json **spent; /* of the earlier ones */
    size_t n_spent, cap;
};

struct view view_new(struct ctx *ctx);
/* Notes an answer's or chunk's usage. */
void view_hear(struct view *v, const struct json *answer);
/* Another answer follows. */
void view_next(struct view *v);

/*
 * A chunk as the client sees it: the same text when nothing is to change, "" when nothing is left.
 * is_hidden: its end is not shown, since another answer follows.
 */
str view_chunk(struct view *v, struct arena *a, str text, const struct json *chunk,
               const struct calls *calls, bool is_hidden);
/* The same for a whole answer. */
str view_answer(struct view *v, struct arena *a, str text, const struct json *answer,
                const struct calls *calls);
