/* schema.c - the tables of a store in PostgreSQL, with what follows from a change of a row. */
#include "store/postgres/schema.h"

#include "store/postgres/notes_schema.h"
#include "store/postgres/schema_tables.h"

/*
 * What SQLite's triggers do is done by functions in PL/pgSQL, which every database has: no
 * extension and no right of a superuser is needed. The first functions are ones that SQLite has and
 * PostgreSQL does not; statements of sql.def use them.
 */

/* clang-format off */
static const char functions[] =
    "CREATE FUNCTION max(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE"
    " AS 'SELECT greatest($1, $2)';"
    "CREATE FUNCTION max(bigint, bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE"
    " PARALLEL SAFE AS 'SELECT greatest($1, $2, $3)';"
    "CREATE FUNCTION min(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE"
    " AS 'SELECT least($1, $2)';"
    "CREATE FUNCTION json_each(text) RETURNS TABLE(value text) LANGUAGE sql IMMUTABLE PARALLEL SAFE"
    " AS 'SELECT json_array_elements_text(CASE $1 WHEN '''' THEN ''[]'' ELSE $1 END::json)';"
    /* A quarter of the length in UTF-16. */
    "CREATE FUNCTION tokens(text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE"
    " AS 'SELECT ((length($1) + length(regexp_replace($1, ''[^\\U00010000-\\U0010FFFF]'', '''',"
    " ''g'')) + 3) / 4)::bigint';"
    /* Days since 1970, also before. */
    "CREATE FUNCTION day_of(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE"
    " AS 'SELECT ($1 - ($1 % 86400000 + 86400000) % 86400000) / 86400000';";

/* Whether the second, in lower case, is in the first, in any case. ICU knows the case of all
 * letters; a server without it knows what the database's own locale does. */
#define HOLDS(collation)                                                                           \
    "CREATE FUNCTION holds(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE"       \
    " AS 'SELECT $2 = '''' OR strpos(lower($1 " collation "), $2) > 0'"

/* --- what follows from a change of a row --- */

#define MEMORY_BYTES(row)                                                                          \
    "octet_length(" row ".content) + octet_length(" row ".metadata) + octet_length(" row ".tags)"
#define KIND(row)                                                                                  \
    row ".layer, " row ".type, " row ".category, " row ".origin, (" row ".valid_to <> 0)::int"
#define KEY "layer, type, category, origin, is_closed"
#define COUNT_UP(table, more, more_of)                                                             \
    " INSERT INTO " table " VALUES(NEW.pool, " more_of KIND("NEW") ", 1)"                          \
    " ON CONFLICT(pool, " more KEY ") DO UPDATE SET n = " table ".n + 1;"
#define COUNT_DOWN(table, more, more_of)                                                           \
    " UPDATE " table " SET n = n - 1 WHERE (pool, " more KEY ") = (OLD.pool, " more_of             \
    KIND("OLD") ");"                                                                               \
    " DELETE FROM " table " WHERE (pool, " more KEY ") = (OLD.pool, " more_of KIND("OLD") ")"      \
    " AND n = 0;"
#define TALLY_UP COUNT_UP("memory_tally", "", "")
#define TALLY_DOWN COUNT_DOWN("memory_tally", "", "")
#define DAY_UP COUNT_UP("memory_day", "day, ", "day_of(NEW.created), ")
#define DAY_DOWN COUNT_DOWN("memory_day", "day, ", "day_of(OLD.created), ")
#define TO_MIRROR(row)                                                                             \
    " INSERT INTO mirror(\"user\", space, id) SELECT p.\"user\", p.space, " row ".id"            \
    " FROM pool AS p WHERE p.id = " row ".pool"                                                    \
    " AND EXISTS (SELECT 1 FROM fact WHERE name = 'mirror')"                                       \
    " ON CONFLICT(\"user\", space, id) DO UPDATE SET no = DEFAULT, tries = 0, run_at = 0;"
#define TRIGGER(table, event, name, body)                                                          \
    "CREATE FUNCTION " name "() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN" body                  \
    " RETURN NULL; END$$;"                                                                         \
    "CREATE TRIGGER " name " AFTER " event " ON " table                                            \
    " FOR EACH ROW EXECUTE FUNCTION " name "();"
#define BYTES(table, columns, added, erased)                                                       \
    TRIGGER(table, "INSERT", table "_bytes_added",                                                 \
            " UPDATE pool SET bytes = bytes + " added " WHERE id = NEW.pool;")                     \
    TRIGGER(table, "UPDATE OF " columns, table "_bytes_changed",                                   \
            " UPDATE pool SET bytes = bytes + " added " - (" erased ") WHERE id = NEW.pool;")      \
    TRIGGER(table, "DELETE", table "_bytes_erased",                                                \
            " UPDATE pool SET bytes = bytes - (" erased ") WHERE id = OLD.pool;")

static const char triggers[] =
    TRIGGER("memory", "INSERT", "memory_added",
            " IF NEW.valid_to = 0 THEN" TO_MIRROR("NEW") " END IF;" TALLY_UP DAY_UP)
    TRIGGER("memory", "DELETE", "memory_erased",
            " IF OLD.valid_to = 0 THEN" TO_MIRROR("OLD") " END IF;" TALLY_DOWN DAY_DOWN
            " DELETE FROM review WHERE pool = OLD.pool AND id = OLD.id;"
            " DELETE FROM revision WHERE memory = OLD.no;")
    TRIGGER("memory", "UPDATE", "memory_changed",
            " IF (NEW.content, NEW.key, NEW.type, NEW.category, NEW.session, NEW.metadata,"
            " NEW.tags, NEW.importance, NEW.expires, NEW.valid_to) IS DISTINCT FROM (OLD.content,"
            " OLD.key, OLD.type, OLD.category, OLD.session, OLD.metadata, OLD.tags,"
            " OLD.importance, OLD.expires, OLD.valid_to) THEN" TO_MIRROR("NEW") " END IF;"
            " IF (" KIND("NEW") ") <> (" KIND("OLD") ") THEN" TALLY_DOWN TALLY_UP " END IF;"
            " IF (" KIND("NEW") ", NEW.created) <> (" KIND("OLD") ", OLD.created) THEN"
            DAY_DOWN DAY_UP " END IF;"
            " IF NEW.content <> OLD.content THEN DELETE FROM replay WHERE pool = NEW.pool AND"
            " EXISTS (SELECT 1 FROM json_each(replay.told) AS one WHERE one.value = NEW.id);"
            " END IF;")
    BYTES("memory", "content, metadata, tags", MEMORY_BYTES("NEW"), MEMORY_BYTES("OLD"))
    BYTES("message", "text, says", "octet_length(NEW.text) + octet_length(NEW.says)",
          "octet_length(OLD.text) + octet_length(OLD.says)")
    BYTES("session", "title, metadata", "octet_length(NEW.title) + octet_length(NEW.metadata)",
          "octet_length(OLD.title) + octet_length(OLD.metadata)")
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

/* clang-format on */
static const char *const first[] = {functions, pg_tables,       triggers,
                                    undo,      pg_notes_schema, pg_comments};

/*
 * Letters are folded one by one, as in SQLite: those that lower() maps to two, or by their place in
 * a word, are mapped before. In a JSON text a byte of 0 is the letter that it is in a column
 * (values.c).
 */
#define HOLDS_2(collation)                                                                         \
    "CREATE OR REPLACE FUNCTION holds(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE"          \
    " PARALLEL SAFE AS 'SELECT $2 = '''' OR strpos(lower(translate($1, ''\u0130\u03A3'',"          \
    " ''i\u03C3'') " collation "), $2) > 0'"
/* clang-format off */
/*
 * What a statement counts is noted, and added up when its transaction ends: a row of counts that
 * one transaction changes a thousand times would have a thousand versions, which each change walks
 * through. Nobody else sees the notes, since the transaction deletes them.
 */
#define OF(row) "(" row ".layer, " row ".type, " row ".category, " row ".origin, " row ".is_closed)"
#define NOTE(row, n)                                                                               \
    " INSERT INTO tally_note VALUES(" row ".pool, 0, " n ", day_of(" row ".created),"              \
    " " KIND(row) ");"
#define NOTE_BYTES(table, name, row, bytes)                                                        \
    "CREATE OR REPLACE FUNCTION " table "_bytes_" name "() RETURNS trigger LANGUAGE plpgsql AS"    \
    " $$BEGIN INSERT INTO tally_note(pool, bytes, n) VALUES(" row ".pool, " bytes ", 0);"          \
    " RETURN NULL; END$$;"
#define NOTE_ALL_BYTES(table, added, erased)                                                       \
    NOTE_BYTES(table, "added", "NEW", added)                                                       \
    NOTE_BYTES(table, "changed", "NEW", added " - (" erased ")")                                   \
    NOTE_BYTES(table, "erased", "OLD", "-(" erased ")")
#define ADD_UP(table, more, same_day)                                                              \
    " INSERT INTO " table "(pool, " more KEY ", n) SELECT p, " more KEY ", sum(c.n)::bigint"       \
    " FROM tally_note AS c WHERE c.pool = p AND c.n <> 0 GROUP BY " more KEY                       \
    " HAVING sum(c.n) <> 0"                                                                        \
    " ON CONFLICT(pool, " more KEY ") DO UPDATE SET n = " table ".n + excluded.n;"                 \
    " DELETE FROM " table " AS t WHERE t.pool = p AND t.n = 0 AND EXISTS (SELECT 1 FROM"           \
    " tally_note AS c WHERE c.pool = p AND c.n < 0 AND " same_day OF("t") " = " OF("c") ");"
#define REPLACED(name, body)                                                                       \
    "CREATE OR REPLACE FUNCTION " name "() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN" body       \
    " RETURN NULL; END$$;"
static const char step_2[] =
    "CREATE TABLE tally_note(pool" NUMBER ", bytes" NUMBER ", n" NUMBER ", day bigint,"
    " layer bigint, type bigint, category text COLLATE \"C\", origin bigint, is_closed bigint);"
    "CREATE INDEX tally_note_pool ON tally_note(pool);"
    REPLACED("memory_added", " IF NEW.valid_to = 0 THEN" TO_MIRROR("NEW") " END IF;"
             NOTE("NEW", "1"))
    REPLACED("memory_erased", " IF OLD.valid_to = 0 THEN" TO_MIRROR("OLD") " END IF;"
             NOTE("OLD", "-1")
             " DELETE FROM review WHERE pool = OLD.pool AND id = OLD.id;"
             " DELETE FROM revision WHERE memory = OLD.no;")
    REPLACED("memory_changed",
             " IF (NEW.content, NEW.key, NEW.type, NEW.category, NEW.session, NEW.metadata,"
             " NEW.tags, NEW.importance, NEW.expires, NEW.valid_to) IS DISTINCT FROM (OLD.content,"
             " OLD.key, OLD.type, OLD.category, OLD.session, OLD.metadata, OLD.tags,"
             " OLD.importance, OLD.expires, OLD.valid_to) THEN" TO_MIRROR("NEW") " END IF;"
             " IF (" KIND("NEW") ", NEW.created) <> (" KIND("OLD") ", OLD.created) THEN"
             NOTE("OLD", "-1") NOTE("NEW", "1") " END IF;"
             " IF NEW.content <> OLD.content THEN DELETE FROM replay WHERE pool = NEW.pool AND"
             " EXISTS (SELECT 1 FROM json_each(replay.told) AS one WHERE one.value = NEW.id);"
             " END IF;")
    NOTE_ALL_BYTES("memory", MEMORY_BYTES("NEW"), MEMORY_BYTES("OLD"))
    NOTE_ALL_BYTES("message", "octet_length(NEW.text) + octet_length(NEW.says)",
                   "octet_length(OLD.text) + octet_length(OLD.says)")
    NOTE_ALL_BYTES("session", "octet_length(NEW.title) + octet_length(NEW.metadata)",
                   "octet_length(OLD.title) + octet_length(OLD.metadata)")
    /* Runs for each note, and does all at the first. */
    "CREATE FUNCTION tally_add_up() RETURNS trigger LANGUAGE plpgsql AS $$DECLARE p bigint; BEGIN"
    " IF current_setting('rememberd.tallied', true) = pg_current_xact_id()::text THEN"
    " RETURN NULL; END IF;"
    " PERFORM set_config('rememberd.tallied', pg_current_xact_id()::text, true);"
    " FOR p IN SELECT DISTINCT pool FROM tally_note ORDER BY pool LOOP"
    ADD_UP("memory_tally", "", "") ADD_UP("memory_day", "day, ", "t.day = c.day AND ")
    " UPDATE pool SET bytes = bytes + (SELECT sum(c.bytes)::bigint FROM tally_note AS c"
    " WHERE c.pool = p) WHERE id = p;"
    " DELETE FROM tally_note AS c WHERE c.pool = p; END LOOP; RETURN NULL; END$$;"
    "CREATE CONSTRAINT TRIGGER tally_add_up AFTER INSERT ON tally_note DEFERRABLE INITIALLY"
    " DEFERRED FOR EACH ROW EXECUTE FUNCTION tally_add_up();"
    ON_TABLE("tally_note", "Counts of a transaction that is running; empty when it ends.")
    "CREATE OR REPLACE FUNCTION json_each(text) RETURNS TABLE(value text) LANGUAGE sql IMMUTABLE"
    " PARALLEL SAFE AS 'SELECT json_array_elements_text(CASE WHEN $1 = '''' THEN ''[]''"
    " WHEN strpos($1, ''\\u0000'') = 0 THEN $1 ELSE regexp_replace($1,"
    " ''(?<!\\\\)((?:\\\\\\\\)*)\\\\u0000'', ''\\1\U0010FF00'', ''g'') END::json)';"
    ON_COLUMN("message.text", "A byte that PostgreSQL cannot hold in a text is the letter"
              " U+10FF00 + byte; so in all texts.")
    ON_COLUMN("memory.layer", "0 fact, 1 episode, 2 identity, 3 summary.")
    ON_COLUMN("receipt.body", "The answer of the API, as JSON.")
    ON_COLUMN("waiting.owner", "The number of an advisory lock of the server at work; 0: nobody.")
    ON_COLUMN("undo.changes", "Rows before and after, as JSON.")
    ON_COLUMN("fact.name", "schema: the version; serves: the oldest rememberd that may serve it.");

/*
 * Of notes a transaction sees its own, and finds them by its number among those that wait for
 * VACUUM; a crash may empty the table. A memory makes one note. What a use of a memory changes is
 * in no index, so that the row stays where it is (HOT); so do rows of counts and of words, in pages
 * that have room for it. Rows that come and go are cleared away early.
 */
#define NOTE_MEMORY(row, n, bytes)                                                                 \
    " INSERT INTO tally_note VALUES(" row ".pool, " bytes ", " n ", day_of(" row ".created),"      \
    " " KIND(row) ");"
#define MINE "c.xact = x AND c.pool = p"
#define ADD_UP_MINE(table, more, same_day)                                                         \
    " INSERT INTO " table "(pool, " more KEY ", n) SELECT p, " more KEY ", sum(c.n)::bigint"       \
    " FROM tally_note AS c WHERE " MINE " AND c.n <> 0 GROUP BY " more KEY                         \
    " HAVING sum(c.n) <> 0"                                                                        \
    " ON CONFLICT(pool, " more KEY ") DO UPDATE SET n = " table ".n + excluded.n;"                 \
    " DELETE FROM " table " AS t WHERE t.pool = p AND t.n = 0 AND EXISTS (SELECT 1 FROM"           \
    " tally_note AS c WHERE " MINE " AND c.n < 0 AND " same_day OF("t") " = " OF("c") ");"
#define VACUUMED(table) "ALTER TABLE " table " SET (autovacuum_vacuum_scale_factor = 0.05);"
static const char step_3[] =
    "DROP INDEX tally_note_pool; ALTER TABLE tally_note SET UNLOGGED;"
    "ALTER TABLE tally_note ADD COLUMN xact bigint NOT NULL"
    " DEFAULT pg_current_xact_id()::text::bigint;"
    "CREATE INDEX tally_note_mine ON tally_note(xact, pool);"
    "DROP TRIGGER IF EXISTS memory_bytes_added ON memory;"
    "DROP TRIGGER IF EXISTS memory_bytes_erased ON memory;"
    REPLACED("memory_added", " IF NEW.valid_to = 0 THEN" TO_MIRROR("NEW") " END IF;"
             NOTE_MEMORY("NEW", "1", MEMORY_BYTES("NEW")))
    REPLACED("memory_erased", " IF OLD.valid_to = 0 THEN" TO_MIRROR("OLD") " END IF;"
             NOTE_MEMORY("OLD", "-1", "-(" MEMORY_BYTES("OLD") ")")
             " DELETE FROM review WHERE pool = OLD.pool AND id = OLD.id;"
             " DELETE FROM revision WHERE memory = OLD.no;")
    "CREATE OR REPLACE FUNCTION tally_add_up() RETURNS trigger LANGUAGE plpgsql"
    " SET enable_seqscan TO off SET enable_bitmapscan TO off AS $$DECLARE p bigint;"
    " x bigint := pg_current_xact_id()::text::bigint; BEGIN"
    " IF current_setting('rememberd.tallied', true) = x::text THEN RETURN NULL; END IF;"
    " PERFORM set_config('rememberd.tallied', x::text, true);"
    " FOR p IN SELECT DISTINCT pool FROM tally_note WHERE xact = x ORDER BY pool LOOP"
    ADD_UP_MINE("memory_tally", "", "") ADD_UP_MINE("memory_day", "day, ", "t.day = c.day AND ")
    " UPDATE pool SET bytes = bytes + (SELECT sum(c.bytes)::bigint FROM tally_note AS c WHERE "
    MINE ") WHERE id = p;"
    " DELETE FROM tally_note AS c WHERE " MINE "; END LOOP; RETURN NULL; END$$;"
    "DROP INDEX IF EXISTS memory_used; DROP INDEX IF EXISTS memory_uses;"
    "DROP INDEX IF EXISTS given_receipt; DROP INDEX IF EXISTS vector_any;"
    "ALTER TABLE pool SET (fillfactor = 60); ALTER TABLE memory SET (fillfactor = 90);"
    "ALTER TABLE posting SET (fillfactor = 90);"
    "ALTER TABLE memory_tally SET (fillfactor = 80); ALTER TABLE memory_day SET (fillfactor = 80);"
    "ALTER TABLE tally_note SET (autovacuum_vacuum_scale_factor = 0,"
    " autovacuum_vacuum_threshold = 5000);"
    VACUUMED("pool") VACUUMED("posting") VACUUMED("memory_tally") VACUUMED("memory_day")
    VACUUMED("signal") VACUUMED("waiting") VACUUMED("vector_todo") VACUUMED("mirror");

/* A server of the version before finds nothing in fresh rows of the words index. What only has
 * bytes, as a message has, changes no counts of memories. */
static const char step_4[] =
    "CREATE OR REPLACE FUNCTION tally_add_up() RETURNS trigger LANGUAGE plpgsql"
    " SET enable_seqscan TO off SET enable_bitmapscan TO off AS $$DECLARE p bigint; has boolean;"
    " x bigint := pg_current_xact_id()::text::bigint; BEGIN"
    " IF current_setting('rememberd.tallied', true) = x::text THEN RETURN NULL; END IF;"
    " PERFORM set_config('rememberd.tallied', x::text, true);"
    " FOR p, has IN SELECT pool, bool_or(n <> 0) FROM tally_note WHERE xact = x GROUP BY pool"
    " ORDER BY pool LOOP IF has THEN"
    ADD_UP_MINE("memory_tally", "", "") ADD_UP_MINE("memory_day", "day, ", "t.day = c.day AND ")
    " END IF;"
    " UPDATE pool SET bytes = bytes + (SELECT sum(c.bytes)::bigint FROM tally_note AS c WHERE "
    MINE ") WHERE id = p;"
    " DELETE FROM tally_note AS c WHERE " MINE "; END LOOP; RETURN NULL; END$$;"
    "ALTER TABLE pool ADD COLUMN fresh" COUNT ";"
    ON_COLUMN("pool.fresh", "How many words of documents are not in blocks of the words index.")
    ON_COLUMN("posting.word", "Without a word, the row has all words of the document `first`.");
/* clang-format on */

/*
 * A step only adds, or changes functions and comments: what a server of the version before reads
 * and writes stays as it is. So that server goes on serving; `serves` is the oldest version that
 * can. A step that needs more says its own version there, and all servers have to stop for it.
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
static enum status make_holds(struct ctx *ctx, struct pg *pg, const char *icu, const char *other)
{
    int64_t has_icu;
    TRY(pg_int(ctx, pg, "SELECT count(*) FROM pg_collation WHERE collname = 'und-x-icu'",
               &has_icu));
    return pg_exec(ctx, pg, has_icu ? icu : other);
}

/* Steps behind a version, and the note of the new one. */
static enum status upgrade_from(struct ctx *ctx, struct pg *pg, int64_t version)
{
    if (version < 2)
        TRY(make_holds(ctx, pg, HOLDS_2("COLLATE \"und-x-icu\""), HOLDS_2("")));
    for (int64_t v = version; v < VERSION; v++)
        TRY(pg_exec(ctx, pg, steps[v - 1].text));
    return pg_exec(
        ctx, pg,
        str_printf(&ctx->arena,
                   "INSERT INTO fact(name, value) VALUES('schema', '%d'), ('serves', '%d')"
                   " ON CONFLICT(name) DO UPDATE SET value = excluded.value",
                   VERSION, steps[VERSION - 2].serves)
            .p);
}

static enum status make_tables(struct ctx *ctx, struct pg *pg)
{
    TRY(make_holds(ctx, pg, HOLDS("COLLATE \"und-x-icu\""), HOLDS("")));
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        TRY(pg_exec(ctx, pg, first[i]));
    return upgrade_from(ctx, pg, 1);
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
    TRY(pg_int(ctx, pg, "SELECT 1 FROM pg_advisory_xact_lock(5933, 1)", &n));
    TRY(pg_int(ctx, pg,
               str_printf(a, "SELECT count(*) FROM pg_namespace WHERE nspname = '" S_FMT "'",
                          S_ARG(schema))
                   .p,
               &n));
    if (!n && !makes)
        return refuse_empty(ctx, schema);
    if (!n)
        TRY(pg_exec(ctx, pg, str_printf(a, "CREATE SCHEMA \"" S_FMT "\"", S_ARG(schema)).p));
    TRY(pg_int(ctx, pg,
               str_printf(a, "SELECT count(*) FROM pg_tables WHERE schemaname = '" S_FMT "'",
                          S_ARG(schema))
                   .p,
               &n));
    if (n)
        return check_version(ctx, pg, schema);
    return makes ? make_tables(ctx, pg) : refuse_empty(ctx, schema);
}

enum status pg_schema_bring(struct ctx *ctx, struct pg *pg, str schema, bool makes)
{
    TRY(pg_exec(ctx, pg, "BEGIN"));
    enum status status = bring_it(ctx, pg, schema, makes);
    if (status == OK)
        return pg_exec(ctx, pg, "COMMIT");
    struct ctx quiet = ctx_detached(ctx);
    (void)!pg_exec(&quiet, pg, "ROLLBACK");
    ctx_free(&quiet);
    return status;
}
