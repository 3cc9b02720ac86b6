/* move.c - all rows of a store copied to another one, of the same or the other database. */
#include "store/move.h"

#include <sodium.h>

#include "base/id.h"
#include "store/postgres/schema.h"
#include "store/sql/move.h"
#include "store/sql/state/reader.h"
#include "store/sql/state/sql_store.h"
#include "store/sql/state/writer.h"

/*
 * Tables are copied in the order of sql_move.def. A fact of the target (PROGRESS) says which table
 * is next and how many of its rows are there, and is written with each piece: so a killed copy goes
 * on behind its last piece. Triggers of the target make tallies and bytes; the words index is made
 * anew when the target is opened again. In the end every row is read on both sides, and for each
 * pool and each table without pools the rows are counted, and their hashes added up.
 */

#define PROGRESS "migrate"

/* What is moved between two open stores, and how far that is. */
struct moving {
    struct ctx *ctx;
    const struct store_move *move;
    struct store *from, *to;
    struct store_moved *out;
    str source; /* a hash of the name of `from`, by which the same copy is known again */
    int64_t table, rows, all, done;
    int64_t *last; /* the last number that each table has given; 0: none */
};

struct moved_table {
    const char *name, *kinds, *number;
    enum sql read, put, count;
};
static const struct moved_table tables[] = {
#define MOVE(table, kinds, number, ...)                                                            \
    {#table, kinds, number, SQL_MOVE_READ_##table, SQL_MOVE_PUT_##table, SQL_MOVE_COUNT_##table},
#include "store/sql/db/sql_move.def"
#undef MOVE
};
enum { TABLES = sizeof tables / sizeof *tables, COLUMNS_MAX = 23, PIECE_ROWS = 500 };
enum { PIECE_BYTES = 1 << 20 };

struct cell {
    int64_t i;
    double r;
    str s;
};
struct row {
    struct cell v[COLUMNS_MAX];
};

/* --- a row --- */

static size_t read_row(struct query *q, const struct moved_table *t, struct row *out)
{
    size_t bytes = 0;
    for (size_t i = 0; t->kinds[i]; i++) {
        struct cell *c = &out->v[i];
        *c = (struct cell){.i = 0};
        if (t->kinds[i] == 'p' || t->kinds[i] == 'i')
            c->i = sql_get_int(q);
        else if (t->kinds[i] == 'r')
            c->r = sql_get_real(q);
        else if (t->kinds[i] == 't')
            c->s = sql_get_text(q);
        else
            c->s = str_dup(&q->ctx->arena, sql_see_blob(q));
        bytes += sizeof *c + c->s.n;
    }
    return bytes;
}

static enum status put_row(struct ctx *ctx, struct db *db, const struct moved_table *t,
                           const struct row *row)
{
    SQL_RUN(q, ctx, db, t->put);
    for (size_t i = 0; t->kinds[i]; i++) {
        const struct cell *c = &row->v[i];
        if (t->kinds[i] == 'p' || t->kinds[i] == 'i')
            sql_int(&q, c->i);
        else if (t->kinds[i] == 'r')
            sql_real(&q, c->r);
        else if (t->kinds[i] == 't')
            sql_text(&q, c->s);
        else
            sql_blob(&q, c->s.n || t->kinds[i] == 'b' ? blob_of(c->s) : blob_at(NULL, 0));
    }
    return sql_do(&q);
}

/* On PostgreSQL all rows at once, as a list of each column. */
static enum status put_lists(struct ctx *ctx, struct db *db, const struct moved_table *t,
                             const struct row *rows, size_t n)
{
    str *texts = NEW_N(&ctx->arena, str, n);
    int64_t *ints = NEW_N(&ctx->arena, int64_t, n);
    double *reals = NEW_N(&ctx->arena, double, n);
    SQL_RUN(q, ctx, db, t->put);
    for (size_t i = 0; t->kinds[i]; i++) {
        for (size_t k = 0; k < n; k++) {
            texts[k] = rows[k].v[i].s;
            ints[k] = rows[k].v[i].i;
            reals[k] = rows[k].v[i].r;
        }
        if (t->kinds[i] == 'p' || t->kinds[i] == 'i')
            sql_list(&q, ints, n);
        else if (t->kinds[i] == 'r')
            sql_reals(&q, reals, n);
        else if (t->kinds[i] == 't')
            sql_texts(&q, texts, n);
        else
            sql_blobs(&q, texts, n);
    }
    return sql_do(&q);
}

static enum status put_rows(struct ctx *ctx, struct db *db, const struct moved_table *t,
                            const struct row *rows, size_t n)
{
    if (is_postgres(db))
        return n ? put_lists(ctx, db, t, rows, n) : OK;
    for (size_t i = 0; i < n; i++)
        TRY(put_row(ctx, db, t, &rows[i]));
    return OK;
}

/* What a store notes of itself reads as ''. */
static bool is_own_fact(const struct moved_table *t, const struct row *row)
{
    return t->read == SQL_MOVE_READ_fact && !row->v[1].s.n;
}

/* --- how far it is --- */

static void move_show(const struct moving *m, const char *what, int64_t done, int64_t all)
{
    if (m->move->progress)
        m->move->progress(m->move->own, what, done, all);
}

static str source_of(struct arena *a, str path)
{
    enum { PART = 8 };
    uint8_t hash[crypto_generichash_BYTES];
    crypto_generichash(hash, sizeof hash, (const uint8_t *)path.p, path.n, NULL, 0);
    return hex_of(a, hash, PART);
}

/* A piece, or without rows only the progress. */
struct piece {
    struct moving *m;
    const struct moved_table *table;
    const struct row *rows;
    size_t n;
    int64_t next_table, next_rows;
};

static enum status write_piece(struct ctx *ctx, struct db *db, const void *what)
{
    const struct piece *p = what;
    str now = str_printf(&ctx->arena, S_FMT " %lld %lld", S_ARG(p->m->source),
                         (long long)p->next_table, (long long)p->next_rows);
    if (p->table)
        TRY(put_rows(ctx, db, p->table, p->rows, p->n));
    return SQL_DO(ctx, db, SQL_FACT_PUT, S(PROGRESS), now);
}

static enum status run_piece(struct moving *m, struct ctx *ctx, const struct piece *p)
{
    struct task t = {.ctx = ctx, .call = write_piece, .what = p, .is_alone = true};
    TRY(writer_run(m->to->writer, &t));
    m->table = p->next_table;
    m->rows = p->next_rows;
    return OK;
}

/* The first task: an empty target, or one that the same call has begun. On PostgreSQL tallies and
 * bytes are made of all rows in the end, which is quicker than triggers. */
static enum status begin_target(struct ctx *ctx, struct db *db, const void *what)
{
    struct moving *m = *(struct moving *const *)what;
    str was, source;
    int64_t n = 0;
    TRY(SQL_WORD(ctx, db, &was, SQL_FACT_GET, S(PROGRESS)));
    source = str_cut(&was, ' ');
    if (source.n && !str_eq(source, m->source))
        return fail(ctx, CONFLICT, "a copy from another place has begun here; finish that one");
    if (source.n)
        return str_int(str_cut(&was, ' '), &m->table) && str_int(was, &m->rows)
                   ? OK
                   : fail(ctx, STORAGE, "the note of the copy that had begun is damaged");
    TRY(SQL_NUMBER(ctx, db, &n, SQL_MOVE_IS_EMPTY));
    if (n)
        return fail(ctx, CONFLICT, "the target is not empty: name a new folder or schema");
    TRY(db_exec(ctx, db, "DELETE FROM vector_set")); /* a server that served nothing yet has one */
    if (is_postgres(db))
        TRY(db_exec(ctx, db, pg_move_begin));
    return write_piece(ctx, db, &(struct piece){.m = m});
}

/* --- copying --- */

static enum status read_piece(struct query *q, const struct moved_table *t, struct ctx *own,
                              struct row *rows, size_t *n, bool *is_end)
{
    size_t bytes = 0;
    q->ctx = own;
    *n = 0;
    *is_end = false;
    while (*n < PIECE_ROWS && bytes < PIECE_BYTES) {
        *is_end = !sql_row(q);
        if (*is_end)
            break;
        bytes += read_row(q, t, &rows[*n]);
        *n += !is_own_fact(t, &rows[*n]);
    }
    return sql_end(q);
}

/* Rows that are there already are read over. */
static enum status copy_table(struct moving *m, struct db *db, const struct moved_table *t)
{
    struct row *rows = NEW_N(&m->ctx->arena, struct row, PIECE_ROWS);
    int64_t skipped = m->rows;
    bool is_end = false;
    SQL_RUN(q, m->ctx, db, t->read);
    for (int64_t i = 0; i < skipped && sql_row(&q); i++)
        continue;
    m->done += skipped;
    m->out->resumed += skipped;
    while (!is_end) {
        CLEANUP(ctx_free) struct ctx own = ctx_child(m->ctx, 0);
        size_t n;
        enum status s = read_piece(&q, t, &own, rows, &n, &is_end);
        const struct piece p = {.m = m,
                                .table = t,
                                .rows = rows,
                                .n = n,
                                .next_table = (t - tables) + is_end,
                                .next_rows = is_end ? 0 : m->rows + (int64_t)n};
        s = s == OK ? run_piece(m, &own, &p) : s;
        q.ctx = m->ctx;
        TRY(ctx_pass(m->ctx, &own, s));
        move_show(m, t->name, m->done += (int64_t)n, m->all);
    }
    return OK;
}

static enum status count_rows(struct moving *m, struct db *db)
{
    for (size_t i = 0; i < TABLES; i++) {
        int64_t n;
        TRY(SQL_NUMBER(m->ctx, db, &n, tables[i].count));
        m->all += n;
        m->done += (int64_t)i < m->table ? n : 0;
    }
    m->out->resumed = m->done;
    m->out->rows = m->all;
    return OK;
}

static enum status copy_tables(struct moving *m)
{
    LONG_READER(r, m->ctx, m->from);
    TRY(count_rows(m, r.db));
    while (m->table < TABLES)
        TRY(copy_table(m, r.db, &tables[m->table]));
    return OK;
}

/* --- numbers that are not given again --- */

static enum status read_last(struct moving *m)
{
    LONG_READER(r, m->ctx, m->from);
    m->last = NEW_N(&m->ctx->arena, int64_t, TABLES);
    for (size_t i = 0; i < TABLES; i++)
        if (tables[i].number)
            TRY(SQL_NUMBER(m->ctx, r.db, &m->last[i], SQL_MOVE_LAST_NO, str_of(tables[i].name),
                           str_of(tables[i].number)));
    return OK;
}

static enum status put_last(struct ctx *ctx, struct db *db, const struct moved_table *t, int64_t no)
{
    bool any;
    TRY(SQL_ANY(ctx, db, &any, SQL_MOVE_PUT_NO, str_of(t->name), str_of(t->number), no));
    return is_postgres(db) ? OK : SQL_DO(ctx, db, SQL_MOVE_ADD_NO, str_of(t->name), no);
}

/* The next opening of the target makes the words index. */
static enum status end_copy(struct ctx *ctx, struct db *db, const void *what)
{
    struct moving *m = *(struct moving *const *)what;
    for (size_t i = 0; i < TABLES; i++)
        if (m->last[i])
            TRY(put_last(ctx, db, &tables[i], m->last[i]));
    if (is_postgres(db))
        TRY(db_exec(ctx, db, pg_move_end));
    TRY(SQL_DO(ctx, db, SQL_FACT_PUT, S("words"), S("")));
    return write_piece(ctx, db, &(struct piece){.m = m, .next_table = TABLES});
}

static enum status copy_rows(struct moving *m)
{
    struct writer *to = m->to->writer;
    struct task begin = {.ctx = m->ctx, .call = begin_target, .what = &m, .is_alone = true};
    m->source = source_of(&m->ctx->arena, m->move->from.path);
    TRY(writer_run(to, &begin));
    TRY(copy_tables(m));
    TRY(read_last(m));
    struct task end = {.ctx = m->ctx, .call = end_copy, .what = &m, .is_alone = true};
    return writer_run(to, &end);
}

/* --- comparing --- */

/* Of a pool, or of a table that has none. */
struct sum {
    int64_t pool, rows;
    uint64_t a, b;
    str user;
};
struct sums {
    struct sum *pools, own[TABLES];
    size_t n;
    int64_t rows;
};

static struct sum *sum_of(struct sums *s, const struct moved_table *t, int64_t pool)
{
    size_t n = *t->kinds == 'p' ? s->n : 0;
    size_t at = doc_place(s->pools, n, sizeof *s->pools, pool); /* a number like any other */
    return at < n && s->pools[at].pool == pool ? &s->pools[at] : &s->own[t - tables];
}

static void add_cell(crypto_generichash_state *state, char kind, const struct cell *c)
{
    const uint64_t head[2] = {(uint64_t)kind, c->s.n};
    crypto_generichash_update(state, (const uint8_t *)head, sizeof head);
    crypto_generichash_update(state, (const uint8_t *)&c->i, sizeof c->i);
    crypto_generichash_update(state, (const uint8_t *)&c->r, sizeof c->r);
    crypto_generichash_update(state, (const uint8_t *)c->s.p, c->s.n);
}

static void add_row(struct sums *s, const struct moved_table *t, const struct row *row)
{
    uint64_t hash[2];
    const uint8_t table = (uint8_t)(t - tables);
    crypto_generichash_state state;
    struct sum *sum = sum_of(s, t, row->v[0].i);
    crypto_generichash_init(&state, &table, sizeof table, sizeof hash);
    for (size_t i = 0; t->kinds[i]; i++)
        add_cell(&state, t->kinds[i], &row->v[i]);
    crypto_generichash_final(&state, (uint8_t *)hash, sizeof hash);
    sum->rows++;
    sum->a += hash[0];
    sum->b += hash[1];
    s->rows++;
}

/* Pools come in the order of their numbers, and first. */
static enum status sum_table(struct moving *m, struct db *db, const struct moved_table *t,
                             struct sums *s)
{
    struct arena *a = &m->ctx->arena;
    struct row row;
    size_t cap = 0;
    CLEANUP(ctx_free) struct ctx own = ctx_child(m->ctx, 0);
    SQL_RUN(q, m->ctx, db, t->read);
    q.ctx = &own;
    while (sql_row(&q)) {
        read_row(&q, t, &row);
        if (t->read == SQL_MOVE_READ_pool)
            ARENA_ADD(a, s->pools, s->n, cap) =
                (struct sum){.pool = row.v[0].i, .user = str_dup(a, row.v[1].s)};
        if (!is_own_fact(t, &row))
            add_row(s, t, &row);
        arena_reset(&own.arena);
        if (s->rows % PIECE_ROWS == 0)
            move_show(m, "comparing", m->done + s->rows, 2 * m->all);
    }
    q.ctx = m->ctx;
    return sql_end(&q);
}

static enum status sum_up(struct moving *m, struct store *s, struct sums *out)
{
    *out = (struct sums){.rows = 0};
    LONG_READER(r, m->ctx, s);
    for (size_t i = 0; i < TABLES; i++)
        TRY(sum_table(m, r.db, &tables[i], out));
    m->done += out->rows;
    return OK;
}

static enum status compare_sum(struct moving *m, const char *what, str name, const struct sum *a,
                               const struct sum *b)
{
    if (a->pool == b->pool && a->rows == b->rows && a->a == b->a && a->b == b->b)
        return OK;
    return fail(m->ctx, CONFLICT,
                "%s '" S_FMT "' differs (%lld rows, %lld in the copy): the source was written to "
                "meanwhile; stop its servers, empty the target and copy again",
                what, S_ARG(name), (long long)a->rows, (long long)b->rows);
}

static enum status compare_rows(struct moving *m)
{
    struct sums a, b;
    m->done = 0;
    TRY(sum_up(m, m->from, &a));
    TRY(sum_up(m, m->to, &b));
    if (a.n != b.n)
        return fail(m->ctx, CONFLICT,
                    "the source has %zu spaces, the copy %zu: the source was written to meanwhile; "
                    "stop its servers, empty the target and copy again",
                    a.n, b.n);
    for (size_t i = 0; i < a.n; i++) {
        TRY(compare_sum(m, "the memory of user", a.pools[i].user, &a.pools[i], &b.pools[i]));
        m->out->users += !i || !str_eq(a.pools[i].user, a.pools[i - 1].user);
    }
    for (size_t i = 0; i < TABLES; i++)
        TRY(compare_sum(m, "the table", str_of(tables[i].name), &a.own[i], &b.own[i]));
    m->out->rows = a.rows;
    return OK;
}

/* --- the whole --- */

static enum status drop_progress(struct ctx *ctx, struct db *db, UNUSED const void *what)
{
    return SQL_DO(ctx, db, SQL_FACT_DELETE, S(PROGRESS));
}

static enum status open_side(struct ctx *ctx, struct store_settings settings, struct store **out)
{
    settings.is_move = true;
    return store_open(ctx, &settings, out);
}

static enum status check_target(struct ctx *ctx, const struct moving *m)
{
    str findings;
    move_show(m, "checking", 0, 1);
    TRY(store_check(ctx, m->to, &findings));
    if (findings.n)
        return fail(ctx, STORAGE, "the copy is not sound: " S_FMT, S_ARG(findings));
    TRY(writer_call(ctx, m->to->writer, drop_progress, NULL));
    move_show(m, "checking", 1, 1);
    return OK;
}

/* The target is opened again for its words index. */
static enum status move_between(struct ctx *ctx, const struct store_move *move, struct moving *m)
{
    TRY(open_side(ctx, move->from, &m->from));
    TRY(open_side(ctx, move->to, &m->to));
    TRY(copy_rows(m));
    move_show(m, "indexing", 0, 1);
    store_close(m->to);
    m->to = NULL;
    TRY(open_side(ctx, move->to, &m->to));
    move_show(m, "indexing", 1, 1);
    TRY(compare_rows(m));
    return check_target(ctx, m);
}

enum status store_move(struct ctx *ctx, const struct store_move *move, struct store_moved *out)
{
    struct moving m = {.ctx = ctx, .move = move, .out = out};
    *out = (struct store_moved){0};
    if (str_eq(move->from.path, move->to.path))
        return fail(ctx, BAD_INPUT, "source and target are the same");
    enum status status = move_between(ctx, move, &m);
    store_close(m.to);
    store_close(m.from);
    return status;
}

/* Before anybody uses a store. */
enum status refuse_half_copied(struct ctx *ctx, struct db *db)
{
    bool any;
    TRY(SQL_ANY(ctx, db, &any, SQL_FACT_GET, S(PROGRESS)));
    return any ? fail(ctx, STORAGE,
                      "the copy that rememberd migrate makes here is not finished: run the same "
                      "command again")
               : OK;
}
