/* export.h - memories, or all that spaces hold, as a text. */
#pragma once

#include "surface/rest/filter.h"

struct export_in {
    struct filter_in filter;
    bool all;
    unsigned format; /* enum export_format */
};
extern const struct field export_in_fields[];
handler memory_export;
