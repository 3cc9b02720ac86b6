/* options.h - the command line: flags of commands, settings, and the words between them. */
#pragma once

#include "core/settings.h"

struct command;

/* Flags that are not settings. */
struct options {
    bool help, help_all, version, routes, schema, json, print_settings, explain, closed, everything,
        all_spaces, admin, no_extract, force, again, dry_run, follow_ups, allowed, people, remove,
        yes, texts, curve, accept_loss, deep, list, check, follow;
    str user, space, acts_for, scopes, spaces, level, pool, name, key, text, type, category,
        session, contains, dump, from, to, at, new_key_file, tools, format, url, per_question,
        sample, judgements, model;
    struct strs k;
    double importance;
    int64_t limit, offset, days, sessions, older_than;

    const struct command *commands; /* of this program, ended by an all-zero row */

    struct strs words; /* the command and what follows it */
    struct strs given; /* names of the rows that were on the command line */
    size_t n_flags;
    struct setting_flag *flags; /* those of settings, for settings_load */
    struct settings settings;
};

extern const struct field options_table[];

/* BAD_INPUT names a flag that is unknown or lacks its value. "--" ends the flags. */
MUST_USE enum status options_read(struct ctx *ctx, int argc, char **argv, struct options *out);

/* Whether the flag of a row was on the command line. */
bool options_has(const struct options *o, const char *name);

/* The words from one on, joined by spaces. */
str options_text(struct ctx *ctx, const struct options *o, size_t from);

/* The flag of a row as users type it: "--new-key-file" for the row new_key_file. */
const char *options_flag(struct arena *a, const char *row);
