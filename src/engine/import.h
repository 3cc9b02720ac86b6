/* import.h - a part of the engine's face: bringing in what others have kept. */
#pragma once

#include "core/memory.h"

struct engine;

struct ingest_report {
    int64_t sessions, messages, memories, skipped;
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
                                   struct ingest_report *out);

struct omniroute_report {
    int64_t memories, updated, owners, skipped;
};
/* OmniRoute's database file: each key's memories go into the space of its name, or (space not "")
 * all into one. Running it again changes nothing. */
MUST_USE enum status engine_import_omniroute(struct ctx *ctx, struct engine *e, str user, str space,
                                             str path, void (*progress)(int64_t done, int64_t all),
                                             struct omniroute_report *out);
