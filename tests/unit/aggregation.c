/* aggregation.c - questions whose answer is spread over many places. */
#include "engine/questions/aggregation.h"

#include "t.h"

TEST(order_and_counts_are_asked_for)
{
    static const struct {
        const char *question;
        enum aggregation broad;
    } cases[] = {
        {"Can you list the order in which I brought up my plans?", AGGREGATION_ORDER},
        {"What did I say first about the boat?", AGGREGATION_ORDER},
        {"Which came first, the move or the wedding?", AGGREGATION_ORDER},
        {"What happened after the storm?", AGGREGATION_ORDER},
        {"List my jobs in order.", AGGREGATION_ORDER},
        {"Give me a timeline of the renovation", AGGREGATION_ORDER},
        {"Was habe ich zuerst gelesen?", AGGREGATION_ORDER},
        {"In welcher Reihenfolge habe ich die Bücher gelesen?", AGGREGATION_ORDER},
        {"Was geschah nach dem Umzug?", AGGREGATION_ORDER},
        {"How many books have I read?", AGGREGATION_COUNT},
        {"How many times did I go to the beach?", AGGREGATION_COUNT},
        {"How often have I been to Oslo?", AGGREGATION_COUNT},
        {"List all the films that I saw", AGGREGATION_COUNT},
        {"Which topics came up across our conversations?", AGGREGATION_COUNT},
        {"Wie oft war ich in Oslo?", AGGREGATION_COUNT},
        {"Wie viele Bücher habe ich gelesen?", AGGREGATION_COUNT},
        {"How many days until the wedding?", AGGREGATION_NONE},
        {"How many weeks passed between the two?", AGGREGATION_NONE},
        {"How much was the bike?", AGGREGATION_NONE},
        {"What is my first name?", AGGREGATION_NONE},
        {"Where do I live?", AGGREGATION_NONE},
        {"I would like to order a pizza", AGGREGATION_NONE},
        {"The first one, please", AGGREGATION_NONE},
        {"Wie viele Tage bleiben mir?", AGGREGATION_NONE},
        {"", AGGREGATION_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum aggregation broad = aggregation_of(&ctx->arena, str_of(cases[i].question));
        if (broad != cases[i].broad)
            fail_msg("%s: %d", cases[i].question, (int)broad);
    }
}
