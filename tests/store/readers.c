/* readers.c - connections that read are given back fit for the next read, or closed. */
#include "store/sql/state/reader.h"

#include "lib/store.h"

static int refuse_commit(void *unused, int what, const char *how, const char *b, const char *c,
                         const char *d)
{
    (void)unused, (void)b, (void)c, (void)d;
    return what == SQLITE_TRANSACTION && strcmp(how, "COMMIT") == 0 ? SQLITE_DENY : SQLITE_OK;
}

TEST(a_connection_whose_read_cannot_be_ended_is_closed)
{
    enum { TIMES = 40 };
    PLACE(p);
    STORE(s, p);
    struct message m = said("m1", "user", "Ithaca", 1000);
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    for (int i = 0; i < TIMES; i++) { /* more often than connections may be open */
        {
            READER_SCOPE(r);
            CHECK_OK(reader_begin(ctx, s, &r));
            CHECK_INT(sqlite3_set_authorizer(r.db->handle, refuse_commit, NULL), SQLITE_OK);
        }
        CHECK_INT(find(ctx, s, mine, "ithaca").n, 1);
    }
}
