/* reasons.c - why a candidate was found, and why memory spoke or not, in words. */
#include "engine/recall/candidates.h"
#include "engine/recall/features.h"

static void add_words(struct buf *b, const struct query *q, str what, const uint8_t *in,
                      const uint8_t *but)
{
    bool first = true;
    for (size_t w = 0; w < q->n; w++) {
        if (!in[w] || (but && but[w]))
            continue;
        buf_add(b, first ? what : S(", "));
        buf_add(b, q->texts[w]);
        first = false;
    }
}

static void add_reason(struct buf *b, str reason)
{
    buf_printf(b, "%s" S_FMT, b->n ? "; " : "", S_ARG(reason));
}

str found_why(struct arena *a, const struct query *q, const struct candidate *c,
              const struct recalled *r)
{
    enum { WHY_MAX = 400 };
    struct buf b = buf_make(a, WHY_MAX);
    add_words(&b, q, S("says "), c->own, NULL);
    add_words(&b, q, b.n ? S("; near it: ") : S("near it: "), c->near, c->own);
    if (c->dense >= FOUND_CLOSE)
        add_reason(&b, str_printf(a, "close in meaning (%.2f)", (double)c->dense));
    if (r->measured.signals[SIGNAL_speaker] > 0)
        add_reason(&b, str_printf(a, "by " S_FMT ", whom the question names",
                                  S_ARG(r->message.speaker)));
    if (r->measured.signals[SIGNAL_answers] > 0)
        add_reason(&b, S("answers a question about it"));
    if (r->measured.signals[SIGNAL_time] > 0)
        add_reason(&b, S("of the time the question names"));
    if (r->measured.signals[SIGNAL_date] > 0)
        add_reason(&b, S("holds a date"));
    return buf_str(&b);
}

str gate_reason(struct arena *a, struct gate gate, double probability, double threshold, str unsaid)
{
    enum { REASON_MAX = 1000 };
    struct buf b = buf_make(a, REASON_MAX);
    if (gate.section != GATE_NONE && !gate.is_weak)
        buf_printf(&b, "%s (\"" S_FMT "\"), ", gate.is_time ? "names a time" : "asks for memory",
                   S_ARG(gate.phrase));
    buf_printf(&b, "probability of an answer %.3f, %.3f needed", probability, threshold);
    if (probability < threshold && unsaid.n)
        buf_printf(&b, "; nobody here said " S_FMT, S_ARG(unsaid));
    return buf_str(&b);
}
