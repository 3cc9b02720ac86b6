/* lines.h - the records of our own export: as lines of JSON, and as Markdown. */
#pragma once

#include "core/session.h"
#include "ext/import/export.h"
#include "ext/import/foreign.h"
#include "store/store.h"

enum line_kind { LINE_MEMORY, LINE_SESSION, LINE_MESSAGE, LINE_BAR, LINE_KINDS };
extern const char *const line_kinds[];

/* A bar and a message as lines: their hashes are text. */
struct bar_line {
    struct bar bar;
    str space, message, terms;
};
struct message_line {
    struct message message;
    str space, chain, tail;
};

/* What each line has beside its kind; of a struct memory, a struct session, and these two. */
extern const struct field *const line_tables[LINE_KINDS];

/* Adds a line with its end; v is the struct of the kind. Markdown: the line in a comment, a label
 * for people, and the text as it is. */
typedef void copy_writer(struct buf *out, struct ctx *ctx, enum line_kind kind, const void *v);
copy_writer copy_write_line, copy_write_markdown;
#define COPY_MARK "<!-- rememberd "
str hashes_text(struct ctx *ctx, const uint64_t *v, size_t n);
/* False when it is not whole numbers in hex. */
bool hashes_read(struct ctx *ctx, str text, uint64_t **out, size_t *n);

/* One record of either form. */
struct copy_record {
    str json;
    str text;      /* of Markdown: the content or text, which json has not */
    bool has_text; /* it is Markdown */
    int64_t line;  /* its first */
};
/* Takes the next record off *rest, and counts its lines. False: there is none. Of Markdown the text
 * lives in the arena. */
typedef bool copy_reader(struct arena *a, str *rest, int64_t *line, struct copy_record *out);
copy_reader copy_next_line, copy_next_markdown;

/* Every record is checked before the first one is written; the failure names the line. */
foreign_text_reader copy_lines_read, copy_markdown_read;
