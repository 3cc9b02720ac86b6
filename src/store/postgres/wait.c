/* wait.c - the answer to what was sent to PostgreSQL, with an end to the waiting. */
#include "store/postgres/wait.h"

#include <poll.h>

#include "base/clock.h"

/*
 * libpq's own waiting has no end: a server that hangs, or a network that drops packets, would hold
 * the thread. A statement may take long, though. So after some seconds without a byte the server is
 * asked, on another connection, whether it is there.
 */
enum { SILENT_US = 2000000, SLICE_MS = 1000 };

/* Sends and reads what can be sent and read; false: the connection has broken. */
static bool move_bytes(PGconn *c, bool sends, int64_t ms)
{
    struct pollfd p = {.fd = libpq.socket(c), .events = (short)(sends ? POLLIN | POLLOUT : POLLIN)};
    if (p.fd < 0)
        return false;
    if (poll(&p, 1, (int)(ms < 1 ? 1 : ms)) <= 0 || !(p.revents & ~POLLOUT))
        return true;
    return libpq.consumeInput(c);
}

static bool is_answered(PGconn *c)
{
    int64_t until = clock_mono_us() + SILENT_US, now;
    bool lives = libpq.sendQuery(c, "SELECT 1");
    while (lives && libpq.isBusy(c) && (now = clock_mono_us()) < until)
        lives = move_bytes(c, false, (until - now) / 1000 + 1);
    if (!lives || libpq.isBusy(c))
        return false;
    PGresult *r = libpq.getResult(c);
    bool is_row = libpq.resultStatus(r) == PGRES_TUPLES_OK;
    libpq.clear(r);
    return is_row;
}

/* A pooler lets one log in though PostgreSQL is away, and keeps statements for two minutes. So a
 * statement asks whether it is there. */
static bool is_there(const struct wait_for *server)
{
    static const char *const names[] = {"connect_timeout", "dbname", "connect_timeout", NULL};
    const char *const values[] = {"2", server->url, "2", NULL};
    if (!server->is_pooled)
        return libpq.pingParams(names, values, 1) != PQPING_NO_RESPONSE;
    PGconn *c = libpq.connectdbParams(names, values, 1);
    bool answers = libpq.status(c) == CONNECTION_OK && is_answered(c);
    libpq.finish(c);
    return answers;
}

enum wait_end wait_for_result(PGconn *c, const struct wait_for *server, int64_t until_us,
                              PGresult **out)
{
    int64_t silent_us = clock_mono_us() + SILENT_US;
    for (;;) {
        int unsent = libpq.flush(c);
        if (unsent < 0 || !libpq.isBusy(c)) {
            *out = libpq.getResult(c);
            return WAIT_DONE;
        }
        *out = NULL;
        int64_t now = clock_mono_us();
        if (until_us && now >= until_us)
            return WAIT_LATE;
        if (now >= silent_us && !is_there(server))
            return WAIT_SILENT;
        if (now >= silent_us)
            silent_us = clock_mono_us() + SILENT_US;
        int64_t ms = until_us ? (until_us - now) / 1000 + 1 : SLICE_MS;
        if (move_bytes(c, unsent > 0, ms < SLICE_MS ? ms : SLICE_MS))
            continue;
        *out = libpq.getResult(c); /* says how it broke */
        return WAIT_DONE;
    }
}

bool wait_is_alive(PGconn *c)
{
    struct pollfd p = {.fd = libpq.socket(c), .events = POLLIN};
    while (p.fd >= 0 && poll(&p, 1, 0) > 0)
        if (!libpq.consumeInput(c))
            return false;
    return p.fd >= 0 && libpq.status(c) == CONNECTION_OK;
}
