/* supersession.c - which statement a later one replaces, and which it does not. */
#include "engine/recall/supersession.h"

#include "core/text_annotations.h"
#include "lib/store.h"

static const char *question = "";
static const bool all[] = {true, true, true};

/* Judged as it was read, and again by what was noted of it. */
static enum supersession older_is(struct ctx *ctx, const char *older, const char *newer)
{
    struct text_annotations notes[2] = {{.is_new = false}};
    enum supersession is[2];
    for (int round = 0; round < 2; round++) {
        struct dated_line v[] = {
            {.text = str_of(older), .created = 1, .id = S("a"), .notes = &notes[0]},
            {.text = str_of(newer), .created = 2, .id = S("b"), .notes = &notes[1]}};
        notes[0].is_new = notes[1].is_new = false;
        supersession_judge(&ctx->arena, str_of(question), v, 2, all);
        CHECK_INT(v[1].is, CURRENT);
        is[round] = v[0].is;
    }
    CHECK_INT(is[0], is[1]);
    CHECK(!notes[0].is_new && !notes[1].is_new); /* nothing was read twice */
    return is[0];
}

TEST(what_was_read_of_a_line_is_noted)
{
    struct text_annotations notes = {.is_new = false};
    str text = S("I live in Leeds and my hamster is called Otis.");
    struct dated_line v[] = {{.text = text, .created = 1, .id = S("a"), .notes = &notes},
                             {.text = S("I live in Hull."), .created = 2, .id = S("b")}};
    supersession_judge(&ctx->arena, S(""), v, 2, all);
    CHECK(notes.is_new && annotation_find(&notes, NOTE_READING, text));
    CHECK(
        !annotation_find(&notes, NOTE_READING, S("I live in Leeds and my hamster is called Oti.")));
    CHECK(
        !annotation_find(&notes, NOTE_READING, S("I live in Leeds and my hamster is called Otto")));
}

/* --- what one has once: the latest statement wins, however it is put --- */

TEST(who_does_it_may_change)
{
    question = "Who feeds the goats on Sundays?";
    CHECK(older_is(ctx, "On Sundays Uncle Bela feeds the goats.",
                   "New plan: on Sundays Miriam feeds the goats.") != CURRENT);
    question = "";
}

TEST(of_several_changes_the_last_one_counts)
{
    struct dated_line v[] = {
        {.text = S("We launch Osprey on 1 March."), .created = 1},
        {.text = S("The Osprey launch slips to 15 April."), .created = 2},
        {.text = S("New Osprey launch date is 2 June."), .created = 3},
    };
    supersession_judge(&ctx->arena, S("When do we launch Osprey?"), v, 3, all);
    CHECK_INT(v[0].is, REPLACED);
    CHECK_INT(v[1].is, REPLACED);
    CHECK_INT(v[2].is, CURRENT);
}

/* "moved to Porto" alone does not say who has moved; the message does. */
TEST(what_was_noted_goes_with_its_message)
{
    struct dated_line v[] = {
        {.text = S("I moved to Porto last week."), .created = 1, .id = S("a")},
        {.text = S("moved to Porto last week"), .created = 1, .id = S("b"), .source = S("a")},
        {.text = S("I moved to Braga yesterday."), .created = 2, .id = S("c")},
    };
    supersession_judge(&ctx->arena, S("Where do I live?"), v, 3, all);
    CHECK_INT(v[0].is, REPLACED);
    CHECK_INT(v[1].is, REPLACED);
    CHECK_INT(v[1].by, 2);
    CHECK_INT(v[2].is, CURRENT);
}

/* What replaces a line that is given may be given for it, so it is judged, too. */
TEST(only_lines_that_may_be_given_are_judged)
{
    static const bool none[] = {false, false, false}, first[] = {true, false, false};
    struct dated_line v[] = {
        {.text = S("We launch Osprey on 1 March."), .created = 1},
        {.text = S("The Osprey launch slips to 15 April."), .created = 2},
        {.text = S("New Osprey launch date is 2 June."), .created = 3},
    };
    supersession_judge(&ctx->arena, S("When do we launch Osprey?"), v, 3, none);
    CHECK(v[0].is == CURRENT && v[1].is == CURRENT);
    supersession_judge(&ctx->arena, S("When do we launch Osprey?"), v, 3, first);
    CHECK_INT(v[0].is, REPLACED);
    CHECK_INT(v[0].by, 1);
    CHECK_INT(v[1].is, REPLACED);
}

TEST(a_memory_does_not_replace_its_source)
{
    struct dated_line v[] = {
        {.text = S("My favourite tea is Assam, by far."), .created = 1, .id = S("m")},
        {.text = S("My favourite tea is Assam now"), .created = 2, .id = S("f"), .source = S("m")},
    };
    supersession_judge(&ctx->arena, S(""), v, 2, all);
    CHECK_INT(v[0].is, CURRENT);
}
