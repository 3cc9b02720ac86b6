/* files.c - the file itself: made for its owner only, reopened, shared, refused in clear words. */
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/store.h"
#include "store/store.h"
#include "store/with_postgres.h"

/* Runs SQL on the file behind the store's back. */
static void tamper(const struct place *p, const char *text)
{
    sqlite3 *handle;
    CHECK_INT(sqlite3_open(p->path, &handle), SQLITE_OK);
    CHECK_INT(sqlite3_exec(handle, text, NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_close(handle), SQLITE_OK);
}

static void check_refused(struct ctx *ctx, str path, enum status want, const char *why)
{
    struct store *s = NULL;
    CHECK_STATUS(store_open(ctx, &(struct store_settings){.path = path}, &s), want);
    if (!strstr(ctx->why, why))
        fail_msg("'%s' does not say '%s'", ctx->why, why);
    CHECK(!s);
    ctx_clear_failure(ctx);
}

TEST(what_was_written_is_there_after_reopening)
{
    PLACE(p);
    struct message m = said("m1", "user", "remember Biscuit", 1000);
    struct memory f = fact("f1", "", "owns Biscuit");
    {
        STORE(s, p);
        CHECK_OK(say(ctx, s, mine, "s1", &m));
        CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
    }
    STORE(s, p);
    CHECK_INT(find(ctx, s, mine, "biscuit").n, 2);
    struct store_stats stats;
    CHECK_OK(store_stats(ctx, s, &stats));
    CHECK_INT(stats.messages, 1);
    CHECK_INT(stats.memories, 1);
    CHECK_INT(stats.sessions, 1);
    CHECK(stats.bytes > 0 && stats.schema > 0);
    CHECK_OK(store_ping(ctx, s));
    check_healthy(ctx, s);
}

TEST(folders_and_file_are_made_for_the_owner_only)
{
    PLACE(p);
    struct stat st;
    struct store *s;
    mode_t was = umask(0);
    str path = str_printf(&ctx->arena, "%s/a/b/store.db", p.folder);
    CHECK_OK(store_open(ctx, &(struct store_settings){.path = path}, &s));
    umask(was);
    CHECK_OK(say(ctx, s, mine, "s1", &(struct message){.id = S("a")}));
    CHECK(stat(path.p, &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK(stat(str_printf(&ctx->arena, "%s-wal", path.p).p, &st) == 0 &&
          (st.st_mode & 0777) == 0600);
    CHECK(stat(str_printf(&ctx->arena, "%s/a", p.folder).p, &st) == 0 &&
          (st.st_mode & 0777) == 0700);
    CHECK(stat(str_printf(&ctx->arena, "%s/a/b", p.folder).p, &st) == 0 &&
          (st.st_mode & 0777) == 0700);
    store_close(s);
}

TEST(a_newer_schema_is_refused)
{
    PLACE(p);
    {
        STORE(s, p);
    }
    tamper(&p, "PRAGMA user_version=99");
    check_refused(ctx, str_of(p.path), STORAGE, "newer rememberd (schema 99");
}

TEST(a_schema_from_before_the_first_release_is_refused)
{
    PLACE(p);
    {
        STORE(s, p);
    }
    tamper(&p, "PRAGMA user_version=1");
    check_refused(ctx, str_of(p.path), STORAGE, "before the first release (schema 1)");
}

#define DROP_BYTES(table)                                                                          \
    "DROP TRIGGER " table "_bytes_added; DROP TRIGGER " table "_bytes_erased; "                    \
    "DROP TRIGGER " table "_bytes_changed; "
/* What the steps from the ninth on have added. */
#define NO_LOOKING                                                                                 \
    DROP_BYTES("message")                                                                          \
    DROP_BYTES("memory")                                                                           \
    DROP_BYTES("session")                                                                          \
    "ALTER TABLE pool DROP COLUMN bytes; DROP TABLE role; DROP TABLE erasure; "                    \
    "DROP TABLE erasure_hash; "                                                                    \
    "DROP INDEX token_parent; ALTER TABLE token DROP COLUMN parent; "                              \
    "ALTER TABLE token DROP COLUMN scopes; ALTER TABLE token DROP COLUMN spaces; "                 \
    "ALTER TABLE token DROP COLUMN last_address; "                                                 \
    "DROP TRIGGER token_vector_gone; DROP TRIGGER token_vector_erased; DROP TABLE "                \
    "token_vector; "                                                                               \
    "DROP TRIGGER day_added; DROP TRIGGER day_erased; DROP TRIGGER day_changed; "                  \
    "DROP TABLE memory_day; "                                                                      \
    "DROP INDEX memory_weight; CREATE INDEX memory_importance ON memory(pool, "                    \
    "importance); "                                                                                \
    "DROP TRIGGER replay_of_memory; "                                                              \
    "DROP TRIGGER given_by; DROP TABLE given; DROP TRIGGER day_count_of; DROP "                    \
    "TABLE day_count; "                                                                            \
    "DROP INDEX receipt_recent; DROP INDEX receipt_session; "                                      \
    "ALTER TABLE receipt DROP COLUMN decision; ALTER TABLE receipt DROP COLUMN "                   \
    "tokens; "
/* What the seventh step and the eighth have added. */
#define NO_LISTS                                                                                   \
    "DROP TRIGGER replay_of_receipt; DROP TABLE replay; "                                          \
    "DROP TRIGGER tally_added; DROP TRIGGER tally_erased; DROP TRIGGER tally_changed; "            \
    "DROP TABLE memory_tally; DROP TRIGGER revision_of_memory; DROP TABLE revision; "              \
    "DROP TABLE undo; DROP INDEX memory_updated; DROP INDEX memory_importance; "                   \
    "DROP INDEX memory_used; DROP INDEX memory_uses; DROP INDEX memory_category; DROP INDEX "      \
    "memory_type; "                                                                                \
    "DROP INDEX memory_recent; CREATE INDEX memory_recent ON memory(pool, created); "              \
    "DROP INDEX memory_key; "                                                                      \
    "CREATE INDEX memory_key ON memory(pool, key) WHERE key <> '' AND valid_to = 0;"
/* What the fifth step has added. */
#define NO_REVIEW                                                                                  \
    NO_LOOKING NO_LISTS                                                                            \
        "DROP TRIGGER review_of_message; DROP TRIGGER review_of_memory; DROP TABLE review; "       \
        "ALTER TABLE token DROP COLUMN acts_for;"

TEST(runtime_settings_of_each_dialect_become_one_row)
{
    PLACE(p);
    {
        STORE(s, p);
    }
    tamper(&p,
           "INSERT INTO setting VALUES"
           "('memory', '{\"enabled\":false,\"maxTokens\":300,\"embeddingProviderModel\":\"a/b\"}'),"
           "('qdrant', '{\"enabled\":true,\"apiKey\":\"s\\\"x\"}'),"
           "('osaurus', '{\"enabled\":false,\"salienceFloor\":0.35,\"embeddingModel\":\"m\"}'),"
           "('consolidated', '17');" NO_REVIEW
           "DROP TABLE bar; ALTER TABLE waiting DROP COLUMN answer_fault; PRAGMA user_version=2");
    STORE(s, p);
    str text, other;
    struct json *v;
    CHECK_OK(store_setting(ctx, s, S("runtime"), &text));
    CHECK_OK(json_parse(ctx, text, &v));
    CHECK_INT(v->n, 7);
    CHECK_STR(json_get(v, "enabled")->source, S("false"));
    CHECK_INT(json_int_or(json_get(v, "max_tokens"), 0), 300);
    CHECK_STR(json_string(json_get(v, "embedding_model")), S("a/b"));
    CHECK_STR(json_get(v, "qdrant_enabled")->source, S("true"));
    CHECK_STR(json_string(json_get(v, "qdrant_api_key")), S("s\"x"));
    CHECK(json_num_or(json_get(v, "salience_floor"), 0) == 0.35);
    CHECK_STR(json_string(json_get(v, "agent_embedding_model")), S("m"));
    CHECK_OK(store_setting(ctx, s, S("consolidated"), &other));
    CHECK_STR(other, S("17"));
    CHECK_OK(store_setting(ctx, s, S("memory"), &other));
    CHECK_STR(other, S(""));
}

TEST(a_failure_by_an_answer_is_known_after_the_words_of_older_stores)
{
    static const char *const errors[] = {"answer: no summary", "the core model timed out"};
    PLACE(p);
    {
        STORE(s, p);
        for (size_t i = 0; i < 2; i++) {
            const char *id = i ? "s2" : "s1";
            struct message m = said(id, "user", "I live in Ithaca", 1000);
            struct bundle b = {.pool = mine,
                               .session = {.id = str_of(id)},
                               .messages = &m,
                               .n_messages = 1,
                               .distil_at = (int64_t)i + 1};
            struct distil_end end = {.pool = mine,
                                     .session = str_of(id),
                                     .again_at = (int64_t)i + 1};
            end.error = str_of(errors[i]);
            CHECK_OK(store_write(ctx, s, &b));
            CHECK_OK(store_end_distil(ctx, s, &end));
        }
    }
    tamper(&p, NO_REVIEW "ALTER TABLE waiting DROP COLUMN answer_fault; PRAGMA user_version=4");
    STORE(s, p);
    struct waiting_session *v;
    size_t n;
    CHECK_OK(store_due_sessions(ctx, s, 60000, 10, &v, &n));
    CHECK_INT(n, 2);
    CHECK(v[0].is_answer_fault && !v[1].is_answer_fault);
}

TEST(runtime_settings_that_are_no_json_are_dropped)
{
    PLACE(p);
    {
        STORE(s, p);
    }
    tamper(&p,
           "INSERT INTO setting VALUES('memory', '{\"enabled\":');" NO_REVIEW
           "DROP TABLE bar; ALTER TABLE waiting DROP COLUMN answer_fault; PRAGMA user_version=2");
    STORE(s, p);
    str text;
    CHECK_OK(store_setting(ctx, s, S("runtime"), &text));
    CHECK_STR(text, S(""));
}

TEST(receipts_of_an_older_store_are_listed_and_counted)
{
    PLACE(p);
    {
        STORE(s, p);
        struct message m = said("m1", "user", "I have a dog", 10 * DAY_MS);
        struct memory f = fact("f1", "", "has a dog");
        struct receipt_line lines[] = {{.kind = S("memory"), .id = S("f1"), .injected = true},
                                       {.kind = S("message"), .id = S("m1")}};
        struct receipt r = {.id = S("r1"),
                            .session = S("s1"),
                            .created = 10 * DAY_MS,
                            .decision = S("memory"),
                            .tokens = 12,
                            .lines = lines,
                            .n = 2};
        struct bundle b = {.pool = mine, .receipt = &r};
        f.created = 10 * DAY_MS;
        CHECK_OK(say(ctx, s, mine, "s1", &m));
        CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
        CHECK_OK(store_write(ctx, s, &b));
    }
    tamper(&p, NO_LOOKING "PRAGMA user_version=9");
    STORE(s, p);
    struct usage usage;
    CHECK_OK(store_usage(ctx, s, mine, &usage));
    CHECK_INT(usage.bytes, sizeof "I have a dog" - 1 + sizeof "has a dog" - 1);
    struct receipt_filter of = {.pool = mine, .decision = S("memory"), .limit = 9};
    struct receipt *v;
    size_t n;
    int64_t total;
    CHECK_OK(store_doc_of(ctx, s, mine, S("f1"), &of.doc));
    CHECK_OK(store_receipts(ctx, s, &of, &v, &n, &total));
    CHECK_INT(n, 1);
    CHECK_OK(store_doc_of(ctx, s, mine, S("m1"), &of.doc));
    CHECK_OK(store_receipts(ctx, s, &of, &v, &n, &total));
    CHECK_INT(n, 0);
    struct day_count *days;
    CHECK_OK(store_days(ctx, s, mine, 10, 10, false, &days, &n));
    CHECK_INT(n, 5);
    CHECK(days[0].stat == DAY_ADDED + TYPE_FACTUAL && days[0].n == 1);
    CHECK(days[1].stat == DAY_SESSIONS && days[2].stat == DAY_MESSAGES);
    CHECK(days[3].stat == DAY_TOKENS && days[3].n == 12);
    CHECK(days[4].stat == DAY_DECISION + day_decision(S("memory")) && days[4].n == 1);
}

TEST(another_programs_database_is_refused_and_left_alone)
{
    PLACE(p);
    tamper(&p, "CREATE TABLE accounts(id)");
    check_refused(ctx, str_of(p.path), STORAGE, "another program");
    tamper(&p, "DROP TABLE accounts");
}

TEST(what_is_no_database_is_refused)
{
    PLACE(p);
    int fd = open(p.path, O_WRONLY | O_CREAT, 0600);
    for (int i = 0; i < 300; i++)
        CHECK(write(fd, "this is a shopping list\n", 24) == 24);
    close(fd);
    check_refused(ctx, str_of(p.path), STORAGE, "not a rememberd database");
}

TEST(paths_that_cannot_be_are_refused)
{
    PLACE(p);
    {
        STORE(s, p);
    }
    check_refused(ctx, str_of(p.folder), STORAGE, "cannot open");
    check_refused(ctx, str_printf(&ctx->arena, "%s/x", p.path), STORAGE, "cannot");
    check_refused(ctx, S("/proc/self/x/store.db"), STORAGE, "cannot create the folder");
#ifndef WITH_POSTGRES
    check_refused(ctx, S("postgresql://localhost/x"), UNSUPPORTED, "postgresql");
#endif
    check_refused(ctx, S("mysql://localhost/x"), UNSUPPORTED, "mysql");
    check_refused(ctx, S(""), BAD_INPUT, "path");
}

TEST(a_file_that_cannot_be_written_is_refused)
{
    PLACE(p);
    {
        STORE(s, p);
    }
    if (geteuid() == 0)
        return; /* nothing is forbidden to root */
    CHECK(chmod(p.path, 0400) == 0);
    check_refused(ctx, str_of(p.path), STORAGE, "Permission denied");
}

TEST(a_damaged_file_is_found_by_the_check)
{
    PLACE(p);
    {
        STORE(s, p);
        for (int i = 0; i < 50; i++) {
            struct message m = {.id = str_printf(&ctx->arena, "m%d", i), .text = S("Ithaca")};
            CHECK_OK(say(ctx, s, mine, "s1", &m));
        }
        check_healthy(ctx, s);
    }
    tamper(&p, "UPDATE session SET messages = 49");
    {
        STORE(s, p);
        str findings;
        CHECK_OK(store_check(ctx, s, &findings));
        CHECK(str_find(findings, S("session 1 says 49 messages and has 50")) < findings.n);
    }
    tamper(&p, "UPDATE session SET messages = 50; DELETE FROM message WHERE id = 'm7'");
    STORE(s, p);
    str findings;
    CHECK_OK(store_check(ctx, s, &findings));
    CHECK(str_find(findings, S("session 1")) < findings.n);
    CHECK(str_find(findings, S("pool 1 says 50 messages")) < findings.n);
    CHECK(str_find(findings, S("words")) < findings.n);
}

/* FTS5 keeps in mind where its pages were, until it is read again. */
TEST(what_others_write_is_no_damage)
{
    PLACE(p);
    STORE(s, p);
    str findings;
    for (int i = 0; i < 50; i++) {
        struct message m = {.id = str_printf(&ctx->arena, "m%d", i), .text = S("Ithaca")};
        CHECK_OK(say(ctx, s, mine, "s1", &m));
    }
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 50);
    tamper(&p, "INSERT INTO words(words) VALUES('optimize')");
    CHECK_OK(store_check_pages(ctx, s, &findings));
    CHECK_STR(findings, S(""));
    CHECK_OK(store_check(ctx, s, &findings));
    CHECK_STR(findings, S(""));
}

TEST(words_that_are_split_in_another_way_are_indexed_anew)
{
    PLACE(p);
    struct message m = said("m1", "user", "remember Biscuit", 1000);
    struct message german = said("m2", "user", "Mein Zahnarzttermin ist im Mai", 2000);
    struct memory f = fact("f1", "k", "owns Biscuit"), closed = fact("f0", "k", "owned Biscuit");
    {
        STORE(s, p);
        CHECK_OK(say(ctx, s, mine, "s1", &m));
        CHECK_OK(say(ctx, s, mine, "s1", &german));
        CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &closed));
        CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
    }
    tamper(&p, "INSERT INTO words(words) VALUES('delete-all');"
               "INSERT INTO words(rowid, own) VALUES(7, 'old words');"
               "UPDATE fact SET value = 'other rules' WHERE name = 'words'");
    for (int i = 0; i < 2; i++) {
        STORE(s, p);
        CHECK_INT(find(ctx, s, mine, "biscuit").n, 2);
        CHECK_INT(find(ctx, s, mine, "termin").n, 1);
        check_healthy(ctx, s);
    }
}

/* Opens the store in a process of its own and writes a session there. */
static pid_t write_elsewhere(const struct place *p, int n)
{
    pid_t child = fork();
    if (child)
        return child;
    struct ctx own = {0}, *ctx = &own;
    struct store *s;
    if (store_open(ctx, &(struct store_settings){.path = str_of(p->path)}, &s) != OK) {
        fprintf(stderr, "store_open: %s\n", ctx->why);
        _exit(2);
    }
    for (int i = 0; i < n; i++) {
        struct message m = {.id = str_printf(&ctx->arena, "child%d", i), .text = S("Ithaca")};
        if (say(ctx, s, mine, "child", &m) != OK)
            _exit(3);
    }
    store_close(s);
    _exit(0);
}

TEST(processes_that_make_one_file_at_once_all_get_it)
{
    enum { ROUNDS = 40, AT_ONCE = 4 };
    for (int i = 0; i < ROUNDS; i++) {
        PLACE(p);
        pid_t children[AT_ONCE];
        for (int k = 0; k < AT_ONCE; k++)
            children[k] = write_elsewhere(&p, 0);
        for (int k = 0; k < AT_ONCE; k++) {
            int status;
            CHECK_INT(waitpid(children[k], &status, 0), children[k]);
            CHECK(WIFEXITED(status));
            CHECK_INT(WEXITSTATUS(status), 0);
        }
    }
}

TEST(two_processes_write_one_file)
{
    enum { N = 100 };
    PLACE(p);
    int status;
    pid_t child = write_elsewhere(&p, N);
    CHECK(child > 0);
    STORE(s, p);
    for (int i = 0; i < N; i++) {
        struct message m = {.id = str_printf(&ctx->arena, "parent%d", i), .text = S("Ithaca")};
        CHECK_OK(say(ctx, s, mine, "parent", &m));
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 2 * N);
    check_healthy(ctx, s);
}
