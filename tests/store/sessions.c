/* sessions.c - a user's sessions: made empty, changed, listed and searched over all spaces. */
#include "lib/store.h"
#include "store/store.h"

static const struct pool_ref everywhere = {{"anna", 4}, {"", 0}};

static struct session titled(const char *id, const char *title, int64_t updated)
{
    return (struct session){.id = str_of(id), .title = str_of(title), .updated = updated};
}

static void put(struct ctx *ctx, struct store *s, struct pool_ref pool, const char *id,
                const char *title, int64_t updated)
{
    struct session session = titled(id, title, updated);
    CHECK_OK(store_put_session(ctx, s, pool, &session));
}

/* The ids of a page, each with a blank behind it. */
static str page(struct ctx *ctx, struct store *s, const struct session_filter *f, int64_t want)
{
    struct session *v;
    size_t n;
    int64_t total;
    struct buf b = buf_make(&ctx->arena, 100000);
    CHECK_OK(store_sessions(ctx, s, f, &v, &n, &total));
    CHECK_INT(total, want);
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, S_FMT " ", S_ARG(v[i].id));
    return buf_str(&b);
}

static str search(struct ctx *ctx, struct store *s, struct pool_ref pool, const char *contains,
                  int64_t want)
{
    struct session_filter f = {.pool = pool, .contains = str_of(contains), .limit = 10};
    return page(ctx, s, &f, want);
}

static void rename_to(struct ctx *ctx, struct store *s, const char *id, const char *title)
{
    struct session out;
    struct session_change change = {.sets_title = true, .title = str_of(title)};
    CHECK_OK(store_change_session(ctx, s, everywhere, str_of(id), &change, &out));
    CHECK_STR(out.title, str_of(title));
}

TEST(an_empty_session_is_made_and_takes_messages)
{
    PLACE(p);
    STORE(s, p);
    struct session found;
    struct message *v;
    size_t n;
    int64_t before = clock_ms();
    struct session new = {.id = S("s1"), .metadata = S("{\"a\":1}")};
    CHECK_OK(store_put_session(ctx, s, mine, &new));
    CHECK_STATUS(store_put_session(ctx, s, mine, &new), CONFLICT);
    ctx_clear_failure(ctx);
    CHECK_OK(store_session(ctx, s, mine, S("s1"), &found));
    CHECK_STR(found.title, S(""));
    CHECK_STR(found.metadata, S("{\"a\":1}"));
    CHECK_STR(found.space, mine.space);
    CHECK_INT(found.messages, 0);
    CHECK(found.created >= before && found.updated == found.created);
    struct message m = said("m1", "user", "I like tea", before + 1000);
    struct bundle b = {.pool = mine,
                       .session = {.id = S("s1"), .title = S("Tea")},
                       .messages = &m,
                       .n_messages = 1};
    CHECK_OK(store_write(ctx, s, &b));
    b.session.title = S("Another title");
    m.id = S("m2");
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_OK(store_session(ctx, s, mine, S("s1"), &found));
    CHECK_STR(found.title, S("Tea"));
    CHECK_STR(found.metadata, S("{\"a\":1}"));
    CHECK_INT(found.messages, 2);
    CHECK_INT(found.updated, before + 1000);
    CHECK_STR(search(ctx, s, everywhere, "tea", 1), S("s1 "));
    CHECK_STR(search(ctx, s, everywhere, "another", 0), S(""));
    CHECK_OK(store_session_messages(ctx, s, mine, S("s1"), 0, 9, &v, &n));
    CHECK_INT(n, 2);
    check_healthy(ctx, s);
}

TEST(a_session_is_changed_where_it_is)
{
    PLACE(p);
    STORE(s, p);
    struct session out;
    put(ctx, s, other_space, "s1", "Old", 1000);
    struct session_change change = {.sets_metadata = true, .metadata = S("{\"b\":2}")};
    CHECK_OK(store_change_session(ctx, s, everywhere, S("s1"), &change, &out));
    CHECK_STR(out.title, S("Old"));
    CHECK_STR(out.metadata, S("{\"b\":2}"));
    CHECK_STR(out.space, other_space.space);
    CHECK_STATUS(store_change_session(ctx, s, mine, S("s1"), &change, &out), NOT_FOUND);
    CHECK(ctx->failed == OK);
    rename_to(ctx, s, "s1", "New");
    CHECK_STR(search(ctx, s, everywhere, "old", 0), S(""));
    CHECK_STR(search(ctx, s, everywhere, "new", 1), S("s1 "));
    CHECK_OK(store_session(ctx, s, everywhere, S("s1"), &out));
    CHECK_INT(out.updated, 1000);
    CHECK_STR(out.metadata, S("{\"b\":2}"));
    rename_to(ctx, s, "s1", "");
    CHECK_STR(search(ctx, s, everywhere, "new", 0), S(""));
    check_healthy(ctx, s);
}

TEST(sessions_of_all_spaces_are_one_list)
{
    PLACE(p);
    STORE(s, p);
    put(ctx, s, mine, "a", "Tea in Ithaca", 5000);
    put(ctx, s, other_space, "b", "Coffee", 6000);
    put(ctx, s, mine, "c", "Green TEA", 7000);
    put(ctx, s, other_space, "d", "", 8000);
    put(ctx, s, other_user, "e", "Tea", 9000);
    struct session_filter all = {.pool = everywhere, .limit = 10};
    CHECK_STR(page(ctx, s, &all, 4), S("d c b a "));
    all.offset = 1, all.limit = 2;
    CHECK_STR(page(ctx, s, &all, 4), S("c b "));
    all.offset = 9;
    CHECK_STR(page(ctx, s, &all, 4), S(""));
    all.offset = SIZE_MAX, all.limit = SIZE_MAX;
    CHECK_STR(page(ctx, s, &all, 4), S(""));
    all.offset = 0;
    CHECK_STR(page(ctx, s, &all, 4), S("d c b a "));
    all.limit = 0;
    CHECK_STR(page(ctx, s, &all, 4), S(""));
    CHECK_STR(search(ctx, s, everywhere, "tea", 2), S("c a "));
    CHECK_STR(search(ctx, s, mine, "E", 2), S("c a "));
    CHECK_STR(search(ctx, s, other_space, "tea", 0), S(""));
    CHECK_STR(search(ctx, s, other_user, "tea", 1), S("e "));
    check_healthy(ctx, s);
}

/* Whose id it is says nothing about it: what is another's is not there. */
TEST(nothing_of_another_user_is_found_or_changed)
{
    PLACE(p);
    STORE(s, p);
    struct session out = {.title = S("untouched")};
    struct session_change change = {.sets_title = true, .title = S("Mine now")};
    struct pool_ref bens = {S("ben"), S("")};
    put(ctx, s, mine, "s1", "Secret plan", 5000);
    put(ctx, s, other_user, "s2", "Ben's", 5000);
    CHECK_STATUS(store_session(ctx, s, bens, S("s1"), &out), NOT_FOUND);
    CHECK_STATUS(store_session(ctx, s, other_user, S("s1"), &out), NOT_FOUND);
    CHECK_STATUS(store_change_session(ctx, s, bens, S("s1"), &change, &out), NOT_FOUND);
    CHECK_STR(out.title, S("untouched"));
    CHECK_STR(search(ctx, s, bens, "secret", 0), S(""));
    CHECK_STR(search(ctx, s, bens, "s", 1), S("s2 "));
    put(ctx, s, other_user, "s1", "The same id", 6000);
    CHECK_OK(store_session(ctx, s, everywhere, S("s1"), &out));
    CHECK_STR(out.title, S("Secret plan"));
    struct session_filter all = {.pool = {S("nobody"), S("")}, .limit = 10};
    CHECK_STR(page(ctx, s, &all, 0), S(""));
    check_healthy(ctx, s);
}

TEST(titles_are_searched_in_every_script)
{
    PLACE(p);
    STORE(s, p);
    put(ctx, s, mine, "gr", "ΑΘΗΝΑ το πρωί", 1);
    put(ctx, s, mine, "ru", "Поездка в Москву", 2);
    put(ctx, s, mine, "zh", "东京旅行", 3);
    put(ctx, s, mine, "de", "ÜBERMUT tut", 4);
    put(ctx, s, mine, "ctl",
        "a\nb\x01"
        "c",
        5);
    CHECK_STR(search(ctx, s, mine, "αθηνα", 1), S("gr "));
    CHECK_STR(search(ctx, s, mine, "МОСКВУ", 1), S("ru "));
    CHECK_STR(search(ctx, s, mine, "京", 1), S("zh "));
    CHECK_STR(search(ctx, s, mine, "übermut", 1), S("de "));
    CHECK_STR(search(ctx, s, mine, "a\nb", 1), S("ctl "));
    CHECK_STR(search(ctx, s, mine,
                     "B\x02"
                     "C",
                     1),
              S("ctl "));
    CHECK_STR(search(ctx, s, mine, "\x04", 4), S("ctl de ru gr ")); /* a blank, no number */
    CHECK_STR(search(ctx, s, mine, "%", 0), S(""));
    check_healthy(ctx, s);
}

/* Each with a title from a few words, in any order of making, so that blocks split and empty. */
TEST(a_search_finds_what_a_look_at_each_title_finds)
{
    enum { SESSIONS = 250, CHANGES = 500 };
    static const char *const words[] = {"tea", "coffee", "Ithaca", "", "a rather long word of it"};
    PLACE(p);
    STORE(s, p);
    static int64_t updated[SESSIONS];
    static int title[SESSIONS];
    uint64_t seed = 12345;
    for (int i = 0; i < SESSIONS; i++) {
        updated[i] = 1 + (i * 7919) % 1000003;
        put(ctx, s, i % 3 ? mine : other_space, str_printf(&ctx->arena, "s%d", i).p, "",
            updated[i]);
        title[i] = 3;
    }
    for (int i = 0; i < CHANGES; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int k = (int)((seed >> 33) % SESSIONS);
        title[k] = (int)((seed >> 20) % 5);
        rename_to(ctx, s, str_printf(&ctx->arena, "s%d", k).p, words[title[k]]);
    }
    check_healthy(ctx, s);
    for (int w = 0; w < 5; w++) {
        int64_t want = 0, newest = -1;
        int first = 0;
        for (int i = 0; i < SESSIONS && *words[w]; i++) {
            want += title[i] == w;
            if (title[i] == w && updated[i] > newest)
                newest = updated[i], first = i;
        }
        if (!*words[w])
            continue;
        str found = search(ctx, s, everywhere, words[w], want);
        CHECK_STR(str_cut(&found, ' '), str_printf(&ctx->arena, "s%d", first));
    }
    int64_t erased;
    for (int i = 0; i < SESSIONS; i += 2)
        CHECK_OK(store_forget(ctx, s,
                              &(struct forget){.pool = i % 3 ? mine : other_space,
                                               .session = str_printf(&ctx->arena, "s%d", i)},
                              &erased));
    check_healthy(ctx, s);
    int64_t left = 0;
    for (int i = 1; i < SESSIONS; i += 2)
        left += title[i] == 0;
    (void)search(ctx, s, everywhere, "tea", left);
}

/* More than are looked up one by one. */
TEST(a_word_of_many_titles_gives_the_newest_of_them)
{
    enum { SESSIONS = 3200 };
    PLACE(p);
    STORE(s, p);
    for (int i = 0; i < SESSIONS; i++) {
        struct bundle b = {.pool = i % 5 ? mine : other_space,
                           .session = {.id = str_printf(&ctx->arena, "s%d", i),
                                       .title = i % 4 ? S("How do I") : S("Why")}};
        struct message m =
            said(str_printf(&ctx->arena, "m%d", i).p, "user", "x", 1 + (i * 1543) % SESSIONS);
        b.messages = &m;
        b.n_messages = 1;
        CHECK_OK(store_write_later(ctx, s, &b));
    }
    CHECK_OK(store_flush(ctx, s));
    struct session_filter f = {.pool = everywhere, .contains = S("do"), .limit = 30};
    struct session *v;
    size_t n, all = 0;
    int64_t total, last = INT64_MAX;
    for (f.offset = 0; f.offset < SESSIONS; f.offset += f.limit) {
        CHECK_OK(store_sessions(ctx, s, &f, &v, &n, &total));
        CHECK_INT(total, SESSIONS / 4 * 3);
        for (size_t i = 0; i < n; i++) {
            CHECK(v[i].updated < last);
            CHECK_STR(v[i].title, S("How do I"));
            last = v[i].updated;
        }
        all += n;
    }
    CHECK_INT(all, SESSIONS / 4 * 3);
    check_healthy(ctx, s);
}

TEST(a_title_that_is_damaged_is_told_of)
{
    PLACE(p);
    STORE(s, p);
    str findings;
    put(ctx, s, mine, "s1", "Tea", 1);
    place_do(ctx, &p,
             is_on_postgres() ? "UPDATE title SET text = '\\x0078'"
                              : "UPDATE title SET text = x'0078'");
    CHECK_OK(store_check(ctx, s, &findings));
    CHECK(str_find(findings, S("is not found as it is")) < findings.n);
    place_do(ctx, &p, "DELETE FROM title");
    CHECK_OK(store_check(ctx, s, &findings));
    CHECK(str_find(findings, S("titles: 0 of 1 can be found")) < findings.n);
}

/* The ids of all pages, each with a blank behind it. */
static str pages(struct ctx *ctx, struct store *s, struct session_filter f, int64_t want)
{
    struct buf b = buf_make(&ctx->arena, 100000);
    for (size_t n = f.limit; n == f.limit;) {
        struct session *v;
        int64_t total;
        CHECK_OK(store_sessions(ctx, s, &f, &v, &n, &total));
        CHECK_INT(total, want);
        for (size_t i = 0; i < n; i++)
            buf_printf(&b, S_FMT " ", S_ARG(v[i].id));
        f.at = n ? v[n - 1].updated : 0;
        f.no = n ? v[n - 1].no : 0;
    }
    return buf_str(&b);
}

TEST(pages_of_sessions_begin_behind_a_place)
{
    PLACE(p);
    STORE(s, p);
    put(ctx, s, mine, "s1", "a garden", 100);
    put(ctx, s, mine, "s2", "the garden", 200);
    put(ctx, s, mine, "s3", "a house", 200);
    put(ctx, s, mine, "s4", "gardens", 300);
    put(ctx, s, mine, "s5", "my garden", 200);
    struct session_filter all = {.pool = mine, .limit = 2}, named = all, timed = all, both = all;
    CHECK_STR(pages(ctx, s, all, 5), S("s4 s5 s3 s2 s1 "));
    named.contains = S("GARDEN");
    CHECK_STR(pages(ctx, s, named, 4), S("s4 s5 s2 s1 "));
    timed.after = 200;
    timed.before = 300;
    CHECK_STR(pages(ctx, s, timed, 3), S("s5 s3 s2 "));
    both = timed;
    both.contains = S("garden");
    CHECK_STR(pages(ctx, s, both, 2), S("s5 s2 "));
    timed.after = 301;
    timed.before = 0;
    CHECK_STR(pages(ctx, s, timed, 0), S(""));
}
