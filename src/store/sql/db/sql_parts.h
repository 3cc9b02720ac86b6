/* sql_parts.h - parts that statements of sql.def share; db.c reads the texts. */
#pragma once

/* --- where the dialects differ --- */

#define RETURNS(column) BY("", " RETURNING " column)
/* In place of REPLACE: a row of that key gets the new values. */
#define PUT BY("REPLACE", "INSERT")
#define OR_IGNORE BY("OR IGNORE ", "")
#define NOTHING_TWICE BY("", " ON CONFLICT DO NOTHING")
#define NAMED_ONCE BY("", " ON CONFLICT(name) DO UPDATE SET value = excluded.value")
/* A list of numbers as rows, and their order (sqlite.org/carray.html). */
#define LISTED                                                                                     \
    BY("carray(?2) AS d CROSS JOIN ", "unnest(?2) WITH ORDINALITY AS d(value, place) JOIN ")
#define IN_ORDER BY("", " ORDER BY d.place")
#define ALSO_JOIN BY("CROSS JOIN", "JOIN")
#define BY_INDEX(name) BY(" INDEXED BY " name, "")
#define ERASED BY("temp.erased", "pg_temp.erased")

/* --- columns, in the order of their readers --- */

#define SESSION_COLUMNS                                                                            \
    "s.pool, s.no, s.id, (SELECT p.space FROM pool AS p WHERE p.id = s.pool), s.title,"            \
    " s.metadata, s.created, s.updated, s.messages FROM session AS s"
#define MESSAGE_COLUMNS                                                                            \
    "m.doc, m.id, s.id, m.role, m.speaker, m.text, m.ref, m.origin, m.created, m.chain, m.tail,"   \
    " m.is_echo, m.says"
#define ITS_SESSION BY("", "s.pool = m.pool AND ") "s.no = m.doc >> 20"
#define MESSAGE_FROM " FROM message AS m JOIN session AS s ON " ITS_SESSION " "
#define MEMORY_VALUES                                                                              \
    "id, session, layer, type, category, key, content, metadata, tags, importance, salience,"      \
    " uses, last_used, origin, source, created, updated, expires, valid_from, valid_to,"           \
    " superseded_by"
#define MEMORY_COLUMNS                                                                             \
    "no, " MEMORY_VALUES ", (SELECT p.space FROM pool AS p WHERE p.id = memory.pool)"
#define MEMORIES "SELECT " MEMORY_COLUMNS " FROM memory WHERE pool = ?1"
#define REVIEWS                                                                                    \
    "SELECT id, is_memory, version, state, first, last, times FROM review WHERE pool = ?1"
#define WORK_COLUMNS                                                                               \
    "user, space, kind, status, details, model, tokens_in, tokens_out, took_ms, created"
#define TOKEN_COLUMNS                                                                              \
    "id, hash, name, user, space, is_admin, created, expires, revoked, prefix, last_used,"         \
    " is_open, acts_for, parent, scopes, spaces, last_address"
#define USER_COLUMNS                                                                               \
    "id, email, first_name, last_name, attributes, sealed_key, key_preview, created, updated"

/* --- documents --- */

/* The text that a vector is made of: the same as in index.c. For a memory it is the content. */
#define VECTOR_MESSAGE "CASE WHEN m.is_echo <> 0 THEN m.says ELSE m.text END"
#define VECTOR_BLANKS "' \t\n\v\f\r'"
/* The number of a memory as a document. */
#define AS_MEMORY "4611686018427387904"

/* --- others --- */

/* Of PostgreSQL: each server holds an advisory lock of its mark (state/writer_postgres.c). */
#define ABANDONED                                                                                  \
    "owner > 0 AND owner NOT IN (SELECT classid::bigint << 32 | objid::bigint FROM pg_locks"       \
    " WHERE locktype = 'advisory' AND objsubid = 1 AND granted)"
/* How many hold an advisory lock of this schema (state/notes_postgres.c). */
#define LOCKS_HELD(what)                                                                           \
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = " what                \
    " AND objid = (hashtext(current_schema())::bigint & 4294967295)::oid"                          \
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
/* So many parameters. */
#define MARKS_2 "?1, ?2"
#define MARKS_3 MARKS_2 ", ?3"
#define MARKS_4 MARKS_3 ", ?4"
#define MARKS_5 MARKS_4 ", ?5"
#define MARKS_6 MARKS_5 ", ?6"
#define MARKS_7 MARKS_6 ", ?7"
#define MARKS_8 MARKS_7 ", ?8"
#define MARKS_9 MARKS_8 ", ?9"
#define MARKS_10 MARKS_9 ", ?10"
#define MARKS_11 MARKS_10 ", ?11"
#define MARKS_13 MARKS_11 ", ?12, ?13"
#define MARKS_17 MARKS_13 ", ?14, ?15, ?16, ?17"
#define MARKS_22 MARKS_17 ", ?18, ?19, ?20, ?21, ?22"
#define MARKS_23 MARKS_22 ", ?23"
