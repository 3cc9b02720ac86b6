/* embed.h - the face of embed: text to unit vectors, with a local model or a remote server. */
#pragma once

#include "core/settings.h"

/* NULL-ended, in the order of the enum: none, remote, static, transformers, encoder. */
extern const char *const embed_source_names[];

/* --- choosing a source: a pure function of settings --- */

/* The settings that may change while the server runs. */
struct embed_choice {
    enum embed_source source;
    str provider_model; /* provider/model of a remote source, or "" */
    bool static_enabled, transformers_enabled;
};

struct embed_choice embed_choice_of(const struct settings *s);

struct embed_provider_model {
    str name;
    int64_t dimensions; /* 0: not known */
};

/* A server that makes vectors, and whether it is usable. */
struct embed_provider {
    str name;
    const struct embed_provider_model *models; /* known models, the usual one first */
    size_t n_models;
    const struct upstream *up; /* NULL: no upstream is configured */
    bool has_key;              /* a key is configured, or a local server needs none */
};

/* Known providers first, in the order of their table, then upstreams on this machine. */
struct embed_providers {
    struct embed_provider *v;
    size_t n;
};
struct embed_providers embed_providers(struct ctx *ctx, const struct settings *s);

struct embed_plan {
    enum embed_source source;
    str model;         /* "potion-base-8M", or the model name for the remote server */
    size_t dimensions; /* 0: unknown until the first vector */
    const struct upstream *up;
    str reason; /* why source is EMBED_NONE; begins with "no_key:" when a key is missing */
};

/* auto takes the first usable one of remote (only with a configured model), static, transformers
 * (where they are enabled), and the encoder in the program. Strings belong to the settings or the
 * ctx. */
struct embed_plan embed_resolve(struct ctx *ctx, const struct settings *s,
                                const struct embed_choice *choice);

/* --- vectors --- */

struct embed;

/* folder: that of all models, as model_folder gives it. The settings must outlive the result.
 * Models are loaded with the first text. */
struct embed *embed_new(const struct settings *s, str folder);
void embed_free(struct embed *e);

/* Takes effect with the next call. */
void embed_choose(struct embed *e, const struct embed_choice *choice);

/* Why a call failed; REQUEST_FAILED may be the fault of the texts. */
enum embed_failure {
    EMBED_FAILURE_UNKNOWN,
    EMBED_NO_KEY,
    EMBED_RATE_LIMITED,
    EMBED_TIMEOUT,
    EMBED_REQUEST_FAILED,
    EMBED_LOAD_FAILED
};
extern const char *const embed_failure_names[]; /* NULL-ended, in the order of the enum */

/* A vector for each token of a text, in the form that they are stored in; n 0: there are none. */
struct token_vectors {
    const int8_t *v;     /* n times ENCODER_KEPT, see embed/encoder.h */
    const uint32_t *ids; /* of the tokens */
    size_t n;
};

struct embedding {
    const float *v; /* length 1, in the ctx's arena; all 0 when no token of the text is known */
    size_t dimensions;
    enum embed_source source;
    str model;
    int64_t took_us; /* of the whole call */
    bool cached;
    struct token_vectors tokens; /* of the encoder; others have none */
};

/*
 * One embedding for each text, in order. Thread-safe. UNSUPPORTED: no source. On failure
 * ctx->detail is an enum embed_failure, and ctx->why begins with its name.
 */
MUST_USE enum status embed_texts(struct ctx *ctx, struct embed *e, const str *texts, size_t n,
                                 struct embedding *out);

/* The same for texts that follow each other, `before` standing in front of the first: the encoder
 * reads them together, so that the vectors know what "it" means. */
MUST_USE enum status embed_following(struct ctx *ctx, struct embed *e, str before, const str *texts,
                                     size_t n, struct embedding *out);

/* The numbers of a word's pieces in the encoder's vocabulary, the first max of them. */
MUST_USE enum status embed_pieces(struct ctx *ctx, struct embed *e, str word, uint32_t *out,
                                  size_t max, size_t *n);

/* embed_texts with another choice than the current one; embed_status does not report it. */
MUST_USE enum status embed_texts_by(struct ctx *ctx, struct embed *e,
                                    const struct embed_choice *choice, const str *texts, size_t n,
                                    struct embedding *out);

/* "static:potion-base-8M:256": vectors with the same signature are comparable. "" without a
 * source. */
str embed_signature(struct ctx *ctx, struct embed *e);
/* The signature of the source that made a vector. */
str embedding_signature(struct ctx *ctx, const struct embedding *v);

struct embed_status {
    enum embed_source source;
    str model;
    int64_t dimensions;         /* 0: not known yet */
    bool available;             /* a source is chosen, and no failure of it is known */
    str reason;                 /* why there is no source, or the last failure; "" otherwise */
    int64_t hits, misses, size; /* of the cache; size: entries */
};
void embed_status(struct ctx *ctx, struct embed *e, struct embed_status *out);

/* Empties the cache. Results of running calls are cached afterwards and expire by their age. */
void embed_forget(struct embed *e);

/* --- local models: DATA/models/NAME --- */

struct model_file {
    const char *name, *sha256;
    int64_t size;
};

enum { MODEL_FILES_MAX = 4, MODEL_NAME_MAX = 200 };

/* A model that can be downloaded. A file may be listed twice: both forms are valid, and the first
 * one is downloaded. */
struct model_card {
    const char *name, *repo, *revision, *licence, *help;
    enum embed_source source;
    int64_t dimensions;
    struct model_file files[MODEL_FILES_MAX];
};

/* Ends with an all-zero row. */
extern const struct model_card *const model_cards;

/* How files of a folder become vectors. A model is loaded once and never changes. */
struct local_kind {
    enum embed_source source;
    MUST_USE enum status (*open)(struct ctx *ctx, str folder, void **out);
    void (*close)(void *model);
    size_t (*dimensions)(const void *model);
    /* n vectors of length 1 (or all 0), one after the other. Thread-safe. */
    MUST_USE enum status (*embed)(struct ctx *ctx, const void *model, const str *texts, size_t n,
                                  float *out);
};

/* Of ext/models: NULL-ended. */
extern const struct local_kind *const local_kinds[];

/* "owner/name" without the owner, which is not part of the model's folder. */
str model_bare_name(str name);
/* By name, with or without an owner ("minishlab/potion-base-8M"). NULL: unknown. */
const struct model_card *model_card(str name);
/* The next file of the card with another name than f; NULL: the first file. */
const struct model_file *model_next_file(const struct model_card *card, const struct model_file *f);
/* The listed form of a file with this size and checksum; sha256 NULL matches any checksum. */
const struct model_file *model_form(const struct model_card *card, const char *name, int64_t size,
                                    const char *sha256);

/* The folder that holds all models. */
str model_folder(struct ctx *ctx, const struct settings *s, str data);

/* FOLDER/NAME. BAD_INPUT: the name, which may come from a setting, would lead out of the folder. */
MUST_USE enum status model_place(struct ctx *ctx, str folder, str name, str *out);

/* Whether all files exist with a valid size; no file is read. */
bool model_is_installed(struct ctx *ctx, str folder, const struct model_card *card);
