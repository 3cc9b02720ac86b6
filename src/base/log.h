/* log.h - one line per event on standard error, key=value or JSON. No message text goes in. */
#pragma once

#include "base/status.h"
#include "base/str.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Set once at start. */
void log_setup(enum log_level level, bool as_json);
bool log_is_on(enum log_level level);

/*
 * An event is a dotted name; fmt gives key=value pairs.
 * A value that may have spaces, or is another's, is put in double quotes by fmt, as why=\"%s\";
 * quotes and control characters in it are escaped:
 * log_event(LOG_INFO, "server.listening", "addr=%s port=%d", addr, port).
 */
void log_event(enum log_level level, const char *event, const char *fmt, ...) PRINTF_LIKE(3, 4);
