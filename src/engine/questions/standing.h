/* standing.h - standing instructions: when one applies, and which a later one ends. */
#pragma once

#include "engine/text/content_key.h"
#include "words/words.h"

/* "Always format dates as DD.MM. when I ask about deadlines" is kept by extraction as a memory of
 * the category STANDING_CATEGORY, whose key begins with that word. These functions judge two such
 * memories, or one and a question, by their words. */

struct standing {
    struct words rule, topic; /* topic: none where it is for every question */
    str topic_text;           /* "deadlines" */
    /* Which cosine with it a question of the topic has: of a named topic 68 % of those that are of
     * it, and 5 % of others (trial 108); of a whole wish nine of ten and a third (trial 105). */
    float near;
    bool is_named;   /* the topic, by a condition */
    bool takes_back; /* "you can use emojis again": it takes one back, and asks for nothing */
};
struct standing standing_of_text(struct arena *a, str instruction);

/* How far an instruction concerns a question. */
enum standing_reach {
    STANDING_OTHER, /* it is asked for where one speaks of something else */
    STANDING_HERE,  /* it is asked for where one speaks of this */
    STANDING_ALWAYS /* it names no condition */
};

/* q are the words of the question. */
enum standing_reach standing_reach(const struct standing *s, const struct words *q);

/* Whether the newer one ends the older: it takes it back, asks for the opposite, for another
 * language, or for the same thing in another way. */
bool standing_ends(const struct standing *newer, const struct standing *older);
