/* moved_rows.c - an erased row leaves no copy on pages where it once was: SQLite as it is built. */
#include <sqlite3.h>

#include "lib/store.h"

enum { SESSIONS = 12, STEPS = 200 };

static void run(sqlite3 *db, const char *text)
{
    CHECK_INT(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
}

static void insert_rows(struct ctx *ctx, sqlite3 *db, int session, int *position, int n)
{
    run(db, "BEGIN");
    for (int i = 0; i < n; i++, ++*position) {
        const char *text = "INSERT INTO m VALUES(%d, 'zq%02d was said and more %.*s')";
        int doc = session << 20 | *position;
        run(db, str_printf(&ctx->arena, text, doc, session, doc % 9, "and more").p);
    }
    run(db, "COMMIT");
}

static void erase_rows(struct ctx *ctx, const struct place *p, sqlite3 *db, int session)
{
    run(db, str_printf(&ctx->arena, "DELETE FROM m WHERE doc >> 20 = %d", session).p);
    run(db, "PRAGMA wal_checkpoint(TRUNCATE)");
    str bytes = bytes_of_file(ctx, p->path), word = str_printf(&ctx->arena, "zq%02d", session);
    if (str_find(bytes, word) < bytes.n)
        fail_msg("a row of session %d can still be read", session);
}

/* Rows are spread over pages anew when others come between them. */
TEST(an_erased_row_leaves_no_copy_on_another_page)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        CLEANUP(ctx_free) struct ctx own = {0};
        int positions[SESSIONS] = {0};
        unsigned random = seed;
        sqlite3 *db;
        PLACE(p);
        CHECK_INT(sqlite3_open(p.path, &db), SQLITE_OK);
        run(db, "PRAGMA journal_mode=WAL; PRAGMA secure_delete=ON; PRAGMA synchronous=OFF;"
                "CREATE TABLE m(doc INTEGER PRIMARY KEY, text TEXT)");
        for (int i = 0; i < STEPS; i++) {
            int session = rand_r(&random) % SESSIONS;
            if (rand_r(&random) % 6)
                insert_rows(&own, db, session, &positions[session],
                            rand_r(&random) % 9 ? 1 + rand_r(&random) % 4 : 80);
            else
                erase_rows(&own, &p, db, session);
        }
        CHECK_INT(sqlite3_close(db), SQLITE_OK);
    }
}
