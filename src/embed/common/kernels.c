/* kernels.c - the arithmetic between matrix products, written once, built per processor. */
#include "embed/common/kernels.h"

#include <math.h>

#include "embed/common/wide.h"

/*
 * Matrix products are left to oneDNN; what remains between them is bound by memory and by erf and
 * exp, which are computed here for eight numbers at a time, where the C library takes one. Each
 * body is inlined into one function per instruction set, and the best set is chosen when a model is
 * opened. All lengths are multiples of KERNEL_LANES (sizes of a model are checked, rows of scores
 * padded), so no loop has a rest to handle.
 */
/* Branch-free by bit masks: the comparison gives all ones or all zeros in each lane. */
INLINE void clamp(wide *x, float least, float most)
{
    const wide low = (wide){0} + least, high = (wide){0} + most;
    wide_int under = *x<low, over = *x> high;
    *x = (wide)(((wide_int)low & under) | ((wide_int)high & over) |
                ((wide_int)*x & ~(under | over)));
}

/* A quotient of polynomials, within 2e-7 of the error function. */
INLINE void erf_of(wide *x)
{
    clamp(x, -4, 4);
    wide s = *x * *x;
    wide p = s * -2.72614225801306e-10f + 2.77068142495902e-08f;
    p = p * s + -2.10102402082508e-06f;
    p = p * s + -5.69250639462346e-05f;
    p = p * s + -7.34990630326855e-04f;
    p = p * s + -2.95459980854025e-03f;
    p = p * s + -1.60960333262415e-02f;
    wide q = s * -1.45660718464996e-05f + -2.13374055278905e-04f;
    q = q * s + -1.68282697438203e-03f;
    q = q * s + -7.37332916720468e-03f;
    q = q * s + -1.42647390514189e-02f;
    *x = *x * p / q;
}

/* exp as 2^whole times a polynomial of the rest (the method of Cephes). x is at most 0. ln 2 is
 * subtracted in two parts: the first has few bits, so that its product with a whole number is exact
 * (Cody and Waite). */
INLINE void exp_of(wide *x)
{
    const float magic = 0x1.8p23f; /* adding it rounds to a whole number */
    clamp(x, -87, 0);
    wide whole = *x * 1.44269504088896341f + magic - magic;
    wide rest = *x - whole * 0.693359375f + whole * 2.12194440e-4f;
    wide p = rest * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * rest + 8.3334519073e-3f;
    p = p * rest + 4.1665795894e-2f;
    p = p * rest + 1.6666665459e-1f;
    p = p * rest + 5.0000001201e-1f;
    p = p * rest * rest + rest + 1;
    /* The bits of 2^whole as a float: the exponent, with its bias of 127, stands above the 23 bits
     * of the fraction. */
    wide_int power = (__builtin_convertvector(whole, wide_int) + 127) << 23;
    *x = p * (wide)power;
}

INLINE float sum_of(const wide *x)
{
    float sum = 0;
    for (int i = 0; i < KERNEL_LANES; i++)
        sum += (*x)[i];
    return sum;
}

INLINE void add_bias_body(float *v, const float *bias, size_t rows, size_t n)
{
    for (size_t r = 0; r < rows; r++, v += n)
        for (size_t i = 0; i < n; i += KERNEL_LANES)
            *(wide *)(v + i) += *(const wide *)(bias + i);
}

/* The exact form with erf, which hidden_act gelu means; the approximation by tanh differs
 * visibly. */
INLINE void gelu_body(float *v, const float *bias, size_t rows, size_t n)
{
    for (size_t r = 0; r < rows; r++, v += n) {
        for (size_t i = 0; i < n; i += KERNEL_LANES) {
            wide x = *(wide *)(v + i) + *(const wide *)(bias + i);
            wide e = x * 0.70710678118654752f;
            erf_of(&e);
            *(wide *)(v + i) = x * 0.5f * (e + 1);
        }
    }
}

/* The greatest value is subtracted first, so that exp cannot overflow. */
INLINE void softmax_body(float *v, float scale, size_t n)
{
    wide most = *(wide *)v, total = {0};
    for (size_t i = KERNEL_LANES; i < n; i += KERNEL_LANES) {
        wide x = *(wide *)(v + i);
        wide_int over = x > most;
        most = (wide)(((wide_int)x & over) | ((wide_int)most & ~over));
    }
    float greatest = most[0];
    for (int i = 1; i < KERNEL_LANES; i++)
        greatest = most[i] > greatest ? most[i] : greatest;
    for (size_t i = 0; i < n; i += KERNEL_LANES) {
        wide x = (*(wide *)(v + i) - greatest) * scale;
        exp_of(&x);
        *(wide *)(v + i) = x;
        total += x;
    }
    float share = 1 / sum_of(&total);
    for (size_t i = 0; i < n; i += KERNEL_LANES)
        *(wide *)(v + i) *= share;
}

/* Two passes, mean first: one pass with sums of squares loses digits in f32. */
INLINE void norm_body(float *v, const float *more, const float *bias, const float *weight,
                      const float *shift, float epsilon, size_t rows, size_t n)
{
    for (size_t r = 0; r < rows; r++, v += n) {
        wide sum = {0}, square = {0};
        for (size_t i = 0; i < n; i += KERNEL_LANES) {
            wide x = *(wide *)(v + i);
            if (more)
                x += *(const wide *)(more + r * n + i) + *(const wide *)(bias + i);
            *(wide *)(v + i) = x;
            sum += x;
        }
        float mean = sum_of(&sum) / (float)n;
        for (size_t i = 0; i < n; i += KERNEL_LANES) {
            wide x = *(wide *)(v + i) - mean;
            square += x * x;
        }
        float by = 1 / sqrtf(sum_of(&square) / (float)n + epsilon);
        for (size_t i = 0; i < n; i += KERNEL_LANES) {
            wide x = (*(wide *)(v + i) - mean) * by;
            *(wide *)(v + i) = x * *(const wide *)(weight + i) + *(const wide *)(shift + i);
        }
    }
}

/* One set of functions from the bodies above, for processors with the features in TARGET. */
#define KERNELS(SET, TARGET)                                                                       \
    BUILD(TARGET, add_bias, SET, (float *v, const float *bias, size_t rows, size_t n), v, bias,    \
          rows, n)                                                                                 \
    BUILD(TARGET, gelu, SET, (float *v, const float *bias, size_t rows, size_t n), v, bias, rows,  \
          n)                                                                                       \
    BUILD(TARGET, softmax, SET, (float *v, float scale, size_t n), v, scale, n)                    \
    BUILD(TARGET, norm, SET,                                                                       \
          (float *v, const float *more, const float *bias, const float *weight,                    \
           const float *shift, float epsilon, size_t rows, size_t n),                              \
          v, more, bias, weight, shift, epsilon, rows, n)                                          \
    static const struct kernels SET = {add_bias_##SET, gelu_##SET, softmax_##SET, norm_##SET};

/* Runs everywhere; the compiler uses what the base architecture has. */
KERNELS(plain, )

const struct kernels *kernels_plain(void)
{
    return &plain;
}

#ifdef __x86_64__
KERNELS(avx2, __attribute__((target("avx2,fma"), no_sanitize("thread"))))
/* Without fused multiply-add, each operation rounds as in the plain set. */
KERNELS(avx2_exact, AVX2)
#endif

const struct kernels *kernels_best(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &avx2;
#endif
    return &plain;
}

const struct kernels *kernels_exact(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        return &avx2_exact;
#endif
    return &plain;
}
