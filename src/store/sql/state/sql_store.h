/* sql_store.h - the store as a struct, which the faces name. */
#pragma once

#include "base/workers.h"
#include "store/sql/db/file.h"
#include "store/sql/state/files.h"
#include "store/store.h"
#include "store/vectors/shelf.h"
#include "store/with_postgres.h"

/* One for each thread that may read: workers (256 at most), event loops and the background. */
enum { READERS_MAX = 384 };

struct db;
struct word_lists;
struct writer;

struct store {
    char *path;       /* or the URL */
    bool is_postgres; /* no file is its own */
    struct store_files files;
    struct hold hold;
    uint8_t *key; /* in guarded memory; or NULL */
    struct writer *writer;
    char *erasures;              /* the file; or NULL */
    int64_t erasures_no;         /* the last row in the file; of the writer's thread */
    struct store_settings asked; /* as it was opened, without what is copied above */
    pthread_mutex_t lock;        /* of the readers */
    pthread_cond_t given;        /* signalled when a reader is given back; of the monotonic clock */
    struct db *idle[READERS_MAX];
    size_t n_idle, n_open, max_open;
    atomic_int forgets; /* calls of store_forget that run */
    struct shelf shelf; /* vectors in memory */
    struct word_lists *lists;
};

/* A build without PostgreSQL has no such branch. */
static inline bool store_is_postgres(const struct store *s)
{
#ifdef WITH_POSTGRES
    return s->is_postgres;
#else
    (void)s;
    return false;
#endif
}

/* As store_open, which knows what the path names. */
MUST_USE enum status sql_open(struct ctx *ctx, const struct store_settings *settings,
                              bool is_postgres, struct store **out);
