/* settings_file.h - the file of settings: where it is looked for, and what it says. */
#pragma once

#include "core/settings.h"

/* Where a file is looked for when none is named, the first one first: each a folder. */
enum { SETTINGS_FOLDERS = 2 };
void settings_folders(struct arena *a, str out[SETTINGS_FOLDERS]);

/* The first file that is there, or "". One that does not open is passed over and complained of. */
str settings_find_file(struct ctx *ctx, struct settings *s);

/* TOML or JSON. The failure says which file and line. */
MUST_USE enum status settings_read_file(struct ctx *ctx, struct settings *s, const char *path);
/* The same of its text, which may be one that is still to be written. */
MUST_USE enum status settings_read_text(struct ctx *ctx, struct settings *s, const char *path,
                                        str text);
/* BAD_INPUT for a name that no setting has. */
MUST_USE enum status settings_check_name(struct ctx *ctx, str key);
/* Whether a file of that name and text is JSON. */
bool settings_is_json(const char *path, str text);
