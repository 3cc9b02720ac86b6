/* filter.c - the chain of filters that an upstream's answer passes on its way to the client. */
#include "http/server/filter.h"

/*
 * Only the exchange's owner runs its filters: the loop's thread, or a worker while the exchange is
 * with it. So filters need no locks. On the loop each piece goes to the client at once, without a
 * copy; what filters give on a worker is collected in one buffer and sent when the loop has the
 * exchange again.
 */

void relay_add_filter(struct relay *r, struct filter *f, const struct filter_ops *ops)
{
    struct filter **end = &r->filters;
    assert(!(ops->data && ops->watch) && (ops->end || !ops->work));
    while (*end)
        end = &(*end)->next;
    *f = (struct filter){.ops = ops};
    *end = f;
    bool may_change = ops->data || ops->end;
    r->some.changes |= may_change;
    r->some.holds_head |= may_change && !ops->shows_head;
    r->some.has_done |= ops->done != NULL;
}

/* A filter behind one that holds everything back gets its head late: with the first byte, or the
 * end, that reaches it. So it sees the code of the answer that is shown, not of a hidden one. */
static void begin_answer(struct filter *f, struct relay *r)
{
    if (f->has_head)
        return;
    f->has_head = true;
    if (f->ops->head)
        f->ops->head(f, r);
}

str filters_pass(struct filter *f, struct relay *r, str bytes)
{
    for (; f && bytes.n; f = f->next) {
        assert(!f->has_ended);
        begin_answer(f, r);
        if (f->ops->data)
            bytes = f->ops->data(f, r, bytes);
        else if (f->ops->watch)
            f->ops->watch(f, r, bytes);
    }
    return bytes;
}

void filters_last(struct relay *r)
{
    for (struct filter *f = r->filters; f; f = f->next) {
        begin_answer(f, r);
        if (f->ops->last)
            f->ops->last(f, r);
    }
}

bool filter_end(struct filter *f, struct relay *r, str *out)
{
    str rest = S("");
    assert(!f->has_ended);
    begin_answer(f, r);
    if (f->ops->last)
        f->ops->last(f, r);
    bool wants_work = f->ops->end && f->ops->end(f, r, &rest);
    f->has_ended = true;
    *out = filters_pass(f->next, r, rest);
    return wants_work;
}

/* Filters behind the one that asks saw no end, and the answer goes on for them. */
static void start_over(struct relay *r, const struct filter *last)
{
    for (struct filter *f = r->filters; f; f = f->next) {
        f->has_head = f->has_ended = false;
        if (f == last)
            return;
    }
    assert(!"the filter that asks again is one of the relay's");
}

/* A loop over the rest of the chain: each filter behind the working one gets what it gave, then its
 * own end, which may want work as well. Stops early when one asks the upstream again. */
enum status filters_work(struct ctx *ctx, struct app *app, struct relay *r, struct filter *f,
                         struct buf *late, bool *asks_again)
{
    *asks_again = false;
    for (bool wants_work = true; f; f = f->next) {
        struct filter_work done = {.rest = S("")};
        str out;
        if (!f->has_ended) {
            wants_work = filter_end(f, r, &out);
            buf_add(late, out);
        }
        if (!wants_work) /* its end was enough */
            continue;
        assert(f->ops->work);
        TRY(f->ops->work(f, ctx, app, r, &done));
        if (done.asks_again) {
            start_over(r, f);
            *asks_again = true;
            return OK;
        }
        buf_add(late, filters_pass(f->next, r, done.rest));
    }
    return late->full ? fail(ctx, TOO_LARGE, "the answer is over the limit of %zu bytes", late->max)
                      : OK;
}

/* The words skip the filters behind: these may be in the middle of an event. */
bool filters_failed(struct relay *r, enum status how, str why, str *out)
{
    struct filter *nearest = NULL;
    for (struct filter *f = r->filters; f; f = f->next)
        if (f->ops->failed)
            nearest = f;
    *out = nearest ? nearest->ops->failed(nearest, r, how, why) : S("");
    return nearest != NULL;
}

/* All of them, in order, even when one of them failed: each frees what it holds. */
void filters_done(struct ctx *ctx, struct app *app, struct relay *r, enum status how)
{
    for (struct filter *f = r->filters; f; f = f->next)
        if (f->ops->done)
            f->ops->done(f, ctx, app, r, how);
}
