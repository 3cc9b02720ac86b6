/* key.h - the key of an encrypted store: where it comes from, and where a new one is kept. */
#pragma once

#include "app/options.h"
#include "store/store.h"

/* A key that was made here is kept in the system's keyring, or in a file beside the data. */
enum key_slot {
    KEY_CURRENT,
    KEY_NEXT,     /* of a change of keys that is under way, or was cut short */
    KEY_PREVIOUS, /* which older backups need */
};

struct keeper {
    const char *name;
    /* False: it has none. */
    bool (*get)(struct ctx *ctx, str folder, enum key_slot slot, uint8_t out[STORE_KEY_BYTES]);
    enum status (*put)(struct ctx *ctx, str folder, enum key_slot slot, const uint8_t *key);
    void (*drop)(struct ctx *ctx, str folder, enum key_slot slot);
};
enum { KEEPER_KEYRING, KEEPER_FILE };
/* A key is put where it can first be. Ends with an empty row. */
extern const struct keeper keepers[];

struct key {
    uint8_t *bytes;              /* STORE_KEY_BYTES in guarded memory; NULL: there is none */
    str from;                    /* in words: "the file /home/anna/memory.key" */
    const struct keeper *keeper; /* of one that is kept; else NULL */
    enum key_slot slot;
};

void key_free(struct key *k); /* wipes it */

/* Takes REMEMBERD_KEY and REMEMBERD_NEW_KEY out of the environment, where others can read them.
 * Before anything else, once. */
void key_take_environment(void);

/*
 * The key that settings or the environment name; else, when the file is encrypted, the kept one
 * that opens it. Without bytes there is none, and none is needed. FORBIDDEN: it is needed and not
 * found.
 */
MUST_USE enum status key_find(struct ctx *ctx, const struct settings *s, str folder, str file,
                              struct key *out);

/* The named one alone, without bytes when none is named. With makes, a key file that is missing is
 * made with a new key in it. */
MUST_USE enum status key_named(struct ctx *ctx, const struct settings *s, bool makes,
                               struct key *out);
/* The one to change to: of the file, else of REMEMBERD_NEW_KEY. A missing file is made. */
MUST_USE enum status key_named_new(struct ctx *ctx, str file, struct key *out);

/* The one that is kept already, so that no key is ever lost; else a new one, and kept now. */
MUST_USE enum status key_keep(struct ctx *ctx, str folder, struct key *out);
/* A new key, in place of one that is kept: it is there twice until key_settle. */
MUST_USE enum status key_make_next(struct ctx *ctx, str folder, const struct key *old,
                                   struct key *out);
/* It is the current key from now on, and the one that was, the previous. */
MUST_USE enum status key_settle(struct ctx *ctx, str folder, const struct key *key);

/* --- key_file.c, for the above --- */

/* 32 bytes, or 64 hex digits with or without a newline. */
bool key_read(const char *p, size_t n, uint8_t out[STORE_KEY_BYTES]);
MUST_USE enum status key_read_file(struct ctx *ctx, const char *path, uint8_t out[STORE_KEY_BYTES]);
/* For the owner only, durable, in one step. */
MUST_USE enum status key_write_file(struct ctx *ctx, const char *path, const uint8_t *key);
/* The same for one that is not there yet; CONFLICT without a note when it is. */
MUST_USE enum status key_make_file(struct ctx *ctx, const char *path, const uint8_t *key);
