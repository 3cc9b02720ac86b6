/* sink.h - one import: what its readers give goes through it into the store. */
#pragma once

#include "ext/import/import.h"
#include "ext/import/importer.h"

struct import_run {
    struct ctx *ctx;    /* the caller's */
    struct ctx record;  /* of the record; failures of readers, too */
    struct ctx session; /* texts of the session that is open */
    struct ctx batch;   /* memories that wait to be written */
    struct engine *e;
    const struct import_in *in;
    struct import_report *report;
    struct importer im;
    struct memory *memories;
    size_t n_memories, n_new, bytes;
    int64_t now;
    bool is_archive;         /* a folder with what a chat program exports */
    struct seen seen;        /* ids of this run's memories */
    int64_t done, all, told; /* bytes, for the progress */
};

/* Writes the memories that wait. */
MUST_USE enum status import_write_memories(struct import_run *run);
/* Tells the caller how far it is. */
void import_progress(struct import_run *run, int64_t done);
