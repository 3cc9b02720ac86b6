/* bulk.h - many memories erased or changed at once. */
#pragma once

#include "surface/surface.h"

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
