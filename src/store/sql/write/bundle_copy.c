/* bundle_copy.c - a bundle that outlives the call that made it. */
#include "store/sql/write/bundle_copy.h"

/*
 * For writes that nobody waits for: the caller's arena is gone when the writer gets to them. What
 * needs an answer (work, erase, closes) is not copied, as store.c lets no such bundle come here.
 */

static struct receipt *copy_receipt(struct arena *a, const struct receipt *r)
{
    struct receipt *out = NEW(a, struct receipt);
    *out = *r;
    out->id = str_dup(a, r->id);
    out->session = str_dup(a, r->session);
    out->question = str_dup(a, r->question);
    out->decision = str_dup(a, r->decision);
    out->reason = str_dup(a, r->reason);
    out->block = str_dup(a, r->block);
    out->lines = NEW_N(a, struct receipt_line, r->n);
    for (size_t i = 0; i < r->n; i++) {
        out->lines[i] = r->lines[i];
        out->lines[i].kind = str_dup(a, r->lines[i].kind);
        out->lines[i].id = str_dup(a, r->lines[i].id);
        out->lines[i].source = str_dup(a, r->lines[i].source);
        out->lines[i].why = str_dup(a, r->lines[i].why);
    }
    out->told.v = NEW_N(a, str, r->told.n);
    for (size_t i = 0; i < r->told.n; i++)
        out->told.v[i] = str_dup(a, r->told.v[i]);
    return out;
}

struct bundle *bundle_copy(struct arena *a, const struct bundle *b)
{
    struct bundle *out = NEW(a, struct bundle);
    *out = *b;
    out->work = NULL;
    out->erase = NULL;
    out->n_erase = 0;
    out->closes = NULL;
    out->n_closes = 0;
    out->pool = pool_copy(a, b->pool);
    out->session.id = str_dup(a, b->session.id);
    out->session.title = str_dup(a, b->session.title);
    out->messages = NEW_N(a, struct message, b->n_messages);
    for (size_t i = 0; i < b->n_messages; i++)
        out->messages[i] = message_copy(a, &b->messages[i]);
    out->memories = NEW_N(a, struct memory, b->n_memories);
    for (size_t i = 0; i < b->n_memories; i++)
        out->memories[i] = memory_copy(a, &b->memories[i]);
    int64_t *distilled = NEW_N(a, int64_t, b->n_distilled);
    for (size_t i = 0; i < b->n_distilled; i++)
        distilled[i] = b->distilled[i];
    out->distilled = distilled;
    if (b->receipt)
        out->receipt = copy_receipt(a, b->receipt);
    return out;
}

/* An estimate for the limit of the queue, by the members that can be long. */
size_t bundle_bytes(const struct bundle *b)
{
    size_t bytes = sizeof *b + b->session.id.n + b->session.title.n;
    bytes += b->n_distilled * sizeof *b->distilled;
    for (size_t i = 0; i < b->n_messages; i++)
        bytes += sizeof *b->messages + b->messages[i].text.n + b->messages[i].says.n;
    for (size_t i = 0; i < b->n_memories; i++)
        bytes += sizeof *b->memories + b->memories[i].content.n + b->memories[i].metadata.n;
    if (b->receipt) {
        bytes += sizeof *b->receipt + b->receipt->block.n + b->receipt->question.n;
        for (size_t i = 0; i < b->receipt->n; i++)
            bytes += sizeof *b->receipt->lines + b->receipt->lines[i].why.n;
        for (size_t i = 0; i < b->receipt->told.n; i++)
            bytes += sizeof *b->receipt->told.v + b->receipt->told.v[i].n;
    }
    return bytes;
}
