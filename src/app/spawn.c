/* spawn.c - runs a program with input on a socket, output on a pipe, and a deadline. */
#include "app/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"

/* Used for the two programs that may hold a key: secret-tool, and the shell for the setting
 * key_command. The caller wipes its buffer. */

/* in is a socket pair, out a pipe; -1 is an end that is closed already. */
struct ends {
    int in[2], out[2]; /* ours first */
};

static void ends_close(struct ends *e)
{
    for (int i = 0; i < 2; i++) {
        fd_close(&e->in[i]);
        fd_close(&e->out[i]);
    }
}

/* The program gets the signal mask that a shell would give it, since a server blocks signals. */
static int start_program(const char *const *argv, const struct ends *e, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, pipes;
    sigemptyset(&none);
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, e->in[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, e->out[1], STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &pipes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int rc = posix_spawnp(pid, argv[0], &actions, &attributes, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return rc;
}

/* Reads until the end of the output. False: over the limit, or too late. */
static bool listen_to(int fd, int64_t deadline_us, char *out, size_t cap, size_t *n)
{
    for (;;) {
        char beyond;
        int64_t left = deadline_us - clock_mono_us();
        struct pollfd p = {fd, POLLIN, 0};
        if (left <= 0 || (poll(&p, 1, (int)(left / 1000) + 1) < 0 && errno != EINTR))
            return false;
        if (!p.revents)
            continue;
        ssize_t got = *n < cap ? read(fd, out + *n, cap - *n) : read(fd, &beyond, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || *n == cap)
            return got == 0;
        *n += (size_t)got;
    }
}

/* Polls instead of waiting: waitpid has no deadline, and SIGCHLD belongs to the whole process. */
static bool ended_well(pid_t pid, int64_t deadline_us, bool is_given_up)
{
    enum { LOOK_US = 2000 };
    int status = 0;
    for (;;) {
        if (is_given_up || clock_mono_us() > deadline_us)
            kill(pid, SIGKILL);
        pid_t rc = waitpid(pid, &status, is_given_up ? 0 : WNOHANG);
        if (rc == pid)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0 && !is_given_up;
        if (rc < 0 && errno != EINTR)
            return false;
        usleep(LOOK_US);
    }
}

/* Standard input is a socket, as only a socket can be written without SIGPIPE when the program
 * does not read. Input is small enough for the buffer of the socket. */
enum status spawn_ask(struct ctx *ctx, const char *const *argv, str input, int64_t ms, char *out,
                      size_t cap, size_t *n)
{
    CLEANUP(ends_close) struct ends e = {{-1, -1}, {-1, -1}};
    int64_t deadline_us = clock_mono_us() + ms * 1000;
    pid_t pid;
    assert(argv[0] && ms > 0);
    *n = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, e.in) != 0 ||
        pipe2(e.out, O_CLOEXEC) != 0)
        return fail(ctx, STORAGE, "%s cannot be started: %s", argv[0], strerror(errno));
    int rc = start_program(argv, &e, &pid);
    if (rc != 0)
        return fail(ctx, UPSTREAM, "%s cannot be started: %s", argv[0], strerror(rc));
    fd_close(&e.in[1]);
    fd_close(&e.out[1]);
    if (input.n && send(e.in[0], input.p, input.n, MSG_NOSIGNAL) != (ssize_t)input.n)
        shutdown(e.in[0], SHUT_RDWR);
    fd_close(&e.in[0]);
    bool heard = listen_to(e.out[0], deadline_us, out, cap, n);
    return ended_well(pid, deadline_us, !heard)
               ? OK
               : fail(ctx, UPSTREAM, "%s failed, or printed nothing usable in time", argv[0]);
}
