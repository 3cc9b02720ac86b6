/* clients.h - the programs that can be connected: their files, and what goes into them. */
#pragma once

#include "ext/connect/edit.h"

/* What the entries say. */
struct target_server {
    str url;     /* without a slash at the end */
    str token;   /* or "" */
    str space;   /* named by --space, or "": hooks then use the project's */
    str program; /* this one; it need not be on the PATH */
    str data;    /* folder of the database that is not the usual one, or "" */
    bool is_far; /* --url was given: hooks have to name it */
};

/* One entry in one file. */
struct client_entry {
    const char *variable; /* names the folder; NULL, or not set: it is `folder` */
    const char *folder;   /* below the home folder */
    const char *file;
    struct place place; /* in JSON */
    const char *table;  /* in TOML; NULL: the file is JSON */
    /* What the file gets: JSON, or the lines of the table. */
    void (*write)(struct ctx *ctx, const struct client_entry *e, const struct target_server *to,
                  struct buf *out);
    const char *url_name, *type; /* of a server's entry: the member's name; type, or NULL */
    bool is_enabled;             /* has "enabled": true */
    int64_t timeout;             /* of a hook, in the client's unit */
};

enum { ENTRIES_MAX = 4 };
struct client {
    const char *name, *title;
    struct client_entry entries[ENTRIES_MAX + 1]; /* ends with a row without a file */
    const char *after;                            /* what is left to do; or NULL */
    bool is_local;                                /* starts this program, and knows no URL */
};

/* Ends with a row without a name. */
extern const struct client clients[];

/* The path of an entry's file. BAD_INPUT without a home folder. */
MUST_USE enum status entry_path(struct ctx *ctx, const struct client_entry *e, str *out);

/* For a shell: in quotes where it has to be. */
str shell_word(struct arena *a, str word);
