/* change.h - corrections: of one memory, and of many at once, which may also be erased. */
#pragma once

#include "surface/surface.h"

#define UNDO_HEADER "X-Rememberd-Undo"
#define UNDO_UNTIL_HEADER "X-Rememberd-Undo-Until"

/* Of a struct memory. */
extern const struct field change_in_fields[];
handler memory_change;
/* Adds the version of a memory to its answer. */
void memory_tag(struct ctx *ctx, const struct memory *m, struct reply *out);
/* That version of the header If-Match; 0: any. */
MUST_USE enum status if_match_read(struct ctx *ctx, const struct request *in, int64_t *out);
struct undo_in {
    bool undo;
};
extern const struct field undo_in_fields[];
/* *mark is empty, and the result NULL, unless it is asked for. */
const struct undo_mark *undo_asked(struct ctx *ctx, bool is_asked, struct undo_mark *mark);

enum bulk_action { BULK_DELETE, BULK_CHANGE };
struct bulk_in {
    struct strs ids;
    const struct json *filter, *change;
    enum bulk_action action;
    str cursor;
    bool dry_run, undo;
};
extern const struct field bulk_in_fields[], bulk_out_fields[];
handler memory_bulk;
