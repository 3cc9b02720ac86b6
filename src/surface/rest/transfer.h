/* transfer.h - the lines of an export, which an import reads: one JSON object each. */
#pragma once

#include "surface/surface.h"

enum line_kind { LINE_MEMORY, LINE_SESSION, LINE_MESSAGE, LINE_BAR, LINE_KINDS };
extern const char *const line_kinds[];

/* A bar as a line. */
struct bar_line {
    str space, message, terms; /* hashes in hex */
    unsigned kind, reason;
    int64_t at;
};
/* A message as a line: its hashes of the conversation are text. */
struct message_line {
    struct message message;
    str space, chain, tail;
};

/* What each line has beside its kind; of a struct memory, a struct session, and these two. */
extern const struct field memory_line_fields[], session_line_fields[], message_line_fields[],
    bar_line_fields[];

/* Adds a line with its end. */
void line_write(struct buf *out, struct ctx *ctx, enum line_kind kind, const void *v);
str hashes_text(struct ctx *ctx, const uint64_t *v, size_t n);
/* False when it is not whole numbers in hex. */
bool hashes_read(struct ctx *ctx, str text, uint64_t **out, size_t *n);
