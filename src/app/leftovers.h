/* leftovers.h - files of a command that are removed when a signal ends it. */
#pragma once

/* A file, or a folder that is empty by then. The first one makes SIGINT, SIGTERM and SIGHUP, unless
 * they are ignored, remove them all before they end the process. Not for servers and threads. */
void leftover_add(const char *path);
/* In the order in which they were added. */
void leftovers_remove(void);
