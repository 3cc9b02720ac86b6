/* change_events.c - triggers note what a write changes; the follower is told after the commit. */
#include "store/sql/state/change_events.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/sql/db/functions.h"
#include "store/sql/state/notes_postgres.h"

/*
 * Temporary triggers belong to the writer's connection alone: they need no step of the schema, see
 * every way in which a row changes, and do not exist until somebody follows. They call note(kind,
 * user, space, id), which adds to a list that the writer empties with each group. It costs two
 * microseconds for each row.
 *
 * Another process has its own connections. PRAGMA data_version of the writer's connection changes
 * when anyone else has committed, and never by its own commits. What was changed is not known, so
 * everyone who follows is told to read again.
 */
enum {
    LOOK_US = 1000000,
    HEAR_US = 100000, /* on PostgreSQL, where a look costs a system call */
    ALIKE_MAX = 8     /* so many notes back an equal one is looked for: turns of one session */
};

/* A trigger; IF NOT EXISTS: it may be gone with its transaction, and is made by each follower. */
#define NOTED(name, event, table, call)                                                            \
    "CREATE TEMP TRIGGER IF NOT EXISTS note_" name " AFTER " event " ON " table                    \
    " BEGIN SELECT " call "; END;"
/* Of a pool's row. */
#define NOTE(kind, row, of) "note(" kind ", user, space, " row ") FROM pool WHERE id = " of ".pool"
#define ADDED(name, table, row)                                                                    \
    NOTED(table "_added", "INSERT", table, NOTE("'" name "'", row, "NEW"))
#define ERASED(name, table)                                                                        \
    NOTED(table "_erased", "DELETE", table, NOTE("'" name "'", "OLD.id", "OLD"))
/* Where one of a row's columns changes. */
#define CHANGED(table, COLUMNS, kind)                                                              \
    NOTED(table "_changed", "UPDATE OF " COLUMNS(""),                                              \
          table " WHEN (" COLUMNS("NEW.") ") IS NOT (" COLUMNS("OLD.") ")",                        \
          NOTE(kind, "NEW.id", "NEW"))
#define MEMORY(r)                                                                                  \
    r "content, " r "key, " r "type, " r "category, " r "session, " r "metadata, " r "tags, " r    \
      "importance, " r "salience, " r "expires, " r "created, " r "valid_from, " r "valid_to, " r  \
      "superseded_by"
#define SESSION(r) r "title, " r "metadata"
#define REVIEW(r) r "state, " r "version"

/* What a use of a memory changes (uses, last_used) is not noted. */
static const char *const triggers[] = {
    ADDED("memory.added", "memory", "NEW.id"),
    ERASED("memory.erased", "memory"),
    CHANGED("memory", MEMORY,
            "CASE WHEN OLD.valid_to = 0 AND NEW.valid_to <> 0 THEN 'memory.closed'"
            " WHEN OLD.valid_to <> 0 AND NEW.valid_to = 0 THEN 'memory.opened'"
            " ELSE 'memory.changed' END"),
    ADDED("turn.kept", "message", "(SELECT s.id FROM session AS s WHERE s.no = NEW.doc >> 20)"),
    ERASED("message.erased", "message"),
    ADDED("session.added", "session", "NEW.id"),
    ERASED("session.erased", "session"),
    CHANGED("session", SESSION, "'session.changed'"),
    ADDED("receipt.written", "receipt", "NEW.id"),
    ADDED("review.changed", "review", "NEW.id"),
    CHANGED("review", REVIEW, "'review.changed'"),
    ERASED("review.changed", "review"),
    NOTED("pool_added", "INSERT", "pool", "note('space.added', NEW.user, NEW.space, NEW.space)"),
    NOTED("pool_erased", "DELETE", "pool", "note('space.erased', OLD.user, OLD.space, OLD.space)"),
    NOTED("setting_added", "INSERT", "setting",
          "note('settings.changed', '', '', '') WHERE NEW.name = 'runtime'"),
    NOTED("setting_changed", "UPDATE", "setting",
          "note('settings.changed', '', '', '') WHERE NEW.name = 'runtime'"),
    NOTED("setting_erased", "DELETE", "setting",
          "note('settings.changed', '', '', '') WHERE OLD.name = 'runtime'"),
    NOTED("token_added", "INSERT", "token", "note('access', NEW.user, '', '')"),
    NOTED("token_changed", "UPDATE OF revoked, user", "token", "note('access', OLD.user, '', '')"),
    NOTED("role_added", "INSERT", "role", "note('access', NEW.user, '', '')"),
    NOTED("role_erased", "DELETE", "role", "note('access', OLD.user, '', '')"),
    NOTED("token_erased", "DELETE", "token", "note('access', OLD.user, '', '')"),
};

/* --- noting --- */

static bool is_alike(const struct event *a, const struct event *b)
{
    return a->kind == b->kind && str_eq(a->id, b->id) && str_eq(a->pool.user, b->pool.user) &&
           str_eq(a->pool.space, b->pool.space);
}

/* A group that erases a space would give an event for each of its rows. Whose it is stays known, so
 * that others need not read again. */
static void note_many(struct notes *n, str user)
{
    struct event *resets = &n->v[NOTES_MAX];
    size_t have = n->n - NOTES_MAX;
    if (SOME(i, have, !resets[i].pool.user.n || str_eq(resets[i].pool.user, user)))
        return;
    if (have == NOTES_RESETS_MAX) {
        resets[0].pool.user = S("");
        return;
    }
    resets[have] = (struct event){.kind = EVENT_RESET, .pool.user = str_dup(&n->arena, user)};
    n->n++;
}

/* Access is never folded into a reset, which would end no stream. */
void notes_add(struct notes *n, const struct event *e)
{
    if (SOME(i, n->n < ALIKE_MAX ? n->n : ALIKE_MAX, is_alike(&n->v[n->n - 1 - i], e)))
        return;
    if (n->n >= NOTES_MAX) {
        n->is_access |= e->kind == EVENT_ACCESS;
        note_many(n, e->pool.user);
        return;
    }
    n->v[n->n++] = (struct event){.kind = e->kind,
                                  .pool = pool_copy(&n->arena, e->pool),
                                  .id = str_dup(&n->arena, e->id)};
}

/* note(kind, user, space, id) */
static void note_change(sqlite3_context *result, UNUSED int n, sqlite3_value **values)
{
    struct notes *notes = sqlite3_user_data(result);
    int kind = name_index(event_names, value_text(values[0]), -1);
    assert(kind >= 0);
    if (!notes->to)
        return;
    const struct event e = {.kind = (enum event_kind)kind,
                            .pool = {value_text(values[1]), value_text(values[2])},
                            .id = value_text(values[3])};
    notes_add(notes, &e);
}

void notes_clear(struct notes *n)
{
    n->n = 0;
    n->is_access = false;
    arena_reset(&n->arena);
}

void notes_reset(struct notes *n, str user)
{
    if (n->to)
        notes_add(n, &(struct event){.kind = EVENT_RESET, .pool.user = user});
}

void notes_tell_these(struct notes *n, const struct event *v, size_t many)
{
    HOLD(&n->telling);
    struct follower *to = n->to;
    if (to)
        to->take(to, v, many);
}

void notes_tell(struct notes *n)
{
    if (n->is_access)
        n->v[n->n++] = (struct event){.kind = EVENT_ACCESS};
    if (n->n)
        notes_tell_these(n, n->v, n->n);
    notes_clear(n);
}

/* --- what others write --- */

/* The next number of a transaction: another one as soon as anybody has written, in whatever schema.
 */
static const char any_change[] = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint";

static enum status read_version(struct ctx *ctx, struct db *db, int64_t *out)
{
    return db_int(ctx, db, is_postgres(db) ? any_change : "PRAGMA data_version", out);
}

/* A token or role that another process gives or takes must end streams, as it would here. */
static enum status read_access(struct ctx *ctx, struct db *db, int64_t out[static 4])
{
    TRY(db_int(ctx, db, "SELECT count(*) FROM token", &out[0]));
    TRY(db_int(ctx, db, "SELECT coalesce(max(created), 0) FROM token", &out[1]));
    TRY(db_int(ctx, db, "SELECT count(*) FROM token WHERE revoked <> 0", &out[2]));
    return db_int(ctx, db, "SELECT count(*) + count(nullif(role, 2)) FROM role", &out[3]);
}

int64_t notes_due_ms(const struct notes *n)
{
    bool is_heard = n->pg.listens || (n->to && n->pg.is_used);
    int64_t left = n->looked_us + (is_heard ? HEAR_US : LOOK_US) - clock_mono_us();
    return !n->to && !n->pg.is_used ? -1 : left > 0 ? left / 1000 + 1 : 0;
}

/* On failure the next look tries again: version is kept as it was. */
enum status notes_look_at_others(struct ctx *ctx, struct db *db, struct notes *n)
{
    int64_t version, access[4];
    TRY(read_version(ctx, db, &version));
    if (version == n->version)
        return OK;
    TRY(read_access(ctx, db, access));
    struct event v[] = {{.kind = EVENT_RESET}, {.kind = EVENT_ACCESS}};
    notes_tell_these(n, v, memcmp(access, n->access, sizeof access) ? 2 : 1);
    n->version = version;
    memcpy(n->access, access, sizeof access);
    return OK;
}

void notes_look(struct ctx *ctx, struct db *db, struct notes *n)
{
    assert(!db_in_transaction(db));
    n->looked_us = clock_mono_us();
    enum status status =
        is_postgres(db) ? notes_pg_look(ctx, db, n) : notes_look_at_others(ctx, db, n);
    if (status != OK)
        log_event(LOG_WARN, "store.unlooked", "why=\"%s\"", ctx->why);
    ctx_clear_failure(ctx);
}

/* --- following --- */

static enum status add_triggers(struct ctx *ctx, struct db *db, struct notes *n)
{
    int rc =
        sqlite3_create_function(db->handle, "note", 4, SQLITE_UTF8, n, note_change, NULL, NULL);
    if (rc != SQLITE_OK)
        return db_failed(ctx, db, rc);
    for (size_t i = 0; i < sizeof triggers / sizeof *triggers; i++)
        TRY(db_exec(ctx, db, triggers[i]));
    return OK;
}

enum status notes_follow(struct ctx *ctx, struct db *db, struct notes *n, struct follower *to)
{
    assert(to && (!n->to || n->to == to)); /* the same: behind a lost connection */
    TRY(read_version(ctx, db, &n->version));
    TRY(read_access(ctx, db, n->access));
    n->looked_us = clock_mono_us();
    if (is_postgres(db))
        TRY(notes_pg_follow(ctx, db, n));
    else
        TRY(add_triggers(ctx, db, n));
    notes_clear(n);
    n->to = to;
    return OK;
}

void notes_leave(struct notes *n)
{
    HOLD(&n->telling);
    n->to = NULL;
}

void notes_open(struct notes *n)
{
    pthread_mutex_init(&n->telling, NULL);
}

void notes_close(struct notes *n)
{
    pthread_mutex_destroy(&n->telling);
    arena_free(&n->arena);
}
