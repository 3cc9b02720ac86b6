/* session.h - one conversation as it is kept: its row, a change of it, a filter of many. */
#pragma once

#include "core/memory.h"

struct session {
    str id;       /* as the client named it, or a UUID */
    int64_t no;   /* number in the store */
    str space;    /* of its pool; set by the store */
    str title;    /* "" until something is said */
    str metadata; /* a JSON object as text, or "" */
    int64_t created, updated;
    int64_t messages;
};

/* What of a session a change sets. */
struct session_change {
    bool sets_title, sets_metadata;
    str title, metadata;          /* metadata as a whole */
    const struct undo_mark *undo; /* or NULL */
    const str *was; /* the metadata that is to be changed, or CONFLICT; NULL: whatever it is */
};

struct session_filter {
    struct pool_ref pool;  /* space "": in every space of the user */
    str contains;          /* in the title, letters of any case; "" for any */
    int64_t after, before; /* last spoken in at [after, before), unix ms; 0: no such end */
    int64_t at, no; /* only those behind the session of that time and number; 0: from the first */
    size_t offset, limit;
};
