/* disk.h - a disk that fails when told to, and remembers what would survive a power cut. */
#pragma once

#include "base/str.h"

/* Stands between SQLite and the real files of this process from now on. */
void disk_install(void);

enum disk_fault {
    DISK_IS_FINE,
    DISK_WRITE_FAILS,
    DISK_IS_FULL,
    DISK_SYNC_FAILS,
    DISK_READ_FAILS,
    DISK_LOCKED_OPEN, /* a file that is there cannot be opened for writing, nor made */
};

/* The nth matching step from now fails, and with for_good all after it. 0 is the first. */
void disk_fail(enum disk_fault fault, int nth, bool for_good);
/* Whether the fault has come to pass; the disk is fine again. */
bool disk_mend(void);

/* Writes, truncations and syncs that were tried so far. */
int disk_tries(void);

/* Syncs hang from now on, until they are let through. */
void disk_hold_syncs(bool hold);

/* Forgets what was written; from now on each sync of a file is remembered. */
void disk_remember(void);
/* Writes what a power cut would leave of the file beside it: path, and path-wal, as it was at the
 * last sync of each. Steps that were not synced are lost. */
void disk_cut_power(const char *path, const char *copy);
