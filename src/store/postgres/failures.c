/* failures.c - a failure of PostgreSQL as a status and words. */
#include "store/postgres/failures.h"

#include "store/file.h"

/* postgresql.org/docs/15/errcodes-appendix.html */
enum status failure_of(struct ctx *ctx, const char *state, const char *why)
{
    static const struct {
        const char *state;
        enum status status;
        int detail;
        const char *words;
    } known[] = {
        {"08", STORAGE, STORAGE_AWAY, "the database cannot be reached"},
        {"57P0", STORAGE, STORAGE_AWAY, "the database cannot be reached"},
        {"53100", STORAGE, STORAGE_FULL, "the database's disk is full"},
        {"53", TOO_BUSY, 0, "the database has no room for this now"},
        {"40", TOO_BUSY, 0, "another server is writing the same"},
        {"55P03", TOO_BUSY, 0, "another server is writing the same"},
        {"57014", TIMED_OUT, 0, "the database took too long"},
        {"2202", BAD_INPUT, 0, "PostgreSQL cannot hold this text"},
        {"25006", STORAGE, STORE_DISK_FAILED, "the database can only be read"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(state, known[i].state, strlen(known[i].state)) == 0)
            return fail_as(ctx, known[i].status, known[i].detail, "%s: %s", known[i].words, why);
    return fail(ctx, STORAGE, "the database failed: %s (%s)", why, state);
}
