/* rank.c - the arithmetic of ranking: what holds for any input, and the spec's vectors. */
#include "engine/text/rank.h"
#include "base/utf8.h"
#include "engine/text.h"

#include <math.h>

#include "engine/questions/query.h"
#include "engine/questions/snippet.h"
#include "engine/recall/features.h"
#include "engine/recall/lexical.h"
#include "t.h"

enum { ROUNDS = 500 };

/* xorshift: the same numbers in every run. */
static uint64_t draw(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static double part(void)
{
    return (double)(draw() % 10001) / 10000;
}

TEST(rarer_words_weigh_more)
{
    CHECK(!(rank_idf(100, 0) > 0));
    for (int i = 0; i < ROUNDS; i++) {
        int64_t all = 2 + (int64_t)(draw() % 100000), found = 1 + (int64_t)(draw() % (all - 1));
        CHECK(rank_idf(all, found) > rank_idf(all, found + 1));
        CHECK(rank_idf(all, found) > 0);
        CHECK(rank_idf(all + 1, found) > rank_idf(all, found));
    }
}

TEST(counts_say_less_and_less)
{
    CHECK(!(rank_saturate(0, 1.2f) > 0));
    CHECK(fabsf(rank_saturate(1, 1.2f) - 1) < 1e-6f);
    for (float n = 1; n < 100; n++) {
        float here = rank_saturate(n, 1.2f), next = rank_saturate(n + 1, 1.2f);
        CHECK(next > here && next < 2.2f);
        CHECK(next - here < here - rank_saturate(n - 1, 1.2f));
    }
}

TEST(decay_halves_with_each_half_life)
{
    const int64_t day = 86400000;
    CHECK(fabs(age_decay(0, 30) - 1) < 1e-9);
    CHECK(fabs(age_decay(-5 * day, 30) - 1) < 1e-9);
    CHECK(fabs(age_decay(30 * day, 30) - 0.5) < 1e-9);
    CHECK(fabs(age_decay(day, 30) - 0.9772) < 1e-4);
    CHECK(fabs(age_decay(7 * day, 30) - 0.8507) < 1e-4);
    for (int i = 0; i < ROUNDS; i++) {
        int64_t age = (int64_t)(draw() % (400 * (uint64_t)day));
        CHECK(fabs(age_decay(age + 30 * day, 30) - age_decay(age, 30) / 2) < 1e-12);
    }
}

TEST(logistic_is_a_probability)
{
    CHECK(fabs(rank_logistic(0) - 0.5) < 1e-12);
    for (int i = 0; i < ROUNDS; i++) {
        double x = 40 * part() - 20, p = rank_logistic(x);
        CHECK(p > 0 && p < 1);
        CHECK(fabs(p + rank_logistic(-x) - 1) < 1e-9);
    }
}

/* --- likeness --- */

static bool has_shingle(struct ctx *ctx, const struct term_set *s, const char *word)
{
    struct term_set one = shingles_of(&ctx->arena, str_of(word));
    for (size_t i = 0; i < s->n; i++)
        if (one.n == 1 && s->v[i] == one.v[0])
            return true;
    return false;
}

static int best_first(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? 1 : -1;
    return (x->tie > y->tie) - (x->tie < y->tie);
}

TEST(sorted_best_first_and_equals_by_their_tie)
{
    enum { MOST = 4000 };
    struct ranked *v = NEW_N(&ctx->arena, struct ranked, MOST),
                  *as = NEW_N(&ctx->arena, struct ranked, MOST);
    for (size_t n = 0; n < MOST; n = n < 64 ? n + 1 : n * 2) {
        size_t kinds = 1 + draw() % (n + 1);
        for (size_t i = 0; i < n; i++)
            v[i] = as[i] =
                (struct ranked){(double)(draw() % kinds), (int64_t)(n - i) * 7 % 4001, i};
        rank_sort(v, n);
        qsort(as, n, sizeof *as, best_first);
        for (size_t i = 0; i < n; i++)
            CHECK_INT(v[i].at, as[i].at);
    }
}

TEST(a_set_has_its_terms_and_no_others)
{
    for (size_t n = 0; n < 70; n++) {
        struct term_set t = terms_with_room(&ctx->arena, n);
        for (size_t i = 0; i < n; i++)
            terms_add(&ctx->arena, &t, 3 * (i * 71 % n) + 2);
        terms_sort(&t);
        for (uint64_t term = 0; term < 3 * n + 3; term++)
            CHECK_INT(terms_have(&t, term), term % 3 == 2 && term / 3 < n);
    }
}

TEST(shingles_are_words_cut_to_eight)
{
    struct term_set s =
        shingles_of(&ctx->arena, S("User prefers Kubernetes-based deployments, v2"));
    static const char *const want[] = {"user", "prefers", "kubernet", "based", "deployme", "v2"};
    CHECK_INT(s.n, 6);
    for (size_t i = 0; i < 6; i++)
        CHECK(has_shingle(ctx, &s, want[i]));
    CHECK_INT(shingles_of(&ctx->arena, S("")).n, 0);
    CHECK_INT(shingles_of(&ctx->arena, S("... !?")).n, 0);
    CHECK_INT(shingles_of(&ctx->arena, S("tea Tea TEA")).n, 1);
}

TEST(likeness_is_symmetric_and_one_for_the_same)
{
    static const char *const texts[] = {"",           "tea",         "tea and cake",
                                        "cake & tea", "green tea 4", "nothing of it"};
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 6; k++) {
            struct term_set a = shingles_of(&ctx->arena, str_of(texts[i])),
                            b = shingles_of(&ctx->arena, str_of(texts[k]));
            double like = terms_jaccard(&a, &b);
            CHECK(like >= 0 && like <= 1);
            CHECK(fabs(like - terms_jaccard(&b, &a)) < 1e-12);
            if (i == k)
                CHECK(fabs(like - (i ? 1 : 0)) < 1e-12);
        }
    struct term_set a = shingles_of(&ctx->arena, S("tea and cake")),
                    b = shingles_of(&ctx->arena, S("tea and jam"));
    CHECK(fabs(terms_jaccard(&a, &b) - 0.5) < 1e-12);
}

/* --- order --- */

static void texts_of(const char *const *texts, size_t n, str *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = str_of(texts[i]);
}

TEST(a_repeat_goes_behind_something_new)
{
    static const char *const texts[] = {"the lake was cold today", "the lake was cold today",
                                        "we bought a red kite", "something else entirely"};
    const double scores[] = {1, 0.99, 0.95, 0};
    str s[4];
    size_t order[4];
    texts_of(texts, 4, s);
    rank_diversify(&ctx->arena, scores, s, 4, 4, order);
    CHECK_INT(order[0], 0);
    CHECK_INT(order[1], 2);
    CHECK_INT(order[2], 1);
    CHECK_INT(order[3], 3);
}

TEST(what_differs_stays_in_the_order_of_scores)
{
    static const char *const texts[] = {"alpha", "beta", "gamma", "delta", "epsilon"};
    const double scores[] = {0.1, 0.9, 0.5, 0.5, 0.2};
    const size_t want[] = {1, 2, 3, 4, 0};
    str s[5];
    size_t order[5];
    texts_of(texts, 5, s);
    rank_diversify(&ctx->arena, scores, s, 5, 5, order);
    for (size_t i = 0; i < 5; i++)
        CHECK_INT(order[i], want[i]);
    rank_diversify(&ctx->arena, scores, s, 0, 5, order);
}

TEST(diversity_is_a_permutation_that_begins_with_the_best)
{
    static const char *const words[] = {"red",  "green", "blue", "tea",
                                        "cake", "lake",  "sun",  "sea"};
    for (int round = 0; round < ROUNDS; round++) {
        double scores[12];
        str s[12];
        size_t n = 1 + draw() % 12, most = draw() % 14, order[12], best = 0;
        bool seen[12] = {false};
        for (size_t i = 0; i < n; i++) {
            scores[i] = part();
            s[i] = str_printf(&ctx->arena, "%s %s %s", words[draw() % 8], words[draw() % 8],
                              words[draw() % 8]);
            best = scores[i] > scores[best] ? i : best;
        }
        rank_diversify(&ctx->arena, scores, s, n, most, order);
        for (size_t i = 0; i < n; i++) {
            CHECK(order[i] < n && !seen[order[i]]);
            seen[order[i]] = true;
        }
        CHECK_INT(order[0], most ? best : 0);
    }
}

/* --- budget --- */

TEST(a_spread_takes_from_many_groups)
{
    const str groups[] = {S("a"), S("a"), S("a"), S("b"), S("c"), S("a")};
    const str none[] = {S(""), S(""), S(""), S("")};
    size_t order[6], most = 4;
    bool has_b = false, has_c = false;
    rank_spread(&ctx->arena, groups, 6, most, order);
    CHECK_INT(order[0], 0);
    for (size_t i = 0; i < most; i++) {
        has_b |= order[i] == 3;
        has_c |= order[i] == 4;
    }
    CHECK(has_b && has_c);
    CHECK_INT(order[5], 5);
    rank_spread(&ctx->arena, none, 4, 4, order);
    for (size_t i = 0; i < 4; i++)
        CHECK_INT(order[i], i);
}

TEST(the_walk_stops_at_the_first_that_does_not_fit)
{
    const int64_t small[] = {4, 4, 4, 1}, large[] = {50, 1};
    CHECK_INT(rank_walk(small, 4, 10), 2);
    CHECK_INT(rank_walk(large, 2, 10), 1);
    CHECK_INT(rank_walk(small, 4, 12), 3);
    CHECK_INT(rank_walk(small, 4, 13), 4);
    CHECK_INT(rank_walk(small, 4, -1), 4);
    CHECK_INT(rank_walk(small, 4, 0), 1);
    CHECK_INT(rank_walk(small, 0, 10), 0);
}

TEST(the_walk_takes_as_many_as_fit_and_at_least_one)
{
    for (int round = 0; round < ROUNDS; round++) {
        int64_t tokens[10], budget = (int64_t)(draw() % 60), sum = 0;
        size_t n = 1 + draw() % 10;
        for (size_t i = 0; i < n; i++)
            tokens[i] = (int64_t)(draw() % 20);
        size_t taken = rank_walk(tokens, n, budget);
        CHECK(taken >= 1 && taken <= n);
        for (size_t i = 0; i < taken; i++)
            sum += tokens[i];
        CHECK(taken == 1 || sum <= budget);
        CHECK(taken == n || sum > budget || sum + tokens[taken] > budget);
    }
}

/* --- from hits to candidates --- */

static struct word_hits hits_of(struct word_hit *v, size_t n)
{
    return (struct word_hits){.v = v, .n = n, .messages = 100};
}

static const struct candidate *candidate_of(const struct scan *s, doc_id doc)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].doc == doc)
            return &s->v[i];
    return NULL;
}

TEST(neighbours_of_a_hit_are_candidates_within_its_session)
{
    struct word_hit v[] = {{doc_of_message(3, 0), {1}}, {doc_of_message(4, 7), {1, 2}}};
    struct word_hits hits = hits_of(v, 2);
    const float weights[] = {2, 1};
    struct scan s = scan_hits(&ctx->arena, &hits, weights, 2, 50);
    CHECK_INT(s.n, 7);
    CHECK(candidate_of(&s, doc_of_message(3, 1)) && candidate_of(&s, doc_of_message(3, 2)));
    CHECK(candidate_of(&s, doc_of_message(4, 6)) && candidate_of(&s, doc_of_message(4, 9)));
    CHECK(!candidate_of(&s, doc_of_message(3, 3)) && !candidate_of(&s, doc_of_message(4, 10)));
    CHECK_INT(s.v[0].doc, doc_of_message(4, 7));
    CHECK_INT(s.v[0].own[1], 2);
    const struct candidate *after = candidate_of(&s, doc_of_message(4, 8));
    CHECK(!(after->turn > 0) && after->window > 0 && after->previous > 0);
    CHECK_INT(after->near[1], 2);
}

TEST(the_best_are_kept_in_a_fixed_order)
{
    struct word_hit v[400];
    struct word_hits hits = hits_of(v, 400);
    const float weights[] = {1, 2, 3};
    memset(v, 0, sizeof v);
    for (size_t i = 0; i < 400; i++) {
        v[i].doc = doc_of_message(1 + (int64_t)i / 20, 3 * ((int64_t)i % 20));
        for (size_t w = 0; w < 3; w++)
            v[i].counts[w] = (uint8_t)(draw() % 3 | (draw() % 2) << 4);
    }
    struct scan all = scan_hits(&ctx->arena, &hits, weights, 3, 5000),
                few = scan_hits(&ctx->arena, &hits, weights, 3, 25);
    CHECK_INT(few.n, 25);
    for (size_t i = 0; i < few.n; i++)
        CHECK_INT(few.v[i].doc, all.v[i].doc);
    for (size_t i = 1; i < all.n; i++)
        CHECK(all.v[i - 1].base > all.v[i].base ||
              (!(all.v[i - 1].base < all.v[i].base) && all.v[i - 1].doc < all.v[i].doc));
}

TEST(memories_have_no_neighbours)
{
    struct word_hit v[] = {{DOC_MEMORY | 5, {1}}, {DOC_MEMORY | 6, {1}}};
    struct word_hits hits = hits_of(v, 2);
    const float weights[] = {1};
    struct scan s = scan_hits(&ctx->arena, &hits, weights, 1, 50);
    CHECK_INT(s.n, 2);
    for (size_t i = 0; i < 2; i++) {
        CHECK(!(s.v[i].previous > 0) && !(s.v[i].next > 0));
        CHECK(fabsf(s.v[i].window - s.v[i].turn) < 1e-6f);
    }
    CHECK_INT(scan_hits(&ctx->arena, &(struct word_hits){.n = 0}, weights, 1, 50).n, 0);
}

/* What vectors find stands in its place among the words, too. */
TEST(any_document_has_its_surroundings)
{
    struct word_hit v[] = {{doc_of_message(3, 4), {1}},
                           {doc_of_message(5, 0), {1}},
                           {DOC_MEMORY | 5, {1}}};
    struct word_hits hits = hits_of(v, 3);
    const float weights[] = {1};
    struct scan s = scan_hits(&ctx->arena, &hits, weights, 1, 50);
    for (size_t i = 0; i < s.n; i++) {
        struct candidate again = scan_candidate(&s, s.v[i].doc);
        CHECK(again.base == s.v[i].base && again.wide == s.v[i].wide);
        CHECK(again.share == s.v[i].share && !memcmp(again.near, s.v[i].near, sizeof again.near));
    }
    struct candidate near = scan_candidate(&s, doc_of_message(3, 9)),
                     far = scan_candidate(&s, doc_of_message(3, 30)),
                     other = scan_candidate(&s, doc_of_message(4, 1)),
                     last = scan_candidate(&s, DOC_MEMORY | 9);
    CHECK(near.session > 0 && near.wide > 0 && !(near.window > 0) && !(near.turn > 0));
    CHECK(far.session > 0 && !(far.wide > 0));
    CHECK(!(other.session > 0) && !(other.wide > 0));
    CHECK(!(last.session > 0) && last.doc == (DOC_MEMORY | 9));
    s = scan_hits(&ctx->arena, &(struct word_hits){.n = 0}, weights, 1, 50);
    CHECK(!(scan_candidate(&s, doc_of_message(1, 1)).base > 0));
}

/* --- questions --- */

static const int64_t friday = 1795154400000; /* 2026-11-20T06:00Z */

TEST(questions_say_what_an_answer_holds)
{
    struct query q = query_of(&ctx->arena, S("When did Caroline paint the lake?"), friday);
    CHECK(q.wants_date && !q.wants_name && !q.wants_number);
    CHECK_INT(q.n, 3);
    CHECK_STR(q.stems[0], S("carolin"));
    CHECK(query_of(&ctx->arena, S("How many children has she?"), friday).wants_number);
    CHECK(query_of(&ctx->arena, S("Who came to the party?"), friday).wants_name);
    CHECK(query_of(&ctx->arena, S("what is the name of my dog"), friday).wants_name);
    CHECK(query_of(&ctx->arena, S("How long have they been friends?"), friday).wants_date);
    CHECK_INT(query_of(&ctx->arena, S("what was it?"), friday).n, 0);
    CHECK_INT(query_of(&ctx->arena, S(""), friday).n, 0);
}

TEST(long_messages_keep_names_and_numbers)
{
    struct buf b = buf_make(&ctx->arena, 1 << 16);
    for (int i = 0; i < 100; i++)
        buf_printf(&b, "ab%c%c ", 'a' + i / 10, 'a' + i % 10);
    buf_add(&b, S("about Zanzibar and 1984"));
    struct query q = query_of(&ctx->arena, buf_str(&b), friday);
    bool place = false, number = false;
    CHECK_INT(q.n, QUERY_WORDS_MAX);
    for (size_t i = 0; i < q.n; i++) {
        place |= str_is(q.texts[i], "Zanzibar");
        number |= str_is(q.texts[i], "1984");
        for (size_t k = 0; k < i; k++)
            CHECK(!str_eq(q.stems[i], q.stems[k]));
    }
    CHECK(place && number);
}

/* --- excerpts --- */

TEST(a_short_text_is_shown_whole)
{
    const float weights[] = {1, 1, 1};
    struct query q = query_of(&ctx->arena, S("the red lake"), friday);
    CHECK_STR(excerpt_of(&ctx->arena, S("A red lake."), &q, weights, 20), S("A red lake."));
    CHECK_STR(excerpt_of(&ctx->arena, S(""), &q, weights, 20), S(""));
}

TEST(of_a_long_text_the_part_that_answers_is_shown)
{
    const float weights[] = {1, 3};
    struct query q = query_of(&ctx->arena, S("blue harbour"), friday);
    struct buf b = buf_make(&ctx->arena, 1 << 16);
    for (int i = 0; i < 200; i++)
        buf_add(&b, S("Blue words über nothing. "));
    buf_add(&b, S("Then the blue harbour lay before us. "));
    for (int i = 0; i < 200; i++)
        buf_add(&b, S("And more of größe. "));
    str part = excerpt_of(&ctx->arena, buf_str(&b), &q, weights, 200);
    CHECK(part.n <= 200 && part.n > 150);
    CHECK(str_find(part, S("the blue harbour lay before us")) < part.n);
    CHECK(str_starts(part, S("…")) && str_ends(part, S("…")));
}

TEST(words_that_come_again_and_again_leave_room_for_what_follows)
{
    const float weights[] = {3, 1};
    struct query q = query_of(&ctx->arena, S("chair committee"), friday);
    struct buf b = buf_make(&ctx->arena, 1 << 16);
    for (int i = 0; i < 200; i++)
        buf_add(&b, S("The committee spoke of gardens. "));
    buf_add(&b, S("The chair of the committee is Doctor Frost."));
    CHECK(str_ends(excerpt_of(&ctx->arena, buf_str(&b), &q, weights, 200), S("is Doctor Frost.")));
}

TEST(excerpts_are_within_bounds_and_whole_characters)
{
    static const char *const pieces[] = {"lake ", "blue ", "größe ",   "寿司",
                                         "x",     "\n",    "harbour, "};
    const float weights[] = {1, 3};
    struct query q = query_of(&ctx->arena, S("blue harbour"), friday);
    for (int round = 0; round < ROUNDS; round++) {
        struct buf b = buf_make(&ctx->arena, 1 << 12);
        for (size_t i = draw() % 200; i > 0; i--)
            buf_add(&b, str_of(pieces[draw() % 7]));
        size_t most = 40 + draw() % 200;
        str part = excerpt_of(&ctx->arena, buf_str(&b), &q, weights, most);
        CHECK(part.n <= most && utf8_is_valid(part));
    }
}

/* --- passages --- */

static struct query harbour_asked(struct ctx *ctx)
{
    return query_of(&ctx->arena, S("blue harbour"), friday);
}

TEST(of_a_long_message_whole_sentences_are_shown)
{
    const float weights[] = {1, 3};
    struct query q = harbour_asked(ctx);
    str text = S("We left at nine. The train was late. In the blue harbour we met Ana. She sells "
                 "old maps. Then it rained all day, and we slept.");
    CHECK_STR(passage_of(&ctx->arena, text, &q, weights, 50),
              S("…In the blue harbour we met Ana.…"));
    CHECK_STR(passage_of(&ctx->arena, text, &q, weights, 70),
              S("…In the blue harbour we met Ana. She sells old maps.…"));
    CHECK_STR(passage_of(&ctx->arena, text, &q, weights, 1000), text);
}

TEST(of_a_long_sentence_the_parts_between_commas_are_shown)
{
    const float weights[] = {1, 3};
    struct query q = harbour_asked(ctx);
    str text =
        S("I am planning the trip of my brother, who wants to see the blue harbour, and then "
          "the museum with the ships, and after that the tower");
    CHECK_STR(passage_of(&ctx->arena, text, &q, weights, 60),
              S("…who wants to see the blue harbour,…"));
    CHECK_STR(passage_of(&ctx->arena, text, &q, weights, 90),
              S("I am planning the trip of my brother, who wants to see the blue harbour,…"));
}

TEST(a_long_sentence_is_not_shown_as_its_first_word)
{
    str text = S("Sure, I am going to use a serverless architecture with functions in two regions "
                 "and a queue between them. More later.");
    CHECK_STR(passage_around(&ctx->arena, text, text, 50),
              S("Sure, I am going to use a serverless archite…"));
    CHECK_STR(passage_around(&ctx->arena, text, str_sub(text, text.n - 11, text.n), 50),
              S("…More later."));
}

TEST(without_a_word_of_the_question_the_begin_is_shown)
{
    const float weights[] = {1, 3};
    struct query q = harbour_asked(ctx);
    CHECK_STR(passage_of(&ctx->arena, S("One here. Two there. Three far away."), &q, weights, 30),
              S("One here. Two there.…"));
}

TEST(passages_are_within_bounds_and_whole_characters)
{
    static const char *const pieces[] = {"lake ", "blue. ", "größe, ",   "寿司。",
                                         "x",     "\n",     "harbour, ", "! "};
    const float weights[] = {1, 3};
    struct query q = harbour_asked(ctx);
    for (int round = 0; round < ROUNDS; round++) {
        struct buf b = buf_make(&ctx->arena, 1 << 14);
        for (size_t i = draw() % 1500; i > 0; i--)
            buf_add(&b, str_of(pieces[draw() % 8]));
        size_t most = 40 + draw() % 200;
        str part = passage_of(&ctx->arena, buf_str(&b), &q, weights, most);
        CHECK(part.n <= most && utf8_is_valid(part));
    }
}

/* --- candidates that are read --- */

TEST(candidates_that_promise_most_are_read)
{
    struct scan scan = {.best_turn = 1, .best_window = 1, .best_session = 1};
    struct asked_of q = {.scan = &scan, .rarest = 1};
    struct candidate v[] = {{.doc = 1 << 20 | 5, .window = 0.1f},
                            {.doc = 1 << 20 | 9, .window = 0.9f},
                            {.doc = 1 << 20 | 7, .window = 0.5f},
                            {.doc = 1 << 20 | 3, .window = 0.9f},
                            {.doc = DOC_MEMORY | 1, .window = 0.9f}};
    CHECK_INT(signals_most_promising(&ctx->arena, &q, WORDS_ALONE, v, 5, 3), 3);
    CHECK(doc_is_memory(v[0].doc)); /* a memory is worth more */
    CHECK_INT(v[1].doc, 1 << 20 | 3);
    CHECK_INT(v[2].doc, 1 << 20 | 9);
    CHECK_INT(signals_most_promising(&ctx->arena, &q, WORDS_ALONE, v, 3, 9), 3);
}

/* --- the scan --- */

static float count_of(uint8_t c)
{
    return (float)(c & 15) + (c >> 4 ? 0.18f : 0);
}

/* The counts of a document, 0 where it is no hit. */
static float count_in(const struct word_hits *hits, doc_id doc, size_t w)
{
    for (size_t i = 0; i < hits->n; i++)
        if (hits->v[i].doc == doc)
            return count_of(hits->v[i].counts[w]);
    return 0;
}

/* Scores are worked out for eight words at once and from a table; here each by itself. */
TEST(turns_and_windows_are_scored_as_word_by_word)
{
    for (int round = 0; round < 60; round++) {
        size_t words = 1 + draw() % QUERY_WORDS_MAX;
        float weights[QUERY_WORDS_MAX];
        struct word_hits hits = {.v = NEW_N(&ctx->arena, struct word_hit, 40)};
        doc_id doc = 1 << 20;
        for (size_t w = 0; w < words; w++)
            weights[w] = 1 + (float)part();
        for (hits.n = 0; hits.n < 40; hits.n++) {
            doc += 1 + (doc_id)(draw() % 3);
            hits.v[hits.n].doc = hits.n < 35 ? doc : DOC_MEMORY | (doc_id)hits.n;
            for (size_t w = 0; w < words; w++)
                hits.v[hits.n].counts[w] = draw() % 3 ? 0 : (uint8_t)draw() & (round % 2 ? 3 : 31);
        }
        struct scan scan = scan_hits(&ctx->arena, &hits, weights, words, 200);
        CHECK(scan.n > 40);
        for (size_t i = 0; i < scan.n; i++) {
            const struct candidate *c = &scan.v[i];
            doc_id at = c->doc, is_turn = !doc_is_memory(at);
            float turn = 0, window = 0;
            for (size_t w = 0; w < words; w++) {
                float own = count_in(&hits, at, w);
                float near = own + 0.7f * (is_turn ? count_in(&hits, at - 1, w) : 0) +
                             0.4f * (is_turn ? count_in(&hits, at - 2, w) : 0) +
                             0.4f * (is_turn ? count_in(&hits, at + 1, w) : 0);
                turn += own > 0 ? weights[w] * rank_saturate(own, 1.2f) : 0;
                window += near > 0 ? weights[w] * rank_saturate(near, 1.2f) : 0;
            }
            CHECK(fabsf(turn - c->turn) < 1e-5f && fabsf(window - c->window) < 1e-5f);
            CHECK(i == 0 || scan.v[i - 1].base >= c->base);
        }
    }
}
