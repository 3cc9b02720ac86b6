/* wait.h - the answer to what was sent to PostgreSQL, with an end to the waiting. */
#pragma once

#include "store/postgres/libpq.h"

enum wait_end {
    WAIT_DONE,   /* the answer came, or the connection broke: the result says which */
    WAIT_LATE,   /* the time is over */
    WAIT_SILENT, /* nothing came, and the server does not answer others either */
};

struct wait_for {
    char *url;
    bool is_pooled;
};

/* The next result of what was sent, as PQgetResult gives it; behind LATE and SILENT the connection
 * is of no use. until_us: by clock_mono_us; 0: as long as the server lives. */
enum wait_end wait_for_result(PGconn *c, const struct wait_for *server, int64_t until_us,
                              PGresult **out);
/* Reads what has come, without waiting; false: nobody is there any more. */
bool wait_is_alive(PGconn *c);
