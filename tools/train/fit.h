/* fit.h - Newton's method for convex fits with a small penalty. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { COLUMNS_MAX = 64 };

/* Zeroed but for n. w is the answer. */
struct fit {
    size_t n;
    double w[COLUMNS_MAX], gradient[COLUMNS_MAX], hessian[COLUMNS_MAX][COLUMNS_MAX], loss;
    double kept[COLUMNS_MAX], least; /* the best so far */
    double penalty;                  /* on the square of each weight */
    int steps;
};

enum { FIT_STEPS = 25 };

/* Before the rows of a step are added up: gradient, lower half of hessian, loss. */
void fit_begin(struct fit *f);
/* After it. */
void fit_step(struct fit *f);
/* A row of a logistic fit: whether it is a hit, and how often it counts. */
void fit_add_logistic(struct fit *f, const double *x, bool is_hit, double weight);
double fit_dot(const struct fit *f, const double *x);

/* What a column is scaled by, so that the penalty is fair. */
struct scale {
    double mean, factor;
};
struct scale scale_of(const double *values, const double *weights, size_t n);
