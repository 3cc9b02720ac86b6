/* locomo.h - LoCoMo's JSON: conversations with dated sessions, and questions with evidence. */
#pragma once

#include "ext/import/exam.h"

/* Texts live in the ctx's arena and point into text. */
MUST_USE enum status locomo_read(struct ctx *ctx, str text, struct exams *out);

/* A file's bytes, mapped into memory until the scope is left. */
struct mapped {
    str text;
};
MUST_USE enum status map_file(struct ctx *ctx, str path, struct mapped *out);
void unmap_file(struct mapped *m);
