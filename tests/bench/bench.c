/* bench.c - what the programs that measure share: times, sorted figures, made-up words, writes. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

void must(struct ctx *ctx, enum status status)
{
    if (status == OK)
        return;
    fprintf(stderr, "%s: %s\n", status_name(status), ctx->why);
    exit(1);
}

/* --- times --- */

double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int64_t cpu_us(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int compare_ms(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int compare_us(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void sort_ms(double *ms, size_t n)
{
    qsort(ms, n, sizeof *ms, compare_ms);
}

void sort_us(int64_t *us, size_t n)
{
    qsort(us, n, sizeof *us, compare_us);
}

/* --- made-up words --- */

static _Thread_local uint64_t random_state = 88172645463325252ULL;

void random_begin(uint64_t state)
{
    random_state = state;
}

uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

uint64_t draw_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1Du;
}

void zipf_make(double *share, size_t n, size_t from)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        share[i] = sum += 1 / (double)(i + from);
    for (size_t i = 0; i < n; i++)
        share[i] /= sum;
}

size_t zipf_word(const double *share, size_t n, uint64_t random)
{
    double at = (double)(random >> 11) / (double)(1ULL << 53);
    size_t low = 0, high = n - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (share[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

str word_of_syllables(struct arena *a, size_t no)
{
    static const char *const syllables[] = {"ka", "lo",  "mi",  "ter", "san", "ve", "dor", "pel",
                                            "un", "gra", "shi", "to",  "ber", "no", "ram", "ci"};
    struct buf b = buf_make(a, 64);
    for (size_t n = no + 17; n; n /= 16)
        buf_printf(&b, "%s", syllables[n % 16]);
    return buf_str(&b);
}

void add_plain_word(struct buf *text, size_t no)
{
    static const char *const heads[] = {"b", "d", "f", "g", "k", "l", "m", "n", "p", "r"};
    static const char *const tails[] = {"ab", "ok", "ur", "im", "an", "ol", "ub", "ag", "om", "ip"};
    for (size_t rest = no + 10; rest; rest /= 100)
        buf_printf(text, "%s%s", heads[rest % 10], tails[rest / 10 % 10]);
    buf_byte(text, ' ');
}

/* --- writes --- */

void write_queued(struct ctx *ctx, struct store *s, const struct bundle *b)
{
    enum status status = store_write_later(ctx, s, b);
    if (status == TOO_BUSY) {
        ctx_clear_failure(ctx);
        must(ctx, store_flush(ctx, s));
        status = store_write_later(ctx, s, b);
    }
    must(ctx, status);
}
