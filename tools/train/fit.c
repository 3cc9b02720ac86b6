/* fit.c - Newton's method for convex fits with a small penalty. */
#include "fit.h"

#include <math.h>
#include <string.h>

void fit_begin(struct fit *f)
{
    f->loss = 0;
    memset(f->gradient, 0, sizeof f->gradient);
    memset(f->hessian, 0, sizeof f->hessian);
}

/* Cholesky: hessian = L Lᵀ, in its lower half. */
static void decompose(struct fit *f)
{
    double(*h)[COLUMNS_MAX] = f->hessian;
    for (size_t j = 0; j < f->n; j++)
        for (size_t i = j; i < f->n; i++) {
            double sum = h[i][j];
            for (size_t k = 0; k < j; k++)
                sum -= h[i][k] * h[j][k];
            h[i][j] = i == j ? sqrt(sum) : sum / h[j][j];
        }
}

/* Solves hessian · step = gradient and goes that step; one that went too far is halved. */
void fit_step(struct fit *f)
{
    double(*h)[COLUMNS_MAX] = f->hessian, y[COLUMNS_MAX];
    for (size_t i = 0; i < f->n; i++)
        f->loss += f->penalty / 2 * f->w[i] * f->w[i];
    if (f->steps++ && f->loss > f->least) {
        for (size_t i = 0; i < f->n; i++)
            f->w[i] = (f->w[i] + f->kept[i]) / 2;
        return;
    }
    f->least = f->loss;
    memcpy(f->kept, f->w, sizeof f->kept);
    for (size_t i = 0; i < f->n; i++) {
        f->gradient[i] += f->penalty * f->w[i];
        h[i][i] += f->penalty;
    }
    decompose(f);
    for (size_t i = 0; i < f->n; i++) {
        y[i] = f->gradient[i];
        for (size_t k = 0; k < i; k++)
            y[i] -= h[i][k] * y[k];
        y[i] /= h[i][i];
    }
    for (size_t i = f->n; i-- > 0;) {
        for (size_t k = i + 1; k < f->n; k++)
            y[i] -= h[k][i] * y[k];
        y[i] /= h[i][i];
        f->w[i] -= y[i];
    }
}

double fit_dot(const struct fit *f, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < f->n; i++)
        sum += f->w[i] * x[i];
    return sum;
}

void fit_add_logistic(struct fit *f, const double *x, bool is_hit, double weight)
{
    double p = 1 / (1 + exp(-fit_dot(f, x)));
    f->loss -= weight * log(fmax(is_hit ? p : 1 - p, 1e-300));
    for (size_t i = 0; i < f->n; i++) {
        f->gradient[i] += weight * (p - is_hit) * x[i];
        for (size_t k = 0; k <= i; k++)
            f->hessian[i][k] += weight * p * (1 - p) * x[i] * x[k];
    }
}

/* weights NULL: all the same. A column that never changes gets the factor 0. */
struct scale scale_of(const double *values, const double *weights, size_t n)
{
    double all = 0, sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        double w = weights ? weights[i] : 1;
        all += w;
        sum += w * values[i];
        squares += w * values[i] * values[i];
    }
    double mean = sum / all, variance = squares / all - mean * mean;
    return (struct scale){mean, variance > 1e-12 ? 1 / sqrt(variance) : 0};
}
