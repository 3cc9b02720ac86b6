/* pipeline.c - statements that are sent one behind the other, and one wait for all answers. */
#include "store/postgres/pipeline.h"

#include <poll.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/log.h"

/*
 * libpq's pipeline mode (postgresql.org/docs/15/libpq-pipeline-mode.html): statements stay in its
 * buffer until somebody waits. Behind a failure the server runs nothing up to the next sync, so the
 * first failure is the cause, and whoever waits hears of it. A text of several statements is sent
 * outside of that mode, when nothing is owed.
 */

static atomic_llong trips;

/* --- opening --- */

/* Warnings of class 25 are of our own statements: a SET LOCAL before its BEGIN, for one. */
static void log_notice(UNUSED void *own, const PGresult *r)
{
    const char *severity = libpq.resultErrorField(r, PG_DIAG_SEVERITY);
    const char *state = libpq.resultErrorField(r, PG_DIAG_SQLSTATE);
    const char *words = libpq.resultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    if (severity && state && words && strcmp(severity, "WARNING") == 0 &&
        !str_starts(str_of(state), S("25")))
        log_event(LOG_WARN, "store.warned", "code=%s why=\"%s\"", state, words);
}

/* What the server says at the login, libpq writes to standard error, unless it was told otherwise:
 * which needs a connection. So one is begun, and then begun again. */
PGconn *pipeline_connect(const char *const *names, const char *const *values)
{
    PGconn *c = libpq.connectStartParams(names, values, 1);
    if (!c)
        die_of_limits("out of memory");
    libpq.setNoticeReceiver(c, log_notice, NULL);
    if (libpq.status(c) != CONNECTION_BAD)
        libpq.reset(c);
    return c;
}

/* --- an answer --- */

/*
 * libpq's own waiting has no end: a server that hangs, or a network that drops packets, would hold
 * the thread. A statement may take long, though. So after a second without a byte the server is
 * asked, on another connection, whether it is there.
 */
enum { SILENT_US = 1000000, SLICE_MS = 1000 };

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
    PGconn *c = pipeline_connect(names, values);
    bool answers = libpq.status(c) == CONNECTION_OK && is_answered(c);
    libpq.finish(c);
    return answers;
}

/* The next result of what was sent, as PQgetResult gives it; behind LATE and SILENT the connection
 * is of no use. until_us: by clock_mono_us; 0: as long as the server lives. */
static enum wait_end wait_for_result(PGconn *c, const struct wait_for *server, int64_t until_us,
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

/* --- statements --- */

int64_t pipeline_trips(void)
{
    return atomic_load(&trips);
}

static void note_failure(struct pipeline *p, PGresult *r)
{
    libpq.clear(p->failure);
    p->failure = r;
}

void pipeline_begin(struct pipeline *p)
{
    if (!p->is_on)
        p->is_on = libpq.enterPipelineMode(p->handle) == 1;
    if (p->n + 2 >= OWED_MAX) /* its failure makes all fail that is sent in the transaction */
        (void)!pipeline_settle(p);
}

void pipeline_sent(struct pipeline *p, int is_sent, struct owed owed)
{
    assert(p->n < OWED_MAX);
    if (is_sent)
        p->v[p->n++] = owed;
    else
        p->is_cut = true;
}

void pipeline_disown(struct pipeline *p, PGresult **to)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->v[i].to == to)
            p->v[i].to = NULL;
}

static void send_sync(struct pipeline *p)
{
    pipeline_sent(p, libpq.pipelineSync(p->handle), (struct owed){.is_sync = true});
}

void pipeline_part(struct pipeline *p)
{
    send_sync(p);
    libpq.flush(p->handle);
}

/* The answer to one statement: its last result, behind which NULL comes, or that of a sync. False:
 * the connection is of no use any more. */
static bool take_answer(struct pipeline *p, bool is_sync, PGresult **out)
{
    *out = NULL;
    for (;;) {
        PGresult *r;
        p->end = wait_for_result(p->handle, &p->server, p->until_us, &r);
        if (!r)
            return p->end == WAIT_DONE && !is_sync && libpq.status(p->handle) == CONNECTION_OK;
        libpq.clear(*out);
        *out = r;
        if (is_sync)
            return libpq.resultStatus(r) == PGRES_PIPELINE_SYNC;
    }
}

static bool is_success(const PGresult *r)
{
    int status = libpq.resultStatus(r);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_PIPELINE_SYNC;
}

/* Gives the answer to whom it belongs; false when it says that a statement failed. */
static bool give_answer(struct pipeline *p, const struct owed *owed, PGresult *r)
{
    bool is_fine = r && is_success(r);
    if (!is_fine && owed->is_prepared)
        *owed->is_prepared = false;
    if (is_fine && owed->to) {
        *owed->to = r;
        return true;
    }
    if (is_fine && !owed->is_sync && strncmp(libpq.cmdStatus(r), "SELECT", 6) != 0)
        p->changes += strtoll(libpq.cmdTuples(r), NULL, 10);
    if (is_fine || owed->may_fail || p->failure || !r)
        libpq.clear(r);
    else
        note_failure(p, r);
    return is_fine || owed->may_fail;
}

/* Behind one that is owed for ever the next one would be taken for it. */
bool pipeline_settle(struct pipeline *p)
{
    bool is_fine = true, is_there = p->end == WAIT_DONE;
    note_failure(p, NULL);
    if (p->n)
        atomic_fetch_add(&trips, 1);
    if (p->n && !p->v[p->n - 1].is_sync)
        send_sync(p);
    for (size_t i = 0; i < p->n; i++) {
        PGresult *r = NULL;
        is_there = is_there && take_answer(p, p->v[i].is_sync, &r);
        is_fine &= give_answer(p, &p->v[i], r);
    }
    p->n = 0;
    return is_fine && is_there && !p->is_cut;
}

PGresult *pipeline_text(struct pipeline *p, const char *text)
{
    PGresult *r;
    assert(!p->n);
    if (p->is_on && libpq.exitPipelineMode(p->handle) == 1)
        p->is_on = false;
    if (p->is_on || p->end != WAIT_DONE || !libpq.sendQuery(p->handle, text))
        return NULL;
    atomic_fetch_add(&trips, 1);
    take_answer(p, false, &r);
    if (p->end == WAIT_DONE)
        return r;
    libpq.clear(r); /* of a statement before the last one */
    return NULL;
}

void pipeline_end(struct pipeline *p)
{
    note_failure(p, NULL);
    libpq.finish(p->handle);
    free(p->server.url);
}
