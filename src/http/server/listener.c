/* listener.c - the listening socket: of an address and port, or of a path. */
#include "http/server/listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"

enum { BACKLOG = 1024 }; /* the kernel cuts it down to net.core.somaxconn */

/* --- an address and port --- */

/* "127.0.0.1:7077", "[::1]:0", "localhost:80", ":7077" */
static enum status resolve_address(struct ctx *ctx, str listen_at, struct addrinfo **out)
{
    size_t colon = str_behind_last(listen_at, ':');
    int64_t port;
    str host = colon ? str_sub(listen_at, 0, colon - 1) : (str){0};
    if (!colon || !str_int(str_sub(listen_at, colon, listen_at.n), &port) || port < 0 ||
        port > 65535)
        return fail(ctx, BAD_INPUT, "'" S_FMT "' is not an address and port, as 127.0.0.1:7077",
                    S_ARG(listen_at));
    if (host.n >= 2 && host.p[0] == '[')
        host = str_sub(host, 1, host.n - 1);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    const char *service = str_printf(&ctx->arena, "%d", (int)port).p;
    int error = getaddrinfo(host.n ? str_c(&ctx->arena, host) : NULL, service, &hints, out);
    if (error)
        return fail(ctx, BAD_INPUT, "cannot listen on '" S_FMT "': %s", S_ARG(listen_at),
                    gai_strerror(error));
    return OK;
}

enum status listen_check(struct ctx *ctx, str at)
{
    struct addrinfo *address;
    TRY(resolve_address(ctx, at, &address));
    freeaddrinfo(address);
    return OK;
}

/* With port 0 the system has chosen one. */
static int port_of(int fd)
{
    struct sockaddr_storage a;
    socklen_t n = sizeof a;
    if (getsockname(fd, (struct sockaddr *)&a, &n) != 0)
        return 0;
    return ntohs(a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&a)->sin6_port
                                         : ((struct sockaddr_in *)&a)->sin_port);
}

/* Also closes the socket, if there is one. */
static enum status fail_listen(struct ctx *ctx, str at, int fd, int error)
{
    fd_close(&fd);
    if (error == EADDRINUSE)
        return fail(ctx, CONFLICT, S_FMT " is in use by another program", S_ARG(at));
    return fail(ctx, UNSUPPORTED, "cannot listen on " S_FMT ": %s", S_ARG(at), strerror(error));
}

static int new_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static enum status open_address(struct ctx *ctx, str at, struct listener *out)
{
    struct addrinfo *address;
    int one = 1;
    TRY(resolve_address(ctx, at, &address));
    int fd = new_socket(address->ai_family);
    bool is_bound = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
                    bind(fd, address->ai_addr, address->ai_addrlen) == 0 &&
                    listen(fd, BACKLOG) == 0;
    int error = errno;
    freeaddrinfo(address);
    if (is_bound) {
        *out = (struct listener){.fd = fd, .port = port_of(fd)};
        return OK;
    }
    return fail_listen(ctx, at, fd, error);
}

/* --- a path --- */

/* A server that was killed leaves its socket behind: nobody listens there any more. Anything else
 * at the path is not ours to remove. */
static enum status remove_stale(struct ctx *ctx, const struct sockaddr_un *address)
{
    struct stat file;
    const char *path = address->sun_path;
    if (lstat(path, &file) != 0)
        return errno == ENOENT ? OK : fail(ctx, UNSUPPORTED, "%s: %s", path, strerror(errno));
    if (!S_ISSOCK(file.st_mode))
        return fail(ctx, CONFLICT, "%s exists and is not a socket", path);
    CLEANUP(fd_close) int fd = new_socket(AF_UNIX);
    bool is_stale = fd >= 0 &&
                    connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
                    errno == ECONNREFUSED;
    if (!is_stale)
        return fail(ctx, CONFLICT, "%s is in use by another program", path);
    if (unlink(path) != 0)
        return fail(ctx, UNSUPPORTED, "%s cannot be replaced: %s", path, strerror(errno));
    return OK;
}

/* The mode is set before the socket listens: nobody can connect in between. */
static enum status open_path(struct ctx *ctx, str path, unsigned mode, struct listener *out)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat file;
    if (!path.n || path.n >= sizeof address.sun_path || memchr(path.p, 0, path.n))
        return fail(ctx, BAD_INPUT, "the path of a unix socket must have 1 to %zu bytes",
                    sizeof address.sun_path - 1);
    memcpy(address.sun_path, path.p, path.n);
    TRY(remove_stale(ctx, &address));
    int fd = new_socket(AF_UNIX);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
        chmod(address.sun_path, mode) != 0 || listen(fd, BACKLOG) != 0 ||
        lstat(address.sun_path, &file) != 0)
        return fail_listen(ctx, path, fd, errno);
    *out = (struct listener){.fd = fd,
                             .address = address,
                             .device = file.st_dev,
                             .inode = file.st_ino};
    return OK;
}

enum status listener_open(struct ctx *ctx, str at, unsigned mode, struct listener *out)
{
    str path = at, scheme = str_cut(&path, ':');
    if (str_is(scheme, "unix"))
        return open_path(ctx, path, mode, out);
    return open_address(ctx, at, out);
}

/* Another server may have taken the path over, after someone removed the file. */
void listener_close(struct listener *l)
{
    struct stat file;
    const char *path = l->address.sun_path;
    close(l->fd);
    if (*path && lstat(path, &file) == 0 && file.st_dev == l->device && file.st_ino == l->inode)
        unlink(path);
}
