/* dumps.h - the list of dumps that a fit reads, and the rows of each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/str.h"
#include "engine/gate/weights.h"

/* A line of the list: SET KIND SIZE PIECES WEIGHT PATH. Lines that begin with # are notes for the
 * table. */
struct dump {
    char kind[24], size[8], path[1024];
    int conversations; /* that it was cut from: number 13 of 6 is a piece of the second; 0: whole */
    double weight;     /* of its questions, for the gate */
    int set;           /* enum weights */
    int kind_no;       /* kinds are numbered as they come */
};

enum { DUMPS_MAX = 256, NOTES_MAX = 32, KIND_SHIFT = 64 };

struct dumps {
    struct dump v[DUMPS_MAX];
    size_t n;
    char notes[NOTES_MAX][256];
    size_t n_notes;
};

extern const char *const weight_set_names[], *const weight_set_helps[];

/* Ends the program when the list or a dump cannot be read: a fit of half the data is worse than
 * none. */
void dumps_read(struct dumps *out, const char *path);

/* Numbers, row by row. The first line names the columns: `fixed`, then the signals. */
struct rows {
    double *v;
    size_t n, columns;
};
struct rows rows_read(const char *path, const char *fixed, const char *const *signals);
/* What the gate saw of each question and pool: GATE_FIXED columns (conversation, question, pool,
 * whether the names were changed, what was decided without it), then its signals. */
enum { GATE_FIXED = 5 };
struct rows gate_rows_read(const struct dump *d);

/* A conversation's number among those of all kinds. */
int conversation_no(const struct dump *d, double number);

/* The figures of a run, for the head of its table. The text is whole after the end, and is freed by
 * whoever began it. */
struct report {
    FILE *out;
    char *text;
    size_t n;
};
/* It must stay where it is until the end. */
void report_begin(struct report *r);
/* Whether a set has dumps. One without stays as it was, and the report says so. */
bool report_has_dumps(const struct report *r, const struct dumps *d, int set);
/* Writes the figures to the standard error output, too. */
void report_end(struct report *r);

void notes_write(FILE *out, const struct dumps *d);
/* A whole file; ends the program when it cannot be read. */
str file_read(struct arena *a, const char *path);
/* As a string of C. */
void write_text(FILE *out, str s);
_Noreturn void stop(const char *format, ...) __attribute__((format(printf, 1, 2)));
