/* notify.c - one datagram to the socket of the service manager, without libsystemd. */
#include "app/notify.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/files.h"

/* A path, or "@" and a name in Linux's abstract namespace, where the name begins with a NUL. */
static enum status find_socket(struct ctx *ctx, str path, struct sockaddr_un *at, socklen_t *size)
{
    if ((path.p[0] != '/' && path.p[0] != '@') || path.n >= sizeof at->sun_path)
        return fail(ctx, UNSUPPORTED,
                    "NOTIFY_SOCKET is '" S_FMT "', not a unix socket; the service manager does not "
                    "learn that the server runs",
                    S_ARG(path));
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(at->sun_path, path.p, path.n);
    if (path.p[0] == '@')
        at->sun_path[0] = '\0';
    *size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path.n);
    return OK;
}

enum status notify_manager(struct ctx *ctx, const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un at;
    socklen_t size = 0;
    if (!path || !*path)
        return OK;
    TRY(find_socket(ctx, str_of(path), &at, &size));
    CLEANUP(fd_close) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    size_t n = strlen(state);
    ssize_t sent = fd < 0 ? -1 : sendto(fd, state, n, MSG_NOSIGNAL, (struct sockaddr *)&at, size);
    return sent == (ssize_t)n ? OK
                              : fail(ctx, STORAGE, "NOTIFY_SOCKET '%s' does not take a message: %s",
                                     path, strerror(errno));
}
