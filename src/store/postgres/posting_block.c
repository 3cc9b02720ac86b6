/* posting_block.c - documents of a word, or words of a document, with counts, packed into bytes. */
#include "store/postgres/posting_block.h"

/* A number has seven bits a byte, the lowest first; all bytes but the last have the eighth bit.
 * Neighbours in a session take two bytes with their counts. */
enum { BITS = 7, MORE = 1 << BITS, NUMBER_MAX = 10 };

static char *put_number(char *to, uint64_t n)
{
    for (; n >= MORE; n >>= BITS)
        *to++ = (char)(n | MORE);
    *to++ = (char)n;
    return to;
}

/* How many bytes it has; 0: it does not end. */
static size_t take_number(str from, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < from.n && i < NUMBER_MAX; i++) {
        unsigned char byte = (unsigned char)from.p[i];
        *out |= (uint64_t)(byte & (MORE - 1)) << (BITS * i);
        if (!(byte & MORE))
            return i + 1;
    }
    return 0;
}

str block_pack(struct arena *a, int64_t first, const struct posting *v, size_t n)
{
    char *p = arena_alloc(a, n * (NUMBER_MAX + 1) + 1), *to = p;
    for (size_t i = 0; i < n; i++) {
        assert(v[i].doc >= first);
        to = put_number(to, (uint64_t)v[i].doc - (uint64_t)first);
        *to++ = (char)v[i].counts;
        first = v[i].doc;
    }
    return (str){p, (size_t)(to - p)};
}

bool block_next(str *rest, struct posting *entry)
{
    uint64_t distance;
    size_t at = take_number(*rest, &distance);
    if (!at || at == rest->n)
        return false;
    entry->doc += (int64_t)distance;
    entry->counts = (uint8_t)rest->p[at];
    *rest = str_sub(*rest, at + 1, rest->n);
    return true;
}

str block_words_pack(struct arena *a, const struct block_word *v, size_t n)
{
    size_t bytes = 1;
    for (size_t i = 0; i < n; i++)
        bytes += 1 + NUMBER_MAX + v[i].word.n;
    char *p = arena_alloc(a, bytes), *to = p;
    for (size_t i = 0; i < n; i++) {
        *to++ = (char)v[i].counts;
        to = put_number(to, v[i].word.n);
        memcpy(to, v[i].word.p, v[i].word.n);
        to += v[i].word.n;
    }
    return (str){p, (size_t)(to - p)};
}

bool block_next_word(str *rest, struct block_word *word)
{
    uint64_t n;
    size_t at = rest->n ? take_number(str_sub(*rest, 1, rest->n), &n) : 0;
    if (!at || n > rest->n - 1 - at)
        return false;
    word->counts = (uint8_t)rest->p[0];
    word->word = str_sub(*rest, 1 + at, 1 + at + n);
    *rest = str_sub(*rest, 1 + at + n, rest->n);
    return true;
}
