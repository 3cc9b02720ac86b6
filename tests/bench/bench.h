/* bench.h - what the programs that measure share: times, sorted figures, made-up words, writes. */
#pragma once

#include <time.h>

#include "store/store.h"

/* Ends the program, and says why, unless the status is OK. */
void must(struct ctx *ctx, enum status status);

/* --- times --- */

/* Of this thread: what a call costs on a machine that does nothing else. */
double cpu_ms(void);
/* CLOCK_THREAD_CPUTIME_ID, or CLOCK_PROCESS_CPUTIME_ID for all threads. */
int64_t cpu_us(clockid_t clock);

/* Least first, for medians and percentiles. */
void sort_ms(double *ms, size_t n);
void sort_us(int64_t *us, size_t n);

/* --- made-up words, the same in every run --- */

/* xorshift with a state for each thread; a thread of a bench may begin elsewhere. */
uint64_t next_random(void);
void random_begin(uint64_t state);
/* xorshift64*, with a state of the caller's. */
uint64_t draw_random(uint64_t *state);

/* Zipf's law without its first words: the weight of word i is 1 / (i + from), and share[i] becomes
 * the share of the words up to and with it. */
void zipf_make(double *share, size_t n, size_t from);
size_t zipf_word(const double *share, size_t n, uint64_t random);

/* A pronounceable word for each number; the second adds one that stemming leaves alone, and a
 * blank.
 */
str word_of_syllables(struct arena *a, size_t no);
void add_plain_word(struct buf *text, size_t no);

/* --- writes --- */

/* Queued; a full queue is written first. */
void write_queued(struct ctx *ctx, struct store *s, const struct bundle *b);
