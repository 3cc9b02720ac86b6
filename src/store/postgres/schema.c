/* schema.c - the tables of a store in PostgreSQL, with what follows from a change of a row. */
#include "store/postgres/schema.h"

#include "store/postgres/connection_int.h"
#include "store/postgres/schema_tables.h"

/*
 * What SQLite's triggers do is done by functions in PL/pgSQL, which every database has: no
 * extension and no right of a superuser is needed. The first functions are ones that SQLite has and
 * PostgreSQL does not; statements of sql.def use them.
 *
 * A function that a step has changed stands here once, as it is now: an upgrade is one transaction,
 * so that nobody sees what it was in between.
 */

/* clang-format off */
static const char plain_functions[] =
    "CREATE FUNCTION max(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE"
    " AS 'SELECT greatest($1, $2)';"
    "CREATE FUNCTION max(bigint, bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE"
    " PARALLEL SAFE AS 'SELECT greatest($1, $2, $3)';"
    "CREATE FUNCTION min(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE"
    " AS 'SELECT least($1, $2)';"
    /* A quarter of the length in UTF-16. */
    "CREATE FUNCTION tokens(text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE"
    " AS 'SELECT ((length($1) + length(regexp_replace($1, ''[^\\U00010000-\\U0010FFFF]'', '''',"
    " ''g'')) + 3) / 4)::bigint';"
    /* Days since 1970, also before. */
    "CREATE FUNCTION day_of(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE"
    " AS 'SELECT ($1 - ($1 % 86400000 + 86400000) % 86400000) / 86400000';";

/*
 * Whether the second, in lower case, is in the first, in any case. ICU knows the case of all
 * letters; a server without it knows what the database's own locale does. Letters are folded one by
 * one, as in SQLite: those that lower() maps to two, or by their place in a word, are mapped
 * before.
 */
#define HOLDS(collation)                                                                           \
    "CREATE OR REPLACE FUNCTION holds(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE"          \
    " PARALLEL SAFE AS 'SELECT $2 = '''' OR strpos(lower(translate($1, ''\u0130\u03A3'',"          \
    " ''i\u03C3'') " collation "), $2) > 0'"

/* --- what follows from a change of a row --- */

#define MEMORY_BYTES(row)                                                                          \
    "octet_length(" row ".content) + octet_length(" row ".metadata) + octet_length(" row ".tags)"
#define KIND(row)                                                                                  \
    row ".layer, " row ".type, " row ".category, " row ".origin, (" row ".valid_to <> 0)::int"
#define KEY "layer, type, category, origin, is_closed"
#define TO_MIRROR(row)                                                                             \
    " INSERT INTO mirror(\"user\", space, id) SELECT p.\"user\", p.space, " row ".id"            \
    " FROM pool AS p WHERE p.id = " row ".pool"                                                    \
    " AND EXISTS (SELECT 1 FROM fact WHERE name = 'mirror')"                                       \
    " ON CONFLICT(\"user\", space, id) DO UPDATE SET no = DEFAULT, tries = 0, run_at = 0;"
#define FUNCTION(name, body)                                                                       \
    "CREATE OR REPLACE FUNCTION " name "() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN" body       \
    " RETURN NULL; END$$;"

/*
 * What a statement counts is noted, and added up when its transaction ends: a row of counts that
 * one transaction changes a thousand times would have a thousand versions, which each change walks
 * through. Of notes a transaction sees its own, finds them by its number among those that wait for
 * VACUUM, and deletes them; a crash may empty the table. A memory makes one note. What only has
 * bytes, as a message has, changes no counts of memories.
 */
#define OF(row) "(" row ".layer, " row ".type, " row ".category, " row ".origin, " row ".is_closed)"
#define NOTE_MEMORY(row, n, bytes)                                                                 \
    " INSERT INTO tally_note VALUES(" row ".pool, " bytes ", " n ", day_of(" row ".created),"      \
    " " KIND(row) ");"
#define NOTE_BYTES(table, name, row, bytes)                                                        \
    FUNCTION(table "_bytes_" name,                                                                 \
             " INSERT INTO tally_note(pool, bytes, n) VALUES(" row ".pool, " bytes ", 0);")
#define NOTE_ALL_BYTES(table, added, erased)                                                       \
    NOTE_BYTES(table, "added", "NEW", added)                                                       \
    NOTE_BYTES(table, "changed", "NEW", added " - (" erased ")")                                   \
    NOTE_BYTES(table, "erased", "OLD", "-(" erased ")")
#define MINE "c.xact = x AND c.pool = p"
#define ADD_UP(table, more, same_day)                                                              \
    " INSERT INTO " table "(pool, " more KEY ", n) SELECT p, " more KEY ", sum(c.n)::bigint"       \
    " FROM tally_note AS c WHERE " MINE " AND c.n <> 0 GROUP BY " more KEY                         \
    " HAVING sum(c.n) <> 0"                                                                        \
    " ON CONFLICT(pool, " more KEY ") DO UPDATE SET n = " table ".n + excluded.n;"                 \
    " DELETE FROM " table " AS t WHERE t.pool = p AND t.n = 0 AND EXISTS (SELECT 1 FROM"           \
    " tally_note AS c WHERE " MINE " AND c.n < 0 AND " same_day OF("t") " = " OF("c") ");"
static const char functions[] =
    "CREATE OR REPLACE FUNCTION json_each(text) RETURNS TABLE(value text) LANGUAGE sql IMMUTABLE"
    " PARALLEL SAFE AS 'SELECT json_array_elements_text(CASE WHEN $1 = '''' THEN ''[]''"
    " WHEN strpos($1, ''\\u0000'') = 0 THEN $1 ELSE regexp_replace($1,"
    " ''(?<!\\\\)((?:\\\\\\\\)*)\\\\u0000'', ''\\1\U0010FF00'', ''g'') END::json)';"
    FUNCTION("memory_added", " IF NEW.valid_to = 0 THEN" TO_MIRROR("NEW") " END IF;"
             NOTE_MEMORY("NEW", "1", MEMORY_BYTES("NEW")))
    FUNCTION("memory_erased", " IF OLD.valid_to = 0 THEN" TO_MIRROR("OLD") " END IF;"
             NOTE_MEMORY("OLD", "-1", "-(" MEMORY_BYTES("OLD") ")")
             " DELETE FROM review WHERE pool = OLD.pool AND id = OLD.id;"
             " DELETE FROM revision WHERE memory = OLD.no;")
    FUNCTION("memory_changed",
             " IF (NEW.content, NEW.key, NEW.type, NEW.category, NEW.session, NEW.metadata,"
             " NEW.tags, NEW.importance, NEW.expires, NEW.valid_to) IS DISTINCT FROM (OLD.content,"
             " OLD.key, OLD.type, OLD.category, OLD.session, OLD.metadata, OLD.tags,"
             " OLD.importance, OLD.expires, OLD.valid_to) THEN" TO_MIRROR("NEW") " END IF;"
             " IF (" KIND("NEW") ", NEW.created) <> (" KIND("OLD") ", OLD.created) THEN"
             NOTE_MEMORY("OLD", "-1", "0") NOTE_MEMORY("NEW", "1", "0") " END IF;"
             " IF NEW.content <> OLD.content THEN DELETE FROM replay WHERE pool = NEW.pool AND"
             " EXISTS (SELECT 1 FROM json_each(replay.told) AS one WHERE one.value = NEW.id);"
             " END IF;")
    NOTE_ALL_BYTES("memory", MEMORY_BYTES("NEW"), MEMORY_BYTES("OLD"))
    NOTE_ALL_BYTES("message", "octet_length(NEW.text) + octet_length(NEW.says)",
                   "octet_length(OLD.text) + octet_length(OLD.says)")
    NOTE_ALL_BYTES("session", "octet_length(NEW.title) + octet_length(NEW.metadata)",
                   "octet_length(OLD.title) + octet_length(OLD.metadata)")
    /* Runs for each note, and does all at the first. */
    "CREATE OR REPLACE FUNCTION tally_add_up() RETURNS trigger LANGUAGE plpgsql"
    " SET enable_seqscan TO off SET enable_bitmapscan TO off AS $$DECLARE p bigint; has boolean;"
    " x bigint := pg_current_xact_id()::text::bigint; BEGIN"
    " IF current_setting('rememberd.tallied', true) = x::text THEN RETURN NULL; END IF;"
    " PERFORM set_config('rememberd.tallied', x::text, true);"
    " FOR p, has IN SELECT pool, bool_or(n <> 0) FROM tally_note WHERE xact = x GROUP BY pool"
    " ORDER BY pool LOOP IF has THEN"
    ADD_UP("memory_tally", "", "") ADD_UP("memory_day", "day, ", "t.day = c.day AND ")
    " END IF;"
    " UPDATE pool SET bytes = bytes + (SELECT sum(c.bytes)::bigint FROM tally_note AS c WHERE "
    MINE ") WHERE id = p;"
    " DELETE FROM tally_note AS c WHERE " MINE "; END LOOP; RETURN NULL; END$$;";

#define CALLS(table, event, name)                                                                  \
    "CREATE TRIGGER " name " AFTER " event " ON " table                                            \
    " FOR EACH ROW EXECUTE FUNCTION " name "();"
#define TRIGGER(table, event, name, body) FUNCTION(name, body) CALLS(table, event, name)
#define BYTES(table, columns)                                                                      \
    CALLS(table, "INSERT", table "_bytes_added")                                                   \
    CALLS(table, "UPDATE OF " columns, table "_bytes_changed")                                     \
    CALLS(table, "DELETE", table "_bytes_erased")
static const char triggers[] =
    CALLS("memory", "INSERT", "memory_added") CALLS("memory", "DELETE", "memory_erased")
    CALLS("memory", "UPDATE", "memory_changed")
    CALLS("memory", "UPDATE OF content, metadata, tags", "memory_bytes_changed")
    BYTES("message", "text, says") BYTES("session", "title, metadata")
    TRIGGER("message", "DELETE", "message_erased",
            " DELETE FROM review WHERE pool = OLD.pool AND id = OLD.id;")
    TRIGGER("receipt", "DELETE", "receipt_erased",
            " DELETE FROM replay WHERE pool = OLD.pool AND receipt = OLD.no;"
            " DELETE FROM given WHERE pool = OLD.pool AND receipt = OLD.no;")
    TRIGGER("pool", "DELETE", "pool_erased", " DELETE FROM day_count WHERE pool = OLD.id;"
            " DELETE FROM posting WHERE pool = OLD.id;")
    TRIGGER("vector", "INSERT OR UPDATE", "vector_changed",
            " IF NEW.v IS NULL THEN"
            " DELETE FROM token_vector WHERE pool = NEW.pool AND doc = NEW.doc; END IF;")
    TRIGGER("vector", "DELETE", "vector_erased",
            " DELETE FROM token_vector WHERE pool = OLD.pool AND doc = OLD.doc;");

/* --- what can be undone --- */

/* undo_note notes rows before and after a change, while a task records (undo_record.c). The record
 * is a JSON array of a row's first and last state; numbers, texts and bytes come back exactly. */
#define UNDO_NOTE(table, key)                                                                      \
    "CREATE TRIGGER undo_note AFTER INSERT OR UPDATE OR DELETE ON " table " FOR EACH ROW"          \
    " WHEN (current_setting('rememberd.undo', true) = 'on')"                                       \
    " EXECUTE FUNCTION undo_note('" key "');"
#define IS_ROW(state)                                                                              \
    "'r.%2$I = ' || " state " || '.%2$I' || CASE WHEN c.tab <> 'revision'"                         \
    " THEN ' AND r.pool = ' || " state " || '.pool' ELSE '' END"
static const char undo[] =
    "CREATE FUNCTION undo_note() RETURNS trigger LANGUAGE plpgsql AS $$DECLARE"
    " was jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;"
    " now jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END; BEGIN"
    " INSERT INTO undoing(tab, key_of, key, was, now) VALUES(TG_TABLE_NAME, TG_ARGV[0],"
    " coalesce(now, was) ->> TG_ARGV[0], was, now); RETURN NULL; END$$;"
    UNDO_NOTE("memory", "no") UNDO_NOTE("message", "doc") UNDO_NOTE("session", "no")
    UNDO_NOTE("receipt", "no") UNDO_NOTE("replay", "receipt") UNDO_NOTE("bar", "no")
    UNDO_NOTE("signal", "doc") UNDO_NOTE("waiting", "session") UNDO_NOTE("review", "id")
    UNDO_NOTE("revision", "no")
    "CREATE FUNCTION undo_changes(bytea) RETURNS TABLE(tab text, key_of text, key text, was jsonb,"
    " now jsonb) LANGUAGE sql STABLE AS 'SELECT * FROM json_to_recordset(convert_from($1,"
    " ''UTF8'')::json) AS c(tab text, key_of text, key text, was jsonb, now jsonb)';"
    /* A row that was changed again stays as it is; one that cannot come back is refused. */
    "CREATE FUNCTION undo_apply(bytea, OUT left_out bigint, OUT refused text) LANGUAGE plpgsql"
    " AS $$DECLARE c record; n bigint; puts text; same text; BEGIN left_out := 0; refused := '';"
    " FOR c IN SELECT * FROM undo_changes($1) AS u"
    " ORDER BY u.was IS NOT NULL, u.now IS NULL LOOP"
    " IF c.now IS NULL THEN EXECUTE format('INSERT INTO %1$I SELECT * FROM"
    " jsonb_populate_record(NULL::%1$I, $1) ON CONFLICT DO NOTHING', c.tab) USING c.was;"
    " ELSIF c.was IS NULL THEN EXECUTE format('DELETE FROM %1$I AS r USING"
    " jsonb_populate_record(NULL::%1$I, $1) AS n WHERE to_jsonb(r) = $1 AND ' ||"
    IS_ROW("'n'") ", c.tab, c.key_of) USING c.now;"
    " ELSE SELECT string_agg(format('%1$I = o.%1$I', key), ', '),"
    " string_agg(format('r.%1$I = n.%1$I', key), ' AND ') INTO puts, same"
    " FROM jsonb_each(c.was) AS e WHERE e.value <> c.now -> e.key;"
    " EXECUTE format('UPDATE %1$I AS r SET %3$s FROM jsonb_populate_record(NULL::%1$I, $1) AS o,"
    " jsonb_populate_record(NULL::%1$I, $2) AS n WHERE %4$s AND ' ||"
    IS_ROW("'n'") ", c.tab, c.key_of, puts, same) USING c.was, c.now; END IF;"
    " GET DIAGNOSTICS n = ROW_COUNT; IF n = 0 THEN"
    " left_out := left_out + (c.tab = 'memory')::int;"
    " IF c.now IS NULL AND c.tab IN ('memory', 'message', 'session') THEN"
    " refused := c.tab; RETURN; END IF; END IF; END LOOP; END$$;";

/* --- what is changed, by name, while a server asks for it --- */

/*
 * The same names as SQLite's temporary triggers give (state/change_events.c), which PostgreSQL has
 * not. The rows go into the connection's temporary table noted (kind, user, space, id). A use of a
 * memory is not noted.
 */
#define NOTES(table, event, body)                                                                  \
    FUNCTION("note_" table, body)                                                                  \
    "CREATE TRIGGER note_change AFTER " event " ON \"" table "\" FOR EACH ROW"                     \
    " WHEN (current_setting('rememberd.notes', true) = 'on') EXECUTE FUNCTION note_" table "();"
#define ADDED(kind, id) " IF TG_OP = 'INSERT' THEN PERFORM note_put('" kind "', NEW.pool, " id ");"
#define ERASED(kind) " ELSIF TG_OP = 'DELETE' THEN PERFORM note_put('" kind "', OLD.pool, OLD.id);"
#define CHANGED(columns, kind)                                                                     \
    " ELSIF " columns("NEW") " IS DISTINCT FROM " columns("OLD")                                   \
    " THEN PERFORM note_put(" kind ", NEW.pool, NEW.id);"
#define OF_USER(row)                                                                               \
    " INSERT INTO noted(kind, \"user\", space, id) VALUES('access', " row ".\"user\", '', '');"
#define ACCESS " IF TG_OP = 'INSERT' THEN" OF_USER("NEW") " ELSE" OF_USER("OLD") " END IF;"
#define OF_SPACE(kind, row)                                                                        \
    " INSERT INTO noted(kind, \"user\", space, id)"                                                \
    " VALUES('" kind "', " row ".\"user\", " row ".space, " row ".space);"
#define MEMORY(r)                                                                                  \
    "(" r ".content, " r ".key, " r ".type, " r ".category, " r ".session, " r ".metadata, "       \
    r ".tags, " r ".importance, " r ".salience, " r ".expires, " r ".created, " r ".valid_from, "  \
    r ".valid_to, " r ".superseded_by)"
#define SESSION(r) "(" r ".title, " r ".metadata)"
#define REVIEW(r) "(" r ".state, " r ".version)"

static const char notes[] =
    "CREATE FUNCTION note_put(kind text, of_pool bigint, what text) RETURNS void LANGUAGE plpgsql"
    " AS $$BEGIN INSERT INTO noted(kind, \"user\", space, id)"
    " SELECT note_put.kind, p.\"user\", p.space, what FROM pool AS p WHERE p.id = of_pool; END$$;"
    NOTES("memory", "INSERT OR UPDATE OR DELETE",
          ADDED("memory.added", "NEW.id") ERASED("memory.erased")
          CHANGED(MEMORY, "CASE WHEN OLD.valid_to = 0 AND NEW.valid_to <> 0 THEN 'memory.closed'"
                          " WHEN OLD.valid_to <> 0 AND NEW.valid_to = 0 THEN 'memory.opened'"
                          " ELSE 'memory.changed' END") " END IF;")
    NOTES("message", "INSERT OR DELETE",
          ADDED("turn.kept", "(SELECT s.id FROM session AS s WHERE s.pool = NEW.pool"
                             " AND s.no = NEW.doc >> 20)") ERASED("message.erased") " END IF;")
    NOTES("session", "INSERT OR UPDATE OR DELETE",
          ADDED("session.added", "NEW.id") ERASED("session.erased")
          CHANGED(SESSION, "'session.changed'") " END IF;")
    NOTES("receipt", "INSERT", ADDED("receipt.written", "NEW.id") " END IF;")
    NOTES("review", "INSERT OR UPDATE OR DELETE",
          ADDED("review.changed", "NEW.id") ERASED("review.changed")
          CHANGED(REVIEW, "'review.changed'") " END IF;")
    NOTES("pool", "INSERT OR DELETE",
          " IF TG_OP = 'INSERT' THEN" OF_SPACE("space.added", "NEW")
          " ELSE" OF_SPACE("space.erased", "OLD") " END IF;")
    NOTES("setting", "INSERT OR UPDATE OR DELETE",
          " IF coalesce(NEW.name, OLD.name) = 'runtime' THEN INSERT INTO noted(kind, \"user\","
          " space, id) VALUES('settings.changed', '', '', ''); END IF;")
    NOTES("token", "INSERT OR DELETE OR UPDATE OF revoked, \"user\"", ACCESS)
    NOTES("role", "INSERT OR DELETE", ACCESS);

/* --- rows that come from another store --- */

/*
 * Triggers of the tables with many rows count each row, which takes longer than to write it. They
 * are off until all rows are there; then the counts are made at once, with the statistics that
 * plans are made by. Nobody else uses the store meanwhile.
 */
#define COUNTED "layer, type, category, origin, (valid_to <> 0)::int"
const char pg_move_begin[] =
    "ALTER TABLE session DISABLE TRIGGER USER; ALTER TABLE message DISABLE TRIGGER USER;"
    "ALTER TABLE memory DISABLE TRIGGER USER; ALTER TABLE vector DISABLE TRIGGER USER;";

const char pg_move_end[] =
    "SET LOCAL statement_timeout TO 0; DELETE FROM memory_tally; DELETE FROM memory_day;"
    "INSERT INTO memory_tally SELECT pool, " COUNTED ", count(*) FROM memory"
    " GROUP BY pool, " COUNTED ";"
    "INSERT INTO memory_day SELECT pool, day_of(created), " COUNTED ", count(*) FROM memory"
    " GROUP BY pool, day_of(created), " COUNTED ";"
    "UPDATE pool SET bytes = all_of.n FROM (SELECT pool, sum(n)::bigint AS n FROM ("
    "SELECT pool, octet_length(title) + octet_length(metadata) AS n FROM session UNION ALL "
    "SELECT pool, octet_length(text) + octet_length(says) FROM message UNION ALL "
    "SELECT pool, octet_length(content) + octet_length(metadata) + octet_length(tags)"
    " FROM memory) AS one GROUP BY pool) AS all_of WHERE all_of.pool = pool.id;"
    "ALTER TABLE session ENABLE TRIGGER USER; ALTER TABLE message ENABLE TRIGGER USER;"
    "ALTER TABLE memory ENABLE TRIGGER USER; ALTER TABLE vector ENABLE TRIGGER USER;"
    "ANALYZE pool, session, message, memory, receipt, vector;";

/* --- steps --- */

static const char *const first[] = {plain_functions, pg_tables, triggers, undo, notes, pg_comments};

static const char step_2[] =
    "CREATE TABLE tally_note(pool" NUMBER ", bytes" NUMBER ", n" NUMBER ", day bigint,"
    " layer bigint, type bigint, category text COLLATE \"C\", origin bigint, is_closed bigint);"
    "CREATE CONSTRAINT TRIGGER tally_add_up AFTER INSERT ON tally_note DEFERRABLE INITIALLY"
    " DEFERRED FOR EACH ROW EXECUTE FUNCTION tally_add_up();"
    ON_TABLE("tally_note", "Counts of a transaction that is running; empty when it ends.")
    ON_COLUMN("message.text", "A byte that PostgreSQL cannot hold in a text is the letter"
              " U+10FF00 + byte; so in all texts.")
    ON_COLUMN("memory.layer", "0 fact, 1 episode, 2 identity, 3 summary.")
    ON_COLUMN("receipt.body", "The answer of the API, as JSON.")
    ON_COLUMN("waiting.owner", "The number of an advisory lock of the server at work; 0: nobody.")
    ON_COLUMN("undo.changes", "Rows before and after, as JSON.")
    ON_COLUMN("fact.name", "schema: the version; serves: the oldest rememberd that may serve it.");

/*
 * What a use of a memory changes is in no index, so that the row stays where it is (HOT); so do
 * rows of counts and of words, in pages that have room for it. Rows that come and go are cleared
 * away early.
 */
#define VACUUMED(table) "ALTER TABLE " table " SET (autovacuum_vacuum_scale_factor = 0.05);"
static const char step_3[] =
    "DROP INDEX IF EXISTS tally_note_pool; ALTER TABLE tally_note SET UNLOGGED;"
    "ALTER TABLE tally_note ADD COLUMN xact bigint NOT NULL"
    " DEFAULT pg_current_xact_id()::text::bigint;"
    "CREATE INDEX tally_note_mine ON tally_note(xact, pool);"
    "DROP TRIGGER IF EXISTS memory_bytes_added ON memory;"
    "DROP TRIGGER IF EXISTS memory_bytes_erased ON memory;"
    "DROP INDEX IF EXISTS memory_used; DROP INDEX IF EXISTS memory_uses;"
    "DROP INDEX IF EXISTS given_receipt; DROP INDEX IF EXISTS vector_any;"
    "ALTER TABLE pool SET (fillfactor = 60); ALTER TABLE memory SET (fillfactor = 90);"
    "ALTER TABLE posting SET (fillfactor = 90);"
    "ALTER TABLE memory_tally SET (fillfactor = 80); ALTER TABLE memory_day SET (fillfactor = 80);"
    "ALTER TABLE tally_note SET (autovacuum_vacuum_scale_factor = 0,"
    " autovacuum_vacuum_threshold = 5000);"
    VACUUMED("pool") VACUUMED("posting") VACUUMED("memory_tally") VACUUMED("memory_day")
    VACUUMED("signal") VACUUMED("waiting") VACUUMED("vector_todo") VACUUMED("mirror");

/* A server of the version before finds nothing in fresh rows of the words index. */
static const char step_4[] =
    "ALTER TABLE pool ADD COLUMN fresh" COUNT ";"
    ON_COLUMN("pool.fresh", "How many words of documents are not in blocks of the words index.")
    ON_COLUMN("posting.word", "Without a word, the row has all words of the document `first`.");
/* clang-format on */

/*
 * A step only adds, or changes comments and the functions above: what a server of the version
 * before reads and writes stays as it is. So that server goes on serving; `serves` is the oldest
 * version that can. A step that needs more says its own version there, and all servers have to stop
 * for it.
 */
static const struct {
    const char *text;
    int serves;
} steps[] = {{step_2, 1}, {step_3, 1}, {step_4, 4}};
enum { VERSION = 1 + sizeof steps / sizeof *steps };

int pg_schema_version(void)
{
    return VERSION;
}

/* A server without ICU folds as the locale of its database does. */
static enum status make_holds(struct ctx *ctx, struct pg *pg)
{
    int64_t has_icu;
    TRY(pg_int(ctx, pg, "SELECT count(*) FROM pg_collation WHERE collname = 'und-x-icu'",
               &has_icu));
    return pg_exec(ctx, pg, has_icu ? HOLDS("COLLATE \"und-x-icu\"") : HOLDS(""));
}

/* Steps behind a version (0: there is nothing yet), and the note of the new one. */
static enum status upgrade_from(struct ctx *ctx, struct pg *pg, int64_t version)
{
    TRY(make_holds(ctx, pg));
    TRY(pg_exec(ctx, pg, functions));
    for (size_t i = 0; !version && i < sizeof first / sizeof *first; i++)
        TRY(pg_exec(ctx, pg, first[i]));
    for (int64_t v = version ? version : 1; v < VERSION; v++)
        TRY(pg_exec(ctx, pg, steps[v - 1].text));
    str note = str_printf(&ctx->arena,
                          "INSERT INTO fact(name, value) VALUES('schema', '%d'), ('serves', '%d')"
                          " ON CONFLICT(name) DO UPDATE SET value = excluded.value",
                          VERSION, steps[VERSION - 2].serves);
    return pg_exec(ctx, pg, note.p);
}

/* Of a schema that has tables. */
static enum status check_version(struct ctx *ctx, struct pg *pg, str schema)
{
    int64_t has_facts, version = 0, serves;
    TRY(pg_int(ctx, pg,
               "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"
               " AND tablename = 'fact'",
               &has_facts));
    if (has_facts)
        TRY(pg_int(ctx, pg, "SELECT value::bigint FROM fact WHERE name = 'schema'", &version));
    if (version < 1)
        return fail(ctx, STORAGE, "the schema '" S_FMT "' is not of rememberd", S_ARG(schema));
    if (version < VERSION)
        return upgrade_from(ctx, pg, version);
    TRY(pg_int(ctx, pg, "SELECT value::bigint FROM fact WHERE name = 'serves'", &serves));
    if (serves <= VERSION)
        return OK;
    return fail(ctx, STORAGE,
                "the schema '" S_FMT "' was written by a newer rememberd (version %lld, this one "
                "knows %d); use the newer one",
                S_ARG(schema), (long long)version, VERSION);
}

static enum status refuse_empty(struct ctx *ctx, str schema)
{
    return fail(ctx, NOT_FOUND,
                "there is nothing of rememberd in the schema '" S_FMT
                "' of PostgreSQL; name another as schema=NAME in the URL, or create it with "
                "rememberd add",
                S_ARG(schema));
}

/* In a transaction. Of two servers that begin at once one waits for the other. */
static enum status bring_it(struct ctx *ctx, struct pg *pg, str schema, bool makes)
{
    struct arena *a = &ctx->arena;
    int64_t n;
    str schemas = str_printf(a, "SELECT count(*) FROM pg_namespace WHERE nspname = '" S_FMT "'",
                             S_ARG(schema));
    str tables = str_printf(a, "SELECT count(*) FROM pg_tables WHERE schemaname = '" S_FMT "'",
                            S_ARG(schema));
    TRY(pg_int(ctx, pg, "SELECT 1 FROM pg_advisory_xact_lock(5933, 1)", &n));
    TRY(pg_int(ctx, pg, schemas.p, &n));
    if (!n && !makes)
        return refuse_empty(ctx, schema);
    if (!n)
        TRY(pg_exec(ctx, pg, str_printf(a, "CREATE SCHEMA \"" S_FMT "\"", S_ARG(schema)).p));
    TRY(pg_int(ctx, pg, tables.p, &n));
    if (n)
        return check_version(ctx, pg, schema);
    return makes ? upgrade_from(ctx, pg, 0) : refuse_empty(ctx, schema);
}

enum status pg_schema_bring(struct ctx *ctx, struct pg *pg, str schema, bool makes)
{
    TRY(pg_exec(ctx, pg, "BEGIN"));
    enum status status = bring_it(ctx, pg, schema, makes);
    if (status == OK)
        return pg_exec(ctx, pg, "COMMIT");
    if (strcmp(pg->state, "42501") == 0) /* waiting gives nobody the right to make tables */
        ctx->detail = 0;
    struct ctx quiet = ctx_detached(ctx);
    (void)!pg_exec(&quiet, pg, "ROLLBACK");
    ctx_free(&quiet);
    return status;
}
