/* listener.h - the listening socket: of an address and port, or of a path. */
#pragma once

#include <sys/un.h>

#include "http/http.h"

struct listener {
    int fd, port;               /* port 0: a path */
    struct sockaddr_un address; /* of a unix socket; else all zero */
    uint64_t device, inode;
};

/* The socket listens. CONFLICT when another program has the address. */
MUST_USE enum status listener_open(struct ctx *ctx, str at, unsigned mode, struct listener *out);
/* Also removes the path, if it is still this socket's. */
void listener_close(struct listener *l);
