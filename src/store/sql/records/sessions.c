/* sessions.c - a user's sessions: made, changed, found by id. */
#include "store/sql/records/sessions.h"

#include "base/clock.h"
#include "store/sql/db/lookup.h"
#include "store/sql/index/titles.h"
#include "store/sql/records/checks.h"
#include "store/sql/records/undo_record.h"
#include "store/sql/state/reader.h"
#include "store/sql/state/writer.h"

SQL_READER(read_columns, struct session_row, out->pool, out->session.no, out->session.id,
           out->session.space, out->session.title, out->session.metadata, out->session.created,
           out->session.updated, out->session.messages);

enum status session_read(struct query *q, struct session_row *out)
{
    *out = (struct session_row){0};
    TRY(SQL_ROW(q, read_columns, out));
    return out->session.no ? OK : NOT_FOUND;
}

/* Without a space the session is searched in all spaces of the user, never in another user's. */
static enum status find_session(struct ctx *ctx, struct db *db, struct pool_ref pool, str id,
                                struct session_row *out)
{
    if (!pool.space.n)
        return SQL_ALONE(session_read(&q_, out), ctx, db, SQL_SESSION_BY_ID_OF_USER, pool.user, id);
    POOL_ROW(row, ctx, db, pool);
    return SQL_ALONE(session_read(&q_, out), ctx, db, SQL_SESSION_BY_ID, row.no, id);
}

enum status store_session(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                          struct session *out)
{
    struct session_row row;
    READER(r, ctx, s);
    TRY(find_session(ctx, r.db, pool, id, &row));
    *out = row.session;
    return OK;
}

/* --- in the writer's transaction --- */

enum status session_add(struct ctx *ctx, struct db *db, int64_t pool, const struct session *session,
                        int64_t *no)
{
    assert(pool && session->id.n && db_in_transaction(db));
    TRY(SQL_DO(ctx, db, SQL_SESSION_ADD, pool, session->id, session->title, session->metadata,
               session->created, session->updated));
    *no = db_last_row(db);
    return title_put(ctx, db, pool, *no, session->title);
}

struct new_session {
    struct pool_ref pool;
    const struct session *session;
};

static enum status make_session(struct ctx *ctx, struct db *db, const void *what)
{
    const struct new_session *p = what;
    struct session session = *p->session;
    int64_t pool, no, now = clock_ms();
    TRY(pool_make(ctx, db, p->pool, now, &pool));
    TRY(session_find(ctx, db, pool, session.id, &no));
    if (no)
        return fail(ctx, CONFLICT, "a session '" S_FMT "' already", S_ARG(session.id));
    session.created = session.created ? session.created : now;
    session.updated = session.updated ? session.updated : session.created;
    TRY(session_add(ctx, db, pool, &session, &no));
    return pool_count(ctx, db, pool, (struct pool_gain){.sessions = 1});
}

enum status store_put_session(struct ctx *ctx, struct store *s, struct pool_ref pool,
                              const struct session *session)
{
    TRY(pool_check(ctx, pool));
    if (!session->id.n)
        return fail(ctx, BAD_INPUT, "a session needs an id");
    return writer_call(ctx, s->writer, make_session, &(struct new_session){pool, session});
}

struct change_session {
    struct pool_ref pool;
    str id;
    const struct session_change *change;
    struct session *out;
};

/* was: the caller has read the metadata and changed a part of it; when another call was faster, it
 * reads again. CONFLICT without words: the caller is expected to try again, not to report it. */
static enum status change_session(struct ctx *ctx, struct db *db, const void *what)
{
    const struct change_session *c = what;
    struct session_row row;
    UNDO_RECORD(undo);
    TRY(find_session(ctx, db, c->pool, c->id, &row));
    if (c->change->was && !str_eq(*c->change->was, row.session.metadata))
        return CONFLICT;
    TRY(undo_record_begin(ctx, db, c->change->undo, &undo));
    TRY(SQL_DO(ctx, db, SQL_SESSION_CHANGE, row.pool, row.session.no, c->change->sets_title,
               c->change->title, c->change->sets_metadata, c->change->metadata));
    if (c->change->sets_title) {
        row.session.title = c->change->title;
        TRY(title_put(ctx, db, row.pool, row.session.no, row.session.title));
    }
    if (c->change->sets_metadata)
        row.session.metadata = c->change->metadata;
    *c->out = row.session;
    return undo_record_end(ctx, db, row.pool, c->change->undo, undo);
}

enum status store_change_session(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                 const struct session_change *change, struct session *out)
{
    struct change_session c = {pool, id, change, out};
    return writer_call(ctx, s->writer, change_session, &c);
}
