/* words.c - the words index: what is counted, what is left out, and that no word breaks it. */
#include "words/words.h"
#include "lib/store.h"

TEST(own_words_and_labels_are_counted_apart)
{
    PLACE(p);
    STORE(s, p);
    struct message m = said("m1", "user", "Biscuit! Biscuit, the dog of Anna", 1683553000000);
    m.speaker = S("Anna");
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    struct word_hits hits = find(ctx, s, mine, "biscuit dog may anna elephant");
    CHECK_INT(hits.n, 1);
    CHECK_INT(hits.v[0].doc, m.doc);
    CHECK_INT(hits.v[0].counts[0], 2);
    CHECK_INT(hits.v[0].counts[1], 1);
    CHECK_INT(hits.v[0].counts[2], 1 << 4);
    CHECK_INT(hits.v[0].counts[3], 1 | 1 << 4);
    CHECK_INT(hits.v[0].counts[4], 0);
    CHECK_INT(hits.found[0], 1);
    CHECK_INT(hits.found[4], 0);
    CHECK_INT(hits.messages, 1);
    CHECK_INT(hits.memories, 0);
}

TEST(counts_stop_at_fifteen)
{
    PLACE(p);
    STORE(s, p);
    struct buf b = buf_make(&ctx->arena, 1000);
    for (int i = 0; i < 40; i++)
        buf_add(&b, S("echo "));
    CHECK_OK(say(ctx, s, mine, "s1", &(struct message){.id = S("a"), .text = buf_str(&b)}));
    CHECK_INT(find(ctx, s, mine, "echo").v[0].counts[0], 15);
}

TEST(hits_ascend_and_sessions_stand_together)
{
    PLACE(p);
    STORE(s, p);
    for (int i = 0; i < 60; i++) {
        str text = str_printf(&ctx->arena, "apple%s%s", i % 2 ? " pear" : "", i % 3 ? " plum" : "");
        struct message m = {.id = str_printf(&ctx->arena, "m%d", i), .text = text};
        CHECK_OK(say(ctx, s, mine, i % 2 ? "odd" : "even", &m));
    }
    struct memory f = fact("f1", "", "an apple");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
    struct word_hits hits = find(ctx, s, mine, "plum apple pear");
    CHECK_INT(hits.n, 61);
    for (size_t i = 1; i < hits.n; i++)
        CHECK(hits.v[i - 1].doc < hits.v[i].doc);
    CHECK_INT(hits.v[60].doc, f.doc);
    CHECK_INT(hits.found[0], 40);
    CHECK_INT(hits.found[1], 61);
    CHECK_INT(hits.found[2], 30);
    size_t plums = 0;
    for (size_t i = 0; i < hits.n; i++) {
        CHECK_INT(hits.v[i].counts[1], 1);
        plums += hits.v[i].counts[0];
    }
    CHECK_INT(plums, 40);
}

TEST(the_commonest_words_are_left_out_for_time)
{
    PLACE(p);
    STORE(s, p);
    for (int i = 0; i < 50; i++) {
        struct message m = {.id = str_printf(&ctx->arena, "m%d", i),
                            .text = i < 5    ? S("rare")
                                    : i < 20 ? S("middling")
                                             : S("common")};
        CHECK_OK(say(ctx, s, mine, "s1", &m));
    }
    struct word_hits hits;
    str stems[] = {words_of(&ctx->arena, S("common"), 1).v[0].stem,
                   words_of(&ctx->arena, S("rare"), 1).v[0].stem,
                   words_of(&ctx->arena, S("middling"), 1).v[0].stem};
    CHECK_OK(store_search_words(ctx, s, mine, stems, 3, false, 50, &hits));
    CHECK_INT(hits.n, 50);
    CHECK_OK(store_search_words(ctx, s, mine, stems, 3, false, 49, &hits));
    CHECK_INT(hits.n, 20);
    CHECK(hits.found[0] == UINT32_MAX && hits.found[1] == 5 && hits.found[2] == 15);
    CHECK_OK(store_search_words(ctx, s, mine, stems, 3, false, 19, &hits));
    CHECK_INT(hits.n, 5);
    CHECK(hits.found[0] == UINT32_MAX && hits.found[1] == 5 && hits.found[2] == UINT32_MAX);
    CHECK_OK(store_search_words(ctx, s, mine, stems, 3, false, 4, &hits));
    CHECK_INT(hits.n, 0);
    CHECK(hits.found[1] == UINT32_MAX);
}

TEST(stop_words_stay_out_and_numbers_stay_in)
{
    PLACE(p);
    STORE(s, p);
    struct message m = said("m1", "user", "the answer of them is 42 or Python 3.12", 1000);
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    CHECK_INT(find(ctx, s, mine, "the of them").n, 0);
    CHECK_INT(find(ctx, s, mine, "42").n, 1);
    CHECK_INT(find(ctx, s, mine, "3.12").n, 1);
    CHECK_INT(find(ctx, s, mine, "3").n, 0);
    CHECK_INT(find(ctx, s, mine, "12").n, 0);
}

TEST(a_word_of_pool_1_is_no_word_of_pool_11)
{
    PLACE(p);
    STORE(s, p);
    for (int i = 1; i <= 12; i++) {
        struct pool_ref pool = {str_printf(&ctx->arena, "user%d", i), S("default")};
        struct message m = {.id = S("a"), .text = str_printf(&ctx->arena, "1 marker x%d", i)};
        CHECK_OK(say(ctx, s, pool, "s", &m));
    }
    for (int i = 1; i <= 12; i++) {
        struct pool_ref pool = {str_printf(&ctx->arena, "user%d", i), S("default")};
        CHECK_INT(find(ctx, s, pool, "marker").n, 1);
        CHECK_INT(find(ctx, s, pool, "x1").n, i == 1);
    }
}

TEST(no_stem_breaks_a_search)
{
    PLACE(p);
    STORE(s, p);
    struct buf longest = buf_make(&ctx->arena, 1 << 20);
    for (int i = 0; i < 100000; i++)
        buf_byte(&longest, 'x');
    str odd[] = {S("\""),        S("*"),
                 S("AND"),       S("OR NOT"),
                 S("NEAR(a b)"), S("own:a"),
                 S("a\"b"),      S("'"),
                 S("^a"),        S("a*"),
                 S("-"),         S("+"),
                 S("\xFF\xFE"),  S("\xC2"),
                 S("a\0b"),      S("\xF0\x9F\x98\x80"),
                 S(" "),         S("{own label}: a")};
    struct message m = said("m1", "user", "\"quoted\" * AND OR NOT NEAR(a b) own:a a*b -x", 1000);
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct word_hits hits;
        CHECK_OK(store_search_words(ctx, s, mine, &odd[i], 1, false, 100, &hits));
        CHECK_INT(hits.n, 0);
    }
    struct word_hits hits;
    str few[] = {S(""), buf_str(&longest), S("quot")};
    CHECK_OK(store_search_words(ctx, s, mine, few, 3, false, 100, &hits));
    CHECK_INT(hits.n, 1);
    CHECK_INT(hits.v[0].counts[2], 1);
    str many[QUERY_WORDS_MAX + 1] = {S("")};
    CHECK_STATUS(store_search_words(ctx, s, mine, many, QUERY_WORDS_MAX + 1, false, 9, &hits),
                 BAD_INPUT);
}

TEST(odd_texts_are_indexed_and_erased_without_a_trace)
{
    PLACE(p);
    STORE(s, p);
    char noise[4000];
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)(i * 7919 + i / 255);
    struct message m = {.id = S("m1"), .text = {noise, sizeof noise}, .role = S("user")};
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    check_healthy(ctx, s);
    int64_t erased;
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .id = S("m1")}, &erased));
    check_healthy(ctx, s);
}

TEST(scripts_without_spaces_are_found)
{
    PLACE(p);
    STORE(s, p);
    struct message m = said("m1", "user", "\xE6\x88\x91\xE5\x96\x9C\xE6\xAC\xA2\xE7\x8C\xAB", 1000);
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    CHECK_INT(find(ctx, s, mine, "\xE5\x96\x9C\xE6\xAC\xA2").n, 1);
}

TEST(of_an_echo_only_what_is_new_is_found)
{
    PLACE(p);
    STORE(s, p);
    struct message m = said("m1", "assistant", "You told me of Biscuit. Try Ithaca.", 1000), back;
    int64_t erased;
    m.is_echo = true;
    m.says = S("Try Ithaca.");
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    CHECK_INT(find(ctx, s, mine, "biscuit").n, 0);
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 1);
    CHECK_OK(store_messages(ctx, s, mine, &m.doc, 1, &back));
    CHECK(back.is_echo);
    CHECK_STR(back.text, m.text);
    CHECK_STR(back.says, m.says);
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .id = S("m1")}, &erased));
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 0);
    check_healthy(ctx, s);
}

TEST(messages_crowd_out_no_memory)
{
    enum { MANY = 200 };
    PLACE(p);
    STORE(s, p);
    struct word_hits hits;
    struct memory m = fact("f1", "", "a green dog");
    const str stems[] = {S("green"), S("dog")};
    for (int i = 0; i < MANY; i++) {
        struct message one = said("", "user", "the green dog again", 1700000000000 + i);
        one.id = id_random(&ctx->arena);
        CHECK_OK(say(ctx, s, mine, "talk", &one));
    }
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    CHECK_OK(keep(ctx, s, other_space, PUT_SUPERSEDE, &(struct memory){.content = S("green dog")}));
    CHECK_OK(store_search_words(ctx, s, mine, stems, 2, false, 50, &hits));
    CHECK_INT(hits.n, 0);
    CHECK_OK(store_search_words(ctx, s, mine, stems, 2, true, 50, &hits));
    CHECK(hits.n == 1 && hits.v[0].doc == m.doc && doc_is_memory(m.doc));
    CHECK(hits.found[0] == 1 && hits.found[1] == 1);
    CHECK(hits.messages == MANY && hits.memories == 1);
}

/* 40 messages and 3 memories with a word; 7 are too few for it. */
TEST(of_a_word_that_stands_everywhere_the_newest_are_found)
{
    PLACE(p);
    STORE(s, p);
    const str stems[] = {S("porto"), S("unsaid")};
    struct message said_last = {0};
    struct word_hits hits;
    for (int i = 0; i < 40; i++) {
        struct message m = {.id = str_printf(&ctx->arena, "m%d", i), .text = S("the porto")};
        CHECK_OK(say(ctx, s, mine, i < 20 ? "first" : "second", &m));
        said_last = m;
    }
    for (int i = 0; i < 3; i++) {
        struct memory f = fact(str_printf(&ctx->arena, "f%d", i).p, "",
                               str_printf(&ctx->arena, "porto number %d", i).p);
        CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
    }
    CHECK_OK(store_search_words(ctx, s, mine, stems, 2, false, 7, &hits));
    CHECK_INT(hits.found[0], UINT32_MAX);
    CHECK_INT(hits.n, 0);
    CHECK_OK(store_search_newest_words(ctx, s, mine, stems, 2, false, 7, &hits));
    CHECK_INT(hits.n, 7 + 3);
    for (size_t i = 0; i < hits.n; i++)
        CHECK((i == 0 || hits.v[i - 1].doc < hits.v[i].doc) && hits.v[i].counts[0]);
    CHECK_INT(hits.v[6].doc, said_last.doc);
    CHECK(doc_is_memory(hits.v[7].doc) && hits.found[0] == hits.messages + hits.memories);
    CHECK_OK(store_search_newest_words(ctx, s, mine, stems, 2, true, 7, &hits));
    CHECK_INT(hits.n, 3);
    CHECK_OK(store_search_newest_words(ctx, s, other_space, stems, 2, false, 7, &hits));
    CHECK_INT(hits.n, 0);
}

/* Sessions of long texts: more words than the index of PostgreSQL is made anew with at once. */
static void say_much(struct ctx *ctx, struct store *s, struct pool_ref pool, int from, int to)
{
    enum { WORDS = 200, EACH = 100 };
    for (int at = from; at < to; at += EACH) {
        CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
        struct message v[EACH] = {0};
        for (int i = 0; i < EACH; i++) {
            struct buf text = buf_make(&own.arena, 1 << 14);
            for (int k = 0; k < WORDS; k++)
                buf_printf(&text, "w%d ", k < 3 ? k : (at + i) * 7919 % 5000 * k % 5000);
            buf_printf(&text, "rare%d", (at + i) / 500);
            v[i] = (struct message){.id = id_random(&own.arena), .text = buf_str(&text)};
        }
        struct bundle b = {.pool = pool,
                           .session = {.id = str_printf(&own.arena, "s%d", at)},
                           .messages = v,
                           .n_messages = EACH};
        CHECK_OK(store_write(&own, s, &b));
    }
}

static void check_found(struct ctx *ctx, struct store *s, int messages)
{
    struct word_hits hits;
    const str stems[] = {S("w1"), S("rare1"), S("sail")};
    CHECK_OK(store_search_words(ctx, s, mine, stems, 3, false, 10000, &hits));
    CHECK(hits.found[0] == (uint32_t)messages && hits.found[1] == 500 && hits.found[2] == 1);
    CHECK(hits.n == (size_t)messages + 1 && doc_is_memory(hits.v[messages].doc));
    CHECK_OK(store_search_words(ctx, s, other_user, stems, 3, false, 10000, &hits));
    CHECK(hits.found[0] == 300 && hits.found[1] == 0 && hits.found[2] == 0);
    check_healthy(ctx, s);
}

TEST(an_index_that_is_made_anew_finds_the_same_and_goes_on)
{
    enum { MANY = 2000 };
    PLACE(p);
    struct store *s = NULL;
    const struct store_settings settings = {.path = str_of(p.path)};
    struct memory m = fact("f1", "", "sailing");
    int64_t erased;
    CHECK_OK(store_open(ctx, &settings, &s));
    say_much(ctx, s, mine, 0, MANY);
    say_much(ctx, s, other_user, 0, 300);
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    check_found(ctx, s, MANY);
    store_close(s);
    place_do(ctx, &p, "UPDATE fact SET value = 'of an earlier version' WHERE name = 'words'");
    CHECK_OK(store_open(ctx, &settings, &s));
    check_found(ctx, s, MANY);
    say_much(ctx, s, mine, MANY, MANY + 300);
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .session = S("s0")}, &erased));
    check_found(ctx, s, MANY + 200);
    store_close(s);
}

/* --- many documents --- */

/* Words that a memory has, as bits; one of WORDS. */
enum { WORDS = 64, MEMORIES = 900 };

static uint64_t draw(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return *random >> 1 ^ *random >> 33;
}

static str text_with(struct arena *a, uint64_t has)
{
    struct buf b = buf_make(a, 4096);
    for (int i = 0; i < WORDS; i++)
        if (has >> i & 1)
            buf_printf(&b, "shelf%d ", i);
    return str_trim(buf_str(&b));
}

static void check_words(struct ctx *ctx, struct store *s, const uint64_t *has)
{
    for (int i = 0; i < WORDS; i += 7) {
        size_t n = 0, at = 0;
        struct word_hits hits = find(ctx, s, mine, str_printf(&ctx->arena, "shelf%d", i).p);
        for (int k = 0; k < MEMORIES; k++)
            n += has[k] >> i & 1;
        CHECK_INT(hits.n, n);
        for (; at + 1 < hits.n; at++)
            CHECK(hits.v[at].doc < hits.v[at + 1].doc);
    }
    check_healthy(ctx, s);
}

/* On PostgreSQL new documents have rows of their own, and go into blocks when they are many. Here
 * they are erased and changed in either. */
TEST(documents_come_change_and_go_among_many)
{
    PLACE(p);
    STORE(s, p);
    uint64_t has[MEMORIES] = {0}, random = 11;
    for (int i = 0; i < MEMORIES; i++) {
        str id = str_printf(&ctx->arena, "f%d", i);
        has[i] = (draw(&random) & draw(&random)) | 1;
        struct memory f = fact(id.p, "", text_with(&ctx->arena, has[i]).p);
        CHECK_OK(keep(ctx, s, mine, PUT_IMPORT, &f));
        int other = (int)(draw(&random) % (uint64_t)(i + 1));
        id = str_printf(&ctx->arena, "f%d", other);
        if (i % 3 == 0 && has[other]) {
            int64_t erased;
            CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .id = id}, &erased));
            has[other] = 0;
        } else if (i % 3 == 1 && has[other]) {
            has[other] = draw(&random) | 1;
            str text = text_with(&ctx->arena, has[other]);
            struct change change = {.pool = mine, .id = id, .what = CHANGE_CONTENT};
            change.to.content = text;
            CHECK_OK(store_change(ctx, s, &change, &f));
        }
        if (i % 180 == 0 || i + 1 == MEMORIES)
            check_words(ctx, s, has);
    }
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .memories = true}, &(int64_t){0}));
    memset(has, 0, sizeof has);
    check_words(ctx, s, has);
}

/* On SQLite it has no such rows. */
TEST(a_row_of_words_that_is_cut_is_named)
{
    PLACE(p);
    STORE(s, p);
    struct word_hits hits;
    struct message m = said("m1", "user", "We sail to Ithaca", 1000);
    str stem = words_of(&ctx->arena, S("Ithaca"), 1).v[0].stem;
    if (!is_on_postgres())
        return;
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    place_do(ctx, &p,
             "UPDATE posting SET docs = substring(docs FROM 1 FOR octet_length(docs) - 1)");
    CHECK_STATUS(store_search_words(ctx, s, mine, &stem, 1, false, 50, &hits), STORAGE);
    CHECK(strstr(ctx->why, "a row of the words index is damaged"));
    ctx_clear_failure(ctx);
}
