/* put.c - one bundle into rows: its session, messages, memories and receipt. */
#include "base/clock.h"
#include "base/id.h"
#include "store/sql/db/rows.h"
#include "store/sql/index/index.h"
#include "store/sql/index/titles.h"
#include "store/sql/records/checks.h"
#include "store/sql/records/erasure.h"
#include "store/sql/records/pending.h"
#include "store/sql/records/receipts.h"
#include "store/sql/records/sessions.h"
#include "store/sql/records/work.h"
#include "store/sql/search/vector_cache.h"
#include "store/sql/state/writer.h"
#include "store/sql/write/eraser.h"
#include "store/sql/write/forget.h"
#include "store/sql/write/put_memory.h"

/*
 * A session's messages have consecutive numbers, so a neighbour is the next number and a session is
 * a range. A new message goes to the end; nothing is ever inserted between.
 *
 * Order within a bundle: replace the session (if asked), messages, signals, erasing, memories,
 * closes, the log of work, the receipt, and the pool's counts at the end. All of it is one task: it
 * is written as a whole or not at all. Retries are harmless, where the ids of messages and memories
 * follow from their content.
 */

/* Splitting texts into words takes the most time of a write. The waiting thread does it, so that
 * the one writer need not. */
struct bundle_words {
    struct index_text *messages, *memories;
};

/* A bundle on its way to the writer. */
struct write {
    struct bundle *bundle;
    const struct bundle_words *words; /* NULL: the writer makes them */
    const struct memory *memories;    /* as they came: on PostgreSQL it may run again */
};

struct bundle_put {
    struct put to;
    struct bundle *bundle;
    int64_t session, position, oldest, newest; /* the session's number, its next position */
    int64_t signals;
    bool is_untitled; /* an existing session */
    bool has_heard;   /* a message, as the bundle hears */
};

static struct bundle_words words_of_bundle(struct arena *a, const struct bundle *b)
{
    struct bundle_words out = {NEW_N(a, struct index_text, b->n_messages),
                               NEW_N(a, struct index_text, b->n_memories)};
    for (size_t i = 0; i < b->n_messages; i++)
        out.messages[i] = index_of_message(a, &b->messages[i]);
    for (size_t i = 0; i < b->n_memories; i++)
        out.memories[i] = index_of_memory(a, &b->memories[i]);
    return out;
}

static enum status add_session(struct bundle_put *p)
{
    struct session session = p->bundle->session;
    session.created = session.created ? session.created : p->oldest;
    session.updated = p->newest;
    p->to.gain.sessions = 1;
    return session_add(p->to.ctx, p->to.db, p->to.pool, &session, &p->session);
}

/* A session's times follow its messages, which may be imported years later. */
static enum status find_session(struct bundle_put *p)
{
    p->oldest = p->newest = p->to.now;
    for (size_t i = 0; i < p->bundle->n_messages; i++) {
        int64_t created = p->bundle->messages[i].created;
        p->newest = i && created <= p->newest ? p->newest : created;
        p->oldest = i && created >= p->oldest ? p->oldest : created;
    }
    SQL_RUN(q, p->to.ctx, p->to.db, SQL_SESSION_FIND, p->to.pool, p->bundle->session.id);
    if (sql_row(&q)) {
        SQL_GET(&q, p->session, p->position);
        p->position += sql_get_int(&q);
        p->is_untitled = sql_get_int(&q) != 0;
    }
    TRY(sql_end(&q));
    if (p->session)
        return OK;
    return p->bundle->goes_on ? NOT_FOUND : add_session(p);
}

/* --- a session in place of another --- */

/* Whether the session holds exactly the bundle's messages. One more row than expected is read, to
 * notice a longer session. */
static enum status is_same_session(struct bundle_put *p, int64_t session, bool *out)
{
    size_t n = 0;
    struct message m;
    *out = true;
    SQL_RUN(q, p->to.ctx, p->to.db, SQL_MESSAGE_RANGE, p->to.pool, session_first(session),
            session_last(session), (int64_t)p->bundle->n_messages + 1);
    while (*out && sql_row(&q)) {
        read_message(&q, &m);
        *out = n < p->bundle->n_messages && str_eq(m.id, p->bundle->messages[n].id);
        n++;
    }
    *out &= n == p->bundle->n_messages;
    return sql_end(&q);
}

static enum status forget_session(struct bundle_put *p)
{
    int64_t erased;
    struct forget what = {.pool = p->bundle->pool, .session = p->bundle->session.id};
    return soft_or(p->to.ctx, pool_forget(p->to.ctx, p->to.db, &what, &erased), NOT_FOUND);
}

/* A session that someone else is distilling is not distilled twice: the same messages stay. */
static enum status replace_session(struct bundle_put *p, bool *is_same)
{
    struct bundle *b = p->bundle;
    int64_t session;
    TRY(session_find(p->to.ctx, p->to.db, p->to.pool, b->session.id, &session));
    if (session)
        TRY(SQL_ANY(p->to.ctx, p->to.db, &b->in_work, SQL_WAITING_CLAIMED, p->to.pool, session,
                    clock_ms()));
    if (b->in_work && b->distil_at)
        TRY(is_same_session(p, session, is_same));
    return *is_same ? OK : forget_session(p);
}

/* --- messages --- */

/* Messages of the user wait to be distilled, unless an echo has nothing new. */
static enum status signal_of(struct bundle_put *p, const struct message *m)
{
    if (!str_is(m->role, "user") || !str_trim(m->is_echo ? m->says : m->text).n)
        return OK;
    p->signals++;
    assert(!doc_is_memory(m->doc));
    return SQL_LATER(p->to.ctx, p->to.db, SQL_SIGNAL_ADD, p->to.pool, m->doc, p->to.now);
}

/* A message that somebody else has kept as an echo, and that says something new. One that was
 * erased since is not added again. */
static enum status hear_message(struct bundle_put *p, const struct message *m,
                                struct index_text words)
{
    struct message was = {0};
    if (!m->doc || m->is_echo || !str_is(m->role, "user"))
        return OK;
    TRY(SQL_FIRST(p->to.ctx, p->to.db, read_message, &was, SQL_MESSAGE_GET, p->to.pool, m->doc));
    TRY(SQL_DO(p->to.ctx, p->to.db, SQL_MESSAGE_HEAR, p->to.pool, m->doc, m->created));
    if (!db_changes(p->to.db))
        return OK;
    p->has_heard = true;
    index_note_message(&p->to.ctx->arena, p->to.changes, p->to.pool, true, &was, NULL);
    index_note_message(&p->to.ctx->arena, p->to.changes, p->to.pool, false, m, &words);
    return p->bundle->distil_at ? signal_of(p, m) : OK;
}

/* A message that exists is a retry, and stays. Positions of erased messages are not used again.
 * Messages of one session have at most 2^20 positions, including erased ones. */
static enum status put_message(struct bundle_put *p, struct message *m, struct index_text words)
{
    doc_id there = 0;
    if (m->id.n)
        TRY(message_find(p->to.ctx, p->to.db, p->to.pool, m->id, &there));
    else
        m->id = id_random(&p->to.ctx->arena);
    m->doc = there;
    if (p->bundle->hears)
        return hear_message(p, m, words);
    if (there)
        return OK;
    if (p->position >= (int64_t)1 << DOC_TURN_BITS)
        return fail(p->to.ctx, TOO_LARGE, "a session holds at most %d messages",
                    1 << DOC_TURN_BITS);
    m->doc = doc_of_message(p->session, p->position);
    TRY(SQL_LATER(p->to.ctx, p->to.db, SQL_MESSAGE_ADD, m->doc, p->to.pool, m->id, m->role,
                  m->speaker, m->text, m->ref, m->origin, m->created, m->chain, m->tail, m->is_echo,
                  m->says));
    index_note_message(&p->to.ctx->arena, p->to.changes, p->to.pool, false, m, &words);
    p->position++;
    p->to.gain.messages++;
    return p->bundle->distil_at ? signal_of(p, m) : OK;
}

static enum status grow_session(struct bundle_put *p)
{
    TRY(SQL_LATER(p->to.ctx, p->to.db, SQL_SESSION_GROW, p->to.pool, p->session,
                  p->to.gain.messages, p->newest, p->bundle->session.title));
    str title = p->is_untitled ? p->bundle->session.title : S("");
    return title.n ? title_put(p->to.ctx, p->to.db, p->to.pool, p->session, title) : OK;
}

/* --- the bundle --- */

static enum status put_session(struct bundle_put *p, const struct bundle_words *words)
{
    const struct bundle *b = p->bundle;
    if (b->session.id.n)
        TRY(find_session(p));
    for (size_t i = 0; i < b->n_messages; i++)
        TRY(put_message(p, &b->messages[i], words->messages[i]));
    if (p->to.gain.messages || (p->session && b->session.title.n))
        TRY(grow_session(p));
    return OK;
}

/* The signals that this bundle adds, and those that it ends. */
static enum status put_signals(struct bundle_put *p)
{
    const struct bundle *b = p->bundle;
    struct ctx *ctx = p->to.ctx;
    struct session_ref session = {p->to.pool, p->session};
    if (p->signals)
        TRY(session_waits(ctx, p->to.db, session, b->distil_at, p->to.now));
    if (p->signals && b->claim_ms && !b->in_work)
        TRY(session_claim(ctx, p->to.db, p->session, p->to.now + b->claim_ms));
    if (b->n_distilled)
        TRY(signals_distilled(ctx, p->to.db, session, b->distilled, b->n_distilled));
    if (b->n_distilled && b->claim_ms)
        TRY(session_claim(ctx, p->to.db, p->session, p->to.now + b->claim_ms));
    return OK;
}

/* What is closed or gone by now stays so. */
static enum status close_replaced(struct bundle_put *p)
{
    const struct bundle *b = p->bundle;
    for (size_t i = 0; i < b->n_closes; i++) {
        const struct memory *by = &b->memories[b->closes[i].by];
        struct memory old;
        assert(b->closes[i].by < b->n_memories);
        TRY(memory_find(p->to.ctx, p->to.db, SQL_MEMORY_BY_ID, p->to.pool, b->closes[i].id, &old));
        if (old.id.n && !old.valid_to && !by->valid_to && !str_eq(old.id, by->id))
            TRY(memory_close(&p->to, &old, by));
    }
    return OK;
}

/* What is asked first, of the pool as it is once it is locked. */
static void ask_ahead(struct ctx *ctx, struct db *db, const void *what)
{
    const struct bundle *b = ((const struct write *)what)->bundle;
    int64_t known;
    if (pool_ahead(ctx, db, b->pool, &known) != OK)
        return; /* never: the writer waits for nothing here */
    if (b->session.id.n)
        SQL_AHEAD(ctx, db, SQL_SESSION_FIND, known, b->session.id);
    for (size_t i = 0; i < b->n_messages; i++)
        if (b->messages[i].id.n)
            SQL_AHEAD(ctx, db, SQL_MESSAGE_FIND, known, b->messages[i].id);
    if (b->receipt && b->has_queued)
        SQL_AHEAD(ctx, db, SQL_RECEIPT_THERE, known, b->receipt->id);
}

/* Until now, not until a time to come. The writer asks, as the erasure may wait before it. */
static enum status is_erased_since(struct ctx *ctx, struct db *db, const struct bundle *b,
                                   bool *out)
{
    struct erased_ask ask = {.created = b->asked};
    struct pool_row row;
    bool is_ahead = false;
    *out = false;
    if (!b->asked)
        return OK;
    if (b->n_messages)
        ask.message = b->messages;
    else
        ask.session = &b->session;
    TRY(pool_find(ctx, db, b->pool, &row));
    TRY(erasure_asked(ctx, db, b->pool, row.no, &ask, 1, out));
    ask.created = clock_ms() + 1; /* what was erased in this millisecond is until now, too */
    TRY(*out ? erasure_asked(ctx, db, b->pool, row.no, &ask, 1, &is_ahead) : OK);
    *out &= !is_ahead;
    return OK;
}

static enum status put_bundle(struct ctx *ctx, struct db *db, struct bundle *b,
                              const struct bundle_words *words)
{
    int64_t erased = 0;
    struct bundle_put p = {.bundle = b};
    bool is_same = false, is_gone;
    assert(db->changes);
    b->in_work = false;
    p.to = (struct put){.ctx = ctx,
                        .db = db,
                        .changes = db->changes,
                        .now = clock_ms(),
                        .space = b->pool.space,
                        .rule = b->rule,
                        .keeps_metadata = b->n_messages > 0 || b->rule == PUT_IMPORT};
    TRY(is_erased_since(ctx, db, b, &is_gone));
    if (is_gone)
        return OK;
    TRY(pool_make(ctx, db, b->pool, p.to.now, &p.to.pool));
    if (b->replaces)
        TRY(replace_session(&p, &is_same));
    if (is_same)
        return OK;
    TRY(put_session(&p, words));
    TRY(put_signals(&p));
    if (b->n_erase)
        TRY(erase_each(ctx, db, p.to.pool, &(struct forget){.ids = b->erase, .n_ids = b->n_erase},
                       &erased));
    for (size_t i = 0; i < b->n_memories && (!b->hears || p.has_heard); i++)
        TRY(memory_put(&p.to, &b->memories[i], words->memories[i]));
    TRY(close_replaced(&p));
    if (b->work)
        TRY(work_add(ctx, db, b->work));
    if (b->receipt)
        TRY(receipt_put(ctx, db, p.to.pool, b->receipt, b->has_queued));
    b->added = p.to.added;
    b->replaced = p.to.replaced;
    return pool_count(ctx, db, p.to.pool, p.to.gain);
}

static enum status write_bundle(struct ctx *ctx, struct db *db, const void *what)
{
    const struct write *w = what;
    for (size_t i = 0; i < w->bundle->n_memories; i++)
        w->bundle->memories[i] = w->memories[i];
    if (!w->bundle->replaces)
        ask_ahead(ctx, db, w);
    struct bundle_words words = w->words ? *w->words : words_of_bundle(&ctx->arena, w->bundle);
    return put_bundle(ctx, db, w->bundle, &words);
}

/* More in one bundle change so many pages that a savepoint of their own costs more than a group of
 * their own. */
enum { MANY = 50 };

static enum status check_bundle(struct ctx *ctx, const struct bundle *b)
{
    TRY(pool_check(ctx, b->pool));
    if (b->n_messages && !b->session.id.n)
        return fail(ctx, BAD_INPUT, "messages need a session");
    if ((b->n_distilled || b->replaces) && !b->session.id.n)
        return fail(ctx, BAD_INPUT, "signals and what is replaced need a session");
    for (size_t i = 0; i < b->n_memories; i++)
        if (!b->memories[i].content.n)
            return fail_field(ctx, "content", "must not be empty");
    return OK;
}

enum status store_write(struct ctx *ctx, struct store *s, struct bundle *b)
{
    TRY(check_bundle(ctx, b));
    const bool erases = b->replaces || b->n_erase;
    for (size_t i = 0; i < b->n_memories; i++) /* the words index holds the day */
        if (!b->memories[i].created)
            b->memories[i].created = clock_ms();
    const struct bundle_words words = words_of_bundle(&ctx->arena, b);
    struct write w = {b, &words, DUP_N(&ctx->arena, b->memories, b->n_memories, b->n_memories)};
    struct task t = {.ctx = ctx,
                     .call = write_bundle,
                     .what = &w,
                     .ask = erases ? NULL : ask_ahead, /* what erases shares no savepoint */
                     .pool = b->pool,
                     .only_notes = !b->n_erase,
                     .is_alone = b->replaces || b->n_memories + b->n_messages > MANY,
                     .erases = erases};
    TRY(writer_run(s->writer, &t));
    if (erases)
        vector_cache_follow(s, &b->pool);
    return writer_erased(&t);
}

/* --- a copy for the queue --- */

/*
 * For writes that nobody waits for: the caller's arena is gone when the writer gets to them. What
 * needs an answer (work, erase, closes) is not copied.
 */

static struct receipt *copy_receipt(struct arena *a, const struct receipt *r)
{
    struct receipt *out = DUP_N(a, r, 1, 1);
    STRS_DUP(a, &out->id, &out->session, &out->question, &out->decision, &out->reason, &out->block);
    out->lines = DUP_N(a, r->lines, r->n, r->n);
    for (struct receipt_line *l = out->lines; l < out->lines + r->n; l++)
        STRS_DUP(a, &l->kind, &l->id, &l->source, &l->why);
    out->told.v = NEW_N(a, str, r->told.n);
    for (size_t i = 0; i < r->told.n; i++)
        out->told.v[i] = str_dup(a, r->told.v[i]);
    return out;
}

/* A deep copy in another arena. */
static struct bundle *bundle_copy(struct arena *a, const struct bundle *b)
{
    struct bundle *out = DUP_N(a, b, 1, 1);
    out->pool = pool_copy(a, b->pool);
    STRS_DUP(a, &out->session.id, &out->session.title);
    out->messages = NEW_N(a, struct message, b->n_messages);
    for (size_t i = 0; i < b->n_messages; i++)
        out->messages[i] = message_copy(a, &b->messages[i]);
    out->memories = NEW_N(a, struct memory, b->n_memories);
    for (size_t i = 0; i < b->n_memories; i++)
        out->memories[i] = memory_copy(a, &b->memories[i]);
    out->distilled = DUP_N(a, b->distilled, b->n_distilled, b->n_distilled);
    if (b->receipt)
        out->receipt = copy_receipt(a, b->receipt);
    return out;
}

/* An estimate for the limit of the queue, by the members that can be long. */
static size_t bundle_bytes(const struct bundle *b)
{
    size_t bytes = sizeof *b + b->session.id.n + b->session.title.n;
    bytes += b->n_distilled * sizeof *b->distilled;
    for (size_t i = 0; i < b->n_messages; i++)
        bytes += sizeof *b->messages + b->messages[i].text.n + b->messages[i].says.n;
    for (size_t i = 0; i < b->n_memories; i++)
        bytes += sizeof *b->memories + b->memories[i].content.n + b->memories[i].metadata.n;
    if (b->receipt) {
        bytes += sizeof *b->receipt + b->receipt->block.n + b->receipt->question.n;
        for (size_t i = 0; i < b->receipt->n; i++)
            bytes += sizeof *b->receipt->lines + b->receipt->lines[i].why.n;
        for (size_t i = 0; i < b->receipt->told.n; i++)
            bytes += sizeof *b->receipt->told.v + b->receipt->told.v[i].n;
    }
    return bytes;
}

enum status store_write_later(struct ctx *ctx, struct store *s, const struct bundle *b)
{
    assert(!b->replaces && !b->work && !b->n_erase && !b->n_closes); /* these need an answer */
    TRY(check_bundle(ctx, b));
    struct later *later;
    TRY(writer_reserve(ctx, s->writer, bundle_bytes(b), &later));
    struct write *own = NEW(&later->ctx.arena, struct write);
    own->bundle = bundle_copy(&later->ctx.arena, b);
    own->memories = DUP_N(&later->ctx.arena, own->bundle->memories, b->n_memories, b->n_memories);
    later->task.ask = ask_ahead;
    later->task.only_notes = true;
    later->task.pool = own->bundle->pool;
    later->pool = writer_pool(b->pool);
    writer_queue(s->writer, later, write_bundle, own);
    return OK;
}
