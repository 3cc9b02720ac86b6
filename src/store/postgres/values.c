/* values.c - values as PostgreSQL's binary protocol has them: big-endian, arrays with a head. */
#include "store/postgres/values.h"

#include <endian.h>

#include "base/utf8.h"

/* postgresql.org/docs/15/protocol-overview.html ("Formats and Format Codes"); the forms are those
 * of the types' send functions. */

static uint64_t read_bytes(const char *p, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++)
        v = v << 8 | (unsigned char)p[i];
    return v;
}

/* Digits of base 10,000 behind a head of four: how many, the weight of the first, the sign, and the
 * places behind the point. A sum of bigints has none of these. */
enum { NUMERIC_HEAD = 8, NEGATIVE = 0x4000 };

static int64_t numeric_int(str bytes)
{
    uint64_t v = 0;
    int n = (int16_t)read_bytes(bytes.p, 2), weight = (int16_t)read_bytes(bytes.p + 2, 2);
    for (int i = 0; i <= weight; i++)
        v = v * 10000 + (i < n ? read_bytes(bytes.p + NUMERIC_HEAD + 2 * i, 2) : 0);
    return read_bytes(bytes.p + 4, 2) == NEGATIVE ? -(int64_t)v : (int64_t)v;
}

int64_t value_int(Oid type, str bytes)
{
    switch (type) {
    case OID_BOOL:
        return *bytes.p != 0;
    case OID_INT2:
        return (int16_t)read_bytes(bytes.p, 2);
    case OID_INT4:
        return (int32_t)read_bytes(bytes.p, 4);
    case OID_INT8:
        return (int64_t)read_bytes(bytes.p, 8);
    case OID_NUMERIC:
        return numeric_int(bytes);
    default:
        assert(type == OID_FLOAT8);
        return (int64_t)value_real(type, bytes);
    }
}

double value_real(Oid type, str bytes)
{
    double v;
    if (type != OID_FLOAT8)
        return (double)value_int(type, bytes);
    uint64_t bits = read_bytes(bytes.p, 8);
    memcpy(&v, &bits, sizeof v);
    return v;
}

void value_put_number(char out[8], const void *v)
{
    uint64_t bits;
    memcpy(&bits, v, sizeof bits);
    bits = htobe64(bits);
    memcpy(out, &bits, sizeof bits);
}

/* --- texts that are none there --- */

/* U+10FF00 to U+10FFFF are F4 8F BC 80 to F4 8F BF BF in UTF-8; the last byte has six bits. */
enum { LETTER = 4, LOW_BITS = 6 };
static const char plane[] = "\xF4\x8F";

static bool is_letter_of_byte(str s, size_t at)
{
    return s.n - at >= LETTER && memcmp(s.p + at, plane, 2) == 0 &&
           (unsigned char)s.p[at + 2] >= 0xBC;
}

static bool has_plane(str s)
{
    return s.n && memmem(s.p, s.n, plane, 2) != NULL;
}

static char *put_letter(char *to, unsigned char byte)
{
    *to++ = plane[0];
    *to++ = plane[1];
    *to++ = (char)(0xBC | byte >> LOW_BITS);
    *to++ = (char)(0x80 | (byte & 0x3F));
    return to;
}

/* The bytes of the letter there, or 0. */
static size_t letter_length(str s, size_t at)
{
    for (size_t n = 1; n <= LETTER && n <= s.n - at; n++)
        if (utf8_is_valid(str_sub(s, at, at + n)))
            return s.p[at] && !is_letter_of_byte(s, at) ? n : 0;
    return 0;
}

str value_put_text(struct arena *a, str v)
{
    if (!v.n || (!memchr(v.p, 0, v.n) && !has_plane(v) && utf8_is_valid(v)))
        return v;
    char *p = arena_alloc(a, LETTER * v.n), *to = p;
    for (size_t i = 0, n; i < v.n; i += n) {
        n = letter_length(v, i);
        if (n)
            to = (char *)memcpy(to, v.p + i, n) + n;
        else
            to = put_letter(to, (unsigned char)v.p[i]);
        n += !n;
    }
    return (str){p, (size_t)(to - p)};
}

str value_get_text(struct arena *a, str bytes)
{
    if (!has_plane(bytes))
        return bytes;
    char *p = arena_alloc(a, bytes.n), *to = p;
    for (size_t i = 0; i < bytes.n;) {
        if (!is_letter_of_byte(bytes, i)) {
            *to++ = bytes.p[i++];
            continue;
        }
        *to++ = (char)((bytes.p[i + 2] & 3) << LOW_BITS | (bytes.p[i + 3] & 0x3F));
        i += LETTER;
    }
    return (str){p, (size_t)(to - p)};
}

/* --- arrays --- */

static char *put_word(char *p, uint32_t v)
{
    v = htobe32(v);
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

/* Dimensions, whether there is a NULL, the kind; of the one dimension its length and first index.
 */
static char *array_head(struct arena *a, Oid element, size_t n, size_t bytes, str *out)
{
    enum { HEAD = 20 };
    assert(n <= INT32_MAX && bytes <= INT32_MAX);
    char *p = arena_alloc(a, HEAD + bytes);
    *out = (str){p, HEAD + bytes};
    p = put_word(p, 1);
    p = put_word(p, 0);
    p = put_word(p, element);
    p = put_word(p, (uint32_t)n);
    return put_word(p, 1);
}

str value_numbers(struct arena *a, Oid element, const void *v, size_t n)
{
    str out;
    char *p = array_head(a, element, n, n * 12, &out);
    for (size_t i = 0; i < n; i++, p += 8) {
        p = put_word(p, 8);
        value_put_number(p, (const char *)v + 8 * i);
    }
    return out;
}

str value_strs(struct arena *a, Oid element, const str *v, size_t n)
{
    str out;
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += 4 + v[i].n;
    char *p = array_head(a, element, n, bytes, &out);
    for (size_t i = 0; i < n; i++) {
        p = put_word(p, (uint32_t)v[i].n);
        if (v[i].n)
            memcpy(p, v[i].p, v[i].n);
        p += v[i].n;
    }
    return out;
}
