/* without_libcurl.c - a relay that cannot be asked is refused, and its filters end all the same. */
#include <dlfcn.h>
#include <unistd.h>

#include "fixture.h"

/* In the place of the C library's: on this machine libcurl is missing. */
void *dlopen(__attribute__((unused)) const char *file, __attribute__((unused)) int mode)
{
    return NULL;
}

char *dlerror(void)
{
    static char why[] = "no such library";
    return why;
}

TEST(the_filters_of_a_relay_that_is_never_asked_get_their_done)
{
    struct app app = {.upstream = S("http://127.0.0.1:9")};
    struct server_settings settings = test_settings();
    struct server *s = serve(ctx, &app, &settings);
    str reply = ask(ctx, s, "POST", "/chained/uvw", "", S("body"));
    CHECK_INT(code_of(reply), 501);
    CHECK(holds(reply, "needs libcurl (no such library)") && !holds(reply, "X-Receipt"));
    WAIT_FOR(atomic_load(&app.done) == 1);
    CHECK_INT(app.done_ok, 0);
    CHECK_INT(app.done_code, 0);
    CHECK_STR(str_of(app.calls), S("u.done! v.done!"));
    server_close(s);
}

/* The refusal is an answer like any other: the connection goes on. */
TEST(the_next_request_of_the_client_is_answered)
{
    struct app app = {.upstream = S("http://127.0.0.1:9")};
    struct server_settings settings = test_settings();
    struct server *s = serve(ctx, &app, &settings);
    int client = dial(s);
    for (int i = 1; i <= 2; i++) {
        SAY(client, "POST /relay/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
        CHECK_INT(code_of(hear_until(ctx, client, "field\":\"\"}")), 501);
        WAIT_FOR(atomic_load(&app.done) == i);
    }
    CHECK_INT(app.done_ok, 0);
    close(client);
    server_close(s);
}
