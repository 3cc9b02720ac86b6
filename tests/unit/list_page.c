/* list_page.c - a cursor gives back its place, and is refused for another list or when damaged. */
#include "surface/common/list_page.h"

#include <ctype.h>

#include "t.h"

static const struct list_place places[] = {
    {1763683200123.0, 7, {NULL, 0}},
    {0.7000000000000001, INT64_MAX, {NULL, 0}},
    {0, 0, {NULL, 0}},
    {-1, -5, {"a name with \n in it", 19}},
};

TEST(a_cursor_gives_back_its_place)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct list_place back;
        str cursor = cursor_write(ctx, S("memories by created"), &places[i]);
        CHECK_OK(cursor_read(ctx, S("memories by created"), cursor, &back));
        CHECK(back.value == places[i].value);
        CHECK_INT(back.row, places[i].row);
        CHECK_STR(back.name, places[i].name);
        for (size_t c = 0; c < cursor.n; c++)
            CHECK(strchr("-_", cursor.p[c]) || isalnum((unsigned char)cursor.p[c]));
    }
}

TEST(without_a_cursor_a_place_stays_as_it_is)
{
    struct list_place kept = places[3];
    CHECK_OK(cursor_read(ctx, S("a"), S(""), &kept));
    CHECK(kept.value == places[3].value);
    CHECK_STR(kept.name, places[3].name);
}

static void check_refused(struct ctx *ctx, str of, str cursor)
{
    struct list_place back;
    ctx_clear_failure(ctx);
    CHECK_INT(cursor_read(ctx, of, cursor, &back), BAD_INPUT);
    CHECK_STR(str_of(ctx->field), S("cursor"));
}

TEST(a_cursor_of_another_list_or_with_any_changed_character_is_refused)
{
    str cursor = cursor_write(ctx, S("a"), &places[3]);
    check_refused(ctx, S("b"), cursor);
    check_refused(ctx, S(""), cursor);
    check_refused(ctx, S("a"), S("AAAA"));
    check_refused(ctx, S("a"), S("not a cursor"));
    for (size_t i = 0; i < cursor.n; i++) {
        char *bad = (char *)str_dup(&ctx->arena, cursor).p;
        bad[i] = bad[i] == 'A' ? 'B' : 'A';
        check_refused(ctx, S("a"), (str){bad, cursor.n});
        if (i)
            check_refused(ctx, S("a"), str_sub(cursor, 0, i));
    }
}
