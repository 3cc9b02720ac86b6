/* aggregation.c - questions whose answer is spread over many places. */
#include "engine/questions/query.h"

#include "t.h"

TEST(order_and_counts_are_asked_for)
{
    static const struct {
        const char *question;
        bool broad;
    } cases[] = {
        {"Can you list the order in which I brought up my plans?", true},
        {"What did I say first about the boat?", true},
        {"Which came first, the move or the wedding?", true},
        {"What happened after the storm?", true},
        {"List my jobs in order.", true},
        {"Give me a timeline of the renovation", true},
        {"Was habe ich zuerst gelesen?", true},
        {"In welcher Reihenfolge habe ich die Bücher gelesen?", true},
        {"Was geschah nach dem Umzug?", true},
        {"How many books have I read?", true},
        {"How many times did I go to the beach?", true},
        {"How often have I been to Oslo?", true},
        {"List all the films that I saw", true},
        {"Which topics came up across our conversations?", true},
        {"Wie oft war ich in Oslo?", true},
        {"Wie viele Bücher habe ich gelesen?", true},
        {"How many days until the wedding?", false},
        {"How many weeks passed between the two?", false},
        {"How much was the bike?", false},
        {"What is my first name?", false},
        {"Where do I live?", false},
        {"I would like to order a pizza", false},
        {"The first one, please", false},
        {"Wie viele Tage bleiben mir?", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool broad = query_is_broad(&ctx->arena, str_of(cases[i].question));
        if (broad != cases[i].broad)
            fail_msg("%s: %d", cases[i].question, (int)broad);
    }
}
