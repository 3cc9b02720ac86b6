/* meter.h - limits by address and by token: requests per second, and at one time. */
#pragma once

#include <stdatomic.h>

#include "base/ctx.h"

/* 0 is no limit. A burst may be BURST_S seconds of the rate. */
struct limit {
    const char *what; /* "of this token", for the message */
    int64_t per_second, at_once;
};

enum meter_kind { METER_CONNECTIONS, METER_ADDRESS, METER_TOKEN };

/* Full when all zero. */
struct bucket {
    double taken; /* requests that are not made up for yet */
    int64_t at_us;
};

struct meter {
    uint64_t key; /* a keyed hash of the kind and the name; 0: free */
    size_t active;
    struct bucket bucket;
};

struct meters;

struct meters *meters_new(void);
void meters_free(struct meters *m);

/* One more of whoever has that name; *out is for meters_leave, NULL when nothing is limited.
 * TOO_BUSY names the limit. From any thread. */
MUST_USE enum status meters_enter(struct ctx *ctx, struct meters *m, enum meter_kind kind, str name,
                                  const struct limit *limit, struct meter **out);
void meters_leave(struct meters *m, struct meter *one);

/* A minute's worth of a rate, which may come at once: false when it is used up. takes: one less of
 * it. From any thread. */
bool meters_take(struct meters *m, enum meter_kind kind, str name, double per_minute, bool takes);

/* The same for a bucket that one thread has to itself. */
MUST_USE enum status bucket_take(struct ctx *ctx, struct bucket *b, const struct limit *limit);

/*
 * The processor time that requests of nobody known may take together: half a core, and a burst of a
 * quarter of a second. From any thread. All zero: nothing is taken yet.
 */
struct allowance {
    _Atomic int64_t until_us; /* when what was taken is made up for */
};
MUST_USE enum status allowance_check(struct ctx *ctx, const struct allowance *a);
void allowance_take(struct allowance *a, int64_t cpu_us);
