/* erasure_hash.h - keyed hashes by which log and certificate name erased rows without content. */
#pragma once

#include "base/id.h"
#include "core/memory.h"

/*
 * A name is a kind and its parts, of which the first is a user: {"text", user, space, words}. It is
 * hashed under a key of that user, which follows from the key of the database: so a user can be
 * given what it takes to test own texts, and learns nothing about hashes of others.
 */
enum { ERASURE_HASH_BYTES = 16, ERASURE_KEY_BYTES = 16, ERASURE_NAMES = 6 };

struct erasure_key {
    uint8_t bytes[ERASURE_KEY_BYTES];
    bool is_there;
};
struct erasure_key erasure_user_key(const struct erasure_key *key, str user);

/* What one row is known by. */
struct erasure_names {
    uint8_t v[ERASURE_NAMES][ERASURE_HASH_BYTES];
    size_t n;
};
/* Adds the hash of a kind of name and its parts, under the database's key or under a user's. */
#define ERASURE_NAME(names, key, kind, user, ...)                                                  \
    ({                                                                                             \
        const struct erasure_key of_user_ = erasure_user_key((key), (user));                       \
        ERASURE_NAME_OF(names, &of_user_, kind, user, ##__VA_ARGS__);                              \
    })
#define ERASURE_NAME_OF(names, user_key, kind, ...)                                                \
    erasure_name((names), (user_key), STR_LIST(S(kind), __VA_ARGS__))
void erasure_name(struct erasure_names *names, const struct erasure_key *user_key, const str *parts,
                  size_t n);

/* A text in lower case, with one space for any blanks and no full stop at its end. */
str erasure_words(struct arena *a, str text);
/* What a memory states, whatever its id, its case and its blanks. */
str erasure_text(struct arena *a, const struct memory *m);
