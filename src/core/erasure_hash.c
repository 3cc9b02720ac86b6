/* erasure_hash.c - keyed hashes by which log and certificate name erased rows without content. */
#include "core/erasure_hash.h"

#include <sodium.h>

#include "base/utf8.h"

struct erasure_key erasure_user_key(const struct erasure_key *key, str user)
{
    struct erasure_key out = {.is_there = true};
    assert(key->is_there);
    crypto_generichash(out.bytes, ERASURE_KEY_BYTES, (const unsigned char *)user.p, user.n,
                       key->bytes, ERASURE_KEY_BYTES);
    return out;
}

void erasure_name(struct erasure_names *names, const struct erasure_key *user_key, const str *parts,
                  size_t n)
{
    assert(names->n < ERASURE_NAMES && user_key->is_there);
    hash_parts(user_key->bytes, ERASURE_KEY_BYTES, parts, n, names->v[names->n++],
               ERASURE_HASH_BYTES);
}

str erasure_words(struct arena *a, str text)
{
    str lower = utf8_lower(a, text);
    char *p = arena_alloc(a, lower.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < lower.n; i++) {
        bool is_blank = char_is_one_of(lower.p[i], " \t\r\n");
        if (is_blank && (!n || p[n - 1] == ' '))
            continue;
        p[n++] = is_blank ? ' ' : lower.p[i];
    }
    return str_trim_end((str){p, n}, " .");
}

/* Files of one text are different things, as their paths are. */
str erasure_text(struct arena *a, const struct memory *m)
{
    str words = erasure_words(a, m->content);
    return m->layer == LAYER_FILE ? str_printf(a, S_FMT "\n" S_FMT, S_ARG(m->key), S_ARG(words))
                                  : words;
}
