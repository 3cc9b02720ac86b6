/* weight.c - the weight of a memory as time passes. */
#include <math.h>

#include "base/clock.h"
#include "engine/text.h"

enum { FADING_DAYS = 30 };

double age_decay(int64_t age_ms, double half_life_days)
{
    assert(half_life_days > 0);
    if (age_ms <= 0)
        return 1;
    return exp2(-(double)age_ms / (half_life_days * 86400000.0));
}

/* Computed when it is read, so nothing has to be updated daily. */
double salience_now(const struct memory *m, int64_t now)
{
    double days = (double)(now - m->last_used) / DAY_MS;
    double worth = m->salience * (days > 0 ? exp(-days / FADING_DAYS) : 1);
    return worth > 1 ? 1 : worth > 0 ? worth : 0;
}

double importance_after(double importance, double per_day, int64_t days)
{
    return importance * exp(-per_day * (double)(days > 0 ? days : 0));
}

double relevance_of(double similarity, enum priority priority, int64_t days, int64_t uses)
{
    static const double by_priority[PRIORITY_COUNT] = {0.3, 0.2, 0.1, 0};
    assert(priority < PRIORITY_COUNT);
    double used = uses > 0 ? 1 + 0.1 * log((double)uses + 1) : 1;
    double all = (similarity + by_priority[priority]) * age_decay(days * DAY_MS, 30) * used;
    return all < 1 ? all : 1;
}
