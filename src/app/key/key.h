/* key.h - the key of an encrypted database: where it comes from, and where a new one is stored. */
#pragma once

#include "app/options.h"
#include "store/store.h"

/* A generated key is stored in the system's keyring, or in a file beside the data. */
enum key_slot {
    KEY_CURRENT,
    KEY_NEXT,     /* of a rekey that is running, or was interrupted */
    KEY_PREVIOUS, /* needed by older backups */
};

struct key_store {
    const char *name;
    /* False: no key in this slot. */
    bool (*get)(struct ctx *ctx, str folder, enum key_slot slot, uint8_t out[STORE_KEY_BYTES]);
    enum status (*put)(struct ctx *ctx, str folder, enum key_slot slot, const uint8_t *key);
    void (*drop)(struct ctx *ctx, str folder, enum key_slot slot);
};
enum { KEY_STORE_KEYRING, KEY_STORE_FILE, KEY_STORES };
/* A new key goes to the first one that accepts it. Ends with an empty row. */
extern const struct key_store key_stores[];

struct key {
    uint8_t *bytes;                /* STORE_KEY_BYTES in guarded memory; NULL: there is none */
    str from;                      /* in words: "the file /home/anna/memory.key" */
    const struct key_store *store; /* of a stored key; else NULL */
    enum key_slot slot;
    bool is_new; /* it was made now */
};

void key_free(struct key *k); /* wipes it */

/* Takes REMEMBERD_KEY and REMEMBERD_NEW_KEY out of the environment, which others can read. Called
 * once, before anything else. */
void key_take_environment(void);

/*
 * The configured key, or, when the file is encrypted, the stored key that opens it. Without bytes:
 * no key is configured and none is needed. FORBIDDEN: a key is needed and not found.
 */
MUST_USE enum status key_find(struct ctx *ctx, const struct settings *s, str folder, str file,
                              struct key *out);

bool key_is_configured(const struct settings *s); /* by a setting, or REMEMBERD_KEY */
/* The key that settings or the environment give; without bytes when they give none. NOT_FOUND: the
 * key file is missing. */
MUST_USE enum status key_configured(struct ctx *ctx, const struct settings *s, struct key *out);
/* The key for a plain database: the configured one, or as key_configured_new. */
MUST_USE enum status key_to_encrypt(struct ctx *ctx, const struct settings *s, str new_file,
                                    struct key *out);
/* The new key: from the file or REMEMBERD_NEW_KEY. A missing file is created. */
MUST_USE enum status key_configured_new(struct ctx *ctx, str file, struct key *out);

/* A key that is stored already, so that no key is ever lost; otherwise a new one, stored now. */
MUST_USE enum status key_load_or_create(struct ctx *ctx, str folder, struct key *out);
/* Undoes the making of a key that has encrypted nothing. */
void key_drop_new(struct ctx *ctx, str folder, str new_file, const struct key *key);
/* Whether the folder has a key made here, readable or not: its database was encrypted once. */
bool key_is_beside(struct ctx *ctx, str folder);
/* Stores a new key beside the old one, in KEY_NEXT, until key_make_current. */
MUST_USE enum status key_create_next(struct ctx *ctx, str folder, const struct key *old,
                                     struct key *out);
/* Makes it the current key, and the current one the previous key. */
MUST_USE enum status key_make_current(struct ctx *ctx, str folder, const struct key *key);

/* --- file.c --- */

/* 32 bytes, or 64 hex digits with or without a newline. */
bool key_read(const char *p, size_t n, uint8_t out[STORE_KEY_BYTES]);
MUST_USE enum status key_read_file(struct ctx *ctx, const char *path, uint8_t out[STORE_KEY_BYTES]);
/* Private to the owner, synced, atomic. */
MUST_USE enum status key_write_file(struct ctx *ctx, const char *path, const uint8_t *key);
/* The same for one that is not there yet; CONFLICT without a note when it is. */
MUST_USE enum status key_make_file(struct ctx *ctx, const char *path, const uint8_t *key);
