/* trips.c - how often a recall and a kept turn wait for PostgreSQL, and what is asked ahead. */
#include "lib/engine.h"
#include "store/postgres/pipeline.h"
#include "store/sql/db/lookup.h"
#include "store/sql/state/sql_store.h"
#include "store/sql/state/writer.h"

/* The writer looks once a second for other servers, so of some tries the least counts. On SQLite
 * nobody waits for anything. */
enum { TRIES = 8 };

static void talk_of_boats(struct ctx *ctx, struct store *s, int n)
{
    for (int i = 0; i < n; i++) {
        struct message v[2] = {
            {.role = S("user"),
             .text = str_printf(&ctx->arena, "My boat Argo%d lies in Ithaca, it is blue.", i),
             .created = 1700000000000 + i},
            {.role = S("assistant"), .text = S("A fine boat."), .created = 1700000000001 + i}};
        struct bundle b = {.pool = mine,
                           .session = {.id = str_printf(&ctx->arena, "boats %d", i)},
                           .messages = v,
                           .n_messages = 2};
        CHECK_OK(store_write(ctx, s, &b));
    }
}

static int64_t trips_of(struct ctx *ctx, struct engine *e, const char *question)
{
    int64_t before = pipeline_trips();
    struct recall_out out = recall_question(ctx, e, question, (struct recall_in){.gate = true});
    CHECK(out.n > 0);
    return pipeline_trips() - before;
}

static void note_least(int64_t *least, int64_t n)
{
    *least = n < *least ? n : *least;
}

TEST(a_warm_recall_waits_once)
{
    ENGINE(e, s, p);
    int64_t least = INT64_MAX;
    talk_of_boats(ctx, s, 10);
    for (int i = 0; i < TRIES; i++)
        note_least(&least, trips_of(ctx, e, "Where does my boat Argo7 lie?"));
    CHECK_INT(least, is_on_postgres() ? 1 : 0);
}

/* First for the words of the question, then for what it found, for names in that, and for what
 * these lead to. */
TEST(a_recall_behind_a_write_waits_four_times)
{
    ENGINE(e, s, p);
    int64_t least = INT64_MAX;
    talk_of_boats(ctx, s, 10);
    for (int i = 0; i < TRIES; i++) {
        struct message m = {.role = S("user"), .text = S("Argo7 has a new sail."), .created = 1};
        CHECK_OK(say(ctx, s, mine, "sails", &m));
        note_least(&least, trips_of(ctx, e, "Where does my boat Argo7 lie?"));
    }
    CHECK_INT(least, is_on_postgres() ? 4 : 0);
}

static int64_t trips_of_turn(struct ctx *ctx, struct store *s, str session)
{
    struct message v[2] = {{.id = id_random(&ctx->arena), .role = S("user"), .text = S("Ithaca")},
                           {.id = id_random(&ctx->arena), .role = S("assistant"), .text = S("!")}};
    struct bundle b = {.pool = mine,
                       .session = {.id = session, .title = S("Ithaca")},
                       .messages = v,
                       .n_messages = 2,
                       .distil_at = clock_ms() + 60000};
    int64_t before = pipeline_trips();
    CHECK_OK(store_write(ctx, s, &b));
    return pipeline_trips() - before;
}

/* For the rows that it meets, for their words, for the commit; a new session for its number and the
 * titles beside its own. */
TEST(a_turn_is_kept_with_three_waits)
{
    PLACE(p);
    STORE(s, p);
    int64_t least = INT64_MAX, least_new = INT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        note_least(&least_new, trips_of_turn(ctx, s, id_random(&ctx->arena)));
        note_least(&least, trips_of_turn(ctx, s, S("one")));
    }
    CHECK_INT(least, is_on_postgres() ? 3 : 0);
    CHECK_INT(least_new, is_on_postgres() ? 5 : 0);
}

/* --- what fails later --- */

static int64_t pool_of(struct ctx *ctx, struct db *db)
{
    struct pool_row row;
    CHECK_OK(pool_find(ctx, db, mine, &row));
    return row.no;
}

/* A signal of a message can be there once. */
static enum status signal_twice(struct ctx *ctx, struct db *db, const void *doc)
{
    int64_t pool = pool_of(ctx, db), no = *(const doc_id *)doc;
    TRY(SQL_LATER(ctx, db, SQL_SIGNAL_ADD, pool, no, (int64_t)1));
    TRY(SQL_LATER(ctx, db, SQL_SIGNAL_ADD, pool, no, (int64_t)2));
    return OK;
}

TEST(a_task_fails_with_what_it_sent_last)
{
    PLACE(p);
    STORE(s, p);
    struct message m = said("m1", "user", "Ithaca", 1000);
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    CHECK(writer_call(ctx, s->writer, signal_twice, &m.doc) != OK);
    CHECK(strstr(ctx->why, is_on_postgres() ? "23505" : "UNIQUE") != NULL);
    ctx_clear_failure(ctx);
    CHECK_INT(place_int(ctx, &p, "SELECT count(*) FROM signal"), 0);
    struct message next = said("m2", "user", "Troy", 1000);
    CHECK_OK(say(ctx, s, mine, "s1", &next));
    check_healthy(ctx, s);
}

/* In a transaction of two tasks the savepoint of the first ends behind all that it has sent. */
TEST(a_savepoint_ends_behind_what_was_sent_in_it)
{
    PLACE(p);
    STORE(s, p);
    struct db db;
    doc_id one = doc_of_message(1, 0), other = doc_of_message(1, 1);
    if (!is_on_postgres())
        return;
    talk_of_boats(ctx, s, 1);
    CHECK_OK(db_connect(ctx, p.path, &db));
    {
        int64_t pool = pool_of(ctx, &db);
        TXN(all);
        CHECK_OK(txn_begin(ctx, &db, &all));
        {
            TXN(part);
            CHECK_OK(txn_savepoint(ctx, &db, &part));
            CHECK_OK(signal_twice(ctx, &db, &one));
            CHECK(txn_commit(&part) != OK);
            ctx_clear_failure(ctx);
        }
        {
            TXN(part);
            CHECK_OK(txn_savepoint(ctx, &db, &part));
            CHECK_OK(SQL_LATER(ctx, &db, SQL_SIGNAL_ADD, pool, other, (int64_t)1));
            CHECK_OK(txn_commit(&part));
        }
        CHECK_OK(txn_commit(&all));
    }
    CHECK_INT(place_int(ctx, &p, "SELECT count(*) FROM signal"), 1);
    {
        TXN(all);
        CHECK_OK(txn_begin(ctx, &db, &all));
        CHECK_OK(signal_twice(ctx, &db, &one));
        CHECK(txn_commit(&all) != OK); /* and it is not kept in part */
        ctx_clear_failure(ctx);
    }
    CHECK_INT(place_int(ctx, &p, "SELECT count(*) FROM signal"), 1);
    db_close(&db);
}

/* --- what is asked ahead --- */

static size_t found_of(struct ctx *ctx, struct engine *e, const char *question, const char *word)
{
    size_t n = 0;
    struct recall_out out = recall_question(ctx, e, question, (struct recall_in){.gate = true});
    for (size_t i = 0; i < out.n; i++) {
        str text = out.v[i].is_memory ? out.v[i].memory.content : out.v[i].message.text;
        n += str_find(text, str_of(word)) < text.n;
    }
    return n;
}

/* The pool's number, its words and what is kept of both are others then. */
TEST(a_pool_that_was_made_again_is_asked_by_its_new_number)
{
    ENGINE(e, s, p);
    int64_t erased;
    talk_of_boats(ctx, s, 3);
    CHECK(found_of(ctx, e, "Where does my boat Argo2 lie?", "Ithaca") > 0);
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .everything = true}, &erased));
    CHECK_INT(found_of(ctx, e, "Where does my boat Argo2 lie?", "Ithaca"), 0);
    struct message m = {.role = S("user"), .text = S("My boat Argo2 lies in Troy."), .created = 1};
    CHECK_OK(say(ctx, s, mine, "again", &m));
    CHECK_INT(found_of(ctx, e, "Where does my boat Argo2 lie?", "Ithaca"), 0);
    CHECK(found_of(ctx, e, "Where does my boat Argo2 lie?", "Troy") > 0);
}

/* A second server writes and erases what the first one has in memory. */
TEST(what_another_server_has_changed_is_found_by_the_next_question)
{
    ENGINE(e, s, p);
    struct store *other = NULL;
    int64_t erased;
    if (!is_on_postgres())
        return;
    talk_of_boats(ctx, s, 3);
    CHECK_OK(store_open(ctx, &(struct store_settings){.path = str_of(p.path)}, &other));
    for (int i = 0; i < 3; i++) {
        CHECK_INT(found_of(ctx, e, "Where does my boat Argo2 lie?", "Sparta"), 0);
        struct message m = {.id = S("news"),
                            .role = S("user"),
                            .text = S("My boat Argo2 lies in Sparta now."),
                            .created = 1700000009000};
        CHECK_OK(say(ctx, other, mine, "boats 2", &m)); /* where there was no neighbour */
        CHECK(found_of(ctx, e, "Where does my boat Argo2 lie?", "Sparta") > 0);
        CHECK_OK(
            store_forget(ctx, other, &(struct forget){.pool = mine, .id = S("news")}, &erased));
    }
    CHECK_INT(found_of(ctx, e, "Where does my boat Argo2 lie?", "Sparta"), 0);
    store_close(other);
}

/* --- the same in both --- */

static const char *const things[] = {"boat",  "sail",   "harbour", "island",  "captain",
                                     "storm", "anchor", "map",     "lantern", "rope"};
enum { THINGS = sizeof things / sizeof *things, TOLD = 60 };

static void tell_one(struct ctx *ctx, struct store *s, int i)
{
    const char *thing = things[i % THINGS], *other = things[(i / 3) % THINGS];
    struct message v[2] = {{.id = str_printf(&ctx->arena, "u%d", i),
                            .role = S("user"),
                            .text =
                                str_printf(&ctx->arena, "My %s number %d is near the %s in Ithaca.",
                                           thing, i, other),
                            .created = 1700000000000 + i * 60000},
                           {.id = str_printf(&ctx->arena, "a%d", i),
                            .role = S("assistant"),
                            .text = str_printf(&ctx->arena, "A %s is a good thing to have.", thing),
                            .created = 1700000000000 + i * 60000 + 1}};
    struct bundle b = {.pool = mine,
                       .session = {.id = str_printf(&ctx->arena, "talk %d", i / 6)},
                       .messages = v,
                       .n_messages = 2};
    CHECK_OK(store_write(ctx, s, &b));
}

static void check_same(struct ctx *ctx, struct engine *a, struct engine *b, const char *question)
{
    const struct recall_in in = {.gate = true, .asked = 1795154400000};
    struct recall_out x = recall_question(ctx, a, question, in);
    struct recall_out y = recall_question(ctx, b, question, in);
    CHECK_INT(x.n, y.n);
    CHECK_STR(x.reason, y.reason);
    for (size_t i = 0; i < x.n; i++) {
        CHECK_STR(x.v[i].message.id, y.v[i].message.id);
        CHECK(x.v[i].score == y.v[i].score && x.v[i].state == y.v[i].state);
    }
}

/* Cold, warm, and behind a turn. */
TEST(both_stores_find_the_same)
{
    ENGINE(e, s, p);
    if (!is_on_postgres())
        return;
    struct store *file = NULL;
    struct engine *other = NULL;
    struct settings same = settings_for_test();
    str path = str_printf(&ctx->arena, "%s/beside.db", p.folder);
    CHECK_OK(store_open(ctx, &(struct store_settings){.path = path}, &file));
    CHECK_OK(engine_open(ctx, file, &same, &other));
    for (int i = 0; i < TOLD; i++) {
        tell_one(ctx, s, i);
        tell_one(ctx, file, i);
        const char *asks =
            str_printf(&ctx->arena, "Where is my %s number %d?", things[(i * 7) % THINGS], i / 2).p;
        for (int k = 0; k < 2; k++)
            check_same(ctx, e, other, asks);
        check_same(ctx, e, other, "What hobbies do I have?");
    }
    engine_close(other);
    store_close(file);
}

/* What an erasure notes of each row goes with the next statement. */
TEST(a_row_that_is_erased_waits_a_few_times)
{
    enum { ROWS = 40 };
    ENGINE(e, s, p);
    str ids[ROWS];
    for (int i = 0; i < ROWS; i++) {
        struct memory m = {.content = str_printf(&ctx->arena, "My boat Argo%d is blue.", i)};
        CHECK_OK(engine_add(ctx, e, mine, &m));
        ids[i] = m.id;
    }
    int64_t erased, before = pipeline_trips();
    const struct forget what = {.pool = mine, .ids = ids, .n_ids = ROWS};
    CHECK_OK(store_forget(ctx, s, &what, &erased));
    CHECK_INT(erased, ROWS);
    CHECK(pipeline_trips() - before < 4 * ROWS);
}
