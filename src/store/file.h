/* file.h - the store as a file: opened, copied under another key, checked; its settings. */
#pragma once

#include "core/work.h"

struct store;

enum { STORE_KEY_BYTES = 32 };

/* The detail of a STORAGE failure (ctx->detail) that is the disk's and not the content's: it
 * cannot be written to, or fails; STORAGE_FULL when it is full. The same call may go well later. */
enum { STORE_DISK_FAILED = 100 };

static inline bool store_disk_failed(const struct ctx *ctx, enum status s)
{
    return s == STORAGE && (ctx->detail == STORE_DISK_FAILED || ctx->detail == STORAGE_FULL);
}

struct store_settings {
    str path;           /* the database file, or "postgres://…" (UNSUPPORTED where not built) */
    const uint8_t *key; /* STORE_KEY_BYTES, copied by the store; NULL: the file is plain */
    size_t readers;     /* most reads at once; 0: a default */
    bool may_wait;      /* opens although the disk fails: see store_open */
    bool keeps_reserve; /* space beside the file, for erasures on a full disk (a server) */
    bool must_exist;    /* of PostgreSQL: NOT_FOUND where its schema has no tables */
    bool accepts_loss;  /* opens although acknowledged commits, or the whole file, are missing */
    bool is_move;       /* by store_move, which may go on with a copy that is not finished */
    bool keeps_old;     /* a file of an older version is copied beside it before it is upgraded */
    size_t cache_bytes; /* most memory for what was read; 0: 512 MiB */
    str erasures;       /* the log of erasures beside it (store/erasures.h); "": it has none */
    struct store_restored *restored; /* of a copy that comes back; or NULL */
};

/* An older copy that is to be the database again. */
struct store_restored {
    bool brings_again; /* with what was erased since */
    int64_t erased;    /* set: rows that were erased again */
    int64_t taken;     /* set: tokens and roles that were taken again */
};

/*
 * FORBIDDEN: the key is wrong, missing, or given for a plain file; nothing is changed. TOO_BUSY:
 * the file is being replaced. STORAGE also when acknowledged commits are missing, or the whole file
 * where one was; nothing is changed then, either.
 *
 * With may_wait a disk that is full or cannot be written to is no failure. The store then tries
 * again every few seconds. Until it is open, store_ping and writes fail with STORAGE (STORAGE_AWAY)
 * and say why; an existing file is read where that is possible.
 *
 * TOO_LARGE: with keeps_old, the disk has no room for the copy, and the file stays as it is.
 */
MUST_USE enum status store_open(struct ctx *ctx, const struct store_settings *settings,
                                struct store **out);
void store_close(struct store *s); /* writes what is queued first */

/* --- a file that may be closed --- */

/* Known by its first bytes. An empty file is absent; an unreadable one is foreign. */
enum store_kind { STORE_ABSENT, STORE_PLAIN, STORE_ENCRYPTED, STORE_FOREIGN };
enum store_kind store_kind(struct ctx *ctx, str path);
/* A file that a store leaves beside its database, or "": one that is absent now was there once. */
str store_remains(struct ctx *ctx, str path);
/* "file:…" with what SQLite would take for a parameter escaped. */
str file_uri(struct arena *a, const char *path, const char *parameters);
/* Whether the key opens the encrypted file. Nothing is written. */
bool store_key_fits(struct ctx *ctx, str path, const uint8_t *key);

/* The version of a closed file, and the one that opening it brings it to. As store_open where it
 * fails; also when the file is newer. Nothing is written. */
MUST_USE enum status store_schema(struct ctx *ctx, str path, const uint8_t *key, int64_t *version,
                                  int64_t *here);

/*
 * Copies a store as it is at one moment, under another key or none. The copy is made beside its
 * place, opened, compared and checked, made durable, and then put there in one step: a process that
 * is killed leaves either the old file or the whole copy.
 */
struct store_copy {
    str from;
    const uint8_t *from_key;         /* or NULL */
    str to;                          /* may be the same file */
    const uint8_t *to_key;           /* or NULL */
    bool replaces;                   /* an existing `to`, which must be open nowhere, or TOO_BUSY */
    str erasures;                    /* of `to`: what it names and `from` has is erased; or "" */
    struct store_restored *restored; /* with erasures */
    /* May be NULL. what: "copying" (bytes), then "checking" and "done" (1 of 1). */
    void (*progress)(void *own, const char *what, int64_t done, int64_t all);
    void *own;
};
/* CONFLICT: `to` exists and is not to be replaced. TOO_LARGE: the disk has no room. */
MUST_USE enum status store_copy(struct ctx *ctx, const struct store_copy *copy);
/* The same of a store that is open, into a new file, under the key that it has. */
MUST_USE enum status store_backup(struct ctx *ctx, struct store *s, str to);
/* Reads each page of a backup of it, which stays as it is. STORAGE: it is damaged. CONFLICT,
 * FORBIDDEN, as store_open: it is none, or has another key. */
MUST_USE enum status store_backup_check(struct ctx *ctx, struct store *s, str file);

/* --- its health --- */

MUST_USE enum status store_stats(struct ctx *ctx, struct store *s, struct store_stats *out);
/* Cheap: one read, a look whether the file is still in its place, and the result of the last write.
 * A write that failed is tried again every few seconds, so that the disk's recovery is noticed. */
MUST_USE enum status store_ping(struct ctx *ctx, struct store *s);
/* Checks invariants: the file's integrity, words against rows, positions without holes. Findings
 * come as lines; "" means healthy. TOO_BUSY between two pieces of a long erasure. */
MUST_USE enum status store_check(struct ctx *ctx, struct store *s, str *findings);
/* STORAGE: a restore could not use the log of erasures. */
MUST_USE enum status store_check_erasures(struct ctx *ctx, struct store *s);
/* Compares every index of the file with its table, too, which takes far longer. */
MUST_USE enum status store_check_pages(struct ctx *ctx, struct store *s, str *findings);

/* --- settings that were changed while a server ran --- */

/* As text; "" when it was never changed. Cheap. */
MUST_USE enum status store_setting(struct ctx *ctx, struct store *s, str name, str *out);
/* Pass "" to delete the setting. */
MUST_USE enum status store_put_setting(struct ctx *ctx, struct store *s, str name, str value);
