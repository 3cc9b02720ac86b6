/* print.h - text, JSON and dates of commands on standard output. */
#pragma once

#include "base/fields.h"

/* Most bytes that a command prints at once. */
enum { PRINT_MAX = 64 << 20 };

/* Prints untrusted text: control characters become spaces, as a terminal would obey them. */
void print_safely(str text, const char *kept);
/* The same on one line. */
void print_line(str text);
/* The buffer and a newline. */
enum status print_buf(const struct buf *b);
/* A struct as an object of JSON, and a newline. */
enum status print_fields(struct ctx *ctx, const struct field *table, const void *in);
/* STORAGE where some of what was printed could not be written. */
MUST_USE enum status print_end(struct ctx *ctx);
/* "1 memory", "2 memories". */
str counted(struct arena *a, int64_t n, const char *one, const char *more);
/* "2026-11-20", or "-" for 0. */
str date_of(struct arena *a, int64_t ms);
/* A listening address as arguments of curl: "http://127.0.0.1:7077", or for unix:PATH
 * "--unix-socket PATH http://localhost". */
str curl_target(struct arena *a, str listen);
/* A server that listens on all addresses is called at this machine's own. */
str host_called(struct arena *a, str listen);

/* What a terminal is sent before text that stands out, and behind it (STYLE_END). "" where standard
 * output is not a terminal, or NO_COLOR is set. */
enum style { STYLE_END, STYLE_STRONG, STYLE_FAINT, STYLE_GOOD };
const char *style_code(enum style style);

/* From here on standard output goes through $PAGER, or through less. */
void print_by_pages(void);
