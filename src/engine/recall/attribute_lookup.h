/* attribute_lookup.h - Finds what was told of an attribute that is asked for, or of a name. */
#pragma once

#include "engine/recall/candidates.h"

/* Lines that a chat is given beside what the question's own words find. */
struct added_lines {
    struct recalled *v;
    size_t n;
    bool is_alone;  /* nothing else is given */
    size_t n_first; /* so many of them go before all that was found: health, advice */
    /* Of the verdict where the gate was silent, or where there is a decision; least 0: they change
     * no verdict. */
    str decision, reason;
    double least;
};

/* "Where do I live?" also searches "home", "moved" …; "Suggest a dessert" searches allergies and
 * illnesses; a request for advice, the facts that bear on it. Only statements of the user count
 * (and memories), and only those about the asker, or about whom the question names. Empty for other
 * questions and for searches that are no chat's. is_alone: by the gate nothing else is given. */
MUST_USE enum status attribute_lookup(struct finder *f, bool is_alone, struct added_lines *out);

/* "Where does my sister live?" finds "My sister Runa came by"; what else was told of Runa may
 * say where. At most one line, the most probable that is not chosen yet; for chats alone (trial
 * 096). */
MUST_USE enum status name_lookup(struct finder *f, struct added_lines *out);
