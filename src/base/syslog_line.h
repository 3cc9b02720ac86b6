/* syslog_line.h - a line to the system's log; apart, since its header has names of ours. */
#pragma once

void syslog_line(const char *line);
