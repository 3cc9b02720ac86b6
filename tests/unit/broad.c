/* broad.c - questions whose answer is spread over many places. */
#include "engine/questions/broad.h"

#include "t.h"

TEST(order_and_counts_are_asked_for)
{
    static const struct {
        const char *question;
        enum broad broad;
    } cases[] = {
        {"Can you list the order in which I brought up my plans?", BROAD_ORDER},
        {"What did I say first about the boat?", BROAD_ORDER},
        {"Which came first, the move or the wedding?", BROAD_ORDER},
        {"What happened after the storm?", BROAD_ORDER},
        {"List my jobs in order.", BROAD_ORDER},
        {"Give me a timeline of the renovation", BROAD_ORDER},
        {"Was habe ich zuerst gelesen?", BROAD_ORDER},
        {"In welcher Reihenfolge habe ich die Bücher gelesen?", BROAD_ORDER},
        {"Was geschah nach dem Umzug?", BROAD_ORDER},
        {"How many books have I read?", BROAD_COUNT},
        {"How many times did I go to the beach?", BROAD_COUNT},
        {"How often have I been to Oslo?", BROAD_COUNT},
        {"List all the films that I saw", BROAD_COUNT},
        {"Which topics came up across our conversations?", BROAD_COUNT},
        {"Wie oft war ich in Oslo?", BROAD_COUNT},
        {"Wie viele Bücher habe ich gelesen?", BROAD_COUNT},
        {"How many days until the wedding?", BROAD_NOT},
        {"How many weeks passed between the two?", BROAD_NOT},
        {"How much was the bike?", BROAD_NOT},
        {"What is my first name?", BROAD_NOT},
        {"Where do I live?", BROAD_NOT},
        {"I would like to order a pizza", BROAD_NOT},
        {"The first one, please", BROAD_NOT},
        {"Wie viele Tage bleiben mir?", BROAD_NOT},
        {"", BROAD_NOT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum broad broad = broad_of(&ctx->arena, str_of(cases[i].question));
        if (broad != cases[i].broad)
            fail_msg("%s: %d", cases[i].question, (int)broad);
    }
}
