/* days.h - counts for each pool and day (UTC), kept when the pool's receipts are pruned. */
#pragma once

#include "core/memory.h"

/* Numbers as the store has them: none is ever given another meaning. */
enum day_stat {
    DAY_ADDED = 0,       /* + enum memory_type: memories that came */
    DAY_FORGOTTEN = 16,  /* memories that were erased */
    DAY_EXPIRED = 17,    /* memories that were erased as their time was over */
    DAY_SESSIONS = 18,   /* conversations begun */
    DAY_MESSAGES = 19,   /* messages that came */
    DAY_TOKENS = 20,     /* of the blocks that chats were given */
    DAY_CORE_IN = 21,    /* tokens that the core model read */
    DAY_CORE_OUT = 22,   /* … and wrote */
    DAY_RECALL_US = 23,  /* sum of what recalls took; how many there were: the buckets */
    DAY_DECISION = 32,   /* + place in day_decisions: chats by what the gate decided */
    DAY_BUCKET = 128,    /* + day_bucket: recalls by what they took */
    DAY_STAT_COUNT = 512 /* more than any of them */
};

/* NULL-ended; the last one stands for all that have no name here. */
extern const char *const day_decisions[];
/* The place of a decision in it. */
int day_decision(str decision);
/* Whether a chat with that decision has searched, so that its time says how long recall takes. */
bool day_is_recall(str decision);

/* The day of a time in unix ms: days since 1970-01-01, UTC. */
int64_t day_number(int64_t ms);

/* Of a duration, and the other way: the least duration of a bucket. A bucket is an eighth of an
 * octave wide, so a percentile that is told by it is right within 7 %. */
int day_bucket(int64_t us);
int64_t day_bucket_least(int bucket);
/* The duration that this share (0 to 1) of the recalls did not exceed; 0 without any. n has a count
 * for each stat. */
int64_t day_percentile(const int64_t n[static DAY_STAT_COUNT], double share);
/* How many recalls the buckets hold. */
int64_t day_recalls(const int64_t n[static DAY_STAT_COUNT]);

/* One count. */
struct day_count {
    int64_t day;
    int stat; /* enum day_stat, with what is added to it */
    int64_t n;
};
