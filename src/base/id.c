/* id.c - random ids, content ids and hashes, by libsodium. */
#include "base/id.h"

#include <sodium.h>

/*
 * Ids have the form of RFC 9562, whose version 8 is free for own schemes. Lengths are hashed in the
 * byte order of the machine: a store moved between machines of different byte order would get other
 * content ids for the same text.
 */

str hex_of(struct arena *a, const void *bytes, size_t n)
{
    char *p = arena_alloc(a, n * 2 + 1);
    sodium_bin2hex(p, n * 2 + 1, bytes, n);
    return (str){p, n * 2};
}

bool hex_read(str hex, uint8_t *out, size_t n)
{
    return hex.n == 2 * n && sodium_hex2bin(out, n, hex.p, hex.n, NULL, NULL, NULL) == 0;
}

str base64url_of(struct arena *a, const void *bytes, size_t n)
{
    size_t room = sodium_base64_encoded_len(n, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    char *p = arena_alloc(a, room);
    sodium_bin2base64(p, room, bytes, n, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    return (str){p, room - 1};
}

/* Sets the version and the variant bits (10), which leaves 122 bits of the 128. */
static str uuid_text(struct arena *a, unsigned char b[16], int version)
{
    b[6] = (unsigned char)((b[6] & 0x0F) | version << 4);
    b[8] = (unsigned char)((b[8] & 0x3F) | 0x80);
    str hex = hex_of(a, b, 16);
    return str_printf(a, "%.8s-%.4s-%.4s-%.4s-%.12s", hex.p, hex.p + 8, hex.p + 12, hex.p + 16,
                      hex.p + 20);
}

str id_random(struct arena *a)
{
    unsigned char b[16];
    randombytes_buf(b, sizeof b);
    return uuid_text(a, b, 4);
}

void hash_parts(const uint8_t *key, size_t key_n, const str *parts, size_t n, uint8_t *out,
                size_t out_n)
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, key, key_n, out_n);
    for (size_t i = 0; i < n; i++) {
        uint64_t length = parts[i].n;
        crypto_generichash_update(&state, (const unsigned char *)&length, sizeof length);
        if (length)
            crypto_generichash_update(&state, (const unsigned char *)parts[i].p, length);
    }
    crypto_generichash_final(&state, out, out_n);
}

str id_of(struct arena *a, const str *parts, size_t n)
{
    unsigned char b[16];
    hash_parts(NULL, 0, parts, n, b, sizeof b);
    return uuid_text(a, b, 8);
}

/* 16 bytes are the shortest BLAKE2b that libsodium makes. 0 is kept free for "no hash". */
uint64_t hash64(const str *parts, size_t n)
{
    unsigned char b[16];
    uint64_t h;
    hash_parts(NULL, 0, parts, n, b, sizeof b);
    memcpy(&h, b, sizeof h);
    return h ? h : 1;
}

/* The form alone: ids of other programs have any version. */
bool id_is_uuid(str s)
{
    return s.n == UUID_TEXT &&
           EVERY(i, s.n,
                 i == 8 || i == 13 || i == 18 || i == 23 ? s.p[i] == '-' : hex_digit(s.p[i]) >= 0);
}

str sha256_hex(struct arena *a, str s)
{
    unsigned char h[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(h, (const unsigned char *)(s.p ? s.p : ""), s.n);
    return hex_of(a, h, sizeof h);
}

str random_text(struct arena *a, size_t bytes)
{
    unsigned char *b = arena_alloc(a, bytes);
    randombytes_buf(b, bytes);
    return base64url_of(a, b, bytes);
}
