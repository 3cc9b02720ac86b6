/* history.h - what a memory said before. */
#pragma once

#include "surface/surface.h"

extern const struct field history_out_fields[];
handler memory_history;
