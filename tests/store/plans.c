/* plans.c - no statement walks through a table when an index leads to the rows. */
#include <sqlite3.h>

#include "lib/store.h"
#include "store/sql/db/sql_parts.h"

/* The statements as the store prepares them. */
static const struct {
    const char *name, *text;
} statements[] = {
#define BY(sqlite, postgres) sqlite
#define SQL(NAME, TEXT) {#NAME, TEXT},
#include "store/sql/db/sql.def"
#undef SQL
#undef BY
};

static const char *const on_postgres[] = {
#define SQL(NAME, TEXT) #NAME,
#include "store/sql/db/sql_postgres.def"
#undef SQL
};

/* These read everything, because that is what they are for, or just the first. */
static const char *const walkers[] = {
    "EACH_MESSAGE",
    "EACH_MEMORY",
    "STATS",
    "WORDS_TOTAL",
    "WORDS_ALL",
    "TOKEN_LIST_ALL",
    "TOKEN_LIST_USED",
    "TOKEN_REVOKE",
    "TOKEN_REVOKE_MADE", /* the family that they have found, not the table */
    "TITLE_ALL",
    "SYNC_ALL",
    "SYNC_CLEAR",
    "SYNC_COUNT",
    "VECTOR_SET",
    "VECTOR_CLEAR",
    "VECTOR_STATS",
    "VECTOR_TODO_MESSAGES",
    "VECTOR_TODO_MEMORIES",
    "VECTOR_MANY_GONE",
    "WAITING_STATS",
    "SIGNAL_STATS",
    "WORK_LIST",
    "POOL_USERS",
    "POOL_USERS_WITH", /* each pool is asked for one id */
    "USER_SEALED",
    "ROLE_OWNED", /* whoever is more than a member */
    "ACCOUNT_COUNT",
    "ERASURE_POOLS", /* of an older copy, once: every row is asked for its hash */
    "ERASURE_USERS",
    "RIGHTS",
    "ERASURE_LIST", /* a person looks at the log, which has a row for each erasure */
    "ERASURE_COUNT",
    "ERASURE_ONE", /* of what can still be undone, a row for each */
};

/* MOVE_: a store that is copied is read from one end to the other. */
static bool may_walk(const char *name)
{
    if (strncmp(name, "MOVE_", 5) == 0)
        return true;
    return SOME(i, sizeof walkers / sizeof *walkers, strcmp(name, walkers[i]) == 0);
}

static void take(sqlite3_context *result, int n, sqlite3_value **values)
{
    (void)n, (void)values;
    sqlite3_result_null(result);
}

static sqlite3 *open_beside(const struct place *p)
{
    sqlite3 *handle;
    CHECK_INT(sqlite3_open(p->path, &handle), SQLITE_OK);
    CHECK_INT(sqlite3_exec(handle,
                           "CREATE TEMP TABLE erased(id TEXT, layer INTEGER,"
                           " superseded_by TEXT, PRIMARY KEY(id, layer)) WITHOUT ROWID",
                           NULL, NULL, NULL),
              SQLITE_OK);
    sqlite3_create_function(handle, "take", 1, SQLITE_UTF8, NULL, take, NULL, NULL);
    sqlite3_create_function(handle, "tokens", 1, SQLITE_UTF8, NULL, take, NULL, NULL);
    sqlite3_create_function(handle, "holds", 2, SQLITE_UTF8, NULL, take, NULL, NULL);
    return handle;
}

/* The steps of the plan, each on a line. */
static str plan_of(struct ctx *ctx, sqlite3 *handle, const char *text)
{
    sqlite3_stmt *stmt;
    struct buf b = buf_make(&ctx->arena, 10000);
    const char *explain = str_printf(&ctx->arena, "EXPLAIN QUERY PLAN %s", text).p;
    CHECK_INT(sqlite3_prepare_v2(handle, explain, -1, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        buf_printf(&b, "%s\n", (const char *)sqlite3_column_text(stmt, 3));
    sqlite3_finalize(stmt);
    return buf_str(&b);
}

TEST(no_statement_walks_through_a_table)
{
    PLACE(p);
    STORE(s, p);
    sqlite3 *handle = open_beside(&p);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        if (SOME(k, sizeof on_postgres / sizeof *on_postgres,
                 strcmp(statements[i].name, on_postgres[k]) == 0))
            continue;
        str plan = plan_of(ctx, handle, statements[i].text), rest = plan;
        if (getenv("SHOW_PLANS"))
            printf("%s:\n" S_FMT "\n", statements[i].name, S_ARG(plan));
        while (rest.n && !may_walk(statements[i].name)) {
            str line = str_cut(&rest, '\n');
            bool walks = str_starts(line, S("SCAN ")) && str_find(line, S("VIRTUAL")) == line.n &&
                         str_find(line, S("CONSTANT ROW")) == line.n &&
                         !str_starts(line, S("SCAN (subquery")) &&
                         !str_is(line, "SCAN a") && /* names as they are merged, up to a page */
                         !str_starts(line, S("SCAN temp.erased")); /* what is erased right now */
            if (walks)
                fail_msg("%s: " S_FMT, statements[i].name, S_ARG(plan));
        }
    }
    CHECK_INT(sqlite3_close(handle), SQLITE_OK);
}

/* The few of a layer are reached past any number of facts, and in order. */
TEST(a_layer_leads_to_its_memories)
{
    PLACE(p);
    STORE(s, p);
    static const char *const by_layer[] = {"MEMORY_PAGE_LAYER_DOWN", "MEMORY_PAGE_LAYER_UP",
                                           "MEMORY_KINDS_LAYER"};
    sqlite3 *handle = open_beside(&p);
    for (size_t i = 0; i < sizeof by_layer / sizeof *by_layer; i++) {
        size_t k = 0;
        while (strcmp(statements[k].name, by_layer[i]) != 0)
            k++;
        str plan = plan_of(ctx, handle, statements[k].text);
        if (str_find(plan, S("memory_layer (pool=? AND layer=?")) == plan.n ||
            str_find(plan, S("TEMP B-TREE")) < plan.n)
            fail_msg("%s: " S_FMT, by_layer[i], S_ARG(plan));
    }
    CHECK_INT(sqlite3_close(handle), SQLITE_OK);
}

/* A page begins at its cursor in the order of its index, and sorts nothing; totals of kinds come
 * from an index alone. */
TEST(a_page_is_found_in_the_order_of_its_index)
{
    PLACE(p);
    STORE(s, p);
    static const struct {
        const char *name, *by;
    } pages[] = {
        {"MEMORY_PAGE_CREATED_DOWN", "memory_recent (pool=? AND created>? AND created<?"},
        {"MEMORY_PAGE_CREATED_UP", "memory_recent (pool=? AND created>? AND created<?"},
        {"MEMORY_PAGE_UPDATED_DOWN", "memory_updated (pool=? AND updated<?"},
        {"MEMORY_PAGE_UPDATED_UP", "memory_updated (pool=? AND updated>?"},
        {"MEMORY_PAGE_IMPORTANCE_DOWN", "memory_weight (pool=? AND importance>?"},
        {"MEMORY_PAGE_IMPORTANCE_UP", "memory_weight (pool=? AND importance>?"},
        {"MEMORY_PAGE_LAST_USED_DOWN", "memory_used (pool=? AND last_used<?"},
        {"MEMORY_PAGE_LAST_USED_UP", "memory_used (pool=? AND last_used>?"},
        {"MEMORY_PAGE_USES_DOWN", "memory_uses (pool=? AND uses<?"},
        {"MEMORY_PAGE_USES_UP", "memory_uses (pool=? AND uses>?"},
        {"MEMORY_KINDS_CREATED",
         "COVERING INDEX memory_recent (pool=? AND created>? AND created<?"},
        {"MEMORY_KINDS_IMPORTANCE", "COVERING INDEX memory_weight (pool=? AND importance>?"},
    };
    sqlite3 *handle = open_beside(&p);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        size_t k = 0;
        while (strcmp(statements[k].name, pages[i].name) != 0)
            k++;
        str plan = plan_of(ctx, handle, statements[k].text);
        if (str_find(plan, str_of(pages[i].by)) == plan.n ||
            str_find(plan, S("TEMP B-TREE")) < plan.n)
            fail_msg("%s: " S_FMT, pages[i].name, S_ARG(plan));
    }
    CHECK_INT(sqlite3_close(handle), SQLITE_OK);
}

/* Sums of a user's pools walk no other user's rows, and no pool's facts. */
TEST(sums_walk_no_facts)
{
    PLACE(p);
    STORE(s, p);
    static const char *const steps[] = {"autoindex_pool_1 (user=?",
                                        "PRIMARY KEY (pool=? AND layer=?", "waiting_pool (pool=?",
                                        "session_recent (pool=?", "memory_recent (pool=?"};
    sqlite3 *handle = open_beside(&p);
    size_t k = 0;
    while (strcmp(statements[k].name, "POOL_SUMS") != 0)
        k++;
    str plan = plan_of(ctx, handle, statements[k].text);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (str_find(plan, str_of(steps[i])) == plan.n)
            fail_msg("no %s: " S_FMT, steps[i], S_ARG(plan));
    CHECK_INT(sqlite3_close(handle), SQLITE_OK);
}

/* Of a conversation each message asks, so none may read all receipts of the pool. */
TEST(an_erased_message_reaches_the_receipts_of_its_chain)
{
    PLACE(p);
    STORE(s, p);
    sqlite3 *handle = open_beside(&p);
    size_t k = 0;
    while (strcmp(statements[k].name, "RECEIPT_DELETE_CHAIN") != 0)
        k++;
    str plan = plan_of(ctx, handle, statements[k].text);
    if (str_find(plan, S("receipt_chain (pool=? AND chain=?")) == plan.n ||
        str_find(plan, S("receipt_recent")) < plan.n)
        fail_msg(S_FMT, S_ARG(plan));
    CHECK_INT(sqlite3_close(handle), SQLITE_OK);
}

/* A session or a row is reached by its number, not by way of everything in its pool. */
TEST(numbers_lead_to_rows)
{
    PLACE(p);
    STORE(s, p);
    static const char *const by_number[] = {"MESSAGE_GET",  "MESSAGE_RANGE",  "MESSAGE_DELETE",
                                            "MESSAGE_LAST", "MEMORY_GET",     "MEMORY_DELETE",
                                            "MEMORY_CLOSE", "MEMORY_REPLACE", "MEMORY_CHANGE",
                                            "MEMORY_AGAIN", "MEMORY_TOUCH",   "MEMORY_RAISE",
                                            "MEMORY_MERGE", "SIGNAL_DONE",    "WAITING_LEASE",
                                            "SESSION_GROW", "SESSION_SHRINK", "SESSION_DELETE"};
    sqlite3 *handle = open_beside(&p);
    for (size_t i = 0; i < sizeof by_number / sizeof *by_number; i++) {
        size_t k = 0;
        while (strcmp(statements[k].name, by_number[i]) != 0)
            k++;
        str plan = plan_of(ctx, handle, statements[k].text);
        if (!str_starts(plan, S("SEARCH ")) ||
            str_find(plan, S("INTEGER PRIMARY KEY (rowid")) == plan.n ||
            str_find(plan, S("USING INDEX")) < plan.n || str_find(plan, S("TEMP B-TREE")) < plan.n)
            fail_msg("%s: " S_FMT, by_number[i], S_ARG(plan));
    }
    CHECK_INT(sqlite3_close(handle), SQLITE_OK);
}

/* Each message that is erased asks so; by the time they were made would be all of a pool. */
TEST(memories_of_a_message_are_found_by_it)
{
    PLACE(p);
    STORE(s, p);
    sqlite3 *handle = open_beside(&p);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (strcmp(statements[i].name, "MEMORY_BY_SOURCE") == 0 ||
            strcmp(statements[i].name, "MEMORY_BY_SUPERSEDER") == 0)
            CHECK(str_find(plan_of(ctx, handle, statements[i].text), S("memory_recent")) ==
                  plan_of(ctx, handle, statements[i].text).n);
    sqlite3_close(handle);
}
