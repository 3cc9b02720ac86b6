/* memory_ops.h - requests about memories: a filter, a change, a selection to be forgotten. */
#pragma once

#include "core/memory.h"

struct memory_filter {
    struct pool_ref pool;               /* space "": every space of the user */
    str layer, type, category, session; /* "" for any */
    str contains;                       /* in content or key, ASCII case folded; "" for any */
    bool with_closed;                   /* also superseded and expired ones */
    bool with_expired;                  /* also expired ones */
    int64_t after, before;              /* created in [after, before), unix ms; 0: no such end */
    str kind;                           /* of kind_names; "" for any */
    str priority;                       /* of priority_names; "" for any */
    bool oldest_first;
    bool by_use; /* last used first */
    size_t offset, limit;
};

/* Totals of all memories that match a filter; its offset and limit are ignored. */
struct memory_totals {
    int64_t total, by_type[TYPE_COUNT], by_kind[KIND_COUNT], by_priority[PRIORITY_COUNT];
    int64_t uses, oldest, newest; /* sum of uses; creation times, unix ms, 0: no memory */
    int64_t tokens;               /* of their contents, as tokens_of counts */
};

/* A pool, with what it holds. */
struct pool_info {
    struct pool_ref pool;
    int64_t created, sessions, messages, memories;
};

/* What a user has, in all its spaces. */
struct usage {
    int64_t spaces, messages, memories;
    int64_t bytes;  /* of texts and metadata, closed memories' too */
    bool has_space; /* that was asked about */
};

struct pool_sum {
    struct pool_info pool;
    int64_t facts, episodes, signals; /* current facts and episodes; pending turns */
    int64_t updated;                  /* when something came last, unix ms */
};

/* A deletion or a change that can be undone until then (unix ms), by this id. */
struct undo_mark {
    str id;
    int64_t until;
};

/* What to forget; store/write.h says what is erased together with it. */
struct forget {
    struct pool_ref pool;
    str id;              /* a memory, message or session id; or "" */
    str session;         /* a whole session; or "" */
    bool keeps_memories; /* with session: what was learnt; with ids: what they replaced */
    int64_t if_updated;  /* with id, of a memory: as in struct change; or 0 */
    bool everything;     /* the whole pool */
    bool all_spaces; /* with everything: the user's pools and its tokens' receipts, not its row */
    bool memories;   /* the pool's memories, closed ones too; messages stay */
    str type;        /* with memories: only of this type; "" for any */
    int64_t before;  /* with memories: only those made before (unix ms); 0 for any */
    bool keeps_statements; /* recall may give what the erased ones said: another memory says it */
    bool is_upkeep;        /* it leaves no trace in the log of erasures */
    const str *ids;        /* or these memories, all or nothing; missing ones are left out */
    size_t n_ids;
    const struct undo_mark *undo; /* NULL: it cannot be undone, and nothing of it is kept */
    int64_t *barred; /* set to how many statements of messages recall gives no more; or NULL */
    str *erasure;    /* set to the id of its certificate, or "" when it left none; or NULL */
};

/* A memory as it was before a correction. */
struct revision {
    int64_t at; /* when it was corrected, unix ms */
    str old;    /* the members that changed, as they were: a JSON object */
};

/* A memory of a chain, each of which replaced another or has its key. */
struct history_item {
    struct memory memory;
    struct revision *v; /* oldest first */
    size_t n;
};
enum { CHAIN_MAX = 200 };

/* The members of a memory that a change sets. */
enum {
    CHANGE_CONTENT = 1,
    CHANGE_KEY = 2,
    CHANGE_TYPE = 4,
    CHANGE_CATEGORY = 8,
    CHANGE_METADATA = 16,
    CHANGE_TAGS = 32,
    CHANGE_IMPORTANCE = 64,
    CHANGE_EXPIRES = 128,
    CHANGE_NOTHING = 256, /* but the time of its change */
    CHANGE_SESSION = 512,
};

struct change {
    struct pool_ref pool;
    str id;
    unsigned what;      /* CHANGE_… */
    struct memory to;   /* only what is named by what is looked at */
    bool keeps_old;     /* what it says now is kept as a revision */
    int64_t if_updated; /* CONFLICT unless it was changed last then, unix ms; 0: whenever */
    const struct undo_mark *undo; /* or NULL */
};

static inline MUST_USE enum status memory_unchanged(struct ctx *ctx, const struct memory *m,
                                                    int64_t if_updated)
{
    return !if_updated || if_updated == m->updated
               ? OK
               : fail(ctx, CONFLICT, "the memory has changed meanwhile");
}
