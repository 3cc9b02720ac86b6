/* schema.c - the tables of the store, as steps; a step is never edited after a release. */
#include "store/sqlite/schema.h"

/* "RMBD": tells a store from another program's file. */
enum { APPLICATION_ID = 0x524D4244 };

/* What the first step brings a file to. 1 was written before anything was released. */
enum { FIRST_VERSION = 2 };

/*
 * AUTOINCREMENT throughout: a number that was forgotten never comes back as another thing. message
 * and memory hold the rows; words holds what is searched, without the texts, so that a text stands
 * in the file once.
 */
static const char step_1[] =
    "CREATE TABLE pool("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, space TEXT NOT NULL,"
    " sessions INTEGER NOT NULL DEFAULT 0, messages INTEGER NOT NULL DEFAULT 0,"
    " memories INTEGER NOT NULL DEFAULT 0, closed INTEGER NOT NULL DEFAULT 0,"
    " created INTEGER NOT NULL, UNIQUE(user, space)) STRICT;"

    "CREATE TABLE session("
    " no INTEGER PRIMARY KEY AUTOINCREMENT, pool INTEGER NOT NULL REFERENCES pool(id),"
    " id TEXT NOT NULL, title TEXT NOT NULL, metadata TEXT NOT NULL, created INTEGER NOT NULL,"
    " updated INTEGER NOT NULL,"
    " messages INTEGER NOT NULL DEFAULT 0, erased INTEGER NOT NULL DEFAULT 0,"
    " UNIQUE(pool, id)) STRICT;"
    "CREATE INDEX session_recent ON session(pool, updated);"
    /* Titles as they are searched: titles.c. */
    "CREATE TABLE title("
    " id INTEGER PRIMARY KEY, pool INTEGER NOT NULL, first INTEGER NOT NULL, text BLOB NOT NULL,"
    " UNIQUE(pool, first)) STRICT;"

    /* doc is the session's number and the position in it: doc_of_message. */
    "CREATE TABLE message("
    " doc INTEGER PRIMARY KEY, pool INTEGER NOT NULL, id TEXT NOT NULL, role TEXT NOT NULL,"
    " speaker TEXT NOT NULL, text TEXT NOT NULL, ref TEXT NOT NULL, origin INTEGER NOT NULL,"
    " created INTEGER NOT NULL, chain INTEGER NOT NULL, tail INTEGER NOT NULL,"
    " is_echo INTEGER NOT NULL, says TEXT NOT NULL) STRICT;"
    "CREATE UNIQUE INDEX message_id ON message(pool, id);"
    "CREATE INDEX message_chain ON message(pool, chain) WHERE chain <> 0;"
    "CREATE INDEX message_tail ON message(pool, tail) WHERE tail <> 0;"

    "CREATE TABLE memory("
    " no INTEGER PRIMARY KEY AUTOINCREMENT, pool INTEGER NOT NULL, id TEXT NOT NULL,"
    " session TEXT NOT NULL, layer INTEGER NOT NULL, type INTEGER NOT NULL,"
    " category TEXT NOT NULL, key TEXT NOT NULL, content TEXT NOT NULL, metadata TEXT NOT NULL,"
    " tags TEXT NOT NULL, importance REAL NOT NULL, salience REAL NOT NULL, uses INTEGER NOT NULL,"
    " last_used INTEGER NOT NULL, origin INTEGER NOT NULL, source TEXT NOT NULL,"
    " created INTEGER NOT NULL, updated INTEGER NOT NULL, expires INTEGER NOT NULL,"
    " valid_from INTEGER NOT NULL, valid_to INTEGER NOT NULL,"
    " superseded_by TEXT NOT NULL) STRICT;"
    "CREATE UNIQUE INDEX memory_id ON memory(pool, id);"
    "CREATE INDEX memory_recent ON memory(pool, created);"
    /* Facts are many, the others are few and asked for by themselves. */
    "CREATE INDEX memory_layer ON memory(pool, layer, created) WHERE layer <> 0;"
    "CREATE INDEX memory_key ON memory(pool, key) WHERE key <> '' AND valid_to = 0;"
    "CREATE INDEX memory_source ON memory(pool, source) WHERE source <> '';"
    "CREATE INDEX memory_session ON memory(pool, session) WHERE session <> '';"
    "CREATE INDEX memory_superseded ON memory(pool, superseded_by) WHERE superseded_by <> '';"
    "CREATE INDEX memory_expires ON memory(pool, expires) WHERE expires <> 0;"
    "CREATE INDEX memory_prunable ON memory(expires) WHERE expires <> 0;"

    /* shown: the ids it shows, as a JSON array, so that erasing one of them finds it. */
    "CREATE TABLE receipt("
    " no INTEGER PRIMARY KEY, pool INTEGER NOT NULL, id TEXT NOT NULL, session TEXT NOT NULL,"
    " created INTEGER NOT NULL, chain INTEGER NOT NULL, shown TEXT NOT NULL, body TEXT NOT NULL)"
    " STRICT;"
    "CREATE UNIQUE INDEX receipt_id ON receipt(pool, id);"
    "CREATE INDEX receipt_chain ON receipt(pool, chain) WHERE chain <> 0;"
    "CREATE INDEX receipt_created ON receipt(created);"

    "CREATE TABLE token("
    " id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, name TEXT NOT NULL, user TEXT NOT NULL,"
    " space TEXT NOT NULL, is_admin INTEGER NOT NULL, created INTEGER NOT NULL,"
    " expires INTEGER NOT NULL, revoked INTEGER NOT NULL, prefix TEXT NOT NULL,"
    " last_used INTEGER NOT NULL DEFAULT 0, is_open INTEGER NOT NULL) STRICT;"
    "CREATE INDEX token_user ON token(user, created);"
    /* Whether there is one that everyone must show is asked often. */
    "CREATE INDEX token_closes ON token(is_open) WHERE is_open = 0;"

    "CREATE TABLE user("
    " id TEXT PRIMARY KEY, email TEXT NOT NULL COLLATE NOCASE, first_name TEXT NOT NULL,"
    " last_name TEXT NOT NULL, attributes TEXT NOT NULL, sealed_key TEXT NOT NULL,"
    " key_preview TEXT NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL) STRICT;"
    "CREATE UNIQUE INDEX user_email ON user(email) WHERE email <> '';"

    /*
     * A message that waits to be distilled; a number is of one waiting only. waiting has a row for
     * each session with signals, so that who is due is found without looking at them; owner is the
     * mark of who has claimed it (hold_mark), or 0.
     */
    "CREATE TABLE signal("
    " no INTEGER PRIMARY KEY AUTOINCREMENT, pool INTEGER NOT NULL, doc INTEGER NOT NULL UNIQUE,"
    " created INTEGER NOT NULL) STRICT;"
    "CREATE TABLE waiting("
    " session INTEGER PRIMARY KEY, pool INTEGER NOT NULL, due INTEGER NOT NULL,"
    " lease_until INTEGER NOT NULL DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0,"
    " failed_at INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '',"
    " is_dead INTEGER NOT NULL DEFAULT 0, owner INTEGER NOT NULL DEFAULT 0) STRICT;"
    "CREATE INDEX waiting_owner ON waiting(owner) WHERE owner > 0;"
    "CREATE INDEX waiting_due ON waiting(due, lease_until) WHERE is_dead = 0;"
    /* Those that failed keep their own time, so they are not among those that others hurry. */
    "CREATE INDEX waiting_pool ON waiting(pool, tries, due);"

    /* What was done in the background; by names, for it outlives its pool. */
    "CREATE TABLE work("
    " no INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, space TEXT NOT NULL,"
    " kind TEXT NOT NULL, status TEXT NOT NULL, details TEXT NOT NULL, model TEXT NOT NULL,"
    " tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, took_ms INTEGER NOT NULL,"
    " created INTEGER NOT NULL) STRICT;"
    "CREATE INDEX work_created ON work(created);"
    "CREATE INDEX work_user ON work(user);"

    /* At most one row: the set in force. */
    "CREATE TABLE vector_set("
    " no INTEGER PRIMARY KEY AUTOINCREMENT, signature TEXT NOT NULL, dimensions INTEGER NOT NULL,"
    " is_int8 INTEGER NOT NULL, begun INTEGER NOT NULL) STRICT;"
    /*
     * A vector that changes gets a new seq, and one that goes leaves its row with a new seq and no
     * vector, so what a copy in memory has missed is what has a greater seq.
     */
    "CREATE TABLE vector("
    " seq INTEGER PRIMARY KEY AUTOINCREMENT, doc INTEGER NOT NULL UNIQUE, pool INTEGER NOT NULL,"
    " v BLOB) STRICT;"
    "CREATE INDEX vector_pool ON vector(pool);"
    "CREATE INDEX vector_gone ON vector(pool) WHERE v IS NULL;"
    /* What waits for its vector; without run_at it was given up. */
    "CREATE TABLE vector_todo("
    " no INTEGER PRIMARY KEY AUTOINCREMENT, doc INTEGER NOT NULL UNIQUE, pool INTEGER NOT NULL,"
    " tries INTEGER NOT NULL DEFAULT 0, run_at INTEGER DEFAULT 0) STRICT;"
    "CREATE INDEX vector_todo_due ON vector_todo(run_at);"
    "CREATE INDEX vector_todo_pool ON vector_todo(pool, run_at);"

    /* Settings that were changed while a server ran. */
    "CREATE TABLE setting(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;"

    /*
     * Memories that a second place has yet to follow, by the names of their pool, which may be gone
     * by then. One that changes again gets a new number. Triggers, so that no change can pass by.
     */
    "CREATE TABLE mirror("
    " no INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, space TEXT NOT NULL,"
    " id TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0, run_at INTEGER NOT NULL DEFAULT 0,"
    " UNIQUE(user, space, id)) STRICT;"
    "CREATE INDEX mirror_due ON mirror(run_at);"
    "CREATE TRIGGER mirror_added AFTER INSERT ON memory"
    " WHEN NEW.valid_to = 0 AND EXISTS (SELECT 1 FROM fact WHERE name = 'mirror') BEGIN"
    " REPLACE INTO mirror(user, space, id) SELECT user, space, NEW.id FROM pool"
    " WHERE pool.id = NEW.pool; END;"
    "CREATE TRIGGER mirror_changed AFTER UPDATE ON memory"
    " WHEN (NEW.content, NEW.key, NEW.type, NEW.category, NEW.session, NEW.metadata, NEW.tags,"
    " NEW.importance, NEW.expires, NEW.valid_to) IS NOT (OLD.content, OLD.key, OLD.type,"
    " OLD.category, OLD.session, OLD.metadata, OLD.tags, OLD.importance, OLD.expires, OLD.valid_to)"
    " AND EXISTS (SELECT 1 FROM fact WHERE name = 'mirror') BEGIN"
    " REPLACE INTO mirror(user, space, id) SELECT user, space, NEW.id FROM pool"
    " WHERE pool.id = NEW.pool; END;"
    "CREATE TRIGGER mirror_erased AFTER DELETE ON memory"
    " WHEN OLD.valid_to = 0 AND EXISTS (SELECT 1 FROM fact WHERE name = 'mirror') BEGIN"
    " REPLACE INTO mirror(user, space, id) SELECT user, space, OLD.id FROM pool"
    " WHERE pool.id = OLD.pool; END;"

    "CREATE TABLE fact(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;"

    "CREATE VIRTUAL TABLE words USING fts5(own, label, content='', columnsize=0, detail=full,"
    " tokenize='ascii');"
    "INSERT INTO words(words, rank) VALUES('secure-delete', 1);"
    /* Each word of the index, for the check; holds nothing itself. */
    "CREATE VIRTUAL TABLE word_list USING fts5vocab(words, instance);";

static const char *const steps[] = {step_1};

int schema_version(void)
{
    return FIRST_VERSION - 1 + (int)(sizeof steps / sizeof *steps);
}

static enum status refuse_strangers(struct ctx *ctx, struct db *db, int64_t version)
{
    int64_t application, tables;
    if (version > schema_version())
        return fail(ctx, STORAGE,
                    "the store was written by a newer rememberd (schema %lld, this one knows %d)",
                    (long long)version, schema_version());
    TRY(db_int(ctx, db, "PRAGMA application_id", &application));
    TRY(db_int(ctx, db, "SELECT count(*) FROM sqlite_schema", &tables));
    if (application != APPLICATION_ID && (tables || application))
        return fail(ctx, STORAGE, "the file is another program's database, no rememberd store");
    if (version > 0 && version < FIRST_VERSION)
        return fail(ctx, STORAGE,
                    "the store was written by a rememberd from before the first release (schema "
                    "%lld), whose files this one does not read",
                    (long long)version);
    return OK;
}

/* One transaction, or what another process makes meanwhile is half seen and taken for a stranger's.
 */
static enum status look(struct ctx *ctx, struct db *db, int64_t *version)
{
    TRY(db_exec(ctx, db, "BEGIN"));
    enum status status = db_int(ctx, db, "PRAGMA user_version", version);
    if (status == OK)
        status = refuse_strangers(ctx, db, *version);
    struct ctx quiet = {0};
    (void)!db_exec(&quiet, db, "ROLLBACK");
    ctx_free(&quiet);
    return status;
}

enum status schema_bring(struct ctx *ctx, struct db *db)
{
    int64_t version;
    TRY(look(ctx, db, &version));
    if (version == schema_version())
        return OK;
    TRY(db_exec(ctx, db, "BEGIN IMMEDIATE"));
    /* Another process may have been quicker. */
    enum status status = db_int(ctx, db, "PRAGMA user_version", &version);
    for (int64_t i = version ? version : FIRST_VERSION - 1; status == OK && i < schema_version();
         i++) {
        status = db_exec(ctx, db, steps[i - FIRST_VERSION + 1]);
        if (status == OK)
            status =
                db_exec(ctx, db, str_printf(&ctx->arena, "PRAGMA user_version=%d", (int)i + 1).p);
    }
    if (status == OK)
        status =
            db_exec(ctx, db, str_printf(&ctx->arena, "PRAGMA application_id=%d", APPLICATION_ID).p);
    if (status == OK)
        return db_exec(ctx, db, "COMMIT");
    struct ctx quiet = {0};
    (void)!db_exec(&quiet, db, "ROLLBACK");
    ctx_free(&quiet);
    return status;
}
