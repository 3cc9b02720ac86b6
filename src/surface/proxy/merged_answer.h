/* merged_answer.h - several answers of a model as the client sees them: one, without our calls. */
#pragma once

#include "surface/proxy/tool_calls.h"

struct merged_answer {
    struct ctx *ctx;           /* for what outlives one answer */
    str id, created;           /* JSON, of the first chunk shown; later chunks take them */
    bool has_role;             /* the client has seen a role */
    bool owes_role;            /* the chunk with the role was hidden */
    bool has_text;             /* an earlier answer showed text */
    bool shows_text;           /* this answer has shown text */
    bool is_later;             /* there was an earlier answer */
    struct buf usage;          /* of this answer: the last one seen */
    const struct json **spent; /* of the earlier answers */
    size_t n_spent, cap;
};

struct merged_answer merged_answer_new(struct ctx *ctx);
/* Notes an answer's or chunk's usage. */
void merged_answer_note_usage(struct merged_answer *v, const struct json *answer);
/* Another answer follows. */
void merged_answer_next(struct merged_answer *v);

/*
 * A chunk as the client sees it: the same text when nothing changes, "" when nothing is left.
 * is_hidden: its end is not shown, since another answer follows.
 */
str merged_answer_chunk(struct merged_answer *v, struct arena *a, str text,
                        const struct json *chunk, const struct tool_calls *calls, bool is_hidden);
/* The same for a whole answer. */
str merged_answer_whole(struct merged_answer *v, struct arena *a, str text,
                        const struct json *answer, const struct tool_calls *calls);
