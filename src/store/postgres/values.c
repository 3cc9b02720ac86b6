/* values.c - values as PostgreSQL's binary protocol has them: big-endian, arrays with a head. */
#include "store/postgres/values.h"

#include <assert.h>
#include <endian.h>
#include <math.h>
#include <string.h>

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
static double numeric_value(str bytes)
{
    enum { HEAD = 8, NEGATIVE = 0x4000 };
    double v = 0;
    int n = (int16_t)read_bytes(bytes.p, 2), weight = (int16_t)read_bytes(bytes.p + 2, 2);
    for (int i = 0; i < n; i++)
        v += (double)read_bytes(bytes.p + HEAD + 2 * i, 2) * pow(10000, weight - i);
    return read_bytes(bytes.p + 4, 2) == NEGATIVE ? -v : v;
}

static int64_t numeric_int(str bytes)
{
    enum { HEAD = 8, NEGATIVE = 0x4000 };
    uint64_t v = 0;
    int n = (int16_t)read_bytes(bytes.p, 2), weight = (int16_t)read_bytes(bytes.p + 2, 2);
    for (int i = 0; i <= weight; i++)
        v = v * 10000 + (i < n ? read_bytes(bytes.p + HEAD + 2 * i, 2) : 0);
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
    if (type == OID_NUMERIC)
        return numeric_value(bytes);
    if (type != OID_FLOAT8)
        return (double)value_int(type, bytes);
    uint64_t bits = read_bytes(bytes.p, 8);
    memcpy(&v, &bits, sizeof v);
    return v;
}

void value_put_int(char out[8], int64_t v)
{
    uint64_t bits = htobe64((uint64_t)v);
    memcpy(out, &bits, sizeof bits);
}

void value_put_real(char out[8], double v)
{
    int64_t bits;
    memcpy(&bits, &v, sizeof bits);
    value_put_int(out, bits);
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

str value_ints(struct arena *a, const int64_t *v, size_t n)
{
    str out;
    char *p = array_head(a, OID_INT8, n, n * 12, &out);
    for (size_t i = 0; i < n; i++, p += 8) {
        p = put_word(p, 8);
        value_put_int(p, v[i]);
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
