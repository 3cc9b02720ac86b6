/* syslog_line.c - a line to the system's log; apart, since its header has names of ours. */
#include "base/syslog_line.h"

#include <syslog.h>

void syslog_line(const char *line)
{
    syslog(LOG_AUTHPRIV | LOG_NOTICE, "rememberd %s", line);
}
