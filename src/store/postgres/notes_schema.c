/* notes_schema.c - triggers that note by name what is changed, while a server asks for it. */
#include "store/postgres/notes_schema.h"

/*
 * The same names as SQLite's temporary triggers give (state/change_events.c), which PostgreSQL has
 * not. A use of a memory is not noted.
 */

/* clang-format off */
#define NOTES(table, event, body)                                                                  \
    "CREATE FUNCTION note_" table "() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN" body            \
    " RETURN NULL; END$$;"                                                                         \
    "CREATE TRIGGER note_change AFTER " event " ON \"" table "\" FOR EACH ROW"                     \
    " WHEN (current_setting('rememberd.notes', true) = 'on') EXECUTE FUNCTION note_" table "();"
#define ADDED(kind, id) " IF TG_OP = 'INSERT' THEN PERFORM note_put('" kind "', NEW.pool, " id ");"
#define ERASED(kind) " ELSIF TG_OP = 'DELETE' THEN PERFORM note_put('" kind "', OLD.pool, OLD.id);"
#define CHANGED(columns, kind)                                                                     \
    " ELSIF " columns("NEW") " IS DISTINCT FROM " columns("OLD")                                   \
    " THEN PERFORM note_put(" kind ", NEW.pool, NEW.id);"
#define OF_USER(kind, row)                                                                         \
    " INSERT INTO noted(kind, \"user\", space, id) VALUES('" kind "', " row ".\"user\", '', '');"
#define OF_SPACE(kind, row)                                                                        \
    " INSERT INTO noted(kind, \"user\", space, id)"                                                \
    " VALUES('" kind "', " row ".\"user\", " row ".space, " row ".space);"
#define MEMORY(r)                                                                                  \
    "(" r ".content, " r ".key, " r ".type, " r ".category, " r ".session, " r ".metadata, "       \
    r ".tags, " r ".importance, " r ".salience, " r ".expires, " r ".created, " r ".valid_from, "  \
    r ".valid_to, " r ".superseded_by)"
#define SESSION(r) "(" r ".title, " r ".metadata)"
#define REVIEW(r) "(" r ".state, " r ".version)"

const char pg_notes_schema[] =
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
    NOTES("token", "INSERT OR DELETE OR UPDATE OF revoked, \"user\"",
          " IF TG_OP = 'INSERT' THEN" OF_USER("access", "NEW") " ELSE" OF_USER("access", "OLD")
          " END IF;")
    NOTES("role", "INSERT OR DELETE",
          " IF TG_OP = 'INSERT' THEN" OF_USER("access", "NEW") " ELSE" OF_USER("access", "OLD")
          " END IF;");
/* clang-format on */
