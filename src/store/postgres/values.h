/* values.h - values as PostgreSQL's binary protocol has them. */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "store/postgres/libpq.h"

/* A number of any kind that a statement gives: whole, decimal, real or a truth value. */
int64_t value_int(Oid type, str bytes);
double value_real(Oid type, str bytes);

void value_put_int(char out[8], int64_t v);
void value_put_real(char out[8], double v);
/* An array of one dimension of elements of a type: bigint, or (v of str) text or bytea. */
str value_ints(struct arena *a, const int64_t *v, size_t n);
str value_strs(struct arena *a, Oid element, const str *v, size_t n);
