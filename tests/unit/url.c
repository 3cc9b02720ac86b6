/* url.c - addresses of servers: what is read, what is refused, and what is never called. */
#include "core/url.h"

#include <arpa/inet.h>

#include "t.h"

TEST(a_url_is_read_in_parts)
{
    struct url u;
    CHECK_OK(url_read(ctx, "f", S("https://api.example.com/v1"), true, &u));
    CHECK(str_is(u.scheme, "https") && str_is(u.host, "api.example.com") && !u.port);
    CHECK_STR(u.path, S("/v1"));
    CHECK_OK(url_read(ctx, "f", S("http://[::1]:8080"), true, &u));
    CHECK_STR(u.host, S("::1"));
    CHECK_INT(u.port, 8080);
    CHECK_OK(url_read(ctx, "f", S("http://x/v1/@here/..."), true, &u));
    CHECK_OK(url_read(ctx, "f", S("::1"), false, &u));
    CHECK_STR(u.host, S("::1"));
    CHECK_OK(url_read(ctx, "f", S("qdrant_1:6333/behind/a/proxy"), false, &u));
    CHECK_STR(u.host, S("qdrant_1"));
    CHECK_INT(u.port, 6333);
}

TEST(a_url_that_could_mean_two_hosts_is_refused)
{
    static const char *const bad[] = {
        "ftp://x",
        "x:6333://y",
        "http://",
        "http:///v1",
        "http://a@b",
        "http://a:b@c/v1",
        "http://x?y=http://",
        "http://x/v1?key=1",
        "http://x/#a",
        "http://x/a/../b",
        "http://x/%2e%2E/b",
        "http://x/.",
        "http://a\\@b",
        "http://a b",
        "http://x:0",
        "http://x:65536",
        "http://x:80:90",
        "http://x:",
        "http://[::1",
        "http://[x]",
        "http://[::1]a",
        "http://%31%32/",
        "http://a,b",
        "http://x/\n",
        "HTTP://x",
    };
    struct url u;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_STATUS(url_read(ctx, "f", str_of(bad[i]), true, &u), BAD_INPUT);
        CHECK_STR(str_of(ctx->field), S("f"));
    }
    CHECK_STATUS(url_read(ctx, "f", S("x:6333"), true, &u), BAD_INPUT);
}

static bool is_barred(const char *address, const char *allowed)
{
    struct sockaddr_storage a = {0};
    char text[ADDRESS_TEXT_MAX];
    bool is_v4 = inet_pton(AF_INET, address, &((struct sockaddr_in *)&a)->sin_addr) == 1;
    CHECK(is_v4 || inet_pton(AF_INET6, address, &((struct sockaddr_in6 *)&a)->sin6_addr) == 1);
    a.ss_family = is_v4 ? AF_INET : AF_INET6;
    return address_is_barred((const struct sockaddr *)&a, str_of(allowed), text);
}

TEST(metadata_services_and_link_local_addresses_are_barred)
{
    static const char *const bad[] = {
        "169.254.169.254",        "169.254.0.1",        "fe80::1",         "febf::1",
        "fd00:ec2::254",          "fd20:ce::254",       "100.100.100.200", "168.63.129.16",
        "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "192.0.0.192",
    };
    static const char *const good[] = {"127.0.0.1",       "169.253.255.255", "169.255.0.1",
                                       "10.0.0.1",        "192.168.1.1",     "::1",
                                       "fec0::1",         "fd00::1",         "2001:db8::1",
                                       "::ffff:127.0.0.1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(is_barred(bad[i], "10.0.0.1"));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(!is_barred(good[i], ""));
    CHECK(!is_barred("169.254.10.2", "fe80::1, 169.254.10.2"));
    CHECK(!is_barred("::ffff:169.254.10.2", "169.254.10.2"));
    CHECK(is_barred("169.254.10.20", "169.254.10.2"));
    CHECK_STATUS(url_check(ctx, "f", S("http://169.254.169.254/v1"), true, S("")), BAD_INPUT);
    CHECK_OK(url_check(ctx, "f", S("http://169.254.169.254/v1"), true, S("169.254.169.254")));
    CHECK_STATUS(url_check(ctx, "f", S("[fe80::1]:6333"), false, S("")), BAD_INPUT);
}

TEST(names_of_this_machine_are_known)
{
    CHECK(host_is_loopback(S("localhost")) && host_is_loopback(S("LOCALHOST")));
    CHECK(host_is_loopback(S("a.localhost")) && host_is_loopback(S("127.9.9.9")));
    CHECK(host_is_loopback(S("::1")));
    CHECK(!host_is_loopback(S("127.0.0.1.example.com")) && !host_is_loopback(S("")));
    CHECK(!host_is_loopback(S("xlocalhost")) && !host_is_loopback(S("10.0.0.1")));
}
