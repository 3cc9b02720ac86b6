/* turn.h - a turn of a chat inside the engine, and where its conversation is in the store. */
#pragma once

#include "engine/state/state.h"

/* A message of the user in the request. */
struct said_at {
    uint64_t chain;
    size_t at; /* index in said */
};

/* What a turn was that is kept later than it was said. */
struct late {
    int64_t at; /* unix ms */
    str receipt, decision, reason, block;
    uint64_t own;    /* of the answer, as in struct said */
    str answer;      /* without a block */
    bool is_brought; /* set: the client has gone on elsewhere, where the turn is history */
};

struct turn {
    struct turn_in in;
    struct turn_out out;
    struct arena *arena;    /* of the call that began the turn */
    struct receipt record;  /* written by engine_end_turn */
    bool has_queued;        /* the record, before the model was asked, as it is */
    struct said_at *spoken; /* the user's messages of in.said, in order */
    size_t n_spoken;
    struct strs told;      /* what earlier blocks of the conversation tell, as in struct receipt */
    struct message *fresh; /* of in.said: what the store does not know yet, in order */
    size_t n_fresh;
    uint64_t chain;      /* hash of everything said */
    uint64_t last;       /* hash of the last message alone, for the tail of the answer */
    str calls;           /* what an answer without text is; "": nothing that is kept */
    struct strs secrets; /* of the conversation: see turn_find_secrets */
    bool is_blind;       /* earlier turns were not in the store yet, or it was away */
    struct unkept unkept;
    turn_answer_text *answer_of; /* not NULL: the turn is answered */
    void *answer_arg;
};

static inline bool said_by_user(const struct said *s)
{
    return str_is(s->role, "user");
}

/* Finds where the conversation is in the store and fills record.session, record.chain, out.session,
 * out.whole, out.ids, fresh, n_fresh, chain and last. A store that fails counts as one that knows
 * nothing; false: it is away. */
bool turn_place(struct ctx *ctx, struct engine *e, struct turn *t);

/* Notes what is a secret in the request's messages; before turn_place compares kept texts. */
void turn_find_secrets(const struct engine *e, struct turn *t);
/* The text with these and its own secrets masked, unless the setting keeps secrets. */
str turn_masked(const struct engine *e, const struct turn *t, struct arena *a, str text);

/* engine_end_turn for an answer that says that the turn is kept: it is on the disk then. */
MUST_USE enum status turn_end_now(struct ctx *ctx, struct engine *e, struct turn *t, str answer);

/* When it was said. */
int64_t turn_at(const struct turn *t);

/* The hash of a message alone, by which its conversation is found. */
uint64_t turn_own(const struct turn *t, str role, str text);

/* The assistant's message at the end of a turn; without a text, the note of its calls. teaches:
 * what it says is extracted, also where it repeats the user. */
struct message turn_answer(struct arena *a, struct engine *e, const struct turn *t, str answer,
                           bool teaches);

/* What the turn may do now: its mode, unless memory was switched off meanwhile. */
enum memory_mode turn_mode_now(struct engine *e, const struct turn_in *in);

/* --- replay.c: blocks of memory that stand in a conversation already --- */

/* Fills out.earlier and told from the conversation's receipts, as far as these can be read. */
void replay_find(struct ctx *ctx, struct engine *e, struct turn *t);

/* Leaves out of what recall has found what an earlier block of the conversation tells. */
void replay_leave_told(const struct turn *t, struct recalled *v, size_t n);

/* What a block made of these tells; for the receipt. */
struct strs replay_told(struct arena *a, const struct recalled *v, size_t n);
