/* certificate.c - the proof that an erasure leaves: signed by the server, without content. */
#include "core/certificate.h"

#include <sodium.h>

#include "base/audit.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/key_file.h"

/*
 * The signature is Ed25519 over the compact JSON of all members before it, in their order, so that
 * a script can check it as well: `jq -cj 'del(.signature, .hash_key)'` prints these bytes. The key
 * of the hashes is not signed: whoever passes a certificate on may leave it out, and a wrong one
 * finds no hash.
 */

#define FORMAT "rememberd-erasure-1"
enum { SIGNED_MAX = 16 << 20 };

#define WHEN_AND_WHAT                                                                              \
    (STR, id, .help = "id of the erasure"), (TIME, at, .help = "when it was erased"),              \
        (STR, what,                                                                                \
         .help = "what was asked for: id (rows by their ids), session, memories (by a filter), "   \
                 "space, user, or account (registration and tokens)"),                             \
        (INT, memories, .required = true, .help = "number of erased memories"),                    \
        (INT, messages, .required = true, .help = "number of erased messages")
#define SIGNED                                                                                     \
    (STR, certificate, .required = true, .help = "the format: " FORMAT), WHEN_AND_WHAT,            \
        (STR, state,                                                                               \
         .help = "when it was signed: erased; undoable (kept for some minutes, so that it can be " \
                 "undone); or brought_back (some of it, by an undo or with again)"),               \
        (TIME, signed_at, .help = "when this certificate was made"),                               \
        (STRS, hashes, .help = "keyed hashes of what was erased, 16 bytes each"),                  \
        (STR, public_key, .required = true, .help = "the server's Ed25519 key")

static FIELDS_OF(certificate, signed, SIGNED);
FIELDS_OF(certificate, erasure, WHEN_AND_WHAT);
FIELDS(certificate, SIGNED,
       (STR, signature, .required = true,
        .help = "Ed25519 over the compact JSON of all members before it"),
       (STR, hash_key, .empty = EMPTY_OUT,
        .help = "key of the hashes, not signed; absent: it is another user's"));

static enum status signed_text(struct ctx *ctx, const struct certificate *c, str *out)
{
    struct json_out w = json_in(&ctx->arena, SIGNED_MAX);
    fields_write(&w, signed_fields, c);
    *out = buf_str(w.b);
    return w.b->full ? fail(ctx, TOO_LARGE, "the certificate is too large") : OK;
}

/* --- signing --- */

static enum status take_pair(struct ctx *ctx, const char *key_file,
                             unsigned char public_key[crypto_sign_PUBLICKEYBYTES],
                             unsigned char secret_key[crypto_sign_SECRETKEYBYTES])
{
    uint8_t seed[KEY_FILE_BYTES];
    bool is_new;
    CLEANUP(fd_close) int fd = -1;
    TRY(key_file_take(ctx, key_file, true, seed, &is_new, &fd));
    crypto_sign_seed_keypair(public_key, secret_key, seed);
    sodium_memzero(seed, sizeof seed);
    if (is_new)
        audit_note(ctx, "erasure_key.made", S(""), "public_key=" S_FMT,
                   S_ARG(hex_of(&ctx->arena, public_key, crypto_sign_PUBLICKEYBYTES)));
    return OK;
}

enum status certificate_sign(struct ctx *ctx, const char *key_file, struct certificate *c)
{
    unsigned char public_key[crypto_sign_PUBLICKEYBYTES], secret_key[crypto_sign_SECRETKEYBYTES],
        signature[crypto_sign_BYTES];
    str text;
    TRY(take_pair(ctx, key_file, public_key, secret_key));
    c->certificate = S(FORMAT);
    c->signed_at = clock_ms();
    c->public_key = hex_of(&ctx->arena, public_key, sizeof public_key);
    enum status s = signed_text(ctx, c, &text);
    if (s == OK) {
        crypto_sign_detached(signature, NULL, (const unsigned char *)text.p, text.n, secret_key);
        c->signature = hex_of(&ctx->arena, signature, sizeof signature);
    }
    sodium_memzero(secret_key, sizeof secret_key);
    return s;
}

/* --- checking --- */

static bool is_signed(const struct certificate *c, str text)
{
    unsigned char public_key[crypto_sign_PUBLICKEYBYTES], signature[crypto_sign_BYTES];
    return str_is(c->certificate, FORMAT) &&
           hex_read(c->public_key, public_key, sizeof public_key) &&
           hex_read(c->signature, signature, sizeof signature) &&
           crypto_sign_verify_detached(signature, (const unsigned char *)text.p, text.n,
                                       public_key) == 0;
}

enum status certificate_read(struct ctx *ctx, str text, struct certificate *out)
{
    struct json *v;
    struct certificate c = {0};
    str body;
    TRY(json_parse(ctx, text, &v));
    TRY(fields_read(ctx, certificate_fields, v, true, &c));
    TRY(signed_text(ctx, &c, &body));
    if (!is_signed(&c, body))
        return fail(ctx, CONFLICT,
                    "the signature does not fit: the certificate was changed, or it is of another "
                    "format than " FORMAT);
    *out = c;
    return OK;
}

enum status certificate_covers(struct ctx *ctx, const struct certificate *c, struct pool_ref pool,
                               str text, str *out)
{
    static const char *const covers[] = {"text", "text", "space", "user"};
    struct erasure_key key = {.is_there = true};
    struct erasure_names names = {0};
    str words = erasure_words(&ctx->arena, text);
    if (!hex_read(c->hash_key, key.bytes, sizeof key.bytes))
        return fail(ctx, UNSUPPORTED, "the certificate has no hash_key, so no text can be tested");
    ERASURE_NAME_OF(&names, &key, "text", pool.user, pool.space, words);
    ERASURE_NAME_OF(&names, &key, "words", pool.user, pool.space, words);
    ERASURE_NAME_OF(&names, &key, "space", pool.user, pool.space);
    ERASURE_NAME_OF(&names, &key, "user", pool.user);
    *out = S("");
    for (size_t i = names.n; i--;)
        if (strs_have(&c->hashes, hex_of(&ctx->arena, names.v[i], ERASURE_HASH_BYTES)))
            *out = str_of(covers[i]);
    return OK;
}
