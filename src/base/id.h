/* id.h - ids: random ones, and ones that follow from content. */
#pragma once

#include "base/buf.h"

enum { UUID_TEXT = 36 };

/* A random UUID (version 4), lower case, in the arena. */
str id_random(struct arena *a);

/* The UUID that these parts always give (first 16 bytes of a BLAKE2b hash, version 8): same
 * content, same id. */
str id_of(struct arena *a, const str *parts, size_t n);

bool id_is_uuid(str s);

/* 64 bits of BLAKE2b over the parts, never 0; parts are length-prefixed, so they cannot run into
 * each other. */
uint64_t hash64(const str *parts, size_t n);

/* Lower-case hex. */
str hex_of(struct arena *a, const void *bytes, size_t n);
/* SHA-256 in hex: how tokens are stored. */
str sha256_hex(struct arena *a, str s);
/* n random bytes as URL-safe text without padding. */
str random_text(struct arena *a, size_t bytes);
