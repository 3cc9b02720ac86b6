/* import.c - OmniRoute's memories in pools: what is kept, who is true, and that twice is once. */
#include <sqlite3.h>

#include "../omniroute_schema.h"
#include "ext/import/import.h"
#include "lib/engine.h"
#include "store/store.h"

#define ID(n) "00000000-0000-4000-8000-00000000000" n

static str file_of(struct ctx *ctx, const struct place *p, const char *schema, const char *rows)
{
    sqlite3 *handle;
    str path = str_printf(&ctx->arena, "%s/omniroute.sqlite", p->folder);
    CHECK_INT(sqlite3_open(path.p, &handle), SQLITE_OK);
    if (sqlite3_exec(handle, schema, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(handle, rows, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(handle));
    sqlite3_close(handle);
    return path;
}

/* The report as "memories updated owners skipped". */
static str import(struct ctx *ctx, struct engine *e, str space, str path)
{
    struct omniroute_report r;
    CHECK_OK(engine_import_omniroute(ctx, e, S("anna"), space, path, false, NULL, &r));
    return str_printf(&ctx->arena, "%lld %lld %lld %lld", (long long)r.memories,
                      (long long)r.updated, (long long)r.owners, (long long)r.skipped);
}

static struct memory get(struct ctx *ctx, struct store *s, const char *space, const char *id)
{
    struct memory out;
    CHECK_OK(store_memory(ctx, s, (struct pool_ref){S("anna"), str_of(space)}, str_of(id), &out));
    return out;
}

/* Every memory of the user with all that a second import could change. */
static str all_of(struct ctx *ctx, struct store *s)
{
    struct memory *v;
    size_t n;
    int64_t total;
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    struct memory_filter f = {.pool = {S("anna"), S("")}, .with_closed = true, .limit = 5000};
    CHECK_OK(store_list_memories(ctx, s, &f, &v, &n, &total));
    CHECK_INT(n, total);
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, S_FMT " " S_FMT " " S_FMT " " S_FMT " %lld %lld %lld %lld " S_FMT "\n",
                   S_ARG(v[i].id), S_ARG(v[i].space), S_ARG(v[i].content), S_ARG(v[i].metadata),
                   (long long)v[i].uses, (long long)v[i].last_used, (long long)v[i].updated,
                   (long long)v[i].valid_to, S_ARG(v[i].superseded_by));
    return buf_str(&b);
}

#define ADD                                                                                        \
    "INSERT INTO memories(id, api_key_id, session_id, type, key, content, metadata, created_at,"   \
    " updated_at, expires_at) VALUES"

static const char three[] = ADD "('" ID(
    "1") "', 'key-a', 's1', 'episodic', 'decision:x', 'uses Postgres',"
         " '{\"category\":\"decision\"}', '2025-01-02T10:00:00.000Z', '2025-01-03T10:00:00.000Z', "
         "NULL),"
         "('" ID("2") "', 'key-b', NULL, 'semantic', NULL, ' likes tea ', 'oops',"
                      " '2025-01-02 10:00:00', '2025-01-02 10:00:00', '2099-01-01T00:00:00.000Z'),"
                      "('not-a-uuid', '', '', 'factual', '', 'is an orphan', NULL,"
                      " '2025-01-02 10:00:00', '2025-01-02 10:00:00', NULL),"
                      "('" ID("4") "', 'key-b', NULL, 'factual', NULL, '  ', NULL,"
                                   " '2025-01-02 10:00:00', '2025-01-02 10:00:00', NULL)";

TEST(each_key_has_a_space_of_its_own)
{
    ENGINE(e, s, p);
    str path = file_of(ctx, &p, OMNIROUTE_SCHEMA, three);
    CHECK_STR(import(ctx, e, S(""), path), S("3 0 3 1"));
    struct memory a = get(ctx, s, "key-a", ID("1")), b = get(ctx, s, "key-b", ID("2"));
    CHECK_STR(a.content, S("uses Postgres"));
    CHECK_STR(a.session, S("s1"));
    CHECK_STR(a.key, S("decision:x"));
    CHECK_STR(a.category, S("decision"));
    CHECK_INT(a.type, TYPE_EPISODIC);
    CHECK_INT(a.origin, ORIGIN_IMPORT);
    CHECK_INT(a.created, 1735812000000);
    CHECK_INT(a.updated, 1735898400000);
    CHECK(a.importance == 0.5);
    CHECK_STR(b.content, S("likes tea"));
    CHECK_STR(b.metadata, S(""));
    CHECK_INT(b.expires, 4070908800000);
    CHECK_INT(find(ctx, s, (struct pool_ref){S("anna"), S("default")}, "orphan").n, 1);
    CHECK_INT(find(ctx, s, (struct pool_ref){S("anna"), S("key-b")}, "postgres").n, 0);
    check_healthy(ctx, s);
}

TEST(a_second_import_changes_nothing)
{
    ENGINE(e, s, p);
    str path = file_of(ctx, &p, OMNIROUTE_SCHEMA, three);
    import(ctx, e, S(""), path);
    str before = all_of(ctx, s);
    CHECK_STR(import(ctx, e, S(""), path), S("0 0 3 1"));
    CHECK_STR(all_of(ctx, s), before);
    check_healthy(ctx, s);
}

TEST(all_keys_go_into_one_space_when_it_is_named)
{
    ENGINE(e, s, p);
    str path = file_of(ctx, &p, OMNIROUTE_SCHEMA, three);
    struct pool_info *v;
    size_t n;
    CHECK_STR(import(ctx, e, S("all"), path), S("3 0 3 1"));
    CHECK_OK(store_pools(ctx, s, S("anna"), &v, &n));
    CHECK_INT(n, 1);
    CHECK_STR(v[0].pool.space, S("all"));
    CHECK_INT(v[0].memories, 3);
    /* The same rows may stand in another space as well. */
    CHECK_STR(import(ctx, e, S(""), path), S("3 0 3 1"));
    CHECK_STR(get(ctx, s, "key-a", ID("1")).content, S("uses Postgres"));
    check_healthy(ctx, s);
}

/* As OmniRoute itself has it: the row that was made last. */
TEST(of_two_rows_with_a_key_the_newest_is_true)
{
    ENGINE(e, s, p);
    str path = file_of(
        ctx, &p, OMNIROUTE_SCHEMA,
        ADD "('" ID(
            "1") "', 'k', '', 'factual', 'city', 'lives in Oslo', NULL,"
                 " '2025-01-02T10:00:00.000Z', '2025-01-02T10:00:00.000Z', NULL),"
                 "('" ID("2") "', 'k', '', 'factual', 'city', 'lives in Rome', NULL,"
                              " '2025-01-02 09:00:00', '2025-01-09 09:00:00', NULL),"
                              "('" ID("3") "', 'k', '', 'factual', 'city', 'lives in Oslo', NULL,"
                                           " '2025-01-01 09:00:00', '2025-01-09 09:00:00', NULL)");
    CHECK_STR(import(ctx, e, S(""), path), S("3 0 1 0"));
    struct memory new = get(ctx, s, "k", ID("1")), old = get(ctx, s, "k", ID("2"));
    CHECK_INT(new.valid_to, 0);
    CHECK_STR(old.superseded_by, new.id);
    CHECK_INT(old.valid_to, new.created);
    CHECK_STR(get(ctx, s, "k", ID("3")).superseded_by, old.id);
    str before = all_of(ctx, s);
    CHECK_STR(import(ctx, e, S(""), path), S("0 0 1 0"));
    CHECK_STR(all_of(ctx, s), before);
    check_healthy(ctx, s);
}

TEST(what_is_known_here_and_newer_stays_true)
{
    ENGINE(e, s, p);
    struct pool_ref pool = {S("anna"), S("k")};
    struct memory here = fact("", "city", "lives in Lima"), back;
    str path = file_of(ctx, &p, OMNIROUTE_SCHEMA,
                       ADD "('" ID("1") "', 'k', '', 'factual', 'city', 'lives in Oslo', NULL,"
                                        " '2020-01-02 10:00:00', '2020-01-02 10:00:00', NULL)");
    CHECK_OK(engine_add(ctx, e, pool, &here));
    CHECK_STR(import(ctx, e, S(""), path), S("1 0 1 0"));
    CHECK_OK(engine_get(ctx, e, pool, here.id, &back));
    CHECK_INT(back.valid_to, 0);
    CHECK_STR(get(ctx, s, "k", ID("1")).superseded_by, here.id);
    CHECK_INT(find(ctx, s, pool, "oslo").n, 0);
    CHECK_INT(find(ctx, s, pool, "lima").n, 1);
    check_healthy(ctx, s);
}

TEST(what_changed_in_the_file_since_is_taken_over)
{
    ENGINE(e, s, p);
    struct memory out;
    struct change change = {.pool = {S("anna"), S("key-b")},
                            .id = S(ID("2")),
                            .what = CHANGE_CONTENT,
                            .to = {.content = S("likes coffee")}};
    str path = file_of(ctx, &p, OMNIROUTE_SCHEMA, three);
    import(ctx, e, S(""), path);
    /* Changed here, and later than there. */
    CHECK_OK(engine_change(ctx, e, &change, &out));
    sqlite3 *handle;
    CHECK_INT(sqlite3_open(path.p, &handle), SQLITE_OK);
    CHECK_INT(sqlite3_exec(handle,
                           "UPDATE memories SET content = 'uses MySQL', updated_at ="
                           " '2025-02-01T00:00:00.000Z' WHERE id = '" ID(
                               "1") "';"
                                    "UPDATE memories SET content = 'likes milk', updated_at ="
                                    " '2025-02-01T00:00:00.000Z' WHERE id = '" ID("2") "'",
                           NULL, NULL, NULL),
              SQLITE_OK);
    sqlite3_close(handle);
    CHECK_STR(import(ctx, e, S(""), path), S("0 1 3 1"));
    CHECK_STR(get(ctx, s, "key-a", ID("1")).content, S("uses MySQL"));
    CHECK_STR(get(ctx, s, "key-b", ID("2")).content, S("likes coffee"));
    CHECK_STR(import(ctx, e, S(""), path), S("0 0 3 1"));
    check_healthy(ctx, s);
}

static int64_t told, told_all;

static void tell(int64_t done, int64_t all)
{
    CHECK_INT(done, told + 1);
    told = done;
    told_all = all;
}

TEST(many_rows_are_written_in_groups)
{
    ENGINE(e, s, p);
    enum { ROWS = 3210 };
    struct omniroute_report r;
    struct store_stats stats;
    str path = file_of(ctx, &p, OMNIROUTE_SCHEMA,
                       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE"
                       " i < 3210) INSERT INTO memories(id, api_key_id, type, key, content)"
                       " SELECT 'row-' || i, 'key-' || (i % 3), 'factual', 'k' || i,"
                       " 'the number ' || i FROM n");
    CHECK_OK(engine_import_omniroute(ctx, e, S("anna"), S(""), path, false, tell, &r));
    CHECK_INT(r.memories, ROWS);
    CHECK_INT(r.owners, 3);
    CHECK(told == ROWS && told_all == ROWS);
    CHECK_OK(store_stats(ctx, s, &stats));
    CHECK_INT(stats.memories, ROWS);
    CHECK(stats.commits < 20);
    str before = all_of(ctx, s);
    CHECK_STR(import(ctx, e, S(""), path), S("0 0 3 0"));
    CHECK_STR(all_of(ctx, s), before);
}

TEST(a_key_that_names_no_space_is_refused_with_a_way_out)
{
    static const char *const keys[] = {"'*'", "hex(zeroblob(101))"};
    for (size_t i = 0; i < 2; i++) {
        ENGINE(e, s, p);
        struct omniroute_report r;
        str path = file_of(ctx, &p, OMNIROUTE_SCHEMA,
                           str_printf(&ctx->arena,
                                      "INSERT INTO memories(id, api_key_id, type, content)"
                                      " VALUES('a', %s, 'factual', 'one')",
                                      keys[i])
                               .p);
        CHECK_STATUS(engine_import_omniroute(ctx, e, S("anna"), S(""), path, false, NULL, &r),
                     BAD_INPUT);
        CHECK(strstr(ctx->why, path.p) && strstr(ctx->why, "use --space NAME (key "));
        ctx_clear_failure(ctx);
        CHECK_STR(import(ctx, e, S("default"), path), S("1 0 1 0"));
    }
}

/* Of both versions together. The rest of the file goes on. */
TEST(metadata_that_becomes_too_large_ends_no_import)
{
    ENGINE(e, s, p);
    str path =
        file_of(ctx, &p, OMNIROUTE_SCHEMA,
                ADD
                "('" ID("1") "', 'k', NULL, 'factual', NULL, 'one', '{\"a\":\"' ||"
                             " hex(zeroblob(20000)) || '\"}', '2025-01-01', '2025-01-01', NULL)");
    CHECK_STR(import(ctx, e, S(""), path), S("1 0 1 0"));
    file_of(ctx, &p, "",
            "UPDATE memories SET content = 'two', updated_at = '2025-01-02',"
            " metadata = '{\"b\":\"' || hex(zeroblob(20000)) || '\"}';" ADD
            "('b', 'k', NULL, 'factual', NULL, 'new', NULL, '2025-01-03', '2025-01-03', NULL)");
    CHECK_STR(import(ctx, e, S(""), path), S("1 1 1 0"));
    CHECK_STR(get(ctx, s, "k", ID("1")).content, S("two"));
    CHECK(str_starts(get(ctx, s, "k", ID("1")).metadata, S("{\"a\":")));
}

TEST(a_file_that_is_not_omniroutes_makes_nothing)
{
    ENGINE(e, s, p);
    struct omniroute_report r;
    struct store_stats stats;
    str path = file_of(ctx, &p, "CREATE TABLE other(a)", "INSERT INTO other VALUES(1)");
    CHECK_STATUS(engine_import_omniroute(ctx, e, S("anna"), S(""), path, false, NULL, &r),
                 NOT_FOUND);
    CHECK_OK(store_stats(ctx, s, &stats));
    CHECK_INT(stats.pools, 0);
}
