/* settings.c - Settings of a connection to PostgreSQL, and tables of its own. */
#include "store/postgres/settings.h"

/* synchronous_commit: what was acknowledged is on disk. plan_cache_mode: each statement finds its
 * rows by a key that begins with the pool, so that one plan fits all pools; a plan made anew for
 * each list of documents takes longer than the statement. The writer has more time for a statement
 * (writer_postgres.c). A server ends what nobody waits for any more, and drops a client that
 * stopped in the midst of a transaction, with its locks. */
void settings_of(struct pg_settings *s, const char *schema, int version)
{
    enum { LOOKS_FOR_CLIENT = 140000 };
    settings_note(s, "search_path", schema);
    settings_note(s, "synchronous_commit", "on");
    settings_note(s, "client_min_messages", "warning");
    settings_note(s, "jit", "off");
    settings_note(s, "plan_cache_mode", "force_generic_plan");
    settings_note(s, "statement_timeout", "30s");
    settings_note(s, "idle_in_transaction_session_timeout", "5min");
    if (version >= LOOKS_FOR_CLIENT)
        settings_note(s, "client_connection_check_interval", "2s");
}

/* "SET LOCAL" is a warning where no BEGIN stands before it. */
static void write_local(struct pg_settings *s)
{
    size_t n = (size_t)snprintf(s->local, sizeof s->local, "SELECT");
    for (size_t i = 0; i < s->n && n < sizeof s->local; i++)
        n += (size_t)snprintf(s->local + n, sizeof s->local - n, "%s set_config('%s', '%s', true)",
                              i ? "," : "", s->v[i].name, s->v[i].value);
    assert(n < sizeof s->local);
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
    write_local(s);
}

void settings_put(const struct pg_settings *s, const char *how, struct buf *b)
{
    for (size_t i = 0; i < s->n; i++)
        buf_printf(b, "SET %s%s TO '%s';", how, s->v[i].name, s->v[i].value);
}

const char *settings_around(const struct pg_settings *s, struct arena *a, const char *text)
{
    bool begins = strncmp(text, "BEGIN", 5) == 0;
    struct buf b = buf_make(a, 2000 + strlen(text));
    buf_add(&b, begins ? str_of(text) : S(""));
    buf_add(&b, begins ? S(";") : S(""));
    settings_put(s, "LOCAL ", &b);
    buf_add(&b, begins ? S("") : str_of(text));
    return str_c(a, buf_str(&b));
}
