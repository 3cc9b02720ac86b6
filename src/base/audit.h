/* audit.h - a log of what was done by whom, each line chained to the last. No content in it. */
#pragma once

#include "base/ctx.h"

/*
 * One file for all processes of a data folder: lines of JSON, each with a number and a keyed hash
 * over itself and the hash before, so that a line that is changed, removed or added shows. The key
 * is the server's, in a file beside it that its owner alone can read. A third file has the number
 * and hash of the last line, so that lines cut off at the end show, too.
 */
struct audit_place {
    const char *folder; /* NULL: nothing is written */
    const char *to;     /* "syslog", "syslog:" and where it is, or a file; or "" */
    const char *by;     /* who acts where no ctx names an actor: "server" */
    size_t file_max;    /* bytes, after which the file gets another name; 0: 16 MiB */
};
/* Set once at the start; the texts live as long as the process, or until it is set again. */
void audit_setup(const struct audit_place *place);

/* kind says what was done, ctx->actor by whom, who to whose memory or account. Never fails the
 * caller: a failure is logged once, and audit_why says it. fmt gives key=value. */
void audit_note(const struct ctx *ctx, const char *kind, str who, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
/* A failed log-in: counted, and one line a minute. */
void audit_failed_login(void);
/* Writes what was counted. */
void audit_end(void);
/* Why the last line could not be written, or the next could not be sent elsewhere; or "". */
void audit_why(struct ctx *ctx, char *out, size_t n);

struct audit_line {
    int64_t no, at;
    str kind, by, who, what, mac; /* mac: of a line that was read, in hex */
};
/* The line's texts last as long as the call. */
typedef enum status audit_see(struct ctx *ctx, void *own, const struct audit_line *line);
/* All lines of a folder, oldest first; see may be NULL. CONFLICT names the first line that is not
 * as it was written; NOT_FOUND: there is no log, or no key. */
MUST_USE enum status audit_read(struct ctx *ctx, const char *folder, audit_see *see, void *own,
                                int64_t *lines);
