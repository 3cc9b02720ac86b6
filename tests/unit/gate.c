/* gate.c - which messages ask for memory. */
#include "engine/text/memory_intent.h"

#include "t.h"

static void gives(struct ctx *ctx, const char *message, const char *section)
{
    static const str entities[] = {{"Alice", 5}, {"Bo", 2}};
    struct gate g = gate_of(&ctx->arena, str_of(message), entities, 2);
    if (strcmp(gate_section_names[g.section], section))
        fail_msg("\"%s\" is %s by \"" S_FMT "\", not %s", message, gate_section_names[g.section],
                 S_ARG(g.phrase), section);
}

TEST(the_vectors_of_the_document)
{
    gives(ctx, "hi", "none");
    gives(ctx, "What's my name?", "identity");
    gives(ctx, "What did we talk about last week?", "episode");
    gives(ctx, "what exactly did I say about pricing?", "transcript");
    gives(ctx, "Remember that I hate olives", "episode");
    gives(ctx, "do you remember my dog's name", "pinned");
    gives(ctx, "Which of my plants needs water?", "pinned");
    gives(ctx, "Email Alice about the deck", "pinned");
    gives(ctx, "What is 2+2?", "none");
}

TEST(a_name_is_known_in_whatever_case_and_apostrophe)
{
    static const str names[] = {{"\xC3\x89MILIE", 7}, {"O'Brien", 7}};
    struct arena *a = &ctx->arena;
    CHECK(gate_of(a, S("Ask \xC3\xA9milie"), names, 2).section == GATE_PINNED);
    CHECK(gate_of(a,
                  S("Ask O\xE2\x80\x99"
                    "Brien"),
                  names, 2)
              .section == GATE_PINNED);
    CHECK(gate_of(a, S("Ask \xC3\xA9milienne"), names, 2).section == GATE_NONE);
}

TEST(what_fired_by_mistake_is_mended)
{
    gives(ctx, "Output exactly three words", "none");
    gives(ctx, "Before we start, write a loop", "none");
    gives(ctx, "When did the war end?", "none");
    gives(ctx, "What do I do when the build fails?", "none");
    gives(ctx, "Show me malice in prose", "none");
    gives(ctx, "Copy this verbatim: abc", "none");
    gives(ctx, "The imagos are here", "none");
}

TEST(every_section_has_its_phrases)
{
    gives(ctx, "What do I do?", "identity");
    gives(ctx, "what do I do for a living", "identity");
    gives(ctx, "Who am I?", "identity");
    gives(ctx, "So, WHERE DO I WORK", "identity");
    gives(ctx, "what\xE2\x80\x99s my name", "identity");
    gives(ctx, "exact words please", "transcript");
    gives(ctx, "please quote my exact words", "transcript");
    gives(ctx, "repeat back my words", "transcript");
    gives(ctx, "what were my exact words?", "transcript");
    gives(ctx, "what I wrote there", "transcript");
    gives(ctx, "the thing from yesterday", "episode");
    gives(ctx, "we met two years ago", "episode");
    gives(ctx, "what happened on Tuesday", "episode");
    gives(ctx, "where was I in June", "episode");
    gives(ctx, "what was on 2026-05-08?", "episode");
    gives(ctx, "have we done this before?", "episode");
    gives(ctx, "when did I buy the car", "episode");
    gives(ctx, "you told me so", "episode");
    gives(ctx, "that thing we built", "episode");
    gives(ctx, "recall when it snowed", "episode");
    gives(ctx, "did I tell Bob", "pinned");
    gives(ctx, "never forget", "pinned");
    gives(ctx, "is our car red", "pinned");
    gives(ctx, "oh my!", "none");
    gives(ctx, "alice's deck", "pinned");
    gives(ctx, "ask Bo", "none");
    gives(ctx, "", "none");
    gives(ctx, "\xE7\x8C\xAB", "none");
}

TEST(every_language_has_its_phrases)
{
    gives(ctx,
          "Wie hei\xC3\x9F"
          "e ich eigentlich?",
          "identity");
    gives(ctx, "Was haben wir letzte Woche geplant?", "episode");
    gives(ctx, "Wei\xC3\x9Ft du noch, wie der Hund hie\xC3\x9F?", "pinned");
    gives(ctx, "Was gibt man meiner Katze?", "pinned");
    gives(ctx, "Wie backt man Brot?", "none");
    gives(ctx, "Quel est mon m\xC3\xA9tier ?", "identity");
    gives(ctx, "On a parl\xC3\xA9 de quoi ?", "episode");
    gives(ctx, "Tu te souviens du chien ?", "pinned");
    gives(ctx, "Comment faire du pain ?", "none");
    gives(ctx,
          "\xC2\xBF"
          "D\xC3\xB3nde vivo?",
          "identity");
    gives(ctx, "\xC2\xBFQu\xC3\xA9 hicimos ayer?", "episode");
    gives(ctx, "\xC2\xBFTe acuerdas del perro?", "pinned");
    gives(ctx,
          "\xC2\xBF"
          "C\xC3\xB3mo se hace el pan?",
          "none");
    gives(ctx, "Onde eu moro?", "identity");
    gives(ctx, "O que fizemos ontem?", "episode");
    gives(ctx, "Voc\xC3\xAA se lembra do cachorro?", "pinned");
    gives(ctx, "Como se faz p\xC3\xA3o?", "none");
    gives(ctx, "Как меня зовут?", "identity");
    gives(ctx, "Что ты знаешь обо мне?", "identity");
    gives(ctx, "Что ты обо мне помнишь?", "identity");
    gives(ctx, "Где я живу?", "identity");
    gives(ctx, "О чём мы говорили?", "episode");
    gives(ctx, "Что мы решили на прошлой неделе?", "episode");
    gives(ctx, "Что я тебе точно говорил?", "transcript");
    gives(ctx, "Помнишь мою собаку?", "pinned");
    gives(ctx, "Чем кормить мою кошку?", "pinned");
    gives(ctx, "Как испечь хлеб?", "none");
    gives(ctx, "Erzähl mir was über mich", "identity");
    gives(ctx, "Parle-moi de moi", "identity");
    gives(ctx, "Háblame de mí", "identity");
    gives(ctx, "Me fala sobre mim", "identity");
    gives(ctx, "Dove abito?", "identity");
    gives(ctx, "Di cosa abbiamo parlato?", "episode");
    gives(ctx, "Ti ricordi il cane?", "pinned");
    gives(ctx, "Come si fa il pane?", "none");
}

TEST(a_talk_that_is_dropped_asks_for_nothing)
{
    gives(ctx, "Forget it.", "none");
    gives(ctx, "oh, forget about that", "none");
    gives(ctx, "did you forget the time", "pinned");
}

TEST(the_first_rule_that_fits_wins)
{
    gives(ctx, "What's my name, in my exact words from yesterday?", "identity");
    gives(ctx, "what were my exact words yesterday", "transcript");
    gives(ctx, "remember that Alice is my boss", "episode");
    gives(ctx, "when did I meet Alice", "episode");
    gives(ctx, "do you remember Alice", "pinned");
    gives(ctx, "my", "none");
    gives(ctx, "  a  ", "none");
}

TEST(a_time_alone_asks_for_no_memory)
{
    static const char *const times[] = {"Who won the match yesterday?", "What happened in June?",
                                        "Wer hat gestern gewonnen?", "It rained on Monday.", NULL};
    static const char *const asks[] = {"What did I tell you about it yesterday?",
                                       "Where were we yesterday?",
                                       "When did we go there, last month?",
                                       "Do you remember what happened in June?", NULL};
    for (const char *const *t = times; *t; t++) {
        struct gate g = gate_of(&ctx->arena, str_of(*t), NULL, 0);
        CHECK_INT(g.section, GATE_EPISODE);
        CHECK(g.is_time);
    }
    for (const char *const *t = asks; *t; t++)
        CHECK(!gate_of(&ctx->arena, str_of(*t), NULL, 0).is_time);
}

TEST(the_phrase_is_named)
{
    struct gate g = gate_of(&ctx->arena, S("So what  did we talk about last week?"), NULL, 0);
    CHECK_STR(g.phrase, S("last week"));
    CHECK_STR(gate_of(&ctx->arena, S("nothing"), NULL, 0).phrase, S(""));
}
