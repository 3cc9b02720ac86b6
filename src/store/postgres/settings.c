/* settings.c - settings of a connection to PostgreSQL, and tables of its own. */
#include "store/postgres/settings.h"

#include <assert.h>
#include <string.h>

/* synchronous_commit: what was acknowledged is on disk. The writer has more time for a statement
 * (writer_postgres.c). A server ends what nobody waits for any more, and drops a client that
 * stopped in the midst of a transaction, with its locks. */
void settings_of(struct pg_settings *s, const char *schema, int version)
{
    enum { LOOKS_FOR_CLIENT = 140000 };
    settings_note(s, "search_path", schema);
    settings_note(s, "synchronous_commit", "on");
    settings_note(s, "client_min_messages", "warning");
    settings_note(s, "jit", "off");
    settings_note(s, "statement_timeout", "30s");
    settings_note(s, "idle_in_transaction_session_timeout", "5min");
    if (version >= LOOKS_FOR_CLIENT)
        settings_note(s, "client_connection_check_interval", "2s");
}

void settings_note(struct pg_settings *s, const char *name, const char *value)
{
    size_t i = 0;
    while (i < s->n && strcmp(s->v[i].name, name) != 0)
        i++;
    assert(i < SETTINGS_MAX);
    s->v[i].name = name;
    snprintf(s->v[i].value, sizeof s->v[i].value, "%s", value);
    s->n += i == s->n;
}

void settings_put(const struct pg_settings *s, const char *how, struct buf *b)
{
    for (size_t i = 0; i < s->n; i++)
        buf_printf(b, "SET %s%s TO '%s';", how, s->v[i].name, s->v[i].value);
}

static bool begins(const char *text)
{
    return strncmp(text, "BEGIN", 5) == 0;
}

bool settings_make_tables(const struct pg_settings *s, const char *text)
{
    return s->tables && begins(text);
}

/* Several statements that are sent as one text are one transaction, which BEGIN leaves open. Not
 * CREATE TABLE IF NOT EXISTS each time: to touch a temporary table costs files at the commit. */
const char *settings_around(const struct pg_settings *s, struct arena *a, const char *text)
{
    struct buf b = buf_make(a, 2000 + strlen(text));
    if (begins(text))
        buf_printf(&b, "%s;", text);
    settings_put(s, "LOCAL ", &b);
    if (settings_make_tables(s, text))
        buf_printf(&b, "SELECT to_regclass('pg_temp.%s') IS NULL", s->last_table);
    else if (!begins(text))
        buf_add(&b, str_of(text));
    return str_c(a, buf_str(&b));
}
