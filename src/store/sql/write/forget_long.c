/* forget_long.c - store_forget: at once, or in pieces between which others write. */
#include "store/sql/write/forget_long.h"

#include "base/clock.h"
#include "base/fields.h"
#include "base/id.h"
#include "base/log.h"
#include "store/sql/db/file.h"
#include "store/sql/db/lookup.h"
#include "store/sql/records/checks.h"
#include "store/sql/records/erasure.h"
#include "store/sql/records/undo_record.h"
#include "store/sql/search/vector_cache.h"
#include "store/sql/state/change_events.h"
#include "store/sql/state/commits.h"
#include "store/sql/state/writer.h"
#include "store/sql/write/forget.h"

/*
 * There is one writer, so a transaction that erases a hundred thousand rows would hold up every
 * other user for a second or more. What is small goes in one transaction. What is large goes in
 * pieces of PIECE_MS, each of which leaves a store that can be finished:
 *
 * begin   a row of the table fact says what is to be erased, and who does it (the mark of hold)
 * erase   rows and what hangs on them, again and again until nothing is left
 * merge   the words index is rewritten, page by page, where words were only marked
 * end     the row is deleted, the log emptied, and who follows is told; now the call answers
 *
 * A process that is killed in between leaves the row, and so does a call whose piece fails (the
 * disk is full). Whoever opens the store next, or prunes it, erases what is left. If the user has
 * more or less than the last piece left, something came or went since. It must not go with the
 * rest: the row is deleted, a line in the log says so, and the caller has to ask again.
 */

enum {
    SMALL = 64,                      /* documents that go in one transaction */
    PIECE_MS = 5,                    /* of work in a transaction, before its commit */
    PIECE_MS_POSTGRES = 20,          /* the same where each statement is a round trip */
    POOLED_MARK_MS = 10 * 60 * 1000, /* a server behind a pooler is not asked whether it lives */
    MERGE_PAGES = 4,                 /* of the words index, between two looks at the clock */
};

/* A call under way. */
struct long_forget {
    struct forget what;
    str name; /* of the row */
    str call; /* of the rows in the log of erasures */
    bool rewrites;
    bool is_done; /* the phase */
    bool is_merging;
    bool is_noted;              /* the log has a row of it */
    int64_t memories, messages; /* of all, erased in pieces and not noted yet */
    int64_t erased;
    int64_t left; /* messages and memories of the user, behind the last piece */
    str last;     /* id of the last memory of a kind */
};

/* What the row says. */
static FIELDS(long_forget, (AS_STR, what.pool.user, "user"), (AS_STR, what.pool.space, "space"),
              (AS_STR, what.session, "session"), (AS_STR, what.type, "type"),
              (AS_INT, what.before, "before"), (AS_BOOL, what.keeps_memories, "keeps_memories"),
              (AS_BOOL, what.everything, "everything"), (AS_BOOL, what.all_spaces, "all_spaces"),
              (AS_BOOL, what.memories, "memories"), (AS_BOOL, what.is_upkeep, "is_upkeep"),
              (BOOL, rewrites), (STR, call), (INT, left));

/* --- the row --- */

static enum status keep_forget(struct ctx *ctx, struct db *db, struct long_forget *l)
{
    struct json_out out = json_in(&ctx->arena, 1 << 20);
    int64_t mark = db->hold->mark;
    if (is_postgres(db) && !mark)
        mark = -(clock_ms() + POOLED_MARK_MS);
    assert(!l->what.id.n && !l->what.n_ids && !l->what.undo);
    TRY(SQL_NUMBER(ctx, db, &l->left, SQL_WORDS_OF_USER, l->what.pool.user, 0));
    fields_write(&out, long_forget_fields, l);
    if (!l->name.n)
        l->name = str_printf(&ctx->arena, "forget:%lld:" S_FMT, (long long)mark, S_ARG(l->call));
    return SQL_DO(ctx, db, SQL_FACT_PUT, l->name, buf_str(out.b));
}

/* --- the phases, each a task of the writer --- */

/* On PostgreSQL a task runs again behind a lost connection, and begins then with what was. */
struct phase {
    const struct long_forget was;
    struct long_forget *now;
};

static struct long_forget *phase_begin(const void *what)
{
    const struct phase *p = what;
    *p->now = p->was;
    return p->now;
}

/* An id that is a session's. One of a memory or message is little to erase. */
static enum status names_session(struct ctx *ctx, struct db *db, const struct forget *what,
                                 bool *out)
{
    doc_id doc = 0;
    bool is_memory = false;
    POOL_ROW(pool, ctx, db, what->pool);
    TRY(message_find(ctx, db, pool.no, what->id, &doc));
    TRY(SQL_ANY(ctx, db, &is_memory, SQL_MEMORY_BY_ID, pool.no, what->id));
    *out = !doc && !is_memory;
    return OK;
}

static const char *erasing_what(const struct forget *what)
{
    if (what->everything)
        return what->all_spaces ? "user" : "space";
    return what->session.n ? "session" : what->memories ? "memories" : "id";
}

/* Opens the note of a call or, without is_begin, of a piece; one hash says all of a space. */
static enum status note_begin(struct ctx *ctx, struct db *db, const struct long_forget *l,
                              bool is_begin, struct erasing *out)
{
    const struct forget *what = &l->what;
    const struct erasing_in in = {.pool = what->pool,
                                  .call = l->call,
                                  .what = erasing_what(what),
                                  .undo = what->undo};
    if (what->is_upkeep)
        return OK;
    if (what->everything && !is_begin) {
        erasing_count(db, out);
        return OK;
    }
    TRY(erasing_begin(ctx, db, &in, out));
    return is_begin ? erasing_scope(ctx, out, what) : OK;
}

static enum status note_end(struct ctx *ctx, struct long_forget *l, struct erasing *note)
{
    l->is_noted |= note->no && (note->hashes || note->memories + note->messages);
    l->memories += note->no ? 0 : note->memories;
    l->messages += note->no ? 0 : note->messages;
    return erasing_end(ctx, note);
}

/* What was counted in pieces, in a row of the same call. */
static enum status note_counted(struct ctx *ctx, struct db *db, const struct long_forget *l)
{
    ERASING(note);
    if (!l->memories && !l->messages)
        return OK;
    TRY(note_begin(ctx, db, l, true, &note));
    note.memories = l->memories;
    note.messages = l->messages;
    return erasing_end(ctx, &note);
}

/* At once, and recorded when it may be undone. */
static enum status forget_at_once(struct ctx *ctx, struct db *db, struct long_forget *l)
{
    const struct undo_mark *mark = l->what.undo;
    UNDO_RECORD(undo);
    ERASING(note);
    POOL_ROW(pool, ctx, db, l->what.pool);
    TRY(undo_record_begin(ctx, db, mark, &undo));
    TRY(note_begin(ctx, db, l, true, &note));
    TRY(pool_forget(ctx, db, &l->what, &l->erased));
    TRY(note_end(ctx, l, &note));
    return undo_record_end(ctx, db, pool.no, mark, undo);
}

/* Ids are a bounded list, and a record of what can be undone is bounded, too. */
static enum status measure_long(struct ctx *ctx, struct db *db, struct long_forget *l,
                                bool *is_long)
{
    int64_t documents;
    TRY(forget_measure(ctx, db, &l->what, &documents, &l->rewrites));
    *is_long = documents > SMALL && !l->what.n_ids && !l->what.undo;
    return *is_long && l->what.id.n ? names_session(ctx, db, &l->what, is_long) : OK;
}

/* All of it when it is little; otherwise only the row. Who erases for good does not want what was
 * erased before to come back. */
static enum status begin_forget(struct ctx *ctx, struct db *db, const void *what)
{
    struct long_forget *l = phase_begin(what);
    bool is_long;
    POOL_ROW(pool, ctx, db, l->what.pool);
    if (!l->what.undo && pool.no)
        TRY(SQL_DO(ctx, db, SQL_UNDO_DELETE_ALL, pool.no));
    TRY(measure_long(ctx, db, l, &is_long));
    l->is_done = !is_long;
    if (!is_long)
        return forget_at_once(ctx, db, l);
    if (l->what.id.n)
        l->what.session = l->what.id;
    l->what.id = S("");
    ERASING(note);
    TRY(note_begin(ctx, db, l, true, &note));
    TRY(note_end(ctx, l, &note));
    return keep_forget(ctx, db, l);
}

/* What is gone already, others have erased. */
static enum status erase_piece(struct ctx *ctx, struct db *db, const void *what)
{
    struct long_forget *l = phase_begin(what);
    const int64_t ms = is_postgres(db) ? PIECE_MS_POSTGRES : PIECE_MS;
    struct forgetting f = {.ctx = ctx,
                           .db = db,
                           .what = &l->what,
                           .erased = &l->erased,
                           .until_us = clock_mono_us() + ms * 1000,
                           .last = l->last};
    ERASING(note);
    TRY(note_begin(ctx, db, l, false, &note));
    enum status status = forget_some(&f, l->rewrites);
    l->last = f.last;
    notes_clear(db->notes); /* it is alone in its group; end_forget tells of all of it */
    TRY(soft_or(ctx, status, NOT_FOUND));
    l->is_done = !f.is_spent;
    TRY(note_end(ctx, l, &note));
    return keep_forget(ctx, db, l);
}

/* FTS5 has nothing left to merge when the command changes no row but its own
 * (sqlite.org/fts5.html, "The 'merge' Command"). */
static enum status merge_piece(struct ctx *ctx, struct db *db, const void *what)
{
    struct long_forget *l = phase_begin(what);
    int64_t until_us = clock_mono_us() + PIECE_MS * 1000;
    while (!l->is_done && clock_mono_us() < until_us) {
        int64_t before = sqlite3_total_changes64(db->handle);
        TRY(SQL_DO(ctx, db, SQL_WORDS_MERGE, l->is_merging ? MERGE_PAGES : -MERGE_PAGES));
        l->is_done = l->is_merging && sqlite3_total_changes64(db->handle) - before < 2;
        l->is_merging = true;
    }
    return OK;
}

static enum status end_forget(struct ctx *ctx, struct db *db, const void *what)
{
    const struct long_forget *l = what;
    notes_reset(db->notes, l->what.pool.user);
    TRY(note_counted(ctx, db, l));
    return SQL_DO(ctx, db, SQL_FACT_DELETE, l->name);
}

static enum status run_phase(struct ctx *ctx, struct store *s, write_fn *phase,
                             struct long_forget *l)
{
    enum status status = OK;
    for (l->is_done = false; !l->is_done && status == OK;) {
        const struct phase p = {*l, l};
        struct task t = {.ctx = ctx, .call = phase, .what = &p, .is_alone = true};
        status = writer_run(s->writer, &t);
    }
    return status;
}

static enum status forget_in_pieces(struct ctx *ctx, struct store *s, struct long_forget *l,
                                    struct task *end)
{
    *end = (struct task){.ctx = ctx, .call = end_forget, .what = l, .erases = true};
    enum status status = run_phase(ctx, s, erase_piece, l);
    if (status == OK && l->rewrites)
        status = run_phase(ctx, s, merge_piece, l);
    status = status == OK ? writer_run(s->writer, end) : status;
    str why = ctx_take_why(ctx);
    return status == OK ? OK
                        : fail(ctx, status,
                               "the erasure was interrupted and partly done; ask again (" S_FMT ")",
                               S_ARG(why));
}

/* Exactly one of the five kinds must be asked for: an empty filter
 * is an error and not "everything". */
static enum status check_forget(struct ctx *ctx, const struct forget *what)
{
    int asked = (what->id.n > 0) + (what->session.n > 0) + what->everything + what->memories +
                (what->n_ids > 0);
    if (asked != 1 || (what->all_spaces && !what->everything))
        return fail(ctx, BAD_INPUT, "say one of an id, ids, a session, the memories or everything");
    if ((what->type.n || what->before) && !what->memories)
        return fail(ctx, BAD_INPUT, "only memories are forgotten by type or age");
    if (what->keeps_memories && !what->session.n)
        return fail(ctx, BAD_INPUT, "memories are kept where a session is forgotten");
    TRY(type_check(ctx, what->type));
    return what->all_spaces && what->pool.user.n ? OK : pool_check(ctx, what->pool);
}

enum status store_forget(struct ctx *ctx, struct store *s, const struct forget *what,
                         int64_t *erased)
{
    TRY(check_forget(ctx, what));
    struct long_forget own = {.what = *what, .call = id_random(&ctx->arena)};
    const struct phase begin = {own, &own};
    struct task t = {.ctx = ctx,
                     .call = begin_forget,
                     .what = &begin,
                     .is_alone = !what->id.n && !what->n_ids,
                     .erases = true};
    atomic_fetch_add(&s->forgets, 1);
    enum status status = writer_run(s->writer, &t);
    if (status == OK && !own.is_done)
        status = forget_in_pieces(ctx, s, &own, &t);
    atomic_fetch_sub(&s->forgets, 1);
    TRY(status);
    vector_cache_follow(s, what->everything ? NULL : &what->pool);
    *erased = own.erased;
    if (what->erasure)
        *what->erasure = own.is_noted ? own.call : S("");
    return writer_erased(&t);
}

/* --- what others left --- */

/* A row of the table fact: name and value. */
struct forget_row {
    str name, value;
};

SQL_READER(read_row, struct forget_row, out->name, out->value);

static int64_t mark_of(str name)
{
    int64_t mark = 0;
    str_cut(&name, ':');
    return str_int(str_cut(&name, ':'), &mark) ? mark : 0;
}

/* In one transaction. Words that were only marked go in any case. */
static enum status finish_forget(struct ctx *ctx, struct db *db, const struct forget_row *row)
{
    struct long_forget l = {.erased = 0};
    struct forgetting f = {.ctx = ctx, .db = db, .what = &l.what, .erased = &l.erased};
    struct json *root;
    int64_t left;
    TRY(json_parse(ctx, row->value, &root));
    TRY(fields_read(ctx, long_forget_fields, root, false, &l));
    TRY(SQL_NUMBER(ctx, db, &left, SQL_WORDS_OF_USER, l.what.pool.user, 0));
    bool is_same = left == l.left;
    ERASING(note);
    if (is_same) {
        TRY(note_begin(ctx, db, &l, true, &note));
        TRY(soft_or(ctx, forget_some(&f, l.rewrites), NOT_FOUND));
    }
    TRY(erasing_end(ctx, &note));
    if (l.rewrites)
        TRY(SQL_DO(ctx, db, SQL_WORDS_REWRITE));
    TRY(SQL_DO(ctx, db, SQL_FACT_DELETE, row->name));
    notes_clear(db->notes);
    notes_reset(db->notes, l.what.pool.user);
    log_event(is_same ? LOG_INFO : LOG_WARN, "store.forget_finished", "erased=%lld others_left=%d",
              (long long)l.erased, !is_same);
    return OK;
}

/* Whether another process that has the mark lives. On PostgreSQL it holds a lock of that number;
 * behind a pooler it has none, and the mark is the negative time until when it counts as alive. */
static enum status is_at_work(struct ctx *ctx, struct db *db, int64_t mark, bool *out)
{
    *out = -mark > clock_ms();
    if (mark <= 0 || mark == db->hold->mark)
        return OK;
    if (is_postgres(db))
        return SQL_ANY(ctx, db, out, SQL_MARK_HELD, mark);
    *out = hold_has_mark(db->hold, mark);
    return OK;
}

/* What no process is at work on any more; this one is not, when it is asked. */
static enum status finish_left(struct ctx *ctx, struct db *db, size_t *done)
{
    SQL_ALL(struct forget_row, v, n, ctx, db, read_row, SQL_FACT_FORGETS);
    for (size_t i = 0; i < n; i++) {
        bool is_held;
        TRY(is_at_work(ctx, db, mark_of(v[i].name), &is_held));
        TRY(is_held ? OK : finish_forget(ctx, db, &v[i]));
        *done += !is_held;
    }
    return OK;
}

static enum status finish_first(struct ctx *ctx, struct db *db, size_t *done)
{
    TXN(t);
    TRY(txn_begin(ctx, db, &t));
    TRY(finish_left(ctx, db, done));
    return txn_commit(&t);
}

/* What does not fit on the disk waits: nobody could read what is there otherwise. */
enum status forgets_finish(struct ctx *ctx, struct store *s, struct db *db)
{
    size_t done = 0;
    if (atomic_load(&s->forgets)) /* behind a lost connection: the call goes on */
        return OK;
    enum status status = finish_first(ctx, db, &done);
    if (status != OK && ctx->detail == STORAGE_FULL) {
        log_event(LOG_WARN, "store.forget_waits", "why=\"%s\"", ctx_take_why(ctx).p);
        return OK;
    }
    return status == OK && done && !is_postgres(db)
               ? commits_settle(ctx, db, s->path, SQLITE_CHECKPOINT_TRUNCATE)
               : status;
}

static enum status finish_between(struct ctx *ctx, struct db *db, const void *what)
{
    const struct store *s = what;
    size_t done = 0;
    return atomic_load(&s->forgets) ? OK : finish_left(ctx, db, &done);
}

/* erases: the log is emptied behind it; on PostgreSQL that of erasures follows other servers. */
enum status forgets_resume(struct ctx *ctx, struct store *s)
{
    struct task t = {
        .ctx = ctx, .call = finish_between, .what = s, .is_alone = true, .erases = true};
    return atomic_load(&s->forgets) ? OK : writer_run(s->writer, &t);
}
