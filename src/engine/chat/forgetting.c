/* forgetting.c - a request to forget is answered truly, and not remembered as a statement. */
#include "engine/chat/forgetting.h"

#include "core/tokens.h"
#include "engine/text/block_strip.h"
#include "engine/text/forget_request.h"

/*
 * "Please forget that I'm allergic to peanuts" erases nothing: rules that read it erased what
 * nobody meant (docs/decisions/016-erasing.md). But a model would answer "I have forgotten
 * it", and the request would be the best line about peanuts from then on.
 */

#define NOTE                                                                                       \
    "Asked to forget something. A message in a chat does not do that, so nothing was forgotten. "  \
    "It can be deleted in Memory Studio, with `rememberd forget ID`, or with the tool "            \
    "memory_forget."

str forgetting_note(str message)
{
    return forget_request_of(message) == FORGET_NOTHING ? S("") : S(NOTE);
}

/* A block of another form, as agents have it, stays as it is. */
str forgetting_block(struct arena *a, str block, str note, int64_t budget_tokens)
{
    const str end = S(BLOCK_CLOSING), begin = S(BLOCK_OPENING);
    if (!note.n || (block.n && !str_ends(block, end)))
        return block;
    str front = block.n ? str_sub(block, 0, block.n - end.n) : begin;
    str whole = str_printf(a, S_FMT "- " S_FMT "\n" BLOCK_CLOSING, S_ARG(front), S_ARG(note));
    return tokens_of(whole) <= budget_tokens ? whole : block;
}
