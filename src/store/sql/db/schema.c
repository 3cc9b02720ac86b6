/* schema.c - the tables of the store, as steps; a step is never edited after a release. */
#include "store/sql/db/schema.h"

/* "RMBD": marks a file as ours. PRAGMA application_id, which the command file(1) shows, too. */
enum { APPLICATION_ID = 0x524D4244 };

/* The version after the first step. 1 was never released. */
enum { FIRST_VERSION = 2 };

/* AUTOINCREMENT throughout: the number of an erased row is never used again. message and memory
 * hold the rows. words holds the index without the texts, so that each text is stored once. */
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
    /* Titles as they are searched; see titles.c. */
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
    /* Most memories are facts; the other layers are few and listed alone. */
    "CREATE INDEX memory_layer ON memory(pool, layer, created) WHERE layer <> 0;"
    "CREATE INDEX memory_key ON memory(pool, key) WHERE key <> '' AND valid_to = 0;"
    "CREATE INDEX memory_source ON memory(pool, source) WHERE source <> '';"
    "CREATE INDEX memory_session ON memory(pool, session) WHERE session <> '';"
    "CREATE INDEX memory_superseded ON memory(pool, superseded_by) WHERE superseded_by <> '';"
    "CREATE INDEX memory_expires ON memory(pool, expires) WHERE expires <> 0;"
    "CREATE INDEX memory_prunable ON memory(expires) WHERE expires <> 0;"

    /* shown: the ids it shows, as a JSON array, so that erasing one of them finds the receipt. */
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
    /* Asked by every request: is there a token that requests must show? */
    "CREATE INDEX token_closes ON token(is_open) WHERE is_open = 0;"

    "CREATE TABLE user("
    " id TEXT PRIMARY KEY, email TEXT NOT NULL COLLATE NOCASE, first_name TEXT NOT NULL,"
    " last_name TEXT NOT NULL, attributes TEXT NOT NULL, sealed_key TEXT NOT NULL,"
    " key_preview TEXT NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL) STRICT;"
    "CREATE UNIQUE INDEX user_email ON user(email) WHERE email <> '';"

    /* A message that waits to be distilled; a signal's number is never used again. waiting has a
     * row for each session with signals, so that due sessions are found without reading them. owner
     * is the mark of the process that claimed it (hold_mark), or 0. */
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
    /* Sessions that failed keep their own time when others of the pool are hurried. */
    "CREATE INDEX waiting_pool ON waiting(pool, tries, due);"

    /* The log of background work; by names, as it outlives its pool. */
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
    /* A changed vector gets a new seq. An erased one leaves its row with a new seq and without v.
     * So a cache in memory has missed the rows with a greater seq. */
    "CREATE TABLE vector("
    " seq INTEGER PRIMARY KEY AUTOINCREMENT, doc INTEGER NOT NULL UNIQUE, pool INTEGER NOT NULL,"
    " v BLOB) STRICT;"
    "CREATE INDEX vector_pool ON vector(pool);"
    "CREATE INDEX vector_gone ON vector(pool) WHERE v IS NULL;"
    /* Texts that wait for a vector; run_at NULL: given up. */
    "CREATE TABLE vector_todo("
    " no INTEGER PRIMARY KEY AUTOINCREMENT, doc INTEGER NOT NULL UNIQUE, pool INTEGER NOT NULL,"
    " tries INTEGER NOT NULL DEFAULT 0, run_at INTEGER DEFAULT 0) STRICT;"
    "CREATE INDEX vector_todo_due ON vector_todo(run_at);"
    "CREATE INDEX vector_todo_pool ON vector_todo(pool, run_at);"

    /* Settings that were changed while a server ran. */
    "CREATE TABLE setting(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;"

    /* Memories that a second place has yet to follow, by the names of their pool, which may be
     * erased meanwhile. A memory that changes again gets a new number. Filled by triggers, so that
     * no change is missed. */
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
    /* Lists each word of the index, for the check; stores nothing. */
    "CREATE VIRTUAL TABLE word_list USING fts5vocab(words, instance);";

/* Settings that change while the server runs: one row of neutral names, where each dialect had one
 * of its own names. */
static const char step_2[] =
    "INSERT INTO setting(name, value)"
    " SELECT 'runtime', json_group_object(n.column3, json(s.value -> n.column2)) FROM setting AS s"
    " JOIN (VALUES('memory', 'enabled', 'enabled'), ('memory', 'maxTokens', 'max_tokens'),"
    " ('memory', 'retentionDays', 'retention_days'), ('memory', 'strategy', 'strategy'),"
    " ('memory', 'skillsEnabled', 'skills_enabled'),"
    " ('memory', 'embeddingSource', 'embedding_source'),"
    " ('memory', 'embeddingProviderModel', 'embedding_model'),"
    " ('memory', 'transformersEnabled', 'transformers_enabled'),"
    " ('memory', 'staticEnabled', 'static_enabled'),"
    " ('memory', 'rerankEnabled', 'rerank_enabled'),"
    " ('memory', 'rerankProviderModel', 'rerank_model'),"
    " ('memory', 'vectorStore', 'vector_store'),"
    " ('qdrant', 'enabled', 'qdrant_enabled'), ('qdrant', 'host', 'qdrant_host'),"
    " ('qdrant', 'port', 'qdrant_port'), ('qdrant', 'collection', 'qdrant_collection'),"
    " ('qdrant', 'embeddingModel', 'qdrant_embedding_model'),"
    " ('qdrant', 'quantization', 'qdrant_quantization'), ('qdrant', 'apiKey', 'qdrant_api_key'),"
    " ('osaurus', 'embeddingBackend', 'embedding_backend'),"
    " ('osaurus', 'embeddingModel', 'agent_embedding_model'),"
    " ('osaurus', 'extractionMode', 'extraction_mode'),"
    " ('osaurus', 'relevanceGateMode', 'gate_mode'),"
    " ('osaurus', 'memoryBudgetTokens', 'memory_budget'),"
    " ('osaurus', 'summaryDebounceSeconds', 'summary_debounce_s'),"
    " ('osaurus', 'consolidationIntervalHours', 'consolidation_hours'),"
    " ('osaurus', 'salienceFloor', 'salience_floor'),"
    " ('osaurus', 'episodeRetentionDays', 'episode_days')) AS n ON n.column1 = s.name"
    " WHERE CASE WHEN json_valid(s.value) THEN s.value -> n.column2 END IS NOT NULL"
    " HAVING count(*) > 0;"
    "DELETE FROM setting WHERE name IN ('memory', 'qdrant', 'osaurus');";

/* What recall may not give again, without its text: see store/bars.h. */
static const char step_3[] =
    "CREATE TABLE bar("
    " no INTEGER PRIMARY KEY AUTOINCREMENT, pool INTEGER NOT NULL, kind INTEGER NOT NULL,"
    " reason INTEGER NOT NULL, at INTEGER NOT NULL, message INTEGER NOT NULL,"
    " terms BLOB NOT NULL) STRICT;"
    "CREATE INDEX bar_pool ON bar(pool);";

/* Whose fault the last failure was: before, only the words of the error began with "answer: ". */
static const char step_4[] =
    "ALTER TABLE waiting ADD COLUMN answer_fault INTEGER NOT NULL DEFAULT 0;"
    "UPDATE waiting SET answer_fault = 1 WHERE error LIKE 'answer: %';";

/* What recall held back: see store/review.h. A row goes with its message or memory. */
static const char step_5[] =
    "CREATE TABLE review("
    " no INTEGER PRIMARY KEY AUTOINCREMENT, pool INTEGER NOT NULL, id TEXT NOT NULL,"
    " is_memory INTEGER NOT NULL, version INTEGER NOT NULL, state INTEGER NOT NULL,"
    " first INTEGER NOT NULL, last INTEGER NOT NULL, times INTEGER NOT NULL,"
    " UNIQUE(pool, id)) STRICT;"
    "CREATE TRIGGER review_of_message AFTER DELETE ON message BEGIN"
    " DELETE FROM review WHERE pool = OLD.pool AND id = OLD.id; END;"
    "CREATE TRIGGER review_of_memory AFTER DELETE ON memory BEGIN"
    " DELETE FROM review WHERE pool = OLD.pool AND id = OLD.id; END;";

/* Which people a token may speak for: none of the tokens that there are. */
static const char step_6[] = "ALTER TABLE token ADD COLUMN acts_for TEXT NOT NULL DEFAULT '';";

/* The blocks of memory that stand in running conversations: see store_replays. Short rows beside
 * the receipts, so that a conversation's are found without reading those. */
static const char step_7[] =
    "CREATE TABLE replay("
    " receipt INTEGER PRIMARY KEY, pool INTEGER NOT NULL, chain INTEGER NOT NULL,"
    " session TEXT NOT NULL, block TEXT NOT NULL, told TEXT NOT NULL) STRICT;"
    "CREATE INDEX replay_chain ON replay(pool, chain);"
    "CREATE TRIGGER replay_of_receipt AFTER DELETE ON receipt BEGIN"
    " DELETE FROM replay WHERE receipt = OLD.no; END;";

/*
 * What the list of memories needs: the order of each sort, with all that most filters ask in the
 * index of the first one; and how many there are of each kind (memory_tally), so that totals need
 * no count. Then the old members of memories that were corrected, which go with their memory, and
 * what deletions erased that can be undone for a while: see undo.c.
 */
/* clang-format off */
/* Triggers that count memories of a kind in a table by these columns, which KIND gives of a row. A
 * change counts when it is of the columns that all kinds have, or of those that ALSO names. */
#define COUNT_OF_OLD(columns, KIND)                                                                \
    " WHERE (" columns ", is_closed) = (" KIND("OLD") ", OLD.valid_to <> 0)"
#define COUNT_ADD(table, KIND)                                                                     \
    "INSERT INTO " table " VALUES(" KIND("NEW") ", NEW.valid_to <> 0, 1)"                          \
    " ON CONFLICT DO UPDATE SET n = n + 1;"
#define COUNT_REMOVE(table, columns, KIND)                                                         \
    "UPDATE " table " SET n = n - 1" COUNT_OF_OLD(columns, KIND) ";"                               \
    "DELETE FROM " table COUNT_OF_OLD(columns, KIND) " AND n = 0;"
#define COUNT_KINDS(name, table, columns, KIND, ALSO)                                              \
    "CREATE TRIGGER " name "_added AFTER INSERT ON memory BEGIN " COUNT_ADD(table, KIND) " END;"   \
    "CREATE TRIGGER " name "_erased AFTER DELETE ON memory BEGIN "                                 \
    COUNT_REMOVE(table, columns, KIND) " END;"                                                     \
    "CREATE TRIGGER " name "_changed AFTER UPDATE OF layer, type, category, origin, valid_to"      \
    ALSO("") " ON memory WHEN (NEW.layer, NEW.type, NEW.category, NEW.origin, NEW.valid_to <> 0"   \
    ALSO("NEW.") ") IS NOT (OLD.layer, OLD.type, OLD.category, OLD.origin, OLD.valid_to <> 0"      \
    ALSO("OLD.") ") BEGIN " COUNT_REMOVE(table, columns, KIND) COUNT_ADD(table, KIND) " END;"
#define TALLY_OF(row) row ".pool, " row ".layer, " row ".type, " row ".category, " row ".origin"
#define NOTHING_ELSE(row) ""
static const char step_8[] =
    "DROP INDEX memory_recent; DROP INDEX memory_key;"
    "CREATE INDEX memory_recent ON memory(pool, created, no, valid_to, expires, layer, type,"
    " origin, importance, category);"
    "CREATE INDEX memory_key ON memory(pool, key, valid_to) WHERE key <> '';"
    "CREATE INDEX memory_updated ON memory(pool, updated);"
    "CREATE INDEX memory_importance ON memory(pool, importance);"
    "CREATE INDEX memory_used ON memory(pool, last_used);"
    "CREATE INDEX memory_uses ON memory(pool, uses);"
    "CREATE INDEX memory_type ON memory(pool, type) WHERE type <> 0;"
    "CREATE INDEX memory_category ON memory(pool, category) WHERE category <> '';"

    "CREATE TABLE memory_tally("
    " pool INTEGER NOT NULL, layer INTEGER NOT NULL, type INTEGER NOT NULL,"
    " category TEXT NOT NULL, origin INTEGER NOT NULL, is_closed INTEGER NOT NULL,"
    " n INTEGER NOT NULL,"
    " PRIMARY KEY(pool, layer, type, category, origin, is_closed)) STRICT, WITHOUT ROWID;"
    "INSERT INTO memory_tally SELECT pool, layer, type, category, origin, valid_to <> 0, count(*)"
    " FROM memory GROUP BY 1, 2, 3, 4, 5, 6;"
    COUNT_KINDS("tally", "memory_tally", "pool, layer, type, category, origin", TALLY_OF,
                NOTHING_ELSE)

    /* old: the members that changed, as they were, as a JSON object. */
    "CREATE TABLE revision("
    " no INTEGER PRIMARY KEY AUTOINCREMENT, memory INTEGER NOT NULL, at INTEGER NOT NULL,"
    " old TEXT NOT NULL) STRICT;"
    "CREATE INDEX revision_memory ON revision(memory);"
    "CREATE TRIGGER revision_of_memory AFTER DELETE ON memory BEGIN"
    " DELETE FROM revision WHERE memory = OLD.no; END;"

    /* changes: a changeset of SQLite; the parts of one undo have one id. */
    "CREATE TABLE undo("
    " no INTEGER PRIMARY KEY AUTOINCREMENT, pool INTEGER NOT NULL, id TEXT NOT NULL,"
    " until INTEGER NOT NULL, changes BLOB NOT NULL) STRICT;"
    "CREATE INDEX undo_id ON undo(pool, id);"
    "CREATE INDEX undo_until ON undo(until);";

/* What receipts are listed by; which of them gave a message or memory to a model (given: rows go
 * with their receipt); and what is counted by the day, see core/days.h. What older receipts and
 * memories tell of the days before is counted here; statistics begin with what is still there. How
 * long recalls took is counted from here on. */
static const char step_9[] =
    "ALTER TABLE receipt ADD COLUMN decision TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE receipt ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;"
    "UPDATE receipt SET decision = coalesce(body ->> '$.receipt.decision', ''),"
    " tokens = coalesce(body ->> '$.receipt.tokens', 0);"
    "CREATE INDEX receipt_recent ON receipt(pool, created);"
    "CREATE INDEX receipt_session ON receipt(pool, session, created) WHERE session <> '';"

    "CREATE TABLE given("
    " receipt INTEGER NOT NULL, doc INTEGER NOT NULL, PRIMARY KEY(receipt, doc)) STRICT,"
    " WITHOUT ROWID;"
    "CREATE INDEX given_doc ON given(doc, receipt);"
    "CREATE TRIGGER given_by AFTER DELETE ON receipt BEGIN"
    " DELETE FROM given WHERE receipt = OLD.no; END;"
    "INSERT OR IGNORE INTO given(receipt, doc) SELECT r.no, coalesce("
    "(SELECT m.no + (1 << 62) FROM memory AS m WHERE m.pool = r.pool AND m.id = l.value ->> 'id'),"
    " (SELECT m.doc FROM message AS m WHERE m.pool = r.pool AND m.id = l.value ->> 'id')) AS d"
    " FROM receipt AS r, json_each(r.body, '$.lines') AS l"
    " WHERE l.value ->> 'injected' AND d IS NOT NULL;"

    "CREATE TABLE day_count("
    " pool INTEGER NOT NULL, day INTEGER NOT NULL, stat INTEGER NOT NULL, n INTEGER NOT NULL,"
    " PRIMARY KEY(pool, day, stat)) STRICT, WITHOUT ROWID;"
    "CREATE TRIGGER day_count_of AFTER DELETE ON pool BEGIN"
    " DELETE FROM day_count WHERE pool = OLD.id; END;"
    "INSERT INTO day_count SELECT pool, created / 86400000, type, count(*) FROM memory"
    " WHERE created > 0 GROUP BY 1, 2, 3;"
    "INSERT INTO day_count SELECT pool, created / 86400000, 18, count(*) FROM session"
    " WHERE created > 0 GROUP BY 1, 2;"
    "INSERT INTO day_count SELECT pool, created / 86400000, 19, count(*) FROM message"
    " WHERE created > 0 GROUP BY 1, 2;"
    "INSERT INTO day_count SELECT pool, created / 86400000, 20, sum(tokens) FROM receipt"
    " WHERE tokens > 0 GROUP BY 1, 2;"
    "INSERT INTO day_count SELECT pool, created / 86400000, 32 + coalesce((SELECT key FROM"
    " json_each('[\"none\",\"memory\",\"identity\",\"transcript\",\"episode\",\"pinned\","
    "\"newest\",\"again\",\"off\",\"failed\"]') WHERE value = decision), 10), count(*) FROM receipt"
    " WHERE created > 0 GROUP BY 1, 2, 3;";

/* A corrected memory leaves the conversations that it was given in, and is given anew. */
static const char step_10[] =
    "CREATE TRIGGER replay_of_memory AFTER UPDATE OF content ON memory"
    " WHEN NEW.content <> OLD.content BEGIN DELETE FROM replay WHERE pool = NEW.pool AND EXISTS"
    " (SELECT 1 FROM json_each(replay.told) AS one WHERE one.value = NEW.id); END;";

/*
 * What counts of a range ask: of importance, in the index itself; of dates, how many there are of
 * each kind on each day of creation (UTC), kept as memory_tally is. Times before 1970 count, too.
 */
#define DAY(row) "(" row ".created - (" row ".created % 86400000 + 86400000) % 86400000) / 86400000"
#define DAY_OF(row)                                                                                \
    row ".pool, " DAY(row) ", " row ".layer, " row ".type, " row ".category, " row ".origin"
#define AND_CREATED(row) ", " row "created"
static const char step_11[] =
    "DROP INDEX memory_importance;"
    "CREATE INDEX memory_weight ON memory(pool, importance, no, valid_to, expires, layer, type,"
    " origin, created, category);"
    "CREATE TABLE memory_day("
    " pool INTEGER NOT NULL, day INTEGER NOT NULL, layer INTEGER NOT NULL, type INTEGER NOT NULL,"
    " category TEXT NOT NULL, origin INTEGER NOT NULL, is_closed INTEGER NOT NULL,"
    " n INTEGER NOT NULL,"
    " PRIMARY KEY(pool, day, layer, type, category, origin, is_closed)) STRICT, WITHOUT ROWID;"
    "INSERT INTO memory_day SELECT " DAY_OF("m") ", m.valid_to <> 0, count(*) FROM memory AS m"
    " GROUP BY 1, 2, 3, 4, 5, 6, 7;"
    COUNT_KINDS("day", "memory_day", "pool, day, layer, type, category, origin", DAY_OF,
                AND_CREATED);

/* Vectors of single tokens stay as long as that of their text. */
static const char step_12[] =
    "CREATE TABLE token_vector("
    " doc INTEGER PRIMARY KEY, pool INTEGER NOT NULL, v BLOB NOT NULL) STRICT;"
    "CREATE TRIGGER token_vector_gone AFTER INSERT ON vector WHEN NEW.v IS NULL BEGIN"
    " DELETE FROM token_vector WHERE doc = NEW.doc; END;"
    "CREATE TRIGGER token_vector_erased AFTER DELETE ON vector BEGIN"
    " DELETE FROM token_vector WHERE doc = OLD.doc; END;";

/* A token that is revoked takes the tokens that it made with it; what it may do and where, and
 * from where it was used. */
static const char step_13[] = "ALTER TABLE token ADD COLUMN parent TEXT NOT NULL DEFAULT '';"
                              "ALTER TABLE token ADD COLUMN scopes TEXT NOT NULL DEFAULT '';"
                              "ALTER TABLE token ADD COLUMN spaces TEXT NOT NULL DEFAULT '';"
                              "ALTER TABLE token ADD COLUMN last_address TEXT NOT NULL DEFAULT '';"
                              "CREATE INDEX token_parent ON token(parent) WHERE parent <> '';";

/* What was erased, without content: see store/erasures.h. bar: the words of a struct bar. owner:
 * the hashes of the user and of the pool. */
static const char step_14[] =
    "CREATE TABLE erasure("
    " no INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, call TEXT NOT NULL,"
    " at INTEGER NOT NULL, what TEXT NOT NULL, memories INTEGER NOT NULL DEFAULT 0,"
    " messages INTEGER NOT NULL DEFAULT 0, undo TEXT NOT NULL, bar BLOB NOT NULL,"
    " owner BLOB NOT NULL) STRICT;"
    "CREATE INDEX erasure_call ON erasure(call);"
    "CREATE INDEX erasure_undo ON erasure(undo) WHERE undo <> '';"
    "CREATE TABLE erasure_hash("
    " hash BLOB NOT NULL, erasure INTEGER NOT NULL, PRIMARY KEY(hash, erasure)) STRICT,"
    " WITHOUT ROWID;"
    "CREATE INDEX erasure_hash_of ON erasure_hash(erasure);";

/* Who is more than a member, as enum role: the user of the command line has owned the server all
 * the time. */
static const char step_15[] =
    "CREATE TABLE role(user TEXT PRIMARY KEY, role INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "INSERT INTO role(user, role) VALUES('local', 2);";

/* How many bytes of text a pool has, without the few of names and ids: for the quota. */
#define BYTES_OF(column) "length(CAST(" column " AS BLOB))" /* also in older SQLite */
#define MESSAGE_BYTES(row) BYTES_OF(row ".text") " + " BYTES_OF(row ".says")
#define MEMORY_BYTES(row)                                                                          \
    BYTES_OF(row ".content") " + " BYTES_OF(row ".metadata") " + " BYTES_OF(row ".tags")
#define SESSION_BYTES(row) BYTES_OF(row ".title") " + " BYTES_OF(row ".metadata")
#define COUNT_BYTES(table, columns, BYTES)                                                         \
    "UPDATE pool SET bytes = bytes + (SELECT coalesce(sum(" BYTES("t") "), 0) FROM " table         \
    " AS t WHERE t.pool = pool.id);"                                                               \
    "CREATE TRIGGER " table "_bytes_added AFTER INSERT ON " table " BEGIN"                         \
    " UPDATE pool SET bytes = bytes + " BYTES("NEW") " WHERE id = NEW.pool; END;"                  \
    "CREATE TRIGGER " table "_bytes_erased AFTER DELETE ON " table " BEGIN"                        \
    " UPDATE pool SET bytes = bytes - (" BYTES("OLD") ") WHERE id = OLD.pool; END;"                \
    "CREATE TRIGGER " table "_bytes_changed AFTER UPDATE OF " columns " ON " table " BEGIN"        \
    " UPDATE pool SET bytes = bytes + " BYTES("NEW") " - (" BYTES("OLD") ") WHERE id = NEW.pool;"  \
    " END;"
static const char step_16[] =
    "ALTER TABLE pool ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;"
    COUNT_BYTES("message", "text, says", MESSAGE_BYTES)
    COUNT_BYTES("memory", "content, metadata, tags", MEMORY_BYTES)
    COUNT_BYTES("session", "title, metadata", SESSION_BYTES);
/* clang-format on */

static const char *const steps[] = {step_1,  step_2,  step_3,  step_4,  step_5,  step_6,
                                    step_7,  step_8,  step_9,  step_10, step_11, step_12,
                                    step_13, step_14, step_15, step_16};

int schema_version(void)
{
    return FIRST_VERSION - 1 + (int)(sizeof steps / sizeof *steps);
}

/* An empty file is accepted: it has no tables and no id yet. */
static enum status refuse_strangers(struct ctx *ctx, struct db *db, int64_t version)
{
    int64_t application, tables;
    if (version > schema_version())
        return fail(ctx, STORAGE,
                    "the database was written by a newer rememberd (schema %lld, this one knows "
                    "%d); use the newer one, or take everything along: rememberd export FILE with "
                    "the newer one, then rememberd import FILE with this one and another --data",
                    (long long)version, schema_version());
    TRY(db_int(ctx, db, "PRAGMA application_id", &application));
    TRY(db_int(ctx, db, "SELECT count(*) FROM sqlite_schema", &tables));
    if (application != APPLICATION_ID && (tables || application))
        return fail(ctx, STORAGE, "the file is the database of another program, not of rememberd");
    if (version > 0 && version < FIRST_VERSION)
        return fail(ctx, STORAGE,
                    "the database was written by a rememberd from before the first release (schema "
                    "%lld), whose files this one does not read",
                    (long long)version);
    return OK;
}

/* In one transaction: a store that another process is making would look like another program's
 * file. */
enum status schema_check(struct ctx *ctx, struct db *db, int64_t *version)
{
    TRY(db_exec(ctx, db, "BEGIN"));
    TRY(db_int(ctx, db, "PRAGMA user_version", version));
    TRY(refuse_strangers(ctx, db, *version));
    TRY(schema_compare(ctx, db, *version));
    return db_exec(ctx, db, "ROLLBACK");
}

enum status schema_run(struct ctx *ctx, struct db *db, int64_t from, int64_t to)
{
    for (int64_t i = from ? from : FIRST_VERSION - 1; i < to; i++)
        TRY(db_exec(ctx, db, steps[i - FIRST_VERSION + 1]));
    return OK;
}

/* All missing steps, the version and the id are one transaction: a crash or a failure leaves the
 * file as it was, for the old version to open. IMMEDIATE takes the write lock at once, so two
 * processes cannot both decide to run the same step. */
enum status schema_bring(struct ctx *ctx, struct db *db)
{
    int64_t version;
    TRY(db_exec(ctx, db, "BEGIN IMMEDIATE"));
    /* Another process may have been faster. */
    TRY(db_int(ctx, db, "PRAGMA user_version", &version));
    TRY(schema_run(ctx, db, version, schema_version()));
    str marks = str_printf(&ctx->arena, "PRAGMA user_version=%d; PRAGMA application_id=%d",
                           schema_version(), APPLICATION_ID);
    TRY(db_exec(ctx, db, marks.p));
    return db_exec(ctx, db, "COMMIT");
}
