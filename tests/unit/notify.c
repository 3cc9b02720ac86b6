/* notify.c - the service manager: where it waits, what it is told, and one that is away. */
#include "app/notify.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "t.h"

/* A manager that waits at the path, as the variable names it. */
static int manager(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    memcpy(at.sun_path, path, strlen(path));
    if (path[0] == '@')
        at.sun_path[0] = '\0';
    assert_int_equal(bind(fd, (struct sockaddr *)&at,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path))),
                     0);
    setenv("NOTIFY_SOCKET", path, 1);
    return fd;
}

static void check_told(struct ctx *ctx, int fd, const char *state)
{
    char got[64];
    CHECK_OK(notify_manager(ctx, state));
    ssize_t n = recv(fd, got, sizeof got, 0);
    CHECK(n > 0);
    CHECK_STR(((str){got, (size_t)n}), str_of(state));
}

TEST(a_manager_at_a_path_is_told)
{
    char folder[] = "/tmp/rememberd-notify-XXXXXX";
    CHECK(mkdtemp(folder));
    const char *path = str_printf(&ctx->arena, "%s/socket", folder).p;
    int fd = manager(path);
    check_told(ctx, fd, "READY=1");
    check_told(ctx, fd, "STOPPING=1\nSTATUS=finishing running requests");
    close(fd);
    unlink(path);
    CHECK_STATUS(notify_manager(ctx, "READY=1"), STORAGE);
    CHECK(strstr(ctx->why, path));
    rmdir(folder);
}

TEST(a_manager_with_an_abstract_name_is_told)
{
    int fd = manager(str_printf(&ctx->arena, "@rememberd-notify-%d", (int)getpid()).p);
    check_told(ctx, fd, "READY=1");
    close(fd);
}

TEST(without_a_manager_nothing_happens)
{
    unsetenv("NOTIFY_SOCKET");
    CHECK_OK(notify_manager(ctx, "READY=1"));
    setenv("NOTIFY_SOCKET", "", 1);
    CHECK_OK(notify_manager(ctx, "READY=1"));
}

TEST(what_is_no_unix_socket_is_named)
{
    char longer[200] = "/";
    const char *wrong[] = {"vsock:2:1", "relative/socket", longer};
    memset(longer + 1, 'x', sizeof longer - 2);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("NOTIFY_SOCKET", wrong[i], 1);
        CHECK_STATUS(notify_manager(ctx, "READY=1"), UNSUPPORTED);
        CHECK(strstr(ctx->why, wrong[i]));
        ctx_clear_failure(ctx);
    }
}
