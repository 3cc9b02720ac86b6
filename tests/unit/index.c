/* index.c - what of a message or memory goes into the words index. */
#include "core/index.h"

#include "base/utf8.h"
#include "t.h"

static size_t count(const struct words *w, const char *stem)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        n += str_is(w->v[i].stem, stem);
    return n;
}

TEST(a_turn_is_indexed_whole_with_speaker_and_date)
{
    struct message m = {.speaker = S("Nora"),
                        .text = S("The kiln, the kiln and two mugs"),
                        .created = 1683554160000};
    struct index_text t = index_of_message(&ctx->arena, &m);
    CHECK_INT(count(&t.own, "kiln"), 2);
    CHECK_INT(count(&t.own, "mug"), 1);
    CHECK_INT(t.label.n, 4);
    CHECK_INT(count(&t.label, "nora"), 1);
    CHECK_INT(count(&t.label, "may"), 1);
    CHECK_INT(count(&t.label, "2023"), 1);
}

TEST(a_long_text_keeps_its_topic_and_mentions_the_rest)
{
    struct buf b = buf_make(&ctx->arena, 1 << 16);
    for (int i = 0; i < 100; i++)
        buf_printf(&b, "the kiln and w%dx ", i);
    struct message m = {.speaker = S("Nora"), .text = buf_str(&b)};
    struct index_text t = index_of_message(&ctx->arena, &m);
    size_t kiln = count(&t.own, "kiln");
    CHECK(kiln > 5 && kiln < 25);
    CHECK_INT(t.own.n, kiln);
    CHECK_INT(count(&t.label, "kiln"), 0);
    CHECK_INT(count(&t.label, "w7x"), 1);
    CHECK_INT(count(&t.label, "nora"), 1);
    CHECK_INT(t.label.n, 101);
}

TEST(the_same_message_gives_the_same_words)
{
    struct buf b = buf_make(&ctx->arena, 1 << 16);
    for (int i = 0; i < 300; i++)
        buf_printf(&b, "word%d ", i % 70);
    struct memory m = {.key = S("notes"), .content = buf_str(&b), .created = 1683554160000};
    struct index_text x = index_of_memory(&ctx->arena, &m), y = index_of_memory(&ctx->arena, &m);
    CHECK_INT(x.own.n, y.own.n);
    CHECK_INT(x.label.n, y.label.n);
    for (size_t i = 0; i < x.own.n; i++)
        CHECK_STR(x.own.v[i].stem, y.own.v[i].stem);
    for (size_t i = 0; i < x.label.n; i++)
        CHECK_STR(x.label.v[i].stem, y.label.v[i].stem);
}

TEST(nothing_is_indexed_of_nothing)
{
    struct message m = {.text = S("")};
    struct index_text t = index_of_message(&ctx->arena, &m);
    CHECK_INT(t.own.n, 0);
    CHECK_INT(t.label.n, 0);
}

TEST(of_a_very_long_text_the_front_and_the_end_are_indexed)
{
    enum { SIZE = 4 << 20 };
    struct buf b = buf_make(&ctx->arena, SIZE + 100);
    buf_add(&b, S("lighthouse "));
    while (b.n < SIZE / 2)
        buf_add(&b, S("and so it was "));
    buf_add(&b, S("middle "));
    while (b.n < SIZE)
        buf_add(&b, S("and so it was "));
    buf_add(&b, S("the word is tangerine"));
    struct message m = {.text = buf_str(&b)};
    struct index_text t = index_of_message(&ctx->arena, &m);
    CHECK(count(&t.own, "lighthous") + count(&t.label, "lighthous") > 0);
    CHECK(count(&t.own, "tangerin") + count(&t.label, "tangerin") > 0);
    CHECK_INT(count(&t.own, "middl") + count(&t.label, "middl"), 0);
}

TEST(the_ends_of_a_text_are_cut_at_characters)
{
    CHECK_STR(utf8_ends(&ctx->arena, S("abcdef"), 3), S("abcdef"));
    CHECK_STR(utf8_ends(&ctx->arena, S("abcdefg"), 3), S("abc\n…\nefg"));
    CHECK_STR(utf8_ends(&ctx->arena, S("aéééééa"), 2), S("a\n…\na"));
}
