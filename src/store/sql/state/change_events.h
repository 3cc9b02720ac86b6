/* change_events.h - changes by a group of writes, as triggers note them for the follower. */
#pragma once

#include <stdatomic.h>

#include "base/arena.h"
#include "base/workers.h"
#include "store/follow.h"
#include "store/sql/db/db.h"

enum {
    NOTES_MAX = 256,      /* events of a group; beyond them a user gets one reset */
    NOTES_RESETS_MAX = 16 /* users of such resets; beyond them everyone gets one */
};

struct notes {
    _Atomic(struct follower *) to; /* NULL: nothing is noted */
    pthread_mutex_t telling;       /* held while it is called, so that it can leave */
    struct event v[NOTES_MAX + NOTES_RESETS_MAX + 1];
    size_t n;
    bool is_access;     /* one was noted beyond NOTES_MAX */
    struct arena arena; /* the texts of v */
    int64_t looked_us;  /* at what others have written */
    int64_t version;    /* PRAGMA data_version then */
    int64_t access[4];  /* sums of the tables of tokens and roles then */
    struct notes_pg {   /* notes_postgres.c */
        bool is_used;   /* the store is there */
        bool notes;     /* triggers note: somebody follows, here or elsewhere */
        bool listens, hears;
        int64_t looked_us, polled_us, trusted_us, began_us;
    } pg;
};

void notes_open(struct notes *n);
void notes_close(struct notes *n);
/* From any thread, whatever the database does: nobody follows when this returns. */
void notes_leave(struct notes *n);

/* The rest on the writer's thread and connection. */
MUST_USE enum status notes_follow(struct ctx *ctx, struct db *db, struct notes *n,
                                  struct follower *to);
void notes_clear(struct notes *n);
/* Much of the user's has changed: who follows reads again. */
void notes_reset(struct notes *n, str user);
/* Notes one change; tells many at once. */
void notes_add(struct notes *n, const struct event *e);
void notes_tell_these(struct notes *n, const struct event *v, size_t many);
/* A reset when somebody has written since the last look. */
MUST_USE enum status notes_look_at_others(struct ctx *ctx, struct db *db, struct notes *n);
/* What was noted can be read now. */
void notes_tell(struct notes *n);
/* How long until the next look at the writes of others, in ms: 0 when it is due, -1 when nobody
 * follows. */
int64_t notes_due_ms(const struct notes *n);
void notes_look(struct ctx *ctx, struct db *db, struct notes *n);
