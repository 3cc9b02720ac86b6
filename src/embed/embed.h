/* embed.h - the face of embed: text to unit vectors, by a table, a transformer or another server.
 */
#pragma once

#include "core/settings.h"

enum embed_source { EMBED_NONE, EMBED_REMOTE, EMBED_STATIC, EMBED_TRANSFORMERS };

/* NULL-ended, in the order of the enum: none, remote, static, transformers. */
extern const char *const embed_source_names[];

/* --- which source: a pure function of settings --- */

/* What may change while the server runs. */
struct embed_choice {
    str source;         /* auto, remote, static, transformers */
    str provider_model; /* provider/model of a remote source, or "" */
    bool static_enabled, transformers_enabled;
};

struct embed_choice embed_choice_of(const struct settings *s);

struct embed_provider_model {
    const char *name;
    int64_t dimensions;
};

/* A server that makes vectors, and whether it can be asked. */
struct embed_provider {
    str name;
    const struct embed_provider_model *models; /* the known ones, the usual one first */
    size_t n_models;
    const struct upstream *up; /* NULL: no upstream is configured for it */
    bool has_key;              /* it has a key, or is on this machine and needs none */
};

/* Known providers first, in the order of their table, then upstreams on this machine. */
struct embed_providers {
    struct embed_provider *v;
    size_t n;
};
struct embed_providers embed_providers(struct ctx *ctx, const struct settings *s);

struct embed_plan {
    enum embed_source source;
    str provider;      /* of a remote source */
    str model;         /* "potion-base-8M", or what the remote server is asked for */
    size_t dimensions; /* 0: not known before the first vector */
    const struct upstream *up;
    str reason; /* in words, when source is EMBED_NONE: "no_key: …" where a key is what lacks */
};

/* auto takes the first that can be used of: remote (only with a named model), static,
 * transformers. Strings are the settings' or the ctx's. */
struct embed_plan embed_resolve(struct ctx *ctx, const struct settings *s,
                                const struct embed_choice *choice);

/* --- vectors --- */

struct embed;

/* data is the data folder. The settings must outlive it. Nothing is loaded before the first text.
 */
MUST_USE enum status embed_open(struct ctx *ctx, const struct settings *s, str data,
                                struct embed **out);
void embed_close(struct embed *e);

/* Acts from the next call on. */
void embed_choose(struct embed *e, const struct embed_choice *choice);

struct embedding {
    const float *v; /* length 1, in the ctx's arena; all 0 when nothing in the text is known */
    size_t dimensions;
    enum embed_source source;
    str model;
    int64_t took_us; /* of the whole call */
    bool cached;
};

/*
 * One for each text, in order; safe to call from several threads at once. UNSUPPORTED when there
 * is no source. ctx->why begins with the reason (embed_reason) and says the rest in words.
 */
MUST_USE enum status embed_texts(struct ctx *ctx, struct embed *e, const str *texts, size_t n,
                                 struct embedding *out);

/* The same by another choice than the one in force; embed_status does not tell how it went. */
MUST_USE enum status embed_texts_by(struct ctx *ctx, struct embed *e,
                                    const struct embed_choice *choice, const str *texts, size_t n,
                                    struct embedding *out);

/* no_key, rate_limited, timeout, request_failed, model_load_failed or unknown: what ctx->why of a
 * failed call begins with. */
str embed_reason(const struct ctx *ctx);

/* "static:potion-base-8M:256": vectors of one signature may be compared. "" without a source. */
str embed_signature(struct ctx *ctx, struct embed *e);
/* The signature of what has made a vector. */
str embedding_signature(struct ctx *ctx, const struct embedding *v);

struct embed_status {
    enum embed_source source;
    str model;
    size_t dimensions; /* 0: not known yet */
    bool available;    /* a source is chosen and nothing is known against it */
    str reason;        /* why there is none, or the last failure; "" when all is well */
    uint64_t hits, misses;
    size_t size; /* entries of the cache */
};
void embed_status(struct ctx *ctx, struct embed *e, struct embed_status *out);

/* The cache is emptied. What is on its way comes in behind that and goes by its age. */
void embed_forget(struct embed *e);

/* --- models on this machine: DATA/models/NAME --- */

struct model_file {
    const char *name, *sha256;
    int64_t size;
};

enum { MODEL_FILES_MAX = 4 };

/* A model that can be fetched. A file may stand twice: either form of it is right, and the first
 * is the one that is fetched. */
struct model_card {
    const char *name, *repo, *revision, *licence, *help;
    enum embed_source source;
    int64_t dimensions;
    struct model_file files[MODEL_FILES_MAX];
};

/* Ends with an all-zero row. */
extern const struct model_card model_cards[];

/* By its name, with or without an owner before it ("minishlab/potion-base-8M"); NULL: none. */
const struct model_card *model_card(str name);

/* The folder of all models. */
str model_folder(struct ctx *ctx, const struct settings *s, str data);

/* Told now and then: bytes of all files of the model. */
struct model_progress {
    void (*say)(struct model_progress *p, const char *file, int64_t done, int64_t total);
};

/* The files are checked before they stand under their name, all at once; a failure leaves what was
 * there. progress may be NULL. */
MUST_USE enum status model_install(struct ctx *ctx, str folder, const struct model_card *card,
                                   str from, struct model_progress *progress);
/* From base/REPO/resolve/REVISION/FILE. */
MUST_USE enum status model_pull(struct ctx *ctx, str folder, const struct model_card *card,
                                str base, struct model_progress *progress);
/* Every size and checksum; NOT_FOUND when it is not installed. */
MUST_USE enum status model_check(struct ctx *ctx, str folder, const struct model_card *card);
/* All files are there in a right size; nothing is read. */
bool model_is_installed(struct ctx *ctx, str folder, const struct model_card *card);
MUST_USE enum status model_remove(struct ctx *ctx, str folder, const struct model_card *card);
