/* formats.h - the benchmarks whose files can be read: one row each. */
#pragma once

#include "ext/eval/measure.h"
#include "ext/eval/readers.h"
#include "ext/import/locomo.h"

/* Reads a file, or a folder, of the format with that name; "": by looking at the file. file stays
 * mapped as long as the exams are used. The failure names the path. */
MUST_USE enum status eval_read(struct ctx *ctx, str path, str name, struct mapped *file,
                               struct exams *out);
