/* chat.h - a part of the engine's face: a turn of a chat, from its question to its answer. */
#pragma once

#include "core/memory.h"
#include "engine/context.h"

/* A message of the request, in the client's words: text parts joined by newlines. */
struct said {
    str role, text, name;
    uint64_t own; /* turn_own of the text before its secrets were masked; 0: nothing was masked */
};

/* readonly: recall, keep nothing; after: keep, recall nothing. */
enum memory_mode { MODE_FULL, MODE_READONLY, MODE_AFTER, MODE_OFF };
extern const char *const memory_mode_names[];

/* What a preview changes of a turn; all zero changes nothing. */
struct preview {
    int64_t budget_tokens; /* of the block; 0: the setting's */
    const str *without;    /* ids of messages and memories that count as not there */
    size_t n_without;
    int64_t as_of; /* unix ms: as recall_in has it, and the time that the question is asked at */
};

/* What a turn is begun with. The texts, said and window live until the turn has ended. */
struct turn_in {
    struct {         /* what the request says */
        str session; /* as the client named it, or "": derived from the conversation */
        const struct said *said;
        size_t n_said;
        str model; /* that answers: for the log, and whether questions are rewritten by a model */
        bool stand_in;    /* the built-in model answers: its answer is never found again */
        bool brings_all;  /* the whole conversation, also when the user alone speaks */
        bool is_found;    /* session: by engine_goes_on, and not the client's name */
        bool has_tools;   /* the answer may be a tool call; then the question comes again at once */
        bool has_helpers; /* the client may send prompts of its own, unnamed: the form decides */
        str helper;    /* "title of Open WebUI": the client's own call, and what it is for; or "" */
        bool is_aside; /* that call's message is not in said: earlier blocks are put back, nothing
                          is recalled. Needs MODE_READONLY and helper */
    };
    struct { /* where it is kept, by what access allows */
        struct pool_ref pool;
        bool is_durable;  /* engine_end_turn returns when the turn is on the disk, or fails */
        bool goes_on;     /* of a durable turn: the session exists, and if it is forgotten while the
                             model answers, the turn is forgotten, too */
        str answer_id;    /* the id that the answer gets; "": derived from what was said */
        bool notes_owner; /* the model's server keeps answers of all users in one account: whose
                             this one is gets noted, with any mode */
    };
    struct { /* what is asked of memory */
        enum memory_mode mode;
        enum scope scope; /* what is recalled: of the space, or of the turn's session alone */
        bool is_planned;  /* an agent's chat: engine_plan makes the block, in front of the text */
        bool replays;     /* blocks of earlier turns are put back, where turn_out.earlier says */
        const struct message *window; /* earlier messages of the session that the model is shown and
                                         the request does not hold: they help to understand the
                                         question, and are not recalled */
        size_t n_window;
        int64_t rewrite_ms;    /* how long a better question may take; 0: no model is asked */
        int64_t budget_tokens; /* most that the block may have; 0: as the setting allows */
        str beside; /* a block of another space that the model was given with the same question: an
                       answer that repeats it is not new either */
        const struct preview *preview; /* of engine_preview alone; else NULL */
    };
    struct late *late; /* of engine_keep_late alone; else NULL */
};

/* A block that an earlier turn of the conversation got. */
struct earlier_block {
    size_t at; /* index in said, or in window, of the message that it stands beside */
    bool in_window;
    str block;
};

/* What a turn has found. A helper's prompt is a turn with MODE_OFF that has a receipt. */
struct turn_out {
    enum memory_mode mode; /* the one asked for, or MODE_OFF: memory is switched off */
    str helper;            /* the one given, or that it was recognized by its form; "": a user's */
    str receipt;           /* id of the receipt; "" when memory is switched off */
    str session;           /* id of the session that was found or begun; "" with MODE_OFF */
    str block;             /* the memory block for the last user message, or "" */
    size_t block_at;       /* index in said of that message */
    const struct earlier_block *earlier; /* in order, window first; as given then, byte for byte */
    size_t n_earlier;
    struct strs ids; /* of the messages in said and window, as the store has or will have them
                      */
    str whole;       /* the session if said and window hold all of it, or "" */
    str forgot;      /* what the model is told of a request to forget something; or "" */
    str unkept;      /* once the turn has ended: why its words were not kept, or "" */
};

/* A turn between its question and its answer. */
struct turn;

/*
 * Finds the session, recalls, renders the block. Of more than 10,000 messages only the last ones
 * count. Never fails a chat: a recall that fails or takes longer than the deadline leaves the block
 * empty and the receipt says why. When a tool's answer follows, the block is the one that was put
 * beside the same question before, byte for byte. Between the message's own text and the block
 * there is one blank line ("\n\n"): engine_strip_block knows it. The turn, never NULL, lives in the
 * ctx's arena.
 */
struct turn *engine_begin_turn(struct ctx *ctx, struct engine *e, const struct turn_in *in);

/*
 * What engine_begin_turn would give now, as the receipt that it would write, without an id: by the
 * same functions, and nothing is written, noted for review or counted. A core model that the chat
 * would ask is asked, and its cost is logged. in->preview is set.
 */
void engine_preview(struct ctx *ctx, struct engine *e, const struct turn_in *in,
                    struct receipt *out);

const struct turn_out *turn_out_of(const struct turn *t);

/* The request has no room for the block: nothing is injected, and the receipt says why. */
void turn_drop_block(struct turn *t, str why);

/* The model searched this layer and was given v: lines of the receipt. At most 200 are kept. */
void turn_note_search(struct turn *t, enum plan_scope scope, const struct recalled *v, size_t n);

/*
 * Keeps the turn: new messages, facts from the user's words and the receipt, in one write that does
 * not wait for the disk unless the turn is durable. answer is the assistant's text, "" when there
 * was none (tool calls, an error).
 */
MUST_USE enum status engine_end_turn(struct ctx *ctx, struct engine *e, struct turn *t, str answer);
/* The answer as it is kept: without thoughts, images and the like. */
str engine_kept_answer(struct arena *a, str answer);

/* Whether engine_end_turn is to come before the client has the whole answer, as its next question
 * may go to another server: then it returns when they can all read the turn. */
bool engine_keeps_first(const struct engine *e);

/* What the assistant said, in the ctx's arena or longer-lived; may run on any thread. */
typedef str turn_answer_text(struct ctx *ctx, void *arg);

/*
 * The client is about to have the whole answer: from now on whatever reads the pool's memory keeps
 * this turn first, with the text that answer_of gives, so that the client's next question finds it.
 * Does not block. engine_finish_turn must follow; what answer_of reads stays unchanged until then.
 */
void engine_turn_answered(struct engine *e, struct turn *t, turn_answer_text *answer_of, void *arg);
/* Keeps the turn unless someone has; a failure is logged. False, and nothing was done, when the
 * turn was never answered. */
bool engine_finish_turn(struct ctx *ctx, struct engine *e, struct turn *t);

/*
 * A store on another machine may be away. Then what was said goes into a file of the folder, and is
 * kept when the store is back: once, and in order. Without the file it is lost.
 */
MUST_USE enum status engine_open_spool(struct ctx *ctx, struct engine *e, str folder);
/* Keeps some of what waits there; *more: call again at once. One thread at a time. */
MUST_USE enum status engine_keep_late(struct ctx *ctx, struct engine *e, bool *more);

/* --- conversations that the model's server keeps --- */

/*
 * The request has new messages only, behind the answer of this name or, with "", behind what the
 * session t->session holds. Fills t->window with the messages that the model sees anyway, so that
 * none of their memories is given twice, and the session of a known name unless it is set. An
 * unknown name is the same as "". A store that fails leaves t as it is.
 */
void engine_goes_on(struct ctx *ctx, struct engine *e, struct turn_in *t, str answer);

/* How later requests may refer to an answer. */
struct answer_names {
    str name;  /* by which a request goes on from it; "": it cannot */
    str calls; /* what the answer is when it has no text */
    str items; /* ids of its items, one a line */
};

/*
 * Notes how the next request may go on from this turn's answer. A name that the pool has already is
 * left to the answer before. Texts live in the ctx; engine_end_turn must follow with the same one.
 */
void turn_name_answer(struct ctx *ctx, struct engine *e, struct turn *t,
                      const struct answer_names *names);

/* What a model's server keeps. A conversation belongs to the user who first goes on from it. */
enum held_kind { HELD_RESPONSE, HELD_ITEM, HELD_CONVERSATION };

/* Whether the thing with that id is the user's: NOT_FOUND unless a turn with notes_owner has noted
 * it for the user. */
MUST_USE enum status engine_may_follow(struct ctx *ctx, struct engine *e, str user,
                                       enum held_kind kind, str id);

/* A title by the first message of the user; asked for only when nothing stands before these. */
str engine_title_of(const struct message *v, size_t n);

/* --- the built-in model --- */

/* rememberd/demo: the built-in model without a server. Answers from the turn's block, and from
 * those of the user's earlier messages in the window that share a word with the question. */
str engine_demo_answer(struct ctx *ctx, str question, const struct turn_out *turn,
                       const struct message *window, size_t n_window);

/* Ends the turn and answers it. What the user states is on the disk before the answer says so; when
 * that fails the answer says why. Only a durable turn that cannot be kept is a failure. */
MUST_USE enum status engine_answer_demo(struct ctx *ctx, struct engine *e, struct turn *t,
                                        str question, str *answer);
