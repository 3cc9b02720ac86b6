/* values.h - values as PostgreSQL's binary protocol has them. */
#pragma once

#include "base/arena.h"
#include "base/str.h"
#include "store/postgres/libpq.h"

/* A number of any kind that a statement gives: whole, a sum of these, real or a truth value. */
int64_t value_int(Oid type, str bytes);
double value_real(Oid type, str bytes);

/* Of 64 bits: a bigint or a double. */
void value_put_number(char out[8], const void *v);
/*
 * A text that PostgreSQL cannot hold: a byte of 0 or one that is no UTF-8 becomes the letter
 * U+10FF00 + byte, of the private use area; so do the bytes of such a letter, so that each text
 * comes back. Others are returned as they are.
 */
str value_put_text(struct arena *a, str v);
str value_get_text(struct arena *a, str bytes);
/* An array of one dimension of elements of a type: bigint or double; text or bytea. */
str value_numbers(struct arena *a, Oid element, const void *v, size_t n);
str value_strs(struct arena *a, Oid element, const str *v, size_t n);
