/* syslog.h - a line to a system log: of this machine, or at an address. */
#pragma once

#include "base/ctx.h"

/*
 * to: "" for this machine's log, the path of its socket, or ADDRESS:PORT for one that listens on
 * UDP. A datagram, so nobody waits, and over UDP a lost line is not noticed. BAD_INPUT: `to` is no
 * address; STORAGE: it could not be sent. An empty line is not sent.
 */
MUST_USE enum status syslog_send(struct ctx *ctx, str to, str line);
