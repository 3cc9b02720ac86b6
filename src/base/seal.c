/* seal.c - a secret closed under a key for one owner, by libsodium. */
#include "base/seal.h"

#include <sodium.h>

#include "base/id.h"

/*
 * A sealed text is base64url of: one form byte, a nonce of 24 bytes, the encrypted secret and a tag
 * of 16 bytes. A random nonce of that length may be drawn without a counter: two of them
 * practically never meet, which is why XChaCha20 was taken and not ChaCha20 with its 12 bytes. The
 * form byte allows another cipher later without guessing what an old row holds.
 */

enum {
    NONCE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    FORM = 1, /* the first byte: how the rest is to be read */
    HEAD = 1 + NONCE,
    HEX = 2 * SEAL_KEY_BYTES,
    /* 32 bytes are 42.7 digits of 6 bits. */
    BASE64 = 43, /* digits of a key */
};

/* The length tells the form: 64 is hexadecimal, 43 or (with its padding) 44 is base64url. */
bool seal_key_read(str text, uint8_t out[SEAL_KEY_BYTES])
{
    size_t got = 0;
    text = str_trim(text);
    if (text.n == HEX)
        return hex_read(text, out, SEAL_KEY_BYTES);
    if (text.n == BASE64 + 1 && text.p[BASE64] == '=')
        text.n = BASE64;
    return text.n == BASE64 &&
           sodium_base642bin(out, SEAL_KEY_BYTES, text.p, BASE64, NULL, &got, NULL,
                             sodium_base64_VARIANT_URLSAFE_NO_PADDING) == 0 &&
           got == SEAL_KEY_BYTES;
}

static const unsigned char *bytes_of(str s)
{
    return (const unsigned char *)(s.p ? s.p : "");
}

/* Authenticated with the secret but not stored in it: a sealed text that is copied to another
 * owner's row, or whose form byte was changed, does not open. */
static str bound_owner(struct arena *a, str owner)
{
    return str_printf(a, "%c" S_FMT, FORM, S_ARG(owner));
}

str seal(struct arena *a, const uint8_t *key, str owner, str secret)
{
    assert(key && owner.n);
    size_t n = HEAD + secret.n + TAG;
    unsigned char *p = arena_alloc(a, n);
    str to = bound_owner(a, owner);
    p[0] = FORM;
    randombytes_buf(p + 1, NONCE);
    crypto_aead_xchacha20poly1305_ietf_encrypt(p + HEAD, NULL, bytes_of(secret), secret.n,
                                               bytes_of(to), to.n, NULL, p + 1, key);
    return base64url_of(a, p, n);
}

bool base64url_read(struct arena *a, str text, str *out)
{
    unsigned char *p = arena_alloc(a, text.n + 1);
    size_t n = 0;
    if (sodium_base642bin(p, text.n + 1, text.p ? text.p : "", text.n, NULL, &n, NULL,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0)
        return false;
    *out = (str){(char *)p, n};
    return true;
}

/* The cipher cannot tell a wrong key, a wrong owner and damage apart. */
bool unseal(struct arena *a, const uint8_t *key, str owner, str sealed, str *out)
{
    assert(key);
    str box, to = bound_owner(a, owner);
    if (!base64url_read(a, sealed, &box) || box.n < HEAD + TAG || box.p[0] != FORM)
        return false;
    const unsigned char *p = bytes_of(box);
    unsigned char *text = arena_alloc(a, box.n);
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(text, NULL, NULL, p + HEAD, box.n - HEAD,
                                                   bytes_of(to), to.n, p + 1, key) != 0)
        return false;
    *out = (str){(char *)text, box.n - HEAD - TAG};
    return true;
}
