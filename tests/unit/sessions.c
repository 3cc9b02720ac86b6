/* sessions.c - sessions by themselves through the engine's face: made, merged, listed, read whole.
 */
#include <math.h>

#include "base/id.h"
#include "engine/inspect.h"
#include "engine/recall.h"
#include "lib/engine.h"
#include "store/store.h"

static str patched(struct ctx *ctx, const char *old, const char *patch)
{
    ENGINE(e, s, p);
    struct session made = {.metadata = str_of(old)}, out;
    struct session_change change = {.sets_metadata = true, .metadata = str_of(patch)};
    CHECK_OK(engine_make_session(ctx, e, mine, &made));
    CHECK_OK(engine_change_session(ctx, e, mine, made.id, &change, &out));
    return out.metadata;
}

/* The cases of RFC 7396, appendix A, that both begin and end with an object, and a few more. */
TEST(metadata_is_merged_as_rfc_7396_says)
{
    static const struct {
        const char *old, *patch, *result;
    } cases[] = {
        {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
        {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
        {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
        {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
        {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
        {"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
        {"", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
        {"{\"a\":1}", "{}", "{\"a\":1}"},
        {"{\"n\":1.10}", "{\"q\\\"\\u00e9\":1e3}", "{\"n\":1.10,\"q\\\"\xc3\xa9\":1e3}"},
        {"{\"a\":1}", "{\"a\":2,\"a\":3}", "{\"a\":3}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(patched(ctx, cases[i].old, cases[i].patch), str_of(cases[i].result));
}

TEST(a_session_is_made_changed_and_found_in_all_spaces_of_its_user)
{
    ENGINE(e, s, p);
    struct pool_ref anywhere = {mine.user, S("")}, strangers = {S("someone"), S("")};
    struct session made = {.metadata = S("{\"source\":\"web\"}")}, got;
    CHECK_OK(engine_make_session(ctx, e, mine, &made));
    CHECK(id_is_uuid(made.id) && made.created && made.created == made.updated);
    CHECK_OK(engine_session(ctx, e, anywhere, made.id, &got));
    CHECK_STR(got.space, mine.space);
    CHECK_STR(got.metadata, S("{\"source\":\"web\"}"));
    CHECK_STR(got.title, S(""));
    CHECK_STATUS(engine_session(ctx, e, strangers, made.id, &got), NOT_FOUND);
    struct session_change change = {.sets_title = true, .title = S("Trip to Tokyo")};
    CHECK_STATUS(engine_change_session(ctx, e, strangers, made.id, &change, &got), NOT_FOUND);
    CHECK_OK(engine_change_session(ctx, e, anywhere, made.id, &change, &got));
    CHECK_STR(got.title, S("Trip to Tokyo"));
    CHECK_STR(got.metadata, S("{\"source\":\"web\"}"));
    struct session_filter f = {.pool = anywhere, .contains = S("tokyo"), .limit = 5};
    struct session *v;
    size_t n;
    int64_t total;
    CHECK_OK(store_sessions(ctx, s, &f, &v, &n, &total));
    CHECK(n == 1 && total == 1);
    CHECK_STR(v[0].id, made.id);
    f.pool = strangers;
    CHECK_OK(store_sessions(ctx, s, &f, &v, &n, &total));
    CHECK(n == 0 && total == 0);
    CHECK_STATUS(engine_make_session(ctx, e, mine, &made), CONFLICT);
}

TEST(what_breaks_a_rule_is_no_session)
{
    ENGINE(e, s, p);
    struct buf b = buf_make(&ctx->arena, 200000), letters = buf_make(&ctx->arena, 1000);
    buf_printf(&b, "{\"a\":\"%065536d\"}", 0);
    for (int i = 0; i < 200; i++)
        buf_add(&letters, S("\xc3\xa9"));
    const struct {
        const char *field;
        str title, metadata;
    } wrong[] = {
        {"metadata", S(""), S("[]")},
        {"metadata", S(""), S("\"x\"")},
        {"metadata", S(""), buf_str(&b)},
        {"title", str_printf(&ctx->arena, S_FMT "e", S_ARG(buf_str(&letters))), S("")},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct session made = {.title = wrong[i].title, .metadata = wrong[i].metadata};
        CHECK_STATUS(engine_make_session(ctx, e, mine, &made), BAD_INPUT);
        CHECK_STR(str_of(ctx->field), str_of(wrong[i].field));
        ctx_clear_failure(ctx);
    }
    struct session made = {.title = buf_str(&letters)}, got;
    CHECK_OK(engine_make_session(ctx, e, mine, &made));
    str half = str_printf(&ctx->arena, "{\"a\":\"%040000d\"}", 0);
    str other = str_printf(&ctx->arena, "{\"b\":\"%040000d\"}", 0);
    struct session_change change = {.sets_metadata = true, .metadata = half};
    CHECK_OK(engine_change_session(ctx, e, mine, made.id, &change, &got));
    change.metadata = other;
    CHECK_STATUS(engine_change_session(ctx, e, mine, made.id, &change, &got), BAD_INPUT);
    ctx_clear_failure(ctx);
    CHECK_OK(engine_session(ctx, e, mine, made.id, &got));
    CHECK_STR(got.metadata, half);
}

TEST(a_change_of_metadata_loses_no_other)
{
    ENGINE(e, s, p);
    struct session made = {0}, got;
    str was = S("{\"old\":1}");
    CHECK_OK(engine_make_session(ctx, e, mine, &made));
    struct session_change change = {.sets_metadata = true, .metadata = S("{}"), .was = &was};
    CHECK_STATUS(store_change_session(ctx, s, mine, made.id, &change, &got), CONFLICT);
    was = S("");
    CHECK_OK(store_change_session(ctx, s, mine, made.id, &change, &got));
}

TEST(all_messages_of_a_session_are_read_in_order)
{
    ENGINE(e, s, p);
    enum { N = 2345 };
    struct message *said = NEW_N(&ctx->arena, struct message, N), *v;
    size_t n;
    for (int i = 0; i < N; i++)
        said[i] = (struct message){.id = id_random(&ctx->arena),
                                   .role = i % 2 ? S("assistant") : S("user"),
                                   .text = str_printf(&ctx->arena, "line %d", i),
                                   .created = 1000 + i};
    struct bundle b = {.pool = mine,
                       .session = {.id = S("long")},
                       .messages = said,
                       .n_messages = N};
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_OK(engine_session_messages(ctx, e, mine, S("long"), &v, &n));
    CHECK_INT(n, N);
    for (int i = 0; i < N; i++)
        CHECK_STR(v[i].text, said[i].text);
    struct forget what = {.pool = mine, .id = said[999].id};
    int64_t erased;
    CHECK_OK(engine_forget(ctx, e, &what, &erased));
    CHECK_OK(engine_session_messages(ctx, e, mine, S("long"), &v, &n));
    CHECK_INT(n, N - 1);
    CHECK_STR(v[999].text, S("line 1000"));
    CHECK_OK(engine_session_messages(ctx, e, mine, S("none"), &v, &n));
    CHECK_INT(n, 0);
}

static struct recalled found_in(const char *session, double rank)
{
    return (struct recalled){.message.session = str_of(session),
                             .space = S("home"),
                             .measured.rank = rank};
}

/* Odds of 2, 1.5 and 1.5 to one: two messages that are nearly as good beat a better one. */
TEST(a_conversation_has_the_odds_of_its_messages_together)
{
    struct recalled v[100] = {found_in("one", log(2)), found_in("two", log(1.5)),
                              found_in("two", log(1.5))};
    size_t n;
    struct session_found *hits = engine_by_session(&ctx->arena, v, 3, &n);
    CHECK_INT(n, 2);
    CHECK_STR(hits[0].session.id, S("two"));
    CHECK(fabs(hits[0].rank - log(3)) < 1e-9);
    CHECK(hits[0].best == &v[1] && hits[1].best == &v[0]);
    engine_by_session(&ctx->arena, v, 0, &n);
    CHECK_INT(n, 0);
}

/* Ranks far out of exp's range, and a long conversation far down the list. */
TEST(what_is_far_down_the_list_counts_for_no_conversation)
{
    struct recalled v[100] = {found_in("best", -2000)};
    size_t n;
    for (int i = 1; i < 100; i++)
        v[i] = found_in(i < 30 ? "few" : i < 60 ? "many" : "last", i < 30 ? -2010 : -2001);
    struct session_found *hits = engine_by_session(&ctx->arena, v, 100, &n);
    CHECK_INT(n, 4);
    CHECK_STR(hits[0].session.id, S("best"));
    CHECK_STR(hits[1].session.id, S("few"));
    CHECK_STR(hits[2].session.id, S("many"));
    CHECK_STR(hits[3].session.id, S("last"));
}
