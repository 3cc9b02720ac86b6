/* instance.h - the data folder, the store in it and the engine on it, opened for one command. */
#pragma once

#include "app/options.h"
#include "core/backup_file.h"
#include "engine/engine.h"

struct instance {
    str folder, file;         /* the data folder, and the database in it */
    str erasures;             /* the log of erasures beside the database */
    struct settings settings; /* with data set to the folder */
    str key_from;             /* where the key of an encrypted store is, in words; or "" */
    struct store *store;
    struct engine *engine;
    struct backup_state backups; /* of a server */
    bool is_server;              /* keeps space beside the database for erasures */
    bool may_wait;     /* of a server and of what only reads: opens although the disk fails */
    bool accepts_loss; /* opens although acknowledged writes are missing */
    bool must_exist;   /* of PostgreSQL: no tables are made */
    bool is_scratch;   /* the folder goes with the instance */
    bool is_settled;   /* what the disk has for a server is read, or made */
};

/* Of commands and what they do to the data. Without a database TO_CHANGE and TO_READ are NOT_FOUND,
 * and nothing is created: a mistyped folder must not become an empty one. */
enum opening {
    TO_ADD,     /* creates a missing data folder, private to its owner, and database */
    TO_CHANGE,  /* what is there */
    TO_READ,    /* the same, also where nothing can be written */
    TO_TRY,     /* as TO_READ, or without a database on an empty one elsewhere, for the time of the
                   command, so that nothing is created */
    TO_MEASURE, /* on an empty one elsewhere */
    TO_SERVE /* a server starts although the disk is full or cannot be written to. Chats then go on
                without memory, and the store opens when the disk allows it */
};
MUST_USE enum status instance_open(struct ctx *ctx, const struct options *o, enum opening how,
                                   struct instance *out);
/* On the server: what needs the disk once. OK also when the disk fails; is_settled tells. */
MUST_USE enum status instance_settle(struct ctx *ctx, struct instance *instance);
void instance_close(struct instance *h);

/* Creates only the folder of a file; for that of the data TO_ADD does so as well. */
MUST_USE enum status make_folder_of(struct ctx *ctx, str file);

/* Finds where the data is, or will be, and creates nothing. */
MUST_USE enum status instance_place(struct ctx *ctx, const struct settings *s,
                                    struct instance *out);
/* The same, and from then on root acts as the owner of that folder. */
MUST_USE enum status instance_find(struct ctx *ctx, const struct settings *s, struct instance *out);
/* The same for commands that work on a file: UNSUPPORTED where the database is none, with what to
 * do instead. */
MUST_USE enum status instance_find_file(struct ctx *ctx, const struct settings *s,
                                        const char *instead, struct instance *out);
/* Whether no database was ever there, as far as the folder tells. */
bool instance_is_new(struct ctx *ctx, const struct instance *instance);

/* Gives the engine the key that encrypts model keys of users: the setting encryption_key, or else
 * DATA/seal.key, which is created when missing. FORBIDDEN: other users can read that file. */
MUST_USE enum status instance_take_seal(struct ctx *ctx, struct instance *instance);

/* The setting encryption_key; an empty one leaves key as it is. */
MUST_USE enum status seal_of_setting(struct ctx *ctx, const struct settings *s, uint8_t *key);
/* Whether a server would start with these, as far as they alone show it. */
MUST_USE enum status serve_check_settings(struct ctx *ctx, const struct settings *s);

/* Reads the settings again while the server runs. What fails is logged: it goes on as before. */
void reload_settings(const struct options *o, struct instance *instance);

static inline struct pool_ref pool_of(const struct options *o)
{
    return (struct pool_ref){o->user, o->space};
}
