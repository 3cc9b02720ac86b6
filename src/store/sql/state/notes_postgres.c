/* notes_postgres.c - changes by name over several servers: noted, sent and heard in PostgreSQL. */
#include "store/sql/state/notes_postgres.h"

#include "base/clock.h"
#include "base/json.h"
#include "store/sql/db/query.h"
#include "store/sql/db/sql_parts.h"

/*
 * A server that is followed holds a shared lock, and listens. The others look for such locks each
 * second; while there is one, triggers note what a group changes, and its commit sends that. To
 * send makes commits of several servers wait for each other, so that it is not done for nobody.
 *
 * A group that began before its server knew of the follower is not sent. So in its first seconds,
 * and as long as it does not hear itself (a pooler may drop what is sent), the follower looks each
 * second whether anything was written, and reads all again. Behind a pooler in transaction mode
 * there is no listening, and that is all it does.
 */
enum { LOOK_US = 1000000, TRUST_US = 4000000, SENT_MAX = 7000, LONG_US = 1000000 };

#define CHANNEL "'rememberd_' || md5(current_schema())"
#define OF_SCHEMA "hashtext(current_schema())"

static const char listen[] = "DO $$BEGIN EXECUTE format('LISTEN %I', " CHANNEL "); END$$;"
                             " SELECT pg_advisory_lock_shared(5934, " OF_SCHEMA ");"
                             " SELECT pg_notify(" CHANNEL ", '[]')";
static const char leave[] = "UNLISTEN *; SELECT pg_advisory_unlock_shared(5934, " OF_SCHEMA ")";
static const char notes_setting[] = "rememberd.notes";
/* Of those who follow, and of all servers. */
static const char followers[] = LOCKS_HELD("5934"), servers[] = LOCKS_HELD("5935");

enum status notes_pg_open(struct ctx *ctx, struct db *db, struct notes *n)
{
    n->pg = (struct notes_pg){.is_used = true};
    if (pg_is_pooled(db->pg))
        return OK;
    return db_exec(ctx, db, "SELECT pg_advisory_lock_shared(5935, " OF_SCHEMA ")");
}

/* --- what this server writes --- */

static enum status look_for_followers(struct ctx *ctx, struct db *db, struct notes *n)
{
    int64_t many = 0, now = clock_mono_us();
    if (now - n->pg.looked_us < LOOK_US)
        return OK;
    TRY(db_int(ctx, db, followers, &many));
    many += n->pg.listens; /* behind a pooler it has no lock */
    if ((many > 0) != n->pg.notes)
        TRY(pg_set(ctx, db->pg, notes_setting, many ? "on" : "off"));
    n->pg.notes = many > 0;
    n->pg.looked_us = now;
    return OK;
}

enum status notes_pg_begin(struct ctx *ctx, struct db *db, struct notes *n)
{
    TRY(look_for_followers(ctx, db, n));
    n->pg.began_us = clock_mono_us();
    return OK;
}

static void read_noted(struct query *q, struct notes *n)
{
    while (sql_row(q)) {
        int kind = name_index(event_names, sql_get_text(q), -1);
        struct event e = {.kind = (enum event_kind)kind};
        SQL_GET(q, e.pool.user, e.pool.space, e.id);
        if (kind >= 0)
            notes_add(n, &e);
    }
}

static void write_event(struct json_out *w, const struct event *e)
{
    json_open(w, '[');
    json_int(w, (int64_t)e->kind);
    json_str(w, e->pool.user);
    json_str(w, e->pool.space);
    json_str(w, e->id);
    json_close(w, ']');
}

/* A long list is sent as one reset, with word of changed access. */
static str sent_text(struct arena *a, const struct notes *n)
{
    struct buf b = buf_make(a, SENT_MAX);
    struct json_out w = json_to(&b);
    bool is_access = n->is_access;
    json_open(&w, '[');
    for (size_t i = 0; i < n->n; i++) {
        write_event(&w, &n->v[i]);
        is_access |= n->v[i].kind == EVENT_ACCESS;
    }
    if (b.full) {
        buf_clear(&b);
        w = json_to(&b);
        json_open(&w, '[');
        write_event(&w, &(struct event){.kind = EVENT_RESET});
    }
    if (is_access)
        write_event(&w, &(struct event){.kind = EVENT_ACCESS});
    json_close(&w, ']');
    return buf_str(&b);
}

/* A group that took long may have begun before somebody followed. */
enum status notes_pg_end(struct ctx *ctx, struct db *db, struct notes *n)
{
    bool is_long = clock_mono_us() - n->pg.began_us > LONG_US;
    if (n->pg.notes) {
        SQL_RUN(q, ctx, db, SQL_NOTED);
        read_noted(&q, n);
        TRY(sql_end(&q));
    }
    if (is_long && !n->pg.notes)
        notes_add(n, &(struct event){.kind = EVENT_RESET});
    if (!n->n)
        return OK;
    return SQL_DO(ctx, db, SQL_NOTES_SEND, sent_text(&ctx->arena, n));
}

/* --- what others write --- */

static void hear_one(struct notes *n, const struct json *one)
{
    int64_t kind = json_int_or(json_at(one, "0"), -1);
    struct event e = {.kind = (enum event_kind)kind,
                      .pool = {json_string(json_at(one, "1")), json_string(json_at(one, "2"))},
                      .id = json_string(json_at(one, "3"))};
    if (kind >= 0 && kind <= EVENT_ACCESS)
        notes_tell_these(n, &e, 1);
}

struct hearing {
    struct ctx *ctx;
    struct notes *n;
};

static void hear(void *own, bool is_mine, const char *text)
{
    struct hearing *h = own;
    struct json *list;
    h->n->pg.hears |= is_mine;
    if (is_mine || !soft(h->ctx, json_parse(h->ctx, str_of(text), &list)))
        return;
    for (const struct json *one = list->first; one; one = one->next)
        hear_one(h->n, one);
}

enum status notes_pg_follow(struct ctx *ctx, struct db *db, struct notes *n)
{
    int64_t others;
    if (n->pg.listens)
        return OK;
    if (!pg_is_pooled(db->pg))
        TRY(db_exec(ctx, db, listen));
    TRY(pg_set(ctx, db->pg, notes_setting, "on"));
    TRY(db_int(ctx, db, servers, &others));
    int64_t now = clock_mono_us();
    n->pg.listens = n->pg.notes = true;
    n->pg.hears = false;
    n->pg.looked_us = n->pg.polled_us = now;
    n->pg.trusted_us = others > 1 ? now + TRUST_US : now;
    return OK;
}

/* Behind a lost connection nobody knows what was missed. */
enum status notes_pg_look(struct ctx *ctx, struct db *db, struct notes *n)
{
    const struct event missed[] = {{.kind = EVENT_RESET}, {.kind = EVENT_ACCESS}};
    struct hearing h = {ctx, n};
    bool is_followed = n->to != NULL;
    if (is_followed && !n->pg.listens) {
        TRY(notes_pg_follow(ctx, db, n));
        notes_tell_these(n, missed, 2);
    }
    if (!is_followed && n->pg.listens) {
        if (!pg_is_pooled(db->pg))
            TRY(db_exec(ctx, db, leave));
        n->pg.listens = false;
        n->pg.looked_us = 0;
    }
    TRY(look_for_followers(ctx, db, n));
    if (n->pg.listens)
        pg_hear(db->pg, hear, &h);
    int64_t now = clock_mono_us();
    bool is_sure = n->pg.hears && now > n->pg.trusted_us;
    if (!is_followed || is_sure || now - n->pg.polled_us < LOOK_US)
        return OK;
    n->pg.polled_us = now;
    return notes_look_at_others(ctx, db, n);
}
