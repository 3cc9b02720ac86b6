/* routes.c - the routes that bring in and write out memories. */
#include "ext/import/rest/export.h"
#include "ext/import/rest/import.h"

#include "surface/common/error_body.h"

enum { IMPORT_MAX = 64 << 20 }; /* bytes of an import; larger ones are cut at a line */

static const struct route routes[] = {
    {ROUTE("GET", "/v1/memories/export", memory_export), .scope = MAY_EXPORT, READS(export_in),
     .strict = true, .words.type = "application/x-ndjson", .words.stream = "text/markdown",
     .help = "memories as lines of JSON, or with all=true a copy of everything in the space"},
    {ROUTE("POST", "/v1/memories/import", memory_import), .body_max = IMPORT_MAX, ASKS(import_in),
     ANSWERS(import_out), .help = "an export, or a file of another program"},
    {0},
};

const struct surface surface_transfer = PROBLEM_SURFACE("memories", routes);
