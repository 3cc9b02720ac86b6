/* each.h - the figures of every question, in a file that eval compare reads. */
#pragma once

#include "base/json.h"
#include "ext/eval/measure.h"
#include "ext/import/exam.h"

struct each {
    FILE *file; /* NULL: nobody wants them */
    str path;
    struct json_out w;
    bool has_texts;
};
/* what: the kind of report, since only two of a kind can be compared. */
MUST_USE enum status each_open(struct ctx *ctx, const struct eval_in *in, const char *what,
                               struct each *out);
void each_begin(struct each *each, const struct exam *c, const struct exam_question *q);
void each_num(struct each *each, const char *name, double v);
void each_end(struct each *each);
/* Writes what is left. A disk that is full is found here. */
MUST_USE enum status each_finish(struct ctx *ctx, struct each *each);
/* For a scope that is left before. */
void each_close(struct each *each);
