/* syslog.c - a line to a system log: of this machine, or at an address. */
#include "base/syslog.h"

#include <errno.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/time_text.h"

/*
 * Not by syslog() of the C library, which knows the log of this machine alone and reports no
 * failure. A socket of this machine is sent what that function sends, without the time, which its
 * reader sets; an address is sent a message by RFC 5424 and RFC 5426.
 */

enum { AUTH_NOTICE = 10 * 8 + 5 }; /* facility authpriv, severity notice */
#define LOCAL_SOCKET "/dev/log"

struct place {
    struct sockaddr_storage at;
    socklen_t size;
};

static enum status find_socket(struct ctx *ctx, str path, struct place *out)
{
    struct sockaddr_un *un = (struct sockaddr_un *)&out->at;
    if (path.n >= sizeof un->sun_path)
        return fail(ctx, BAD_INPUT, "the path of syslog's socket is too long");
    un->sun_family = AF_UNIX;
    memcpy(un->sun_path, path.p, path.n);
    out->size = sizeof *un;
    return OK;
}

/* No names: the audit log waits for no resolver. */
static enum status find_address(struct ctx *ctx, str to, struct place *out)
{
    const struct addrinfo how = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                                 .ai_socktype = SOCK_DGRAM};
    struct addrinfo *found = NULL;
    size_t at = str_behind_last(to, ':');
    str host = str_sub(to, 0, at ? at - 1 : 0);
    if (host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
        host = str_sub(host, 1, host.n - 1);
    if (!host.n || getaddrinfo(str_c(&ctx->arena, host), str_c(&ctx->arena, str_sub(to, at, to.n)),
                               &how, &found) != 0)
        return fail(ctx, BAD_INPUT, "'" S_FMT "' is not the IP address and port of a syslog server",
                    S_ARG(to));
    memcpy(&out->at, found->ai_addr, found->ai_addrlen);
    out->size = found->ai_addrlen;
    freeaddrinfo(found);
    return OK;
}

enum status syslog_send(struct ctx *ctx, str to, str line)
{
    struct arena *a = &ctx->arena;
    struct place place = {0};
    str path = to.n ? to : S(LOCAL_SOCKET);
    bool is_local = path.p[0] == '/';
    TRY(is_local ? find_socket(ctx, path, &place) : find_address(ctx, path, &place));
    if (!line.n)
        return OK;
    str message =
        is_local
            ? str_printf(a, "<%d>rememberd[%d]: " S_FMT, AUTH_NOTICE, (int)getpid(), S_ARG(line))
            : str_printf(a, "<%d>1 " S_FMT " - rememberd %d audit - " S_FMT, AUTH_NOTICE,
                         S_ARG(time_utc(a, clock_ms(), "%Y-%m-%dT%H:%M:%SZ")), (int)getpid(),
                         S_ARG(line));
    CLEANUP(fd_close)
    int fd = socket(place.at.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ssize_t n = fd < 0 ? -1
                       : sendto(fd, message.p, message.n, 0, (const struct sockaddr *)&place.at,
                                place.size);
    return n == (ssize_t)message.n ? OK
                                   : fail(ctx, STORAGE, "'" S_FMT "' cannot be sent a line: %s",
                                          S_ARG(path), strerror(errno));
}
