/* connection_int.h - a connection as its statements see it: what is sent on it, and waited for. */
#pragma once

#include "store/postgres/connection.h"
#include "store/postgres/pipeline.h"

struct ahead;

enum { SETTINGS_MAX = 12 };

struct pg_settings {
    struct pg_setting {
        const char *name;
        char value[64];
    } v[SETTINGS_MAX];
    size_t n;
    char local[1000];   /* a statement that sets them for a transaction */
    const char *tables; /* pg_own_tables; or NULL */
};

struct pg {
    struct pipeline pipe;
    struct pg_settings settings; /* of each transaction, behind a pooler */
    char state[6];               /* SQLSTATE of the last failure */
    char why[300];
    int64_t changes, total, last_row, sent;
    const char *begin; /* of a transaction that is still to begin; or NULL */
    bool is_in_transaction, only_reads;
    struct ahead *ahead; /* asked before somebody needs it (statement.c) */
    PGresult *noted;     /* of pg_note */
    size_t n;
    struct pg_stmt *statements[];
};

/* The last failure, as words. */
void pg_note_words(struct pg *pg, const char *state, const char *why);

/* A text of one statement, sent behind all that is to come before it. */
void pg_send_text(struct pg *pg, const char *text, struct owed owed);
/* Before anything else is sent: the transaction, and behind a pooler what it begins with. */
void pg_send_begin(struct pg *pg);
/* Waits for all that was sent; false: a part of it failed. */
bool pg_settle(struct pg *pg);
/* The same; what the last statement has given, or NULL when anything failed. */
PGresult *pg_wait_for(struct pg *pg, PGresult **r);
/* Sends the text and waits. */
PGresult *pg_run_binary(struct pg *pg, const char *text);

void pg_statement_free(struct pg_stmt *s);
void pg_ahead_forget(struct pg *pg);
