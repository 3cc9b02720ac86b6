/* schema_tables.c - the tables of a new store in PostgreSQL, with their comments. */
#include "store/postgres/schema_tables.h"

/*
 * The same rows as in SQLite (store/sql/db/schema.c). The pool is the first column of each key,
 * so that tables can be partitioned by it. Numbers are bigint, truth values 0 and 1; texts are
 * compared byte by byte (COLLATE "C").
 */

/* clang-format off */
const char pg_tables[] =
    "CREATE TABLE pool("
    " id" IDENTITY " PRIMARY KEY, \"user\"" WORDS ", space" WORDS ", sessions" COUNT ","
    " messages" COUNT ", memories" COUNT ", closed" COUNT ", created" NUMBER ", bytes" COUNT ","
    " generation" COUNT ", UNIQUE(\"user\", space));"

    "CREATE TABLE session("
    " pool" NUMBER ", no" IDENTITY ", id" WORDS ", title" WORDS ", metadata" WORDS ","
    " created" NUMBER ", updated" NUMBER ", messages" COUNT ", erased" COUNT ","
    " PRIMARY KEY(pool, no), UNIQUE(pool, id));"
    "CREATE INDEX session_recent ON session(pool, updated, no);"
    "CREATE TABLE title("
    " pool" NUMBER ", first" NUMBER ", text bytea NOT NULL, PRIMARY KEY(pool, first));"

    "CREATE TABLE message("
    " pool" NUMBER ", doc" NUMBER ", id" WORDS ", role" WORDS ", speaker" WORDS ", text" WORDS ","
    " ref" WORDS ", origin" NUMBER ", created" NUMBER ", chain" NUMBER ", tail" NUMBER ","
    " is_echo" NUMBER ", says" WORDS ", PRIMARY KEY(pool, doc), UNIQUE(pool, id));"
    "CREATE INDEX message_chain ON message(pool, chain) WHERE chain <> 0;"
    "CREATE INDEX message_tail ON message(pool, tail) WHERE tail <> 0;"

    "CREATE TABLE memory("
    " pool" NUMBER ", no" IDENTITY ", id" WORDS ", session" WORDS ", layer" NUMBER ","
    " type" NUMBER ", category" WORDS ", key" WORDS ", content" WORDS ", metadata" WORDS ","
    " tags" WORDS ", importance" REAL ", salience" REAL ", uses" NUMBER ", last_used" NUMBER ","
    " origin" NUMBER ", source" WORDS ", created" NUMBER ", updated" NUMBER ", expires" NUMBER ","
    " valid_from" NUMBER ", valid_to" NUMBER ", superseded_by" WORDS ","
    " PRIMARY KEY(pool, no), UNIQUE(pool, id));"
    "CREATE INDEX memory_recent ON memory(pool, created, no);"
    "CREATE INDEX memory_updated ON memory(pool, updated, no);"
    "CREATE INDEX memory_weight ON memory(pool, importance, no);"
    "CREATE INDEX memory_layer ON memory(pool, layer, created) WHERE layer <> 0;"
    "CREATE INDEX memory_type ON memory(pool, type) WHERE type <> 0;"
    "CREATE INDEX memory_category ON memory(pool, category) WHERE category <> '';"
    "CREATE INDEX memory_key ON memory(pool, key, valid_to) WHERE key <> '';"
    "CREATE INDEX memory_source ON memory(pool, source) WHERE source <> '';"
    "CREATE INDEX memory_session ON memory(pool, session) WHERE session <> '';"
    "CREATE INDEX memory_superseded ON memory(pool, superseded_by) WHERE superseded_by <> '';"
    "CREATE INDEX memory_expires ON memory(pool, expires) WHERE expires <> 0;"
    "CREATE INDEX memory_prunable ON memory(expires) WHERE expires <> 0;"
    "CREATE TABLE memory_tally("
    " pool" NUMBER ", layer" NUMBER ", type" NUMBER ", category" WORDS ", origin" NUMBER ","
    " is_closed" NUMBER ", n" NUMBER ","
    " PRIMARY KEY(pool, layer, type, category, origin, is_closed));"
    "CREATE TABLE memory_day("
    " pool" NUMBER ", day" NUMBER ", layer" NUMBER ", type" NUMBER ", category" WORDS ","
    " origin" NUMBER ", is_closed" NUMBER ", n" NUMBER ","
    " PRIMARY KEY(pool, day, layer, type, category, origin, is_closed));"
    "CREATE TABLE revision("
    " no" IDENTITY " PRIMARY KEY, memory" NUMBER ", at" NUMBER ", old" WORDS ");"
    "CREATE INDEX revision_memory ON revision(memory, no);"

    "CREATE TABLE posting("
    " pool" NUMBER ", word bytea NOT NULL, first" NUMBER ", n" NUMBER ", docs bytea NOT NULL,"
    " PRIMARY KEY(pool, word, first));"

    "CREATE TABLE receipt("
    " pool" NUMBER ", no" IDENTITY ", id" WORDS ", session" WORDS ", created" NUMBER ","
    " chain" NUMBER ", shown" WORDS ", body" WORDS ", decision" NO_WORDS ", tokens" COUNT ","
    " PRIMARY KEY(pool, no), UNIQUE(pool, id));"
    "CREATE INDEX receipt_chain ON receipt(pool, chain) WHERE chain <> 0;"
    "CREATE INDEX receipt_created ON receipt(created);"
    "CREATE INDEX receipt_recent ON receipt(pool, created, no);"
    "CREATE INDEX receipt_session ON receipt(pool, session, created) WHERE session <> '';"
    "CREATE TABLE replay("
    " pool" NUMBER ", receipt" NUMBER ", chain" NUMBER ", session" WORDS ", block" WORDS ","
    " told" WORDS ", PRIMARY KEY(pool, receipt));"
    "CREATE INDEX replay_chain ON replay(pool, chain);"
    "CREATE TABLE given("
    " pool" NUMBER ", receipt" NUMBER ", doc" NUMBER ", PRIMARY KEY(pool, receipt, doc));"
    "CREATE INDEX given_doc ON given(pool, doc, receipt);"
    "CREATE TABLE review("
    " pool" NUMBER ", no" IDENTITY ", id" WORDS ", is_memory" NUMBER ", version" NUMBER ","
    " state" NUMBER ", first" NUMBER ", last" NUMBER ", times" NUMBER ", PRIMARY KEY(pool, id));"
    "CREATE TABLE day_count("
    " pool" NUMBER ", day" NUMBER ", stat" NUMBER ", n" NUMBER ", PRIMARY KEY(pool, day, stat));"
    "CREATE TABLE bar("
    " pool" NUMBER ", no" IDENTITY ", kind" NUMBER ", reason" NUMBER ", at" NUMBER ","
    " message" NUMBER ", terms bytea NOT NULL, PRIMARY KEY(pool, no));"

    "CREATE TABLE signal("
    " pool" NUMBER ", no" IDENTITY ", doc" NUMBER ", created" NUMBER ", PRIMARY KEY(pool, doc));"
    "CREATE TABLE waiting("
    " pool" NUMBER ", session" NUMBER ", due" NUMBER ", lease_until" COUNT ", tries" COUNT ","
    " failed_at" COUNT ", error" NO_WORDS ", is_dead" COUNT ", owner" COUNT ","
    " answer_fault" COUNT ", PRIMARY KEY(pool, session));"
    "CREATE INDEX waiting_session ON waiting(session);"
    "CREATE INDEX waiting_owner ON waiting(owner) WHERE owner > 0;"
    "CREATE INDEX waiting_due ON waiting(due, lease_until) WHERE is_dead = 0;"
    "CREATE INDEX waiting_pool ON waiting(pool, tries, due);"
    "CREATE TABLE work("
    " no" IDENTITY " PRIMARY KEY, \"user\"" WORDS ", space" WORDS ", kind" WORDS ","
    " status" WORDS ", details" WORDS ", model" WORDS ", tokens_in" NUMBER ", tokens_out" NUMBER ","
    " took_ms" NUMBER ", created" NUMBER ");"
    "CREATE INDEX work_created ON work(created);"
    "CREATE INDEX work_user ON work(\"user\", no);"
    "CREATE TABLE mirror("
    " no" IDENTITY ", \"user\"" WORDS ", space" WORDS ", id" WORDS ", tries" COUNT ","
    " run_at" COUNT ", PRIMARY KEY(\"user\", space, id));"
    "CREATE INDEX mirror_due ON mirror(run_at, no);"
    "CREATE INDEX mirror_no ON mirror(no);"

    "CREATE TABLE vector_set("
    " no" IDENTITY " PRIMARY KEY, signature" WORDS ", dimensions" NUMBER ", is_int8" NUMBER ","
    " begun" NUMBER ");"
    "CREATE TABLE vector("
    " pool" NUMBER ", seq" IDENTITY ", doc" NUMBER ", v bytea, PRIMARY KEY(pool, doc));"
    "CREATE INDEX vector_seq ON vector(pool, seq);"
    "CREATE INDEX vector_gone ON vector(pool) WHERE v IS NULL;"
    "CREATE TABLE token_vector("
    " pool" NUMBER ", doc" NUMBER ", v bytea NOT NULL, PRIMARY KEY(pool, doc));"
    "CREATE TABLE vector_todo("
    " pool" NUMBER ", no" IDENTITY ", doc" NUMBER ", tries" COUNT ", run_at bigint DEFAULT 0,"
    " PRIMARY KEY(pool, doc));"
    "CREATE INDEX vector_todo_no ON vector_todo(no);"
    "CREATE INDEX vector_todo_due ON vector_todo(run_at, no);"

    "CREATE TABLE token("
    " id" WORDS " PRIMARY KEY, hash" WORDS " UNIQUE, name" WORDS ", \"user\"" WORDS ","
    " space" WORDS ", is_admin" NUMBER ", created" NUMBER ", expires" NUMBER ", revoked" NUMBER ","
    " prefix" WORDS ", last_used" COUNT ", is_open" NUMBER ", acts_for" NO_WORDS ","
    " parent" NO_WORDS ", scopes" NO_WORDS ", spaces" NO_WORDS ", last_address" NO_WORDS ");"
    "CREATE INDEX token_user ON token(\"user\", created);"
    "CREATE INDEX token_closes ON token(is_open) WHERE is_open = 0;"
    "CREATE INDEX token_parent ON token(parent) WHERE parent <> '';"
    "CREATE TABLE \"user\"("
    " id" WORDS " PRIMARY KEY, email" WORDS ", first_name" WORDS ", last_name" WORDS ","
    " attributes" WORDS ", sealed_key" WORDS ", key_preview" WORDS ", created" NUMBER ","
    " updated" NUMBER ");"
    "CREATE UNIQUE INDEX user_email ON \"user\"(lower(email)) WHERE email <> '';"
    "CREATE TABLE role(\"user\"" WORDS " PRIMARY KEY, role" NUMBER ");"
    "INSERT INTO role VALUES('local', 2);"
    "CREATE TABLE setting(name" WORDS " PRIMARY KEY, value" WORDS ");"
    "CREATE TABLE fact(name" WORDS " PRIMARY KEY, value" WORDS ");"

    "CREATE TABLE erasure("
    " no" IDENTITY " PRIMARY KEY, id" WORDS " UNIQUE, call" WORDS ", at" NUMBER ", what" WORDS ","
    " memories" COUNT ", messages" COUNT ", undo" WORDS ", bar bytea NOT NULL,"
    " owner bytea NOT NULL);"
    "CREATE INDEX erasure_call ON erasure(call);"
    "CREATE INDEX erasure_undo ON erasure(undo) WHERE undo <> '';"
    "CREATE TABLE erasure_hash("
    " hash bytea NOT NULL, erasure" NUMBER ", PRIMARY KEY(hash, erasure));"
    "CREATE INDEX erasure_hash_of ON erasure_hash(erasure);"
    "CREATE TABLE undo("
    " pool" NUMBER ", no" IDENTITY ", id" WORDS ", until" NUMBER ", changes bytea NOT NULL,"
    " PRIMARY KEY(pool, no));"
    "CREATE INDEX undo_id ON undo(pool, id);"
    "CREATE INDEX undo_until ON undo(until);";

/* For who reads a dump, or looks around with psql. */
const char pg_comments[] =
    ON_TABLE("pool", "A space of a user; everything else belongs to one (column pool).")
    ON_COLUMN("pool.sessions", "How many there are; the other counts likewise.")
    ON_COLUMN("pool.memories", "Open memories; closed ones are counted in closed.")
    ON_COLUMN("pool.bytes", "Of texts, for the quota.")
    ON_COLUMN("pool.generation", "Counts changes of the words index, so that caches notice.")
    ON_TABLE("session", "A conversation.")
    ON_COLUMN("session.no", "The upper part of the numbers of its messages (message.doc).")
    ON_COLUMN("session.erased", "Positions whose message was erased; they are not used again.")
    ON_TABLE("title", "Titles of sessions, folded, in blocks, for the search in them.")
    ON_TABLE("message", "What was said.")
    ON_COLUMN("message.doc", "session.no * 2^20 + the position in the session.")
    ON_COLUMN("message.chain", "Hash of the conversation up to here; tail: of its last two turns.")
    ON_COLUMN("message.created", "Milliseconds since 1970, as all times.")
    ON_COLUMN("message.says", "Of a message that repeats what memory gave it: the new part.")
    ON_TABLE("memory", "What is remembered: facts, episodes, identity, summaries.")
    ON_COLUMN("memory.no", "Its number as a document is 2^62 + no.")
    ON_COLUMN("memory.key", "What it tells of; of one key at most one memory is open.")
    ON_COLUMN("memory.valid_to", "When it became untrue; 0: it is open.")
    ON_COLUMN("memory.superseded_by", "The id of the memory in its place.")
    ON_COLUMN("memory.source", "The id of the message that it came from.")
    ON_TABLE("memory_tally", "How many memories there are of each kind, kept by triggers.")
    ON_TABLE("memory_day", "The same by the day of creation (days since 1970).")
    ON_TABLE("revision", "Members of memories before they were corrected, as JSON.")
    ON_TABLE("posting", "The words index: documents of a word of a pool, in blocks.")
    ON_COLUMN("posting.first", "No document of the block has a lower number.")
    ON_COLUMN("posting.docs", "For each document the distance to the one before, and two counts.")
    ON_TABLE("receipt", "What a recall has shown, and why.")
    ON_COLUMN("receipt.shown", "Ids of what it shows, as a JSON array.")
    ON_TABLE("replay", "Blocks of memory that are in running conversations.")
    ON_TABLE("given", "Which receipts gave a message or memory to a model.")
    ON_TABLE("review", "What recall held back until somebody decides.")
    ON_TABLE("day_count", "What a pool did on each day.")
    ON_TABLE("bar", "What may not be recalled again, as hashes without text.")
    ON_TABLE("signal", "Messages that wait to be distilled.")
    ON_TABLE("waiting", "Sessions that have such messages, when they are due, and who has them.")
    ON_TABLE("work", "The log of background work.")
    ON_TABLE("mirror", "Changed memories that a second place has yet to follow.")
    ON_TABLE("vector_set", "Which model the vectors are of; at most one row.")
    ON_TABLE("vector", "A vector of each text; NULL: its text was erased.")
    ON_TABLE("token_vector", "Vectors of the single tokens of a text.")
    ON_TABLE("vector_todo", "Texts that wait for a vector; run_at NULL: given up.")
    ON_TABLE("token", "Access tokens, as the hash of what a client shows.")
    ON_TABLE("\"user\"", "People who registered.")
    ON_TABLE("role", "Who is more than a member.")
    ON_TABLE("setting", "Settings that were changed while a server ran.")
    ON_TABLE("fact", "What the store notes about itself.")
    ON_TABLE("erasure", "What was erased, without content.")
    ON_TABLE("erasure_hash", "Keyed hashes of what was erased.")
    ON_TABLE("undo", "What can be put back for a while.");
/* clang-format on */
