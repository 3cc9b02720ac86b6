/* import.h - bringing in what others have kept. */
#pragma once

#include "core/memory.h"

struct engine;

struct omniroute_report {
    int64_t memories, updated, owners, skipped, erased;
};
/* OmniRoute's database file: each key's memories go into the space of its name, or (space not "")
 * all into one. Running it again changes nothing. BAD_INPUT: a key is not the name of a space. */
MUST_USE enum status engine_import_omniroute(struct ctx *ctx, struct engine *e, str user, str space,
                                             str path, bool again,
                                             void (*progress)(int64_t done, int64_t all),
                                             struct omniroute_report *out);

/* --- files of many programs --- */

/* Names for import_in.format, NULL-ended, and what each of them is. */
extern const char *const import_formats[];

struct import_in {
    struct pool_ref pool;
    str format; /* "": by looking at the file */
    bool dry_run;
    bool extract; /* facts from the user's words in conversations */
    bool again;   /* what was erased here comes back */
    /* Where a line of our own export goes, by the space that it names; NULL: into pool. */
    enum status (*place)(void *own, struct ctx *ctx, str space, struct pool_ref *out);
    void *own;
    void (*progress)(int64_t done, int64_t all); /* bytes; or NULL */
};

enum { IMPORT_PROBLEMS_MAX = 100 }; /* that are kept in words; all are counted */

/* What was read, and of it what is new. With dry_run: what would be. */
struct import_report {
    str format;             /* "several": the files of a folder differ */
    int64_t files, ignored; /* ignored: files of a folder that no format knows */
    int64_t records;
    int64_t sessions, new_sessions;
    int64_t messages, new_messages;
    int64_t memories, new_memories, updated;
    int64_t bars, new_bars;
    int64_t facts;   /* found in messages of the user */
    int64_t erased;  /* left out, since it was erased here */
    int64_t skipped; /* left out on purpose, such as a message without text */
    int64_t broken;  /* records that break a rule */
    int64_t failed;  /* of these, whole files of a folder: exports with a mistake, no access */
    bool dry_run;
    struct strs problems; /* "FILE, record 3: FIELD WHY", of the first broken records */
};

/*
 * Turns from a file: JSON lines {session, role, content, speaker?, created?, id?} or LoCoMo's JSON
 * array. extract: patterns run over the user's words as in a chat. progress may be NULL; it is
 * called now and then with bytes done and in all. A line that breaks a rule is BAD_INPUT and named
 * by its number; what stood before it is kept.
 */
MUST_USE enum status engine_ingest(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                   str path, bool extract,
                                   void (*progress)(int64_t done, int64_t all),
                                   struct import_report *out);

/*
 * A file, or a folder with everything in it. What is there already, by the ids of the source, is
 * not stored again, so an import may be repeated or go on after it was cut. A broken record is
 * noted in the report and the rest goes on. Of our own export with a mistake nothing is written.
 * BAD_INPUT: no format knows the file, or it is such an export.
 */
MUST_USE enum status engine_import(struct ctx *ctx, struct engine *e, const struct import_in *in,
                                   str path, struct import_report *out);
/* The same of one file's bytes. name is its path in what is imported. */
MUST_USE enum status engine_import_text(struct ctx *ctx, struct engine *e,
                                        const struct import_in *in, str name, str text,
                                        struct import_report *out);
