/* sqlite_vec.h - sqlite-vec, the extension from npm, on a connection of ours. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>

/* From its file vec0.so. False, with a word on standard error, when it cannot be loaded. */
bool sqlite_vec_load(sqlite3 *handle, const char *file);
