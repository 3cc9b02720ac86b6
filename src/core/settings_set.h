/* settings_set.h - one setting is checked and set, whatever place its value comes from. */
#pragma once

#include "core/settings.h"
#include "core/suggest.h"

/* Other names, for a part of a setting or for all of it. */
struct setting_alias {
    const char *name, *setting;
    const char *flag, *unit, *help; /* as help prints them */
};
/* Ends with an all-zero row. */
extern const struct setting_alias setting_aliases[];

/* The rows of a struct upstream in the file. */
extern const struct field upstream_table[];

/* The failure names the setting as it was written. */
MUST_USE enum status setting_set(struct ctx *ctx, struct settings *s, str name, str text);
/* After all of one place: the host and port that it names become parts of listen. */
void settings_join_parts(struct ctx *ctx, struct settings *s);
MUST_USE enum status settings_add_upstream(struct ctx *ctx, struct settings *s, struct upstream u);

/* A sentence for the log. */
void settings_add_note(struct ctx *ctx, struct settings *s, str note);

/* Compares with every name that a flag, a variable or the file may have. */
void settings_suggest(struct suggestion *near);
