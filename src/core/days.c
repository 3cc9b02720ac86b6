/* days.c - the arithmetic of what is counted by the day: days, decisions, buckets, percentiles. */
#include "core/days.h"

#include "base/clock.h"

const char *const day_decisions[] = {"none",    "memory", "identity", "transcript",
                                     "episode", "pinned", "newest",   "again",
                                     "off",     "failed", "other",    NULL};

enum { DECISIONS = sizeof day_decisions / sizeof *day_decisions - 1 };

int day_decision(str decision)
{
    return name_index(day_decisions, decision, DECISIONS - 1);
}

/* The two that were answered without a search would halve the median. */
bool day_is_recall(str decision)
{
    return !str_is(decision, "off") && !str_is(decision, "again");
}

int64_t day_number(int64_t ms)
{
    return ms >= 0 ? ms / DAY_MS : -((-ms + DAY_MS - 1) / DAY_MS);
}

/*
 * Durations below EIGHTHS have a bucket each. From there on the highest bit gives the octave, and
 * the three bits behind it the eighth, so that no logarithm is rounded differently elsewhere.
 */
enum { EIGHTHS = 8, EIGHTH_BITS = 3, BUCKETS = DAY_STAT_COUNT - DAY_BUCKET };

int day_bucket(int64_t us)
{
    if (us < EIGHTHS)
        return us > 0 ? (int)us : 0;
    int octave = 63 - __builtin_clzll((unsigned long long)us) - EIGHTH_BITS;
    int bucket = EIGHTHS * (octave + 1) + (int)(us >> octave & (EIGHTHS - 1));
    return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

int64_t day_bucket_least(int bucket)
{
    assert(bucket >= 0);
    if (bucket < EIGHTHS)
        return bucket;
    int octave = bucket / EIGHTHS - 1;
    return (int64_t)(EIGHTHS + bucket % EIGHTHS) << octave;
}

int64_t day_recalls(const int64_t n[static DAY_STAT_COUNT])
{
    int64_t all = 0;
    for (int i = 0; i < BUCKETS; i++)
        all += n[DAY_BUCKET + i];
    return all;
}

/* The middle of the bucket in which that recall is. */
int64_t day_percentile(const int64_t n[static DAY_STAT_COUNT], double share)
{
    int64_t all = day_recalls(n), below = 0;
    assert(share >= 0 && share <= 1);
    for (int i = 0; i < BUCKETS; i++) {
        below += n[DAY_BUCKET + i];
        if (below && (double)below >= share * (double)all)
            return (day_bucket_least(i) + day_bucket_least(i + 1)) / 2;
    }
    return 0;
}
