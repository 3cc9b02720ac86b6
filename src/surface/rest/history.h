/* history.h - earlier texts of a memory. */
#pragma once

#include "surface/surface.h"

extern const struct field history_out_fields[];
handler memory_history;
