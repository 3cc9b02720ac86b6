/* settings.h - settings of a connection to PostgreSQL, and tables of its own. */
#pragma once

#include "base/buf.h"

enum { SETTINGS_MAX = 10 };

struct pg_settings {
    struct pg_setting {
        const char *name;
        char value[64];
    } v[SETTINGS_MAX];
    size_t n;
    const char *tables, *last_table; /* pg_own_tables; or NULL */
};

/* What every connection begins with; version as of libpq. */
void settings_of(struct pg_settings *s, const char *schema, int version);
/* One more, or another value; name is static. */
void settings_note(struct pg_settings *s, const char *name, const char *value);
/* As statements; how: "" or "LOCAL ". */
void settings_put(const struct pg_settings *s, const char *how, struct buf *b);

/* Whether the text begins a transaction that needs the tables. */
bool settings_make_tables(const struct pg_settings *s, const char *text);
/* A text that is run outside a transaction, with the settings for it alone, or for the transaction
 * that it begins. Then its last result is whether the tables are missing. */
const char *settings_around(const struct pg_settings *s, struct arena *a, const char *text);
