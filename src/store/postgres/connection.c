/* connection.c - one connection to PostgreSQL, its statements and its failures. */
#include "store/postgres/connection_int.h"

#include "store/file.h"
#include "store/postgres/libpq.h"
#include "store/postgres/values.h"

/*
 * A failure of a statement is kept as words and a code (SQLSTATE) until the next one.
 *
 * Behind a pooler each transaction may be on another connection of the server's, which others use
 * as well. So there statements have no name, and what direct connections set once is set in each
 * transaction. Statements that are sent together without BEGIN are one transaction up to the sync.
 */

/* --- failures --- */

static bool is_state(const struct pg *pg, const char *state)
{
    return strncmp(pg->state, state, strlen(state)) == 0;
}

bool pg_is_lost(const struct pg *pg)
{
    return libpq.status(pg->pipe.handle) != CONNECTION_OK || pg->pipe.end != WAIT_DONE ||
           pg->pipe.is_cut || is_state(pg, "57P0");
}

bool pg_is_silent(const struct pg *pg)
{
    return pg->pipe.end == WAIT_SILENT;
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
void pg_note_words(struct pg *pg, const char *state, const char *why)
{
    snprintf(pg->state, sizeof pg->state, "%s", state ? state : "");
    snprintf(pg->why, sizeof pg->why, "%.*s", (int)strcspn(why ? why : "", "\n"), why ? why : "");
}

/* Of what follows a failure in its transaction the server only says so. */
static void note_failure(struct pg *pg, const PGresult *r)
{
    const char *state = libpq.resultErrorField(r, PG_DIAG_SQLSTATE);
    const char *why = libpq.resultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    bool is_late = pg->pipe.end == WAIT_LATE;
    if (pg->pipe.end != WAIT_DONE)
        pg_note_words(pg, is_late ? "57014" : "08006",
                      is_late ? "no time is left" : "it is silent");
    else if (!state || strcmp(state, "25P02") != 0 || !*pg->state)
        pg_note_words(pg, state, why ? why : libpq.errorMessage(pg->pipe.handle));
}

/* --- settings --- */

/* "SET LOCAL" is a warning where no BEGIN stands before it. */
static void write_local(struct pg_settings *s)
{
    size_t n = (size_t)snprintf(s->local, sizeof s->local, "SELECT");
    for (size_t i = 0; i < s->n && n < sizeof s->local; i++)
        n += (size_t)snprintf(s->local + n, sizeof s->local - n, "%s set_config('%s', '%s', true)",
                              i ? "," : "", s->v[i].name, s->v[i].value);
    assert(n < sizeof s->local);
}

/* One more, or another value; name is static. */
static void settings_note(struct pg_settings *s, const char *name, const char *value)
{
    size_t i = 0;
    while (i < s->n && strcmp(s->v[i].name, name) != 0)
        i++;
    assert(i < SETTINGS_MAX);
    s->v[i].name = name;
    snprintf(s->v[i].value, sizeof s->v[i].value, "%s", value);
    s->n += i == s->n;
    write_local(s);
}

/* What every connection begins with; version as of libpq. synchronous_commit: what was acknowledged
 * is on disk. plan_cache_mode: each statement finds its rows by a key that begins with the pool, so
 * that one plan fits all pools, also where one pool has nearly all rows; a plan made anew for each
 * list of documents takes longer than the statement. The writer has more time for a statement
 * (writer_postgres.c). A server ends what nobody waits for any more, and drops a client that
 * stopped in the midst of a transaction, with its locks. */
static void settings_of(struct pg_settings *s, const char *schema, int version)
{
    enum { LOOKS_FOR_CLIENT = 140000 };
    settings_note(s, "search_path", schema);
    settings_note(s, "synchronous_commit", "on");
    settings_note(s, "client_min_messages", "warning");
    settings_note(s, "jit", "off");
    settings_note(s, "plan_cache_mode", "force_generic_plan");
    settings_note(s, "enable_seqscan", "off");
    settings_note(s, "statement_timeout", "30s");
    settings_note(s, "idle_in_transaction_session_timeout", "5min");
    if (version >= LOOKS_FOR_CLIENT)
        settings_note(s, "client_connection_check_interval", "2s");
}

/* A text that is run outside a transaction, with the settings for it alone, or for the transaction
 * that it begins. */
static const char *settings_around(const struct pg_settings *s, struct arena *a, const char *text)
{
    bool begins = strncmp(text, "BEGIN", 5) == 0;
    return str_printf(a, "%s;%s", begins ? text : s->local, begins ? s->local : text).p;
}

/* --- sending and waiting --- */

void pg_send_text(struct pg *pg, const char *text, struct owed owed)
{
    pipeline_begin(&pg->pipe);
    pipeline_sent(&pg->pipe,
                  libpq.sendQueryParams(pg->pipe.handle, text, 0, NULL, NULL, NULL, NULL, 1), owed);
}

void pg_send_begin(struct pg *pg)
{
    bool begins = pg->begin != NULL;
    if (begins)
        pg_send_text(pg, pg->begin, (struct owed){0});
    if (pg->pipe.server.is_pooled && (begins || !pg->is_in_transaction))
        pg_send_text(pg, pg->settings.local, (struct owed){0});
    if (pg->pipe.server.is_pooled && begins && pg->settings.tables)
        pg_send_text(pg, pg->settings.tables, (struct owed){0});
    pg->begin = NULL;
    pg->is_in_transaction |= begins;
}

bool pg_settle(struct pg *pg)
{
    bool is_fine = pipeline_settle(&pg->pipe);
    if (!is_fine)
        note_failure(pg, pg->pipe.failure);
    pg->is_in_transaction = libpq.transactionStatus(pg->pipe.handle) != PQTRANS_IDLE;
    return is_fine;
}

PGresult *pg_wait_for(struct pg *pg, PGresult **r)
{
    if (pg_settle(pg))
        return *r;
    libpq.clear(*r);
    return NULL;
}

/* Of one or more statements; to be cleared. Sent as one text they are one transaction. */
static bool run_text(struct pg *pg, const char *text, PGresult **out)
{
    struct arena a = {0};
    *out = NULL;
    if (pg->begin)
        pg_send_begin(pg);
    if (pg->pipe.n && !pg_settle(pg))
        return false;
    if (pg->pipe.server.is_pooled && !pg->is_in_transaction)
        text = settings_around(&pg->settings, &a, text);
    *out = pipeline_text(&pg->pipe, text);
    arena_free(&a);
    pg->is_in_transaction = libpq.transactionStatus(pg->pipe.handle) != PQTRANS_IDLE;
    int status = libpq.resultStatus(*out);
    bool is_done = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!is_done)
        note_failure(pg, *out);
    return is_done;
}

PGresult *pg_run_binary(struct pg *pg, const char *text)
{
    PGresult *r = NULL;
    pg_send_begin(pg);
    pg_send_text(pg, text, (struct owed){.to = &r});
    return pg_wait_for(pg, &r);
}

/* Of a statement, by its code: postgresql.org/docs/15/errcodes-appendix.html */
enum status pg_failed(struct ctx *ctx, struct pg *pg)
{
    bool is_away = pg_is_lost(pg) && pg->pipe.end != WAIT_LATE;
    const char *state = is_away ? "08" : pg->state;
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
        {"58", STORAGE, STORE_DISK_FAILED, "the database's disk failed"},
        {"P0", STORAGE, STORE_DISK_FAILED, "the database refuses this"},
        {"42501", STORAGE, STORE_DISK_FAILED, "rights in the database are missing"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(state, known[i].state, strlen(known[i].state)) == 0)
            return fail_as(ctx, known[i].status, known[i].detail, "%s: %s", known[i].words,
                           pg->why);
    return fail(ctx, STORAGE, "the database failed: %s (%s)", pg->why, state);
}

/* --- its address: what libpq takes of the URL, and the schema --- */

/* A password with one of these in it would be taken for a host or a port, which libpq names in its
 * words. They also hold a part of a URL that it cannot read. */
static enum status check_address(struct ctx *ctx, const char *url)
{
    const char *begin = strstr(url, "://"), *last = strrchr(url, '@');
    char *why = NULL;
    if (begin && last && begin + 3 + strcspn(begin + 3, "@/?#") < last)
        return fail(
            ctx, BAD_INPUT,
            "the URL of the store has an @ behind another one or behind / ? #; in a name, a "
            "password or a parameter write these as %%40, %%2F, %%3F and %%23");
    struct pq_option *options = libpq.conninfoParse(url, &why);
    libpq.freemem(why);
    if (!options)
        return fail(ctx, BAD_INPUT,
                    "the URL of the store cannot be read; it is "
                    "postgres://USER@HOST/DATABASE?schema=NAME with libpq's parameters");
    libpq.conninfoFree(options);
    return OK;
}

static bool is_name(str s)
{
    return s.n > 0 && s.n < 64 &&
           EVERY(i, s.n,
                 (s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9') ||
                     s.p[i] == '_');
}

/* The parameter is taken out, since libpq refuses what it does not know. */
enum status pg_address_of(struct ctx *ctx, str url, struct pg_address *out)
{
    str name = S("schema=");
    str schema = S("rememberd"), rest = url;
    struct buf b = buf_make(&ctx->arena, url.n + 2);
    buf_add(&b, str_cut(&rest, '?'));
    for (char before = '?'; rest.n;) {
        str one = str_cut(&rest, '&');
        if (str_starts(one, name)) {
            schema = str_sub(one, name.n, one.n);
            continue;
        }
        buf_byte(&b, before);
        buf_add(&b, one);
        before = '&';
    }
    if (!is_name(schema))
        return fail(ctx, BAD_INPUT,
                    "schema in the URL of the store must be 1 to 63 of a-z, 0-9 and _");
    *out = (struct pg_address){str_c(&ctx->arena, buf_str(&b)), str_c(&ctx->arena, schema)};
    return OK;
}

/* --- opening --- */

/* A pooler that keeps a server's connection for each of ours shows another process, too: then what
 * follows costs a little more than it would have to. */
static enum status set_up(struct ctx *ctx, struct pg *pg, const char *schema)
{
    enum { OLDEST = 130000 };
    int version = libpq.serverVersion(pg->pipe.handle);
    if (version < OLDEST)
        return fail(ctx, UNSUPPORTED, "PostgreSQL %d is too old: 13 or newer is needed",
                    version / 10000);
    settings_of(&pg->settings, schema, version);
    int64_t pid;
    TRY(pg_int(ctx, pg, "SELECT pg_backend_pid()", &pid));
    pg->pipe.server.is_pooled = pid != libpq.backendPID(pg->pipe.handle);
    struct buf b = buf_make(&ctx->arena, 1000);
    for (size_t i = 0; i < pg->settings.n; i++)
        buf_printf(&b, "SET %s TO '%s';", pg->settings.v[i].name, pg->settings.v[i].value);
    return pg->pipe.server.is_pooled ? OK : pg_exec(ctx, pg, str_c(&ctx->arena, buf_str(&b)));
}

static enum status connect_to(struct ctx *ctx, struct pg *pg, const struct pg_address *at)
{
    /* What stands behind the URL overrules it, and the other way round. */
    static const char *const names[] = {"connect_timeout", "tcp_user_timeout",          "dbname",
                                        "client_encoding", "fallback_application_name", NULL};
    const char *const values[] = {"2", "10000", at->url, "UTF8", "rememberd", NULL};
    pg->pipe.handle = pipeline_connect(names, values);
    if (pg_is_lost(pg)) {
        pg_note_words(pg, "08006", libpq.errorMessage(pg->pipe.handle));
        return pg_failed(ctx, pg);
    }
    libpq.setnonblocking(pg->pipe.handle, 1);
    return set_up(ctx, pg, at->schema);
}

enum status pg_open(struct ctx *ctx, str url, size_t n, struct pg **out)
{
    struct pg_address at;
    TRY(libpq_open(ctx));
    TRY(pg_address_of(ctx, url, &at));
    TRY(check_address(ctx, at.url));
    struct pg *pg = heap_alloc(sizeof *pg + n * sizeof *pg->statements);
    pg->n = n;
    pg->pipe.server.url = heap_alloc(strlen(at.url) + 1);
    memcpy(pg->pipe.server.url, at.url, strlen(at.url));
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
        if (pg->statements[i])
            pg_statement_free(pg->statements[i]);
    pg_ahead_forget(pg);
    libpq.clear(pg->noted);
    pipeline_end(&pg->pipe);
    free(pg);
}

int pg_version(const struct pg *pg)
{
    return libpq.serverVersion(pg->pipe.handle);
}

bool pg_is_pooled(const struct pg *pg)
{
    return pg->pipe.server.is_pooled;
}

enum status pg_set(struct ctx *ctx, struct pg *pg, const char *name, const char *value)
{
    settings_note(&pg->settings, name, value);
    if (pg->pipe.server.is_pooled && !pg_in_transaction(pg))
        return OK;
    const char *how = pg->pipe.server.is_pooled ? "LOCAL " : "";
    str text = str_printf(&ctx->arena, "SET %s%s TO '%s'", how, name, value);
    return pg_exec(ctx, pg, text.p);
}

enum status pg_own_tables(struct ctx *ctx, struct pg *pg, const char *text)
{
    pg->settings.tables = text;
    return pg->pipe.server.is_pooled ? OK : pg_exec(ctx, pg, text);
}

void pg_limit(struct pg *pg, int64_t until_us)
{
    pg->pipe.until_us = until_us;
}

bool pg_in_transaction(const struct pg *pg)
{
    return pg->begin || pg->is_in_transaction;
}

void pg_hear(struct pg *pg, void (*hear)(void *own, bool is_mine, const char *text), void *own)
{
    struct pq_notify *one;
    if (pg_is_lost(pg) || !libpq.consumeInput(pg->pipe.handle))
        return;
    while ((one = libpq.notifies(pg->pipe.handle)) != NULL) {
        hear(own, one->pid == libpq.backendPID(pg->pipe.handle), one->text);
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

int64_t pg_total_changes(struct pg *pg)
{
    if (pg->pipe.n)
        (void)!pg_settle(pg); /* a failure stops what follows, too */
    return pg->total + pg->pipe.changes;
}

/* --- text without parameters --- */

enum status pg_exec(struct ctx *ctx, struct pg *pg, const char *text)
{
    return pg_lines(ctx, pg, text, 0, NULL);
}

/* The first column of the first row; 0 without one, or of NULL. */
static int64_t first_int(const PGresult *r)
{
    if (!libpq.ntuples(r) || libpq.getisnull(r, 0, 0))
        return 0;
    return value_int(libpq.ftype(r, 0),
                     (str){libpq.getvalue(r, 0, 0), (size_t)libpq.getlength(r, 0, 0)});
}

enum status pg_int(struct ctx *ctx, struct pg *pg, const char *text, int64_t *out)
{
    PGresult *r = pg_run_binary(pg, text);
    *out = first_int(r);
    if (!r)
        return pg_failed(ctx, pg);
    libpq.clear(r);
    return OK;
}

void pg_note(struct pg *pg, const char *text)
{
    libpq.clear(pg->noted);
    pg->noted = NULL;
    pipeline_disown(&pg->pipe, &pg->noted);
    pg_send_begin(pg);
    pg_send_text(pg, text, (struct owed){.to = &pg->noted});
}

enum status pg_noted(struct ctx *ctx, struct pg *pg, int64_t *out)
{
    *out = 0;
    if (!pg->noted && !pg_settle(pg))
        return pg_failed(ctx, pg);
    *out = first_int(pg->noted);
    return OK;
}

enum status pg_lines(struct ctx *ctx, struct pg *pg, const char *text, int n, struct buf *out)
{
    PGresult *r;
    bool is_done = run_text(pg, text, &r);
    for (int i = 0; is_done && i < n && i < libpq.ntuples(r); i++)
        buf_printf(out, "%s\n", libpq.getvalue(r, i, 0));
    libpq.clear(r);
    return is_done ? OK : pg_failed(ctx, pg);
}
