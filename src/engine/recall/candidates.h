/* candidates.h - finds, describes and ranks the candidates of a question. */
#pragma once

#include "engine/gate/evidence.h"
#include "engine/past/past.h"
#include "engine/recall/lexical.h"
#include "engine/recall/quotable.h"
#include "engine/recall/tombstones.h"
#include "engine/state/state.h"
#include "engine/text/memory_intent.h"

/* The cosine from which on a text counts as close in meaning to the question. */
#define FOUND_CLOSE 0.35f
/* What is less near than that to a question in English is not looked at. */
#define FOUND_DISTANT 0.2f
/* The cosine from which on it says about the same. */
#define FOUND_SAME 0.7f
/* Documents that are taken from the index for a word of the question. */
enum { FOUND_HITS_MAX = 20000 };

/* How it was searched, for verdicts and receipts. */
struct search_account {
    str vectors, without; /* as in recall_out */
    str beside;           /* which server beside recall gave nothing, and why; or "" */
    str by_words;         /* why no vectors of our own took part; or "" */
    enum weights weighed; /* by which set */
    struct recall_steps steps;
};

/* A question on its way, at one place. */
struct finder {
    struct ctx *ctx;
    struct engine *e;
    const struct recall_in *in;
    struct pool_question asked;
    struct tombstones tombstones; /* of the pool */
    struct past past;             /* what was true at the time that is asked about */
    struct recalled *found;       /* best first */
    size_t n;
    struct search_account how;
    struct finder *spaces; /* where SCOPE_USER looks; else this one */
    size_t n_spaces;
};

/* Makes a finder ready, which then stays where it is, as in does: the query, the spaces, their
 * tombstones. */
MUST_USE enum status find_open(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                               struct finder *out);

/* The best `limit` that the question finds by words and, where there are some, by vectors. Fills
 * found. */
MUST_USE enum status find_answers(struct finder *f, size_t limit);

/* What a search of one session, type or layer wants, whatever the question; nothing of others. */
MUST_USE enum status find_wanted(struct finder *f, doc_id **out, size_t *n);

/* Searches every space of the scope and merges the results; by the strategy `recent` the newest. */
MUST_USE enum status find_in_scope(struct finder *f, size_t limit);

/* Notes which space they are from. */
void find_name_space(const struct finder *f, struct recalled *v, size_t n);

/* engine_recall that is not counted and does not wait for turns that are still to be written: for
 * who asks several times for one turn, and does both once. */
MUST_USE enum status find_recalled(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                                   struct recall_out *out);

typedef enum status recall_how(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                               struct recall_out *out);

/* Recalls as how does, after what is still to be written, and counts it with its time. */
MUST_USE enum status recall_counted(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                                    recall_how *how, struct recall_out *out);

/* Whether a search that asks so wants it. What the reader has in front of it is not wanted, nor
 * what was made of that, unless it was corrected since. */
bool find_wants(const struct finder *f, const struct recalled *r);

/* The one place that decides what may be shown of a result: whether it is wanted, and what the
 * tombstones leave of it, which it is cut to. False: nothing. */
bool find_shows(const struct finder *f, struct recalled *r);

/* Why the question found it: "says lake, paint; near it: sunrise; by Melanie, whom the question
 * names". */
str found_why(const struct finder *f, const struct recalled *r);

/* What is compared and shown of it: of a message what a chat may be given, where that is known; of
 * an answer that was given with memory beside it only what was new. */
str found_text(const struct recalled *r);

/* Whether the memory was noted from the message. */
static inline bool found_is_noted_from(const struct recalled *memory,
                                       const struct recalled *message)
{
    return memory->is_memory && !message->is_memory && memory->memory.source.n &&
           str_eq(message->message.id, memory->memory.source);
}

/* What of a message a chat may be given: what it states, without what is barred. */
struct quotable found_quotable(const struct finder *f, const struct message *m);

/* What the user stated in a message that may be found, as its quotable part; "" in others. */
str found_stated(const struct finder *f, struct recalled *r);
