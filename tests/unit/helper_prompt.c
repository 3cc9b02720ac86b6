/* helper_prompt.c - prompts of chat programs are recognised, and the requests of people are not. */
#include "engine/text/helper_prompt.h"

#include "lib/store.h"

#define TALK "\n\nUser: I live in Riga and have a cat.\nAssistant: What is it called?"

TEST(helpers_of_front_ends_are_recognised)
{
    static const char *const helpers[] = {
        "Provide a concise, 5-word-or-less title for the conversation, using title case",
        "Generate a concise, descriptive title for this conversation based on the user's message.",
        "Find a heading of two to five words for this exchange. Output just the heading, nothing "
        "else." TALK,
        "Which topics come up below? Answer with a JSON array." TALK,
        "Offer four things the person may want to ask next. No comments.\n[human] I bake.\n[ai] "
        "What?",
        "Given the chat below and a follow up question, rephrase it to be a standalone "
        "question.\nChat History:\nHuman: I live in Riga.\nAI: Fine.\nFollow Up Input: is it cold?",
        "Erstelle einen kurzen Titel. Nur den Titel, ohne Anführungszeichen.\nNutzer: Ich wohne in "
        "Riga.\nAssistent: Schön.",
        "Résume en un titre, sans guillemets.\nUtilisateur : J'habite à Riga.\nAssistant : Bien.",
        "Turn this into one web search query, JSON only:\n[{\"role\": \"user\", \"content\": "
        "\"cats\"},\n{\"role\": \"assistant\", \"content\": \"yes\"}]",
        "Complete the half-typed message. Reply with only the rest, no quotes.\nMessage: Where do "
        "I",
        "Vervollständige die angefangene Nachricht, ohne Erklärung.\nNachricht: Wo wohnt",
        NULL};
    for (const char *const *t = helpers; *t; t++)
        if (!is_helper_prompt(&ctx->arena, S(""), str_of(*t)))
            fail_msg("%s", *t);
    CHECK(is_helper_prompt(&ctx->arena, S("Reply with one emoji for the mood, nothing else."),
                           S("user: I am so glad\nassistant: Great!")));
}

TEST(requests_of_people_are_no_helpers)
{
    static const char *const requests[] = {
        "Write a short story about my dog Rex.",
        "\"role\" is the word that my teacher circled",
        "role\"",
        "What is a good title for my novel about whales?",
        "Suggest a short title for my thesis on tides, five words at most.",
        "Write a concise title for the essay on whales.",
        "Give me three questions to ask the landlord.",
        "Finish the sentence: the early bird …",
        "Help me finish my unfinished letter to the council, no quotes please.",
        "Reply with JSON only: which of 2, 3 and 4 are prime?",
        "My chat with Anna, what shall I answer?\nAnna: Come at eight!\nMe: I can't.",
        "I asked a chatbot this, is it right?\nUser: How high is Mont Blanc?\nAssistant: 4806 m.",
        "User: kranich, password: see the safe. Why can't it log in?",
        "Our AI: a strategy. Comment on the title, please.",
        "Fasse meinen Tag in einem Titel zusammen.",
        NULL};
    for (const char *const *t = requests; *t; t++)
        if (is_helper_prompt(&ctx->arena, S("You are a helpful assistant. Be concise."),
                             str_of(*t)))
            fail_msg("%s", *t);
}
