/* echo.c - answers that quote memory are kept and not found by what they quote. */
#include "engine/chat/novelty.h"
#include "engine/recall/block.h"
#include "engine/state/state.h"
#include "store/store.h"

#include "lib/store.h"

static str a_block(struct arena *a)
{
    struct recalled r = {.message = said("9f8e7d6c", "user", "my dog is called Rex", 1000),
                         .state = LINE_INJECTED};
    return block_render(a, &r, 1, -1, 2000);
}

TEST(only_what_is_new_is_searched)
{
    struct arena *a = &ctx->arena;
    str block = a_block(a);
    CHECK_STR(novel_sentences(a, S("Your dog is called Rex."), block, S("")), S(""));
    CHECK_STR(novel_sentences(a, S("Your dog is called Rex! He could see Dr. Almeida in Porto."),
                              block, S("")),
              S(" He could see Dr. Almeida in Porto."));
    CHECK_STR(novel_sentences(a, S("Plan:\n1. buy a leash\n2. call Rex, the dog\n"), block, S("")),
              S("Plan:\n1. buy a leash\n"));
    CHECK_STR(novel_sentences(a, S("Got it: choir on Friday. Bring Rex a bone."), S(""),
                              S("Choir is on Friday now.")),
              S(" Bring Rex a bone."));
    CHECK_STR(novel_sentences(a, S(""), block, S("")), S(""));
}

static enum status write_answer(struct ctx *ctx, struct store *s, const char *id, bool is_echo,
                                const char *says)
{
    struct message m = said(id, "assistant", "Your dog is called Rex. Porto has vets.", 1000);
    m.is_echo = is_echo;
    m.says = str_of(says);
    struct bundle b = {.pool = mine,
                       .session = {.id = str_of(id)},
                       .messages = &m,
                       .n_messages = 1};
    return store_write(ctx, s, &b);
}

static size_t finds(struct ctx *ctx, struct store *s, const char *stem)
{
    struct word_hits hits;
    str stems[] = {str_of(stem)};
    CHECK_OK(store_search_words(ctx, s, mine, stems, 1, false, 100, &hits));
    return hits.n;
}

TEST(an_echo_is_found_by_its_own_words_alone_and_forgotten_whole)
{
    PLACE(p);
    STORE(s, p);
    int64_t erased;
    str findings;
    CHECK_OK(write_answer(ctx, s, "one", false, ""));
    CHECK_OK(write_answer(ctx, s, "two", true, " Porto has vets."));
    CHECK_OK(write_answer(ctx, s, "three", true, ""));
    CHECK_INT(finds(ctx, s, "rex"), 1);
    CHECK_INT(finds(ctx, s, "porto"), 2);
    CHECK_OK(store_check(ctx, s, &findings));
    CHECK_STR(findings, S(""));
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .id = S("two")}, &erased));
    CHECK_INT(finds(ctx, s, "porto"), 1);
    CHECK_OK(store_check(ctx, s, &findings));
    CHECK_STR(findings, S(""));
}
