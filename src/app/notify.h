/* notify.h - messages to the service manager that started the server, such as systemd. */
#pragma once

#include "base/ctx.h"

/*
 * Sends a state such as "READY=1" to the socket that the variable NOTIFY_SOCKET names, as systemd's
 * sd_notify does. OK and nothing is sent where no service manager waits for it. UNSUPPORTED: the
 * variable names no unix socket; STORAGE: the socket does not take the message.
 */
MUST_USE enum status notify_manager(struct ctx *ctx, const char *state);
