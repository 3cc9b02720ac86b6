/* ingest.h - the common part of import and measuring. */
#pragma once

#include "engine/state/state.h"
#include "ext/import/exam.h"
#include "ext/import/foreign.h"
#include "ext/import/import.h"

/* Queues the turns of a conversation for writing; store_flush waits for them. Adds to *out. */
MUST_USE enum status ingest_conversation(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                         const struct exam *c, bool extract,
                                         struct import_report *out);

/* The noted failure again, behind the number of the line: a file may have millions. */
enum status fail_at_line(struct ctx *ctx, int64_t no, enum status s);

/* A byte order mark is no part of a text. */
str import_without_mark(str text);

/* LoCoMo's file as a foreign text. */
foreign_text_reader locomo_all;
