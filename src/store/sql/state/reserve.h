/* reserve.h - space that only erasures may take, so that a full disk can be erased from. */
#pragma once

#include <stdbool.h>

/* Makes or fills the file beside the database, where the disk has plenty of space for it. */
void reserve_keep(const char *path);
/* Before an erasure: on a disk that is nearly full the file's space is given back. True: until
 * reserve_keep. */
bool reserve_lend(const char *path);
