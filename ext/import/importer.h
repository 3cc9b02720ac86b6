/* importer.h - messages from elsewhere on their way into a pool: masked, dated, in bundles. */
#pragma once

#include "engine/recall/tombstones.h"
#include "engine/state/state.h"
#include "ext/import/import.h"
#include "ext/import/seen.h"

/*
 * A bundle is of one session and is one write, which nobody waits for. work is the memory of the
 * bundle, so a file of any size needs the memory of one bundle. With `once`, messages that are
 * stored already are looked up: they teach nothing again, and report tells new from known ones.
 */
struct importer {
    struct ctx *ctx;
    struct ctx work;
    struct engine *e;
    const struct import_in *in; /* the caller's, until importer_end */
    bool once;
    struct importer_seen {
        struct seen ids;   /* with once: of sessions; with dry_run, of messages, too */
        struct seen turns; /* of the file, without ids of their own */
        bool is_new;       /* with once: the open session is not stored yet */
    } seen;
    struct bundle b;        /* so far, with facts of its messages; session id "" before the first */
    struct strs secrets;    /* of its messages */
    struct quota more;      /* with once: the messages that are new, and their bytes */
    int64_t now;            /* of a message without a time; no part of its id */
    struct tombstones bars; /* of the pool */
    struct import_report *report; /* with once: also of what is new */
};

/* Bars are read here: what was forgotten before the import is not learnt again from it. */
MUST_USE enum status importer_begin(struct importer *im, struct ctx *ctx, struct engine *e,
                                    const struct import_in *in, struct import_report *report);
void importer_end(struct importer *im);

/* Writes the bundle before it, and begins one of the session, whose texts the caller keeps. */
MUST_USE enum status importer_session(struct importer *im, const struct session *session);
/* The message's texts live until the bundle is written. A message without text is skipped. */
MUST_USE enum status importer_message(struct importer *im, const struct message *said);
/* Queues the bundle; store_flush waits for it. */
MUST_USE enum status importer_write(struct importer *im);

/* Copies a failure from a ctx to the importer's caller: the ctx is reset with each bundle. */
enum status importer_pass(struct ctx *to, struct ctx *from, enum status s);

/* --- rows that may come in: not erased here, and within the quota --- */

/* Which rows were erased here, out[i]: they are left out. With in->again none is, and but for a dry
 * run those that were erased count so no more. Adds to *erased. */
MUST_USE enum status import_erased(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                   const struct import_in *in, const struct erased_ask *v, size_t n,
                                   bool *out, int64_t *erased);
/* Writes memories in one transaction, which updates what an earlier import wrote; *out tells how
 * many were added and replaced. FORBIDDEN as engine_check_quota of those that are not there, and of
 * what others have more. */
MUST_USE enum status import_memories(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                     struct memory *v, size_t n, struct bundle *out);

/* --- one import of files: what its readers give goes through it into the store --- */

struct import_run {
    struct ctx *ctx;         /* the caller's */
    struct ctx record;       /* of the record; failures of readers, too */
    struct arena session;    /* texts of the session that is open */
    struct ctx batch;        /* memories that wait to be written */
    struct importer im;      /* its ctx is record */
    struct memory *memories; /* of the batch; more: what they add to the user's */
    size_t n_memories, bytes;
    struct quota more;
    int64_t now;
    bool is_folder;
    bool is_archive;         /* a folder with what a chat program exports */
    struct seen seen;        /* ids of this run's memories */
    struct seen said;        /* messages by session, of programs whose sessions copy others */
    int64_t done, all, told; /* bytes, for the progress */
};

/* Writes the memories that wait. */
MUST_USE enum status import_flush_memories(struct import_run *run);
/* Tells the caller how far it is. */
void import_progress(struct import_run *run, int64_t done);
