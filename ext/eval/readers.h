/* readers.h - the readers of each format, and what they fill. */
#pragma once

#include "ext/import/exam.h"

/* text is the whole file; the exams point into it, and live in the ctx's arena. */
typedef enum status exam_reader(struct ctx *ctx, str text, struct exams *out);
exam_reader beam_read, longmemeval_read, exam_lines_read;

/* BEAM's folder: chats/100K, or the one of a single conversation in it. */
MUST_USE enum status beam_read_folder(struct ctx *ctx, str path, struct exams *out);

/* A literal of Python as JSON text: BEAM's questions are published as one. The failure is BAD_INPUT
 * and names the byte. */
MUST_USE enum status python_as_json(struct ctx *ctx, str text, str *out);

/* Reads a file, or a folder, of the format with that name; "": by looking at the file. file stays
 * mapped as long as the exams are used. The failure names the path. */
MUST_USE enum status eval_read(struct ctx *ctx, str path, str name, struct mapped *file,
                               struct exams *out);
