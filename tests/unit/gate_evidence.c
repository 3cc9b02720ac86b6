/* gate_evidence.c - what tells a question that can be answered from one that cannot. */
#include "engine/gate/evidence.h"
#include "engine/gate/rarity.h"

#include "t.h"

TEST(common_words_are_found_in_every_step)
{
    CHECK(word_rarity(S("about")) < word_rarity(S("dog")));
    CHECK(word_rarity(S("dog")) < word_rarity(S("Kilimanjaro")));
    CHECK(word_is_common(S("About")) && !word_is_common(S("Kilimanjaro")));
    CHECK(!word_is_common(S("")) && !word_is_common(S("abou")) && !word_is_common(S("aboutt")));
}

TEST(the_first_and_the_last_word_of_a_step_are_found)
{
    static const char *const lists[] = {
#define COMMON(rarity, words) words,
#include "lang/common_words.def"
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        str rest = str_of(lists[i]);
        size_t n = 0;
        while (rest.n) {
            str word = str_cut(&rest, ' ');
            CHECK(word_is_common(word));
            n++;
        }
        CHECK(n > 100);
    }
}

TEST(single_words_and_other_languages_are_not_judged)
{
    CHECK(gate_is_fitted_for(S("Where do I keep the spare key?")));
    CHECK(gate_is_fitted_for(S("What is Zanzibar's largest village?")));
    CHECK(!gate_is_fitted_for(S("six")) && !gate_is_fitted_for(S("")));
    CHECK(!gate_is_fitted_for(S("Wo liegt der Schlüssel für den Keller?")));
    CHECK(!gate_is_fitted_for(S("私は毎朝何を飲んでいる？")));
}

TEST(the_first_person_is_recognised)
{
    CHECK(gate_is_first_person(S("What did I cook?")) && gate_is_first_person(S("I'm late")));
    CHECK(gate_is_first_person(S("Wo ist mein Auto?")));
    CHECK(!gate_is_first_person(S("Tell me a joke")) && !gate_is_first_person(S("")));
}

/* A pool of messages, each in a session of its own or all in one; idle of them tell nothing. */
static struct gate_evidence look_beside(struct ctx *ctx, const char *question,
                                        const char *const *said, bool in_one, double idle)
{
    struct pool_question *asked = NEW(&ctx->arena, struct pool_question);
    struct query *query = &asked->query;
    struct word_hits *hits = &asked->words;
    struct gate_result *v = NEW_N(&ctx->arena, struct gate_result, 8);
    *query = query_of(&ctx->arena, str_of(question), 0);
    hits->v = NEW_N(&ctx->arena, struct word_hit, 8);
    size_t n = 0;
    for (; said[n]; n++) {
        struct words w = words_of(&ctx->arena, str_of(said[n]), 100);
        struct word_hit *hit = &hits->v[n];
        hit->doc =
            in_one ? (doc_id)n + ((doc_id)1 << DOC_TURN_BITS) : (doc_id)(n + 1) << DOC_TURN_BITS;
        for (size_t i = 0; i < query->n; i++) {
            for (size_t k = 0; k < w.n; k++)
                hit->counts[i] += str_eq(w.v[k].stem, query->stems[i]);
            hits->found[i] += hit->counts[i] > 0;
        }
        v[n] = (struct gate_result){.doc = hit->doc, .text = str_of(said[n]), .score = 0.1};
    }
    hits->n = n;
    hits->messages = 200;
    for (size_t i = 0; i < query->n; i++)
        asked->weights[i] = hits->found[i] ? 5.0f - (float)hits->found[i] : 0;
    asked->rarest = 4;
    asked->idle = idle;
    const struct gate_in in = {str_of(question), asked, v, n};
    return gate_evidence_of(&ctx->arena, &in);
}

static struct gate_evidence look(struct ctx *ctx, const char *question, const char *const *said,
                                 bool in_one)
{
    return look_beside(ctx, question, said, in_one, 0);
}

static double signal_of(const struct gate_evidence *e, enum gate_signal signal)
{
    return e->signals[signal];
}

TEST(what_nobody_said_lowers_the_probability_and_is_named)
{
    static const char *const said[] = {"We walked to the lighthouse of Peniche.", NULL};
    struct gate_evidence known = look(ctx, "Which lighthouse did we see in Peniche?", said, true);
    struct gate_evidence unknown =
        look(ctx, "Which volcano did we see near the lighthouse?", said, true);
    CHECK(gate_probability(WORDS_ALONE, &known) > 2 * gate_probability(WORDS_ALONE, &unknown));
    CHECK(str_find(unknown.unsaid, S("\"volcano\"")) < unknown.unsaid.n);
    CHECK_INT(known.unsaid.n, 0);
    CHECK(signal_of(&known, GATE_known_names) == 1 && signal_of(&unknown, GATE_known_names) == 0);
}

/* Of 200 texts; and one of 100 is as small as it gets. */
TEST(requests_that_tell_nothing_make_no_pool_large)
{
    static const char *const said[] = {"We walked to the lighthouse of Peniche.", NULL};
    static const char *const question = "Which lighthouse did we see in Peniche?";
    struct gate_evidence alone = look_beside(ctx, question, said, true, 0);
    struct gate_evidence some = look_beside(ctx, question, said, true, 0.25);
    struct gate_evidence half = look_beside(ctx, question, said, true, 0.5);
    struct gate_evidence most = look_beside(ctx, question, said, true, 0.9);
    CHECK(signal_of(&alone, GATE_small) == 50.0 / 250);
    CHECK(signal_of(&some, GATE_small) == 50.0 / 200);
    CHECK(signal_of(&half, GATE_small) == 50.0 / 150);
    CHECK(signal_of(&most, GATE_small) == 50.0 / 150);
    CHECK(gate_probability(WITH_ENCODER, &half) > gate_probability(WITH_ENCODER, &alone));
    CHECK(signal_of(&half, GATE_size) == signal_of(&alone, GATE_size));
}

TEST(words_that_stand_together_count_more_than_words_apart)
{
    static const char *const together[] = {"The support group meets on Friday.", NULL};
    static const char *const apart[] = {"The group meets on Friday.", "Thanks for your support.",
                                        NULL};
    struct gate_evidence near = look(ctx, "When does the support group meet?", together, true);
    struct gate_evidence far = look(ctx, "When does the support group meet?", apart, false);
    CHECK(signal_of(&near, GATE_phrase) > signal_of(&far, GATE_phrase));
    CHECK(signal_of(&near, GATE_cover) > signal_of(&far, GATE_cover));
    CHECK(signal_of(&near, GATE_together) > signal_of(&far, GATE_together));
    CHECK(gate_probability(WORDS_ALONE, &near) > gate_probability(WORDS_ALONE, &far));
    CHECK(signal_of(&near, GATE_when) == 1);
}

TEST(a_topic_comes_back_in_one_conversation)
{
    static const char *const said[] = {"The kiln is hot.", "The kiln cools.", "My kiln broke.",
                                       NULL};
    struct gate_evidence one = look(ctx, "What about the kiln?", said, true);
    struct gate_evidence many = look(ctx, "What about the kiln?", said, false);
    CHECK(signal_of(&one, GATE_topic) > 0 && signal_of(&many, GATE_topic) == 0);
    CHECK(gate_probability(WORDS_ALONE, &one) > gate_probability(WORDS_ALONE, &many));
}

TEST(nothing_found_is_improbable_and_finite)
{
    static const char *const nothing[] = {NULL};
    struct gate_evidence e = look(ctx, "Where is Zanzibar?", nothing, true);
    double p = gate_probability(WITH_VECTORS, &e);
    CHECK(p > 0 && p < 0.05);
    e = look(ctx, "?", nothing, true);
    p = gate_probability(WORDS_ALONE, &e);
    CHECK(p >= 0 && p < 0.05);
}
