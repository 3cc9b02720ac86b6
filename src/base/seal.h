/* seal.h - a secret closed under a key for one owner: nobody else reads, changes or moves it. */
#pragma once

#include "base/str.h"

enum { SEAL_KEY_BYTES = 32 };

/* A key as a person writes it: 32 bytes as base64url, with or without its padding, or 64 hex
 * digits. White space around it does not count. */
bool seal_key_read(str text, uint8_t out[SEAL_KEY_BYTES]);

/* XChaCha20-Poly1305 under a random nonce, as base64url without padding. Two sealings of the same
 * secret differ. */
str seal(struct arena *a, const uint8_t *key, str owner, str secret);
/* False when it was sealed under another key or for another owner, or one bit of it is not as it
 * was. */
bool unseal(struct arena *a, const uint8_t *key, str owner, str sealed, str *out);

/* The bytes of a base64url text without padding; false when it is none. */
bool base64url_read(struct arena *a, str text, str *out);
