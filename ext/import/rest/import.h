/* import.h - the lines of an export into spaces. */
#pragma once

#include "surface/common/auth.h"

/* import_in: of the query. */
extern const struct field import_in_fields[], import_out_fields[];
handler memory_import;
