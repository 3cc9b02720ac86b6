/* edit.h - changing one entry in a settings file of another program, and nothing else. */
#pragma once

#include "base/fields.h"

/*
 * Where an entry is: names from the outermost on, with dots between. In an array the entry is an
 * element, and is_ours finds it again; in an object it is the member with the last name.
 */
struct place {
    const char *path;
    bool (*is_ours)(const struct json *element, str program); /* not NULL: path leads to an array */
    str program; /* that runs now, as a shell reads it */
};

/*
 * JSON with comments and trailing commas, as editors allow it. All bytes outside of the entry stay
 * as they are, besides a comma; objects and arrays on the way that are missing are made. text ""
 * is a file that is not there. value is JSON. BAD_INPUT when the text cannot be read, or something
 * on the way has another type.
 */
MUST_USE enum status edit_json_put(struct ctx *ctx, str text, const struct place *at, str value,
                                   str *out);
/* Takes the entry out, and what is left empty by that. The text itself when it is not there; ""
 * when nothing is left. */
MUST_USE enum status edit_json_take(struct ctx *ctx, str text, const struct place *at, str *out);

/* The same of a TOML table [name], with dots in the name; body is its lines. BAD_INPUT also where
 * the table is written in another way. */
MUST_USE enum status edit_toml_put(struct ctx *ctx, str text, const char *name, str body, str *out);
MUST_USE enum status edit_toml_take(struct ctx *ctx, str text, const char *name, str *out);

/* The text with other bytes in the place of some. */
str edit_splice(struct arena *a, str text, size_t from, size_t to, str with);

/* The lines that differ, with some around them, as `diff -u` prints them. "" when none does. */
str diff_lines(struct arena *a, str before, str after);
