/* id.h - ids: random ones, and ones that follow from content. */
#pragma once

#include "base/buf.h"

enum { UUID_TEXT = 36 };

/* A random UUID (version 4), lower case, in the arena. */
str id_random(struct arena *a);

/* The UUID that these parts always give (first 16 bytes of a BLAKE2b hash, version 8): same
 * content, same id. */
str id_of(struct arena *a, const str *parts, size_t n);

/* The same of parts that are listed: ID_OF(a, session, S("episode")). */
#define ID_OF(A, ...) id_of(A, STR_LIST(__VA_ARGS__))
#define STR_LIST(...) (const str[]){__VA_ARGS__}, sizeof((const str[]){__VA_ARGS__}) / sizeof(str)

bool id_is_uuid(str s);

/* BLAKE2b of out_n bytes over the parts, under a key where one is given. Parts are length-prefixed,
 * so they cannot run into each other. */
void hash_parts(const uint8_t *key, size_t key_n, const str *parts, size_t n, uint8_t *out,
                size_t out_n);
/* 64 bits of it without a key, never 0. */
uint64_t hash64(const str *parts, size_t n);

/* Lower-case hex, and the other way: false unless it is that of n bytes. */
str hex_of(struct arena *a, const void *bytes, size_t n);
bool hex_read(str hex, uint8_t *out, size_t n);
/* URL-safe and without padding. */
str base64url_of(struct arena *a, const void *bytes, size_t n);
/* SHA-256 in hex: how tokens are stored. */
str sha256_hex(struct arena *a, str s);
/* n random bytes as URL-safe text without padding. */
str random_text(struct arena *a, size_t bytes);
