/* export.h - memories, or all that spaces hold, as lines. */
#pragma once

#include "surface/rest/filter.h"

struct export_in {
    struct filter_in filter;
    bool all;
};
extern const struct field export_in_fields[];
handler memory_export;
