/* tombstones.h - Statements that were forgotten, corrected or have expired stay out of recall. */
#pragma once

#include "engine/state/state.h"
#include "engine/text/term_set.h"

/*
 * A message stays in its conversation word for word; its barred sentences are left out wherever
 * recall gives something of it. A bar holds for what was said before it, so that the same thing
 * said again counts.
 */

/* What a text states, ready to be found in other texts. */
struct statement {
    struct term_set terms;      /* its telling words */
    struct term_set particular; /* of these the names, numbers and such; one must be there */
    bool has_nouns;             /* each noun looks like a name */
};
struct statement statement_of(struct arena *a, str text);

enum stating {
    STATES_NOTHING, /* of it */
    MENTIONS,       /* a part of it */
    STATES          /* the same, or a part of it that tells the same */
};
/* What a sentence says of a statement. */
enum stating stating_of(const struct statement *s, const struct statement *sentence);
/* "My brother is allergic to nuts" does not state "is allergic to nuts", which is said of the user:
 * the sentence is of a relative whom the statement does not name, and not of the speaker as well
 * ("My mother and I …"). */
bool is_of_another(const struct statement *s, struct arena *a, str sentence);
/* Equal for sentences that differ in case, blanks and punctuation only; 0: it says nothing. */
uint64_t sentence_hash(struct arena *a, str sentence);
/* When an expired memory's bar begins. A time that had passed when it was set counts from then. */
int64_t tombstones_end_of(const struct memory *m);
/* As tombstones name a message. */
uint64_t tombstones_message(str id);

/* One bar in force. */
struct barred {
    enum bar_kind kind;
    enum bar_reason reason; /* superseded: who asks how it was may be given it */
    int64_t at;
    uint64_t message;
    struct statement statement;
    struct term_set sentences;
};
/* A bar in the chain of one of its terms: a recall asks for hundreds of sentences, and somebody may
 * have forgotten thousands. */
struct bar_key {
    uint64_t term;
    const struct barred *bar;
    struct bar_key *next;
};
enum { TOMBSTONE_CHAINS = 4096 };
struct tombstones {
    struct barred *v;
    size_t n;
    struct bar_key **chains; /* by term; none where there are no bars */
    int64_t all;             /* nothing that was said before is given; 0: no such time */
    int64_t newest;          /* the time of the newest bar */
};
/* Those of a pool, and one for each expired memory that is not pruned yet. */
MUST_USE enum status tombstones_load(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                     struct tombstones *out);

/* Takes the bars of these reasons (1 << BAR_SUPERSEDED …) away that begin after a time (unix ms),
 * for who asks how it was. What was forgotten or corrected stays barred at any time. */
void tombstones_lift(struct tombstones *b, unsigned reasons, int64_t after);

/* The message's text (of an echo: what is new in it) without barred sentences; "" when nothing is
 * left. */
str tombstones_left(const struct tombstones *b, struct arena *a, const struct message *m);
/* Leaves the barred sentences of a result out, which is_cut notes; false: nothing is left of it. */
bool tombstones_keep(const struct tombstones *b, struct arena *a, struct recalled *r);
/* Whether a bar names the message; then a memory made of it is not told by it. */
bool tombstones_touch(const struct tombstones *b, str message);

/* For messages that come again, from an import or a client's history: one whose sentences are
 * barred is dated before the bar, as the same sentence said again later is a new statement. */
void tombstones_date_back(const struct tombstones *b, struct arena *a, struct message *m);
