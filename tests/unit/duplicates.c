/* duplicates.c - which memories say the same, by words, by vectors, by a model; and closing them.
 */
#include <math.h>

#include "engine/dedup/equivalence.h"
#include "ext/duplicates/duplicates.h"
#include "store/store.h"

#include "unit/table.h"

/* --- two texts --- */

static enum relation related(const struct saying *newer, const struct saying *older, double cosine,
                             bool with_model)
{
    struct settings s = settings_for_test();
    return relation_of(newer, older, &(struct likeness){BY_VECTOR, &s, cosine, with_model});
}

static enum relation of(struct ctx *ctx, const char *newer, const char *older)
{
    struct saying x = saying_of(&ctx->arena, str_of(newer));
    struct saying y = saying_of(&ctx->arena, str_of(older));
    return related(&x, &y, 1, true);
}

TEST(what_differs_is_told_from_what_only_sounds_different)
{
    static const struct {
        const char *newer, *older;
        enum relation relation;
    } cases[] = {
        {"User is called Sebastian", "User's name is Sebastian", SAME},
        {"User is referred to as Sebastian", "User's name is Sebastian", SAME},
        {"User loves green tea", "User likes green tea", SAME},
        {"User likes tea", "User likes green tea", SAME},
        {"User is a vegetarian", "User doesn't eat animals, not even fish", SAME},
        {"User likes green tea with lemon", "User likes green tea", FULLER},
        {"User likes coffee", "User likes tea", UNSURE},
        {"User's dog likes very long walks", "User's cat likes long walks", UNSURE},
        {"Anna's boss is Ben", "Ben's boss is Anna", UNSURE},
        {"User prefers coffee over tea", "User prefers tea over coffee", UNSURE},
        {"User won the race, and must be glad", "User won and is thrilled", UNSURE},
        {"User's brother is Tom", "User's brother is Kit", DIFFERENT},
        {"User owns 3 boats", "User owns 2 boats", DIFFERENT},
        {"User owns three boats", "User owns two boats", DIFFERENT},
        {"User doesn't like olives", "User likes olives", CHANGED},
        {"User hates olives", "User likes olives", CHANGED},
        {"User never drinks wine", "User drinks wine", CHANGED},
        {"User no longer drinks wine", "User drinks wine", CHANGED},
        {"User don\xE2\x80\x99t drink wine", "User drinks wine", CHANGED},
        {"Benutzer trinkt Wein", "User trinkt Wein", SAME},
        {"User's favorite color is green", "User's favorite color is blue", CHANGED},
        {"User lives in Oslo", "User lives in Bergen", CHANGED},
        {"User is called Seb", "User's name is Sebastian", CHANGED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum relation got = of(ctx, cases[i].newer, cases[i].older);
        if (got != cases[i].relation)
            fail_msg("'%s' to '%s' is %d, not %d", cases[i].newer, cases[i].older, got,
                     cases[i].relation);
    }
    CHECK(of(ctx, "", "") == SAME);
}

/* Whatever stands in them, reading and comparing ends well. */
TEST(any_two_texts_are_compared)
{
    static const char *const pieces[] = {"favorite ",
                                         " is ",
                                         "not ",
                                         "Ben ",
                                         "3 ",
                                         "\xC3\xA9",
                                         "\xF0\x9F\x98\x80",
                                         "\xFF",
                                         "t",
                                         "don't ",
                                         ". ",
                                         "",
                                         "\xE4\xBD\xA0\xE5\xA5\xBD",
                                         "lives in ",
                                         "user "};
    enum { PIECES = sizeof pieces / sizeof *pieces, TEXTS = 3000 };
    uint64_t seed = 11;
    str before = S("");
    for (int i = 0; i < TEXTS; i++) {
        struct buf b = buf_make(&ctx->arena, 4096);
        for (int k = 0; k < 1 + i % 90; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            buf_add(&b, str_of(pieces[(seed >> 33) % PIECES]));
        }
        struct saying x = saying_of(&ctx->arena, buf_str(&b));
        struct saying y = saying_of(&ctx->arena, before);
        CHECK(related(&x, &x, 1, true) == SAME);
        CHECK(related(&x, &y, 1, true) <= UNSURE);
        double share = sayings_share(&x, &y);
        CHECK(share >= 0 && share <= 1 && share == sayings_share(&y, &x));
        before = buf_str(&b);
    }
}

TEST(the_band_decides_by_the_settings)
{
    struct settings s = settings_for_test();
    struct saying old = saying_of(&ctx->arena, S("User likes tea")),
                  same = saying_of(&ctx->arena, S("User loves tea")),
                  doubtful = saying_of(&ctx->arena, S("User likes coffee"));
    CHECK(related(&same, &old, 0.84, true) == DIFFERENT);
    CHECK(related(&same, &old, 0.85, true) == UNSURE);
    CHECK(related(&same, &old, 0.949, true) == UNSURE);
    CHECK(related(&same, &old, 0.95, true) == SAME);
    CHECK(related(&doubtful, &old, 0.97, true) == UNSURE);
    CHECK(related(&same, &old, 0.85, false) == SAME);
    CHECK(related(&same, &old, 0.84, false) == DIFFERENT);
    CHECK(related(&doubtful, &old, 0.99, false) == DIFFERENT);
    s.dedup_llm_low = 0.7;
    CHECK(same_least(&s) == 0.7);
    s.dedup_llm = false;
    CHECK(same_least(&s) == 0.85);
}

/* --- a pool --- */

static str put_at(struct ctx *ctx, struct store *s, struct pool_ref pool, const char *content,
                  int64_t created)
{
    struct memory m = {.content = str_of(content),
                       .created = created,
                       .updated = created,
                       .last_used = created};
    struct bundle b = {.pool = pool, .memories = &m, .n_memories = 1};
    CHECK_OK(store_write(ctx, s, &b));
    return b.memories[0].id;
}

static const int64_t start = 1760000000000;

static void put_all(struct ctx *ctx, struct store *s, const char *const *contents)
{
    for (int64_t i = 0; contents[i]; i++)
        put_at(ctx, s, mine, contents[i], start + i * 1000);
}

struct groups {
    struct duplicates *v;
    size_t n;
};

static struct groups look(struct ctx *ctx, struct engine *e)
{
    struct groups g;
    CHECK_OK(engine_duplicates(ctx, e, mine, &g.v, &g.n));
    for (size_t i = 0; i < g.n; i++) {
        CHECK(g.v[i].n > 0);
        for (size_t k = 0; k < g.v[i].n; k++) {
            CHECK(g.v[i].v[k].similarity > 0 && g.v[i].v[k].similarity <= 1);
            CHECK(g.v[i].first.created <= g.v[i].v[k].memory.created);
        }
    }
    return g;
}

TEST(words_find_what_says_the_same)
{
    static const char *const said[] = {"User's name is Sebastian",
                                       "User likes green tea",
                                       "User is called Sebastian",
                                       "User lives in Oslo",
                                       "User really loves green tea",
                                       "User doesn't like green tea",
                                       "User likes green tea with lemon",
                                       "User owns 2 boats",
                                       "User owns 3 boats",
                                       "User's name is Sebastian",
                                       "User lives in Bergen",
                                       NULL};
    ENGINE(e, s, p);
    CHECK_INT(look(ctx, e).n, 0);
    put_all(ctx, s, said);
    put_at(ctx, s, other_space, "User lives in Oslo", start);
    struct groups g = look(ctx, e);
    CHECK_INT(g.n, 2);
    CHECK_STR(g.v[0].first.content, S("User's name is Sebastian"));
    CHECK_INT(g.v[0].n, 2);
    CHECK_STR(g.v[0].v[0].memory.content, S("User is called Sebastian"));
    CHECK_STR(g.v[1].first.content, S("User likes green tea"));
    CHECK_INT(g.v[1].n, 1);
    CHECK_STR(g.v[1].v[0].memory.content, S("User really loves green tea"));
    settings.dedup_similarity = 0.6;
    CHECK_INT(look(ctx, e).n, 2);
}

TEST(what_goes_by_itself_or_is_a_profile_takes_no_part)
{
    ENGINE(e, s, p);
    put_at(ctx, s, mine, "User likes green tea", start);
    struct memory others[] = {{.expires = clock_ms() + 1000000},
                              {.category = S("profile")},
                              {.origin = ORIGIN_DISTILLED, .metadata = S("{\"unconfirmed\":true}")},
                              {.layer = LAYER_SUMMARY},
                              {.layer = LAYER_EPISODE}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        others[i].content = S("User likes green tea");
        others[i].created = start + 5;
        struct bundle b = {.pool = mine, .memories = &others[i], .n_memories = 1};
        CHECK_OK(store_write(ctx, s, &b));
    }
    CHECK_INT(look(ctx, e).n, 0);
}

TEST(what_is_unconfirmed_is_not_kept_in_the_place_of_what_is_said)
{
    ENGINE(e, s, p);
    struct memory m = {.content = S("User keeps bees at home"),
                       .created = start,
                       .origin = ORIGIN_DISTILLED,
                       .metadata = S("{\"unconfirmed\":true}")};
    struct memory said = {.content = S("keeps bees at home"), .created = start + DAY_MS};
    struct bundle b = {.pool = mine, .memories = &m, .n_memories = 1};
    CHECK_OK(store_write(ctx, s, &b));
    CHECK(!same_is_kept(ctx, e, mine, &said, NULL));
    put_at(ctx, s, mine, "User keeps bees at home", start + 1);
    CHECK(same_is_kept(ctx, e, mine, &said, NULL));
}

TEST(closing_keeps_the_oldest_and_its_history)
{
    ENGINE(e, s, p);
    int64_t groups, closed;
    str first = put_at(ctx, s, mine, "User likes green tea", start);
    str second = put_at(ctx, s, mine, "User loves green tea", start + 1);
    str third = put_at(ctx, s, mine, "user likes Green Tea!", start + 2);
    put_at(ctx, s, mine, "User likes coffee", start + 3);
    CHECK_OK(engine_deduplicate(ctx, e, mine, &groups, &closed));
    CHECK_INT(groups, 1);
    CHECK_INT(closed, 2);
    struct memory m;
    CHECK_OK(engine_get(ctx, e, mine, first, &m));
    CHECK(!m.valid_to);
    const str gone[] = {second, third};
    for (int i = 0; i < 2; i++) {
        CHECK_OK(engine_get(ctx, e, mine, gone[i], &m));
        CHECK(m.valid_to > 0);
        CHECK_STR(m.superseded_by, first);
    }
    CHECK_OK(engine_deduplicate(ctx, e, mine, &groups, &closed));
    CHECK_INT(groups, 0);
    CHECK_INT(closed, 0);
    check_healthy(ctx, s);
}

TEST(long_texts_are_the_same_only_when_they_are_equal)
{
    ENGINE(e, s, p);
    char text[2][4000];
    for (int t = 0; t < 2; t++) {
        size_t at = 0;
        for (int i = 0; i < 300; i++)
            at += (size_t)snprintf(text[t] + at, sizeof text[t] - at, "word%c%c%s ", 'a' + i % 26,
                                   'a' + i / 26, t && i == 280 ? "x" : "");
    }
    put_at(ctx, s, mine, text[0], start);
    put_at(ctx, s, mine, text[1], start + 1);
    CHECK_INT(look(ctx, e).n, 0);
    put_at(ctx, s, mine, text[0], start + 2);
    CHECK_INT(look(ctx, e).v[0].n, 1);
    CHECK(of(ctx, text[1], text[0]) == UNSURE);
}

/* --- by vectors --- */

/* "car" and "auto" at 0.9, "car" and "wagon" at 0.97, "car" and "bike" at 0.5. */
static const struct table_word words[] = {{"car", 0, 1, 1, 0},
                                          {"auto", 0, 1, 0.9f, 0.43589f},
                                          {"wagon", 0, 2, 0.97f, 0.24310f},
                                          {"bike", 0, 3, 0.5f, 0.86603f},
                                          {"tea", 5, 6, 1, 0}};

TEST(vectors_find_what_is_said_in_other_words)
{
    static const char *const said[] = {"there is a car", "an auto it was", "wagon had they",
                                       "bike of them",   "some tea",       NULL};
    WITH_TABLE(e, s, p, words);
    put_all(ctx, s, said);
    table_embed(ctx, e);
    struct groups g = look(ctx, e);
    CHECK_INT(g.n, 1);
    CHECK_STR(g.v[0].first.content, S("there is a car"));
    CHECK_INT(g.v[0].n, 2);
    CHECK(fabs(g.v[0].v[0].similarity - 0.9) < 0.01);
    CHECK(fabs(g.v[0].v[1].similarity - 0.97) < 0.01);
    settings.dedup_similarity = 0.95;
    CHECK_INT(look(ctx, e).v[0].n, 1);
    settings.dedup_similarity = 0.4;
    CHECK_INT(look(ctx, e).v[0].n, 3);
    settings.dedup_similarity = 0.99;
    CHECK_INT(look(ctx, e).n, 0);
}
