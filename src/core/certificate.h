/* certificate.h - the proof that an erasure leaves: signed by the server, without content. */
#pragma once

#include "base/fields.h"
#include "core/erasure_hash.h"

struct certificate {
    int64_t no; /* its place in a list */
    str certificate, id;
    int64_t at;
    str what;
    int64_t memories, messages;
    str state;
    int64_t signed_at;
    struct strs hashes; /* as hex, like the rest */
    str public_key, signature, hash_key;
};
/* As JSON: one of a list, and all of it. */
extern const struct field erasure_fields[], certificate_fields[];

/* Signs with the key in a file, which is made when it is missing and then named in the audit log.
 * TOO_LARGE: it has more hashes than an answer holds. */
MUST_USE enum status certificate_sign(struct ctx *ctx, const char *key_file, struct certificate *c);

/* Reads a certificate and checks its signature, by itself and without any server. CONFLICT: not a
 * byte of what is signed may be another. It says nothing about whose key it is. */
MUST_USE enum status certificate_read(struct ctx *ctx, str text, struct certificate *out);

/* By which of its hashes it covers a text: "text", "space", "user", or "" for none. UNSUPPORTED
 * without the key of its hashes. */
MUST_USE enum status certificate_covers(struct ctx *ctx, const struct certificate *c,
                                        struct pool_ref pool, str text, str *out);
