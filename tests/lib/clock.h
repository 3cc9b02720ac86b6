/* clock.h - the fake clock of a test, and waits for other threads on the real one. */
#pragma once

#include "base/clock.h"
#include "t.h"

/* --- the fake clock: what clock_ms() answers. Each test starts on the real clock --- */

/* clock_ms() answers this until the clock is set again, advanced or stopped. */
void fake_clock_set(int64_t ms);
/* Moves the fake clock; a clock that was not set starts from the real time. */
void fake_clock_advance(int64_t ms);
/* Back to the real clock. */
void fake_clock_stop(void);

/* The fake clock to the end of the scope. */
#define FAKE_CLOCK(ms)                                                                             \
    __attribute__((unused)) CLEANUP(fake_clock_end) int64_t fake_clock_ = fake_clock_begin(ms)
int64_t fake_clock_begin(int64_t ms);
void fake_clock_end(int64_t *ms);

/* --- waits: always for a condition, and at most ten seconds --- */

void pause_ms(int ms);
/* Whether the condition came true. For the handlers of a fake server, which run in its threads. */
#define COMES_TRUE(cond)                                                                           \
    ({                                                                                             \
        int left_ = 10000;                                                                         \
        while (!(cond) && left_--)                                                                 \
            pause_ms(1);                                                                           \
        (cond);                                                                                    \
    })
/* Fails the test when another thread does not make the condition true. */
#define WAIT_FOR(cond) assert_true(COMES_TRUE(cond))
