/* connection.c - one connection to PostgreSQL, its statements and its failures. */
#include "store/postgres/connection.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "store/file.h"
#include "store/postgres/dialect.h"
#include "store/postgres/failures.h"
#include "store/postgres/libpq.h"
#include "store/postgres/settings.h"
#include "store/postgres/values.h"
#include "store/postgres/wait.h"

/*
 * Statements are known by their number, as with SQLite, and prepared at their first use under that
 * number. Parameters and results are binary. A result is fetched whole, so that other statements
 * can run while it is read; one that streams is a cursor.
 *
 * Behind a pooler each transaction may be on another connection of the server's, which others use
 * as well. So there statements have no name, and what direct connections set once is set in each
 * transaction.
 *
 * A failure of a statement is kept as words and a code (SQLSTATE) until the next one.
 */

enum { PARAMS_MAX = 32, STREAM_ROWS = 500 };

struct value {
    const char *p; /* NULL: own, or no value */
    size_t n;
    char own[8];
    bool is_own;
};

struct pg_stmt {
    struct pg *pg;
    const char *text;
    int which, bound, row;
    bool is_prepared, is_in_use, streams, has_cursor, has_run, has_failed;
    PGresult *result;
    struct value values[PARAMS_MAX];
    Oid types[PARAMS_MAX];
    struct arena arena; /* of lists */
};

struct pg {
    PGconn *handle;
    bool is_pooled;
    struct pg_settings settings; /* of each transaction, behind a pooler */
    char state[6];               /* SQLSTATE of the last failure */
    char why[300];
    int64_t changes, total, last_row;
    int64_t until_us; /* no statement waits longer; 0: no limit */
    enum wait_end
        failed; /* not WAIT_DONE: an answer is owed, so that the connection is of no use */
    char *url;
    size_t n;
    struct pg_stmt *statements[];
};

/* --- failures --- */

static bool is_state(const struct pg *pg, const char *state)
{
    return strncmp(pg->state, state, strlen(state)) == 0;
}

bool pg_is_lost(const struct pg *pg)
{
    return libpq.status(pg->handle) != CONNECTION_OK || pg->failed != WAIT_DONE ||
           is_state(pg, "57P0");
}

bool pg_is_conflict(const struct pg *pg)
{
    return is_state(pg, "23505");
}

/* A serialisation failure, or a deadlock. */
bool pg_is_again(const struct pg *pg)
{
    return is_state(pg, "40001") || is_state(pg, "40P01");
}

/* The first line of libpq's message. */
static void note_words(struct pg *pg, const char *state, const char *why)
{
    snprintf(pg->state, sizeof pg->state, "%s", state ? state : "");
    snprintf(pg->why, sizeof pg->why, "%.*s", (int)strcspn(why ? why : "", "\n"), why ? why : "");
}

/* The result of what was sent (0: it could not be), or NULL. */
static PGresult *result_of(struct pg *pg, int is_sent)
{
    PGresult *r = NULL;
    if (!is_sent || pg->failed != WAIT_DONE)
        return NULL;
    pg->failed = wait_for_result(pg->handle, pg->url, pg->until_us, &r);
    return r;
}

static PGresult *run_pooled(struct pg *pg, const char *text)
{
    struct arena a = {0};
    bool makes = settings_make_tables(&pg->settings, text);
    text = settings_around(&pg->settings, &a, text);
    PGresult *r = result_of(pg, libpq.sendQuery(pg->handle, text));
    arena_free(&a);
    if (!makes || libpq.resultStatus(r) != PGRES_TUPLES_OK || libpq.getvalue(r, 0, 0)[0] != 't')
        return r;
    libpq.clear(r);
    return result_of(pg, libpq.sendQuery(pg->handle, pg->settings.tables));
}

static PGresult *run_text(struct pg *pg, const char *text)
{
    if (pg->is_pooled && !pg_in_transaction(pg))
        return run_pooled(pg, text);
    return result_of(pg, libpq.sendQuery(pg->handle, text));
}

static PGresult *run_binary(struct pg *pg, const char *text)
{
    return result_of(pg, libpq.sendQueryParams(pg->handle, text, 0, NULL, NULL, NULL, NULL, 1));
}

static bool note_result(struct pg *pg, PGresult *r)
{
    int status = libpq.resultStatus(r);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
        return true;
    if (pg->failed != WAIT_DONE) {
        bool is_late = pg->failed == WAIT_LATE;
        note_words(pg, is_late ? "57014" : "08006", is_late ? "no time is left" : "it is silent");
        return false;
    }
    const char *why = libpq.resultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    note_words(pg, libpq.resultErrorField(r, PG_DIAG_SQLSTATE),
               why ? why : libpq.errorMessage(pg->handle));
    return false;
}

enum status pg_failed(struct ctx *ctx, struct pg *pg)
{
    if (pg_is_lost(pg) && pg->failed != WAIT_LATE)
        return fail_as(ctx, STORAGE, STORAGE_AWAY, "the database cannot be reached: %s", pg->why);
    return failure_of(ctx, pg->state, pg->why);
}

/* --- opening --- */

/* A notice is no failure, and belongs in no log of ours. */
static void drop_notice(void *unused, const PGresult *result)
{
    (void)unused, (void)result;
}

/* A pooler that keeps a server's connection for each of ours shows another process, too: then what
 * follows costs a little more than it would have to. */
static enum status look_for_pooler(struct ctx *ctx, struct pg *pg)
{
    int64_t pid;
    TRY(pg_int(ctx, pg, "SELECT pg_backend_pid()", &pid));
    pg->is_pooled = pid != libpq.backendPID(pg->handle);
    return OK;
}

static enum status set_up(struct ctx *ctx, struct pg *pg, const char *schema)
{
    enum { OLDEST = 130000 };
    int version = libpq.serverVersion(pg->handle);
    if (version < OLDEST)
        return fail(ctx, UNSUPPORTED, "PostgreSQL %d is too old: 13 or newer is needed",
                    version / 10000);
    settings_of(&pg->settings, schema, version);
    TRY(look_for_pooler(ctx, pg));
    struct buf b = buf_make(&ctx->arena, 1000);
    settings_put(&pg->settings, "", &b);
    return pg->is_pooled ? OK : pg_exec(ctx, pg, str_c(&ctx->arena, buf_str(&b)));
}

static enum status connect_to(struct ctx *ctx, struct pg *pg, const struct pg_address *at)
{
    /* What stands behind the URL overrules it, and the other way round. */
    static const char *const names[] = {"connect_timeout", "tcp_user_timeout",          "dbname",
                                        "client_encoding", "fallback_application_name", NULL};
    const char *const values[] = {"2", "10000", at->url, "UTF8", "rememberd", NULL};
    pg->handle = libpq.connectdbParams(names, values, 1);
    if (!pg->handle)
        abort(); /* out of memory */
    if (pg_is_lost(pg)) {
        note_words(pg, "08006", libpq.errorMessage(pg->handle));
        return pg_failed(ctx, pg);
    }
    libpq.setNoticeReceiver(pg->handle, drop_notice, NULL);
    libpq.setnonblocking(pg->handle, 1);
    return set_up(ctx, pg, at->schema);
}

enum status pg_open(struct ctx *ctx, str url, size_t n, struct pg **out)
{
    struct pg_address at;
    TRY(libpq_open(ctx));
    TRY(pg_address_of(ctx, url, &at));
    TRY(pg_address_check(ctx, at.url));
    struct pg *pg = heap_alloc(sizeof *pg + n * sizeof *pg->statements);
    pg->n = n;
    pg->url = heap_alloc(strlen(at.url) + 1);
    memcpy(pg->url, at.url, strlen(at.url));
    enum status status = connect_to(ctx, pg, &at);
    if (status == OK)
        *out = pg;
    else
        pg_close(pg);
    return status;
}

void pg_close(struct pg *pg)
{
    if (!pg)
        return;
    for (size_t i = 0; i < pg->n; i++)
        if (pg->statements[i]) {
            pg_leave(pg->statements[i]);
            free((void *)pg->statements[i]->text);
            free(pg->statements[i]);
        }
    libpq.finish(pg->handle);
    free(pg->url);
    free(pg);
}

int pg_version(const struct pg *pg)
{
    return libpq.serverVersion(pg->handle);
}

bool pg_is_pooled(const struct pg *pg)
{
    return pg->is_pooled;
}

enum status pg_set(struct ctx *ctx, struct pg *pg, const char *name, const char *value)
{
    settings_note(&pg->settings, name, value);
    if (pg->is_pooled && !pg_in_transaction(pg))
        return OK;
    return pg_exec(
        ctx, pg,
        str_printf(&ctx->arena, "SET %s%s TO '%s'", pg->is_pooled ? "LOCAL " : "", name, value).p);
}

enum status pg_own_tables(struct ctx *ctx, struct pg *pg, const char *text, const char *last)
{
    pg->settings.tables = text;
    pg->settings.last_table = last;
    return pg->is_pooled ? OK : pg_exec(ctx, pg, text);
}

void pg_limit(struct pg *pg, int64_t until_us)
{
    pg->until_us = until_us;
}

bool pg_in_transaction(const struct pg *pg)
{
    return libpq.transactionStatus(pg->handle) != PQTRANS_IDLE;
}

void pg_hear(struct pg *pg, void (*hear)(void *own, bool is_mine, const char *text), void *own)
{
    struct pq_notify *one;
    if (pg_is_lost(pg) || !libpq.consumeInput(pg->handle))
        return;
    while ((one = libpq.notifies(pg->handle)) != NULL) {
        hear(own, one->pid == libpq.backendPID(pg->handle), one->text);
        libpq.freemem(one);
    }
}

int64_t pg_changes(const struct pg *pg)
{
    return pg->changes;
}

int64_t pg_last_row(const struct pg *pg)
{
    return pg->last_row;
}

int64_t pg_total_changes(const struct pg *pg)
{
    return pg->total;
}

/* --- text without parameters --- */

enum status pg_exec(struct ctx *ctx, struct pg *pg, const char *text)
{
    PGresult *r = run_text(pg, text);
    bool is_done = note_result(pg, r);
    libpq.clear(r);
    return is_done ? OK : pg_failed(ctx, pg);
}

enum status pg_int(struct ctx *ctx, struct pg *pg, const char *text, int64_t *out)
{
    PGresult *r = run_text(pg, text);
    bool is_done = note_result(pg, r);
    *out = is_done && libpq.ntuples(r) ? strtoll(libpq.getvalue(r, 0, 0), NULL, 10) : 0;
    libpq.clear(r);
    return is_done ? OK : pg_failed(ctx, pg);
}

enum status pg_lines(struct ctx *ctx, struct pg *pg, const char *text, int n, struct buf *out)
{
    PGresult *r = run_text(pg, text);
    bool is_done = note_result(pg, r);
    for (int i = 0; is_done && i < n && i < libpq.ntuples(r); i++)
        buf_printf(out, "%s\n", libpq.getvalue(r, i, 0));
    libpq.clear(r);
    return is_done ? OK : pg_failed(ctx, pg);
}

/* --- statements --- */

struct pg_stmt *pg_begin(struct pg *pg, int which, const char *text, bool streams)
{
    struct pg_stmt *s = pg->statements[which];
    assert((size_t)which < pg->n);
    if (!s) {
        s = pg->statements[which] = heap_alloc(sizeof *s);
        s->pg = pg;
        s->which = which;
        s->text = dialect_text(text);
        s->streams = streams;
    }
    assert(!s->is_in_use);
    s->is_in_use = true;
    s->bound = 0;
    s->row = -1;
    s->has_run = s->has_failed = false;
    return s;
}

static void drop_result(struct pg_stmt *s)
{
    if (s->result)
        libpq.clear(s->result);
    s->result = NULL;
}

void pg_leave(struct pg_stmt *s)
{
    char text[32];
    drop_result(s);
    arena_free(&s->arena);
    s->is_in_use = false;
    if (!s->has_cursor)
        return;
    s->has_cursor = false;
    snprintf(text, sizeof text, "CLOSE c%d", s->which);
    libpq.clear(run_text(s->pg, text)); /* the transaction would close it, too */
}

static struct value *next_value(struct pg_stmt *s, Oid type)
{
    assert(s->bound < PARAMS_MAX && s->is_in_use);
    assert(!s->is_prepared || s->types[s->bound] == type); /* a parameter is always of one kind */
    s->types[s->bound] = type;
    struct value *v = &s->values[s->bound++];
    *v = (struct value){.p = NULL};
    return v;
}

void pg_bind_text(struct pg_stmt *s, str v)
{
    struct value *value = next_value(s, OID_TEXT);
    v = value_put_text(&s->arena, v);
    value->p = v.n ? v.p : "";
    value->n = v.n;
}

static void bind_own(struct pg_stmt *s, Oid type, const char own[8])
{
    struct value *value = next_value(s, type);
    memcpy(value->own, own, sizeof value->own);
    value->n = sizeof value->own;
    value->is_own = true;
}

void pg_bind_int(struct pg_stmt *s, int64_t v)
{
    char own[8];
    value_put_int(own, v);
    bind_own(s, OID_INT8, own);
}

void pg_bind_real(struct pg_stmt *s, double v)
{
    char own[8];
    value_put_real(own, v);
    bind_own(s, OID_FLOAT8, own);
}

static void bind_str(struct pg_stmt *s, Oid type, str v)
{
    struct value *value = next_value(s, type);
    value->p = v.p;
    value->n = v.n;
}

void pg_bind_bytes(struct pg_stmt *s, const void *p, size_t n)
{
    bind_str(s, OID_BYTEA, (str){p, n});
}

void pg_bind_ints(struct pg_stmt *s, const int64_t *v, size_t n)
{
    bind_str(s, OID_INT8S, value_ints(&s->arena, v, n));
}

void pg_bind_texts(struct pg_stmt *s, const str *v, size_t n)
{
    str *texts = arena_alloc(&s->arena, n * sizeof *texts + 1);
    for (size_t i = 0; i < n; i++)
        texts[i] = value_put_text(&s->arena, v[i]);
    bind_str(s, OID_TEXTS, value_strs(&s->arena, OID_TEXT, texts, n));
}

void pg_bind_blobs(struct pg_stmt *s, const str *v, size_t n)
{
    bind_str(s, OID_BYTEAS, value_strs(&s->arena, OID_BYTEA, v, n));
}

/* --- running --- */

static bool take_result(struct pg_stmt *s, PGresult *r)
{
    drop_result(s);
    s->result = r;
    s->row = -1;
    s->has_failed = !note_result(s->pg, r);
    return !s->has_failed;
}

/* Words that are a statement by themselves, such as BEGIN, have nothing to prepare. */
static bool is_plain(const struct pg_stmt *s)
{
    static const char *const words[] = {"BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(s->text, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

static bool prepare_it(struct pg_stmt *s, const char *name)
{
    PGresult *r =
        result_of(s->pg, libpq.sendPrepare(s->pg->handle, name, s->text, s->bound, s->types));
    s->is_prepared = note_result(s->pg, r);
    libpq.clear(r);
    s->has_failed = !s->is_prepared;
    return s->is_prepared;
}

static bool run_prepared(struct pg_stmt *s)
{
    char name[16];
    const char *values[PARAMS_MAX];
    int lengths[PARAMS_MAX], formats[PARAMS_MAX];
    snprintf(name, sizeof name, "s%d", s->which);
    if (!s->pg->is_pooled && !s->is_prepared && !prepare_it(s, name))
        return false;
    for (int i = 0; i < s->bound; i++) {
        const struct value *v = &s->values[i];
        assert(v->n <= INT32_MAX);
        values[i] = v->is_own ? v->own : v->p;
        lengths[i] = (int)v->n;
        formats[i] = 1;
    }
    int is_sent = s->pg->is_pooled ? libpq.sendQueryParams(s->pg->handle, s->text, s->bound,
                                                           s->types, values, lengths, formats, 1)
                                   : libpq.sendQueryPrepared(s->pg->handle, name, s->bound, values,
                                                             lengths, formats, 1);
    return take_result(s, result_of(s->pg, is_sent));
}

/* Behind a pooler a statement by itself needs a transaction, for its settings. */
static bool run_bound(struct pg_stmt *s)
{
    if (!s->pg->is_pooled || pg_in_transaction(s->pg))
        return run_prepared(s);
    if (!take_result(s, run_text(s->pg, "BEGIN")))
        return false;
    bool is_done = run_prepared(s);
    PGresult *end = run_text(s->pg, "COMMIT");
    s->has_failed = is_done ? !note_result(s->pg, end) : true;
    libpq.clear(end);
    return !s->has_failed;
}

static bool fetch_some(struct pg_stmt *s)
{
    char text[48];
    snprintf(text, sizeof text, "FETCH %d FROM c%d", STREAM_ROWS, s->which);
    return take_result(s, run_binary(s->pg, text));
}

static bool open_cursor(struct pg_stmt *s)
{
    struct buf b = buf_make(&s->arena, strlen(s->text) + 64);
    assert(!s->bound && pg_in_transaction(s->pg));
    buf_printf(&b, "DECLARE c%d NO SCROLL CURSOR FOR %s", s->which, s->text);
    if (!take_result(s, run_text(s->pg, str_c(&s->arena, buf_str(&b)))))
        return false;
    s->has_cursor = true;
    return fetch_some(s);
}

/* What a statement has changed; one that gives its row a number returns it. */
static void note_changes(struct pg_stmt *s)
{
    struct pg *pg = s->pg;
    if (strncmp(libpq.cmdStatus(s->result), "SELECT", 6) == 0)
        return;
    pg->changes = strtoll(libpq.cmdTuples(s->result), NULL, 10);
    pg->total += pg->changes;
    if (strncmp(libpq.cmdStatus(s->result), "INSERT", 6) == 0 && libpq.ntuples(s->result)) {
        s->row = 0;
        pg->last_row = pg_get_int(s, 0);
        s->row = libpq.ntuples(s->result); /* nobody reads it as a row */
    }
}

static bool run_first(struct pg_stmt *s)
{
    s->has_run = true;
    if (s->has_failed)
        return false;
    if (s->streams)
        return open_cursor(s);
    if (!(is_plain(s) ? take_result(s, run_text(s->pg, s->text)) : run_bound(s)))
        return false;
    note_changes(s);
    return true;
}

bool pg_row(struct pg_stmt *s)
{
    if (!s->has_run && !run_first(s))
        return false;
    if (s->has_failed)
        return false;
    if (++s->row < libpq.ntuples(s->result))
        return true;
    if (s->has_cursor && libpq.ntuples(s->result) == STREAM_ROWS && fetch_some(s))
        return ++s->row < libpq.ntuples(s->result);
    return false;
}

bool pg_has_failed(const struct pg_stmt *s)
{
    return s->has_failed;
}

/* --- reading --- */

static str see_bytes(const struct pg_stmt *s, int column)
{
    assert(s->row >= 0 && s->row < libpq.ntuples(s->result));
    return (str){libpq.getvalue(s->result, s->row, column),
                 (size_t)libpq.getlength(s->result, s->row, column)};
}

str pg_get_bytes(struct pg_stmt *s, int column)
{
    str bytes = see_bytes(s, column);
    return libpq.ftype(s->result, column) == OID_TEXT ? value_get_text(&s->arena, bytes) : bytes;
}

int64_t pg_get_int(const struct pg_stmt *s, int column)
{
    if (libpq.getisnull(s->result, s->row, column))
        return 0;
    return value_int(libpq.ftype(s->result, column), see_bytes(s, column));
}

double pg_get_real(const struct pg_stmt *s, int column)
{
    if (libpq.getisnull(s->result, s->row, column))
        return 0;
    return value_real(libpq.ftype(s->result, column), see_bytes(s, column));
}
