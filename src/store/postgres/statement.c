/* statement.c - statements on a connection: bound, sent ahead, run and read; transactions. */
#include <ctype.h>

#include "store/postgres/connection_int.h"
#include "store/postgres/values.h"

/*
 * Statements are known by their number, as with SQLite, and prepared at their first use under that
 * number; behind a pooler they have no name. Parameters and results are binary. A result is fetched
 * whole, so that other statements can run while it is read; one that streams is a cursor.
 *
 * Statements whose answers nobody reads are sent with the next one that is waited for
 * (pipeline.c). A transaction begins with its first statement; one that only reads ends without a
 * wait.
 *
 * What a caller knows that it will ask is sent ahead, with the same statement and the same
 * parameters, and waits there until it is asked. In a transaction that only reads the answer stays
 * true to its end; in one that writes it is given once, and dropped with the task.
 */

enum { PARAMS_MAX = 32, STREAM_ROWS = 500 };

struct value {
    const char *p; /* NULL: no value */
    size_t n;
    char own[8]; /* of a number, which p shows */
};

struct pg_stmt {
    struct pg *pg;
    const char *text;
    int which, bound, row;
    bool is_prepared, is_in_use, streams, has_cursor, has_run, has_failed;
    bool is_lent; /* the result */
    PGresult *result;
    struct value values[PARAMS_MAX];
    Oid types[PARAMS_MAX];
    struct arena arena; /* of lists */
};

/* --- the text of a statement as PostgreSQL takes it --- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Up to the end of a quoted part. */
static size_t quoted_length(const char *p)
{
    const char *end = strchr(p + 1, *p);
    return end ? (size_t)(end - p) + 1 : strlen(p);
}

/* Parameters ?1 become $1; a plus sign at a column, which keeps SQLite from an index, goes; the
 * column and table user, which is a word of SQL, is quoted. What differs otherwise has two texts in
 * sql.def. On the heap. */
static char *dialect_text(const char *p)
{
    static const char word[] = "user";
    char *out = heap_alloc(3 * strlen(p) + 1), *to = out;
    while (*p) {
        size_t n = 1;
        if (*p == '\'' || *p == '"')
            n = quoted_length(p);
        else if (is_word(*p))
            for (n = 0; is_word(p[n]);)
                n++;
        bool is_user = n == sizeof word - 1 && memcmp(p, word, n) == 0;
        if (is_user)
            *to++ = '"';
        if (*p == '?')
            *to++ = '$';
        else if (*p != '+' || !isalpha((unsigned char)p[1]))
            to = (char *)memcpy(to, p, n) + n;
        if (is_user)
            *to++ = '"';
        p += n;
    }
    return out;
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
    if (!s->is_lent)
        libpq.clear(s->result);
    s->result = NULL;
    s->is_lent = false;
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
    if (!s->has_failed)
        libpq.clear(pg_run_binary(s->pg, text)); /* the transaction would close it, too */
}

void pg_statement_free(struct pg_stmt *s)
{
    pg_leave(s);
    free((void *)s->text);
    free(s);
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

static void bind_number(struct pg_stmt *s, Oid type, const void *v)
{
    struct value *value = next_value(s, type);
    value_put_number(value->own, v);
    value->p = value->own;
    value->n = sizeof value->own;
}

void pg_bind_int(struct pg_stmt *s, int64_t v)
{
    bind_number(s, OID_INT8, &v);
}

void pg_bind_real(struct pg_stmt *s, double v)
{
    bind_number(s, OID_FLOAT8, &v);
}

static void bind_str(struct pg_stmt *s, Oid type, str v)
{
    struct value *value = next_value(s, type);
    value->p = v.p;
    value->n = v.n;
}

void pg_bind_text(struct pg_stmt *s, str v)
{
    v = value_put_text(&s->arena, v);
    bind_str(s, OID_TEXT, v.n ? v : S(""));
}

void pg_bind_bytes(struct pg_stmt *s, const void *p, size_t n)
{
    bind_str(s, OID_BYTEA, (str){p, n});
}

#define BIND_LIST(NAME, TYPE, LIST, ELEMENT, make)                                                 \
    void NAME(struct pg_stmt *s, const TYPE *v, size_t n)                                          \
    {                                                                                              \
        bind_str(s, LIST, make(&s->arena, ELEMENT, v, n));                                         \
    }
BIND_LIST(pg_bind_ints, int64_t, OID_INT8S, OID_INT8, value_numbers)
BIND_LIST(pg_bind_reals, double, OID_FLOAT8S, OID_FLOAT8, value_numbers)
BIND_LIST(pg_bind_blobs, str, OID_BYTEAS, OID_BYTEA, value_strs)

void pg_bind_texts(struct pg_stmt *s, const str *v, size_t n)
{
    str *texts = arena_alloc(&s->arena, n * sizeof *texts + 1);
    for (size_t i = 0; i < n; i++)
        texts[i] = value_put_text(&s->arena, v[i]);
    bind_str(s, OID_TEXTS, value_strs(&s->arena, OID_TEXT, texts, n));
}

/* --- sending --- */

/* NULL: it failed. */
static bool take_result(struct pg_stmt *s, PGresult *r)
{
    drop_result(s);
    s->result = r;
    s->row = -1;
    s->has_failed = !r;
    return !s->has_failed;
}

static void send_prepare(struct pg_stmt *s, const char *name)
{
    if (s->is_prepared || s->pg->pipe.server.is_pooled)
        return;
    pipeline_begin(&s->pg->pipe);
    pipeline_sent(&s->pg->pipe,
                  libpq.sendPrepare(s->pg->pipe.handle, name, s->text, s->bound, s->types),
                  (struct owed){.is_prepared = &s->is_prepared});
    s->is_prepared = true;
}

/* A plan is made once, but for a pooler's. While a table is all but empty each index seems as good
 * as another, so plans are made anew as statements add up. */
static void send_replan(struct pg *pg)
{
    enum { FIRST = 256 };
    if (++pg->sent >= FIRST && !(pg->sent & (pg->sent - 1)) && !pg->pipe.server.is_pooled)
        pg_send_text(pg, "DISCARD PLANS", (struct owed){0});
}

static void send_prepared(struct pg_stmt *s, struct owed owed)
{
    char name[16];
    const char *values[PARAMS_MAX];
    int lengths[PARAMS_MAX], formats[PARAMS_MAX];
    snprintf(name, sizeof name, "s%d", s->which);
    pg_send_begin(s->pg);
    send_replan(s->pg);
    send_prepare(s, name);
    for (int i = 0; i < s->bound; i++) {
        const struct value *v = &s->values[i];
        assert(v->n <= INT32_MAX);
        values[i] = v->p;
        lengths[i] = (int)v->n;
        formats[i] = 1;
    }
    pipeline_begin(&s->pg->pipe);
    int is_sent = s->pg->pipe.server.is_pooled
                      ? libpq.sendQueryParams(s->pg->pipe.handle, s->text, s->bound, s->types,
                                              values, lengths, formats, 1)
                      : libpq.sendQueryPrepared(s->pg->pipe.handle, name, s->bound, values, lengths,
                                                formats, 1);
    pipeline_sent(&s->pg->pipe, is_sent, owed);
}

/* --- sent ahead --- */

struct ahead {
    struct ahead *next;
    int which;
    size_t n;
    PGresult *result;
    char values[]; /* of its parameters */
};

void pg_ahead_forget(struct pg *pg)
{
    struct ahead *next;
    for (struct ahead *one = pg->ahead; one; one = next) {
        next = one->next;
        pipeline_disown(&pg->pipe, &one->result);
        libpq.clear(one->result);
        free(one);
    }
    pg->ahead = NULL;
}

/* The parameters as bytes; no value is as long as the one that is none. */
static str values_of(struct pg_stmt *s)
{
    size_t bytes = 0;
    for (int i = 0; i < s->bound; i++)
        bytes += sizeof bytes + s->values[i].n;
    struct buf b = buf_make(&s->arena, bytes + 1);
    for (int i = 0; i < s->bound; i++) {
        const struct value *v = &s->values[i];
        size_t n = v->p ? v->n : SIZE_MAX;
        buf_add(&b, (str){(const char *)&n, sizeof n});
        buf_add(&b, (str){v->p, v->n});
    }
    return buf_str(&b);
}

/* Where it is linked from; *NULL: it was not asked. */
static struct ahead **find_ahead(struct pg_stmt *s, str values)
{
    struct ahead **at = &s->pg->ahead;
    while (*at && ((*at)->which != s->which || !str_eq((str){(*at)->values, (*at)->n}, values)))
        at = &(*at)->next;
    return at;
}

void pg_ahead(struct pg_stmt *s)
{
    str values = values_of(s);
    struct ahead **at = find_ahead(s, values);
    s->has_run = true;
    if (*at)
        return;
    struct ahead *one = *at = heap_alloc(sizeof *one + values.n);
    one->which = s->which;
    one->n = values.n;
    memcpy(one->values, values.p, values.n);
    send_prepared(s, (struct owed){.to = &one->result});
}

/* Whether it was asked before. Its answer may still be on its way. */
static bool take_ahead(struct pg_stmt *s)
{
    struct ahead **at = s->pg->ahead ? find_ahead(s, values_of(s)) : NULL;
    if (!at || !*at)
        return false;
    struct ahead *one = *at;
    if (s->pg->pipe.n && !one->result)
        (void)!pg_settle(s->pg);
    take_result(s, one->result);
    s->is_lent = s->pg->only_reads;
    if (s->is_lent)
        return true;
    *at = one->next;
    free(one);
    return true;
}

/* --- running --- */

static bool run_prepared(struct pg_stmt *s)
{
    PGresult *r = NULL;
    if (take_ahead(s))
        return !s->has_failed;
    send_prepared(s, (struct owed){.to = &r});
    return take_result(s, pg_wait_for(s->pg, &r));
}

void pg_later(struct pg_stmt *s)
{
    assert(s->pg->is_in_transaction || s->pg->begin);
    s->has_run = true;
    send_prepared(s, (struct owed){0});
}

static bool fetch_some(struct pg_stmt *s)
{
    char text[48];
    snprintf(text, sizeof text, "FETCH %d FROM c%d", STREAM_ROWS, s->which);
    return take_result(s, pg_run_binary(s->pg, text));
}

static void open_cursor(struct pg_stmt *s)
{
    struct buf b = buf_make(&s->arena, strlen(s->text) + 64);
    assert(!s->bound && pg_in_transaction(s->pg));
    buf_printf(&b, "DECLARE c%d NO SCROLL CURSOR FOR %s", s->which, s->text);
    s->has_cursor = take_result(s, pg_run_binary(s->pg, str_c(&s->arena, buf_str(&b))));
    if (s->has_cursor)
        fetch_some(s);
}

/* --- transactions --- */

/* A connection that was lost while nobody used it is noticed here. */
static bool begin_transaction(struct pg_stmt *s)
{
    struct pg *pg = s->pg;
    if (!wait_is_alive(pg->pipe.handle)) {
        pg_note_words(pg, "08006", libpq.errorMessage(pg->pipe.handle));
        return false;
    }
    pg_ahead_forget(pg);
    pg->begin = s->text;
    pg->only_reads = strstr(s->text, "READ ONLY") != NULL;
    return true;
}

static bool run_plainly(struct pg_stmt *s)
{
    return take_result(s, pg_run_binary(s->pg, s->text));
}

/* Of a transaction that failed COMMIT only says ROLLBACK. */
static bool commit_transaction(struct pg_stmt *s)
{
    struct pg *pg = s->pg;
    if (pg->begin) {
        pg->begin = NULL;
        return true;
    }
    if (!pg->only_reads)
        return run_plainly(s) && strcmp(libpq.cmdStatus(s->result), "COMMIT") == 0;
    pg_send_text(pg, s->text, (struct owed){.may_fail = true});
    pipeline_part(&pg->pipe);
    pg->is_in_transaction = false;
    return true;
}

/* The server would not run it behind a failure that is still to come. */
static bool roll_back(struct pg_stmt *s)
{
    if (s->pg->begin) {
        s->pg->begin = NULL;
        return true;
    }
    if (s->pg->pipe.n)
        (void)!pg_settle(s->pg);
    pg_ahead_forget(s->pg);
    return run_plainly(s);
}

static bool send_plainly(struct pg_stmt *s)
{
    pg_ahead_forget(s->pg);
    pg_send_begin(s->pg);
    pg_send_text(s->pg, s->text, (struct owed){0});
    return true;
}

/* Words that are a statement by themselves have nothing to prepare. */
static bool (*plain_of(const struct pg_stmt *s))(struct pg_stmt *)
{
    static const struct {
        const char *word;
        bool (*run)(struct pg_stmt *s);
    } plain[] = {{"BEGIN", begin_transaction},
                 {"COMMIT", commit_transaction},
                 {"ROLLBACK", roll_back},
                 {"SAVEPOINT", send_plainly},
                 {"RELEASE", run_plainly}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strncmp(s->text, plain[i].word, strlen(plain[i].word)) == 0)
            return plain[i].run;
    return NULL;
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

static void run_first(struct pg_stmt *s)
{
    bool (*plain)(struct pg_stmt *) = plain_of(s);
    s->has_run = true;
    if (s->streams)
        open_cursor(s);
    else if (plain)
        s->has_failed = !plain(s);
    else if (run_prepared(s))
        note_changes(s);
}

bool pg_row(struct pg_stmt *s)
{
    if (!s->has_run)
        run_first(s);
    if (s->has_failed)
        return false;
    if (++s->row < libpq.ntuples(s->result))
        return true;
    return s->has_cursor && libpq.ntuples(s->result) == STREAM_ROWS && fetch_some(s) &&
           ++s->row < libpq.ntuples(s->result);
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

#define GET(NAME, TYPE, read)                                                                      \
    TYPE NAME(const struct pg_stmt *s, int column)                                                 \
    {                                                                                              \
        if (libpq.getisnull(s->result, s->row, column))                                            \
            return 0;                                                                              \
        return read(libpq.ftype(s->result, column), see_bytes(s, column));                         \
    }
GET(pg_get_int, int64_t, value_int)
GET(pg_get_real, double, value_real)
