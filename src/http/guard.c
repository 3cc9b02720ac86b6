/* guard.c - which Host and Origin are served, so that no web page drives a local server. */
#include "http/guard.h"

#include <arpa/inet.h>

/*
 * A page of a foreign site can reach a server on this machine in two ways: by sending requests to
 * it (then the Origin is foreign), or by letting its own name point here (DNS rebinding: then the
 * Host is foreign). Programs other than browsers send no Origin.
 */

/* "name:port" or "[v6]:port" without the port. */
static str host_name(str authority)
{
    if (authority.n && authority.p[0] == '[') {
        size_t end = str_find(authority, S("]"));
        return end < authority.n ? str_sub(authority, 1, end) : authority;
    }
    return str_cut(&authority, ':');
}

/* Names that mean this machine whatever a DNS server says: localhost and all names below it (RFC
 * 6761, section 6.3), and the loopback addresses themselves. */
static bool is_loopback_name(str name)
{
    char text[INET6_ADDRSTRLEN];
    struct in_addr v4;
    struct in6_addr v6;
    if (str_eq_nocase(name, S("localhost")))
        return true;
    if (name.n > 10 && str_eq_nocase(str_sub(name, name.n - 10, name.n), S(".localhost")))
        return true;
    if (!name.n || name.n >= sizeof text)
        return false;
    memcpy(text, name.p, name.n);
    text[name.n] = 0;
    if (inet_pton(AF_INET, text, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, text, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

static bool is_listed(const struct server_settings *settings, str name)
{
    for (const char *const *h = settings->hosts; h && *h; h++)
        if (str_eq_nocase(name, str_of(*h)))
            return true;
    return false;
}

/* Exactly one Host is required (RFC 9112, section 3.2); HTTP/1.0 did not have it. With two of them,
 * we and a proxy in front could each believe another one. */
static enum status check_host(struct ctx *ctx, const struct server_settings *settings,
                              const struct request *in, bool is_old, str *host)
{
    size_t n = 0;
    for (size_t i = 0; i < in->n_headers; i++) {
        if (str_eq_nocase(in->headers[i].name, S("Host"))) {
            *host = in->headers[i].value;
            n++;
        }
    }
    if (n == 0 && is_old)
        return OK;
    if (n != 1)
        return fail(ctx, BAD_INPUT, "a request needs one Host header, this one has %zu", n);
    if (settings->any_host || is_loopback_name(host_name(*host)) ||
        is_listed(settings, host_name(*host)))
        return OK;
    return fail(ctx, FORBIDDEN,
                "the host name '" S_FMT "' is not served; it can be allowed with the hosts setting",
                S_ARG(host_name(*host)));
}

/* A page served by this server has the same host and port in Origin and Host and may pass. "null",
 * the Origin of a file or a sandboxed frame, has no host and does not. */
enum status guard_check(struct ctx *ctx, const struct server_settings *settings,
                        const struct request *in, bool is_old)
{
    str host = {0}, origin = request_header(in, "Origin");
    TRY(check_host(ctx, settings, in, is_old, &host));
    if (!origin.n)
        return OK;
    size_t scheme = str_find(origin, S("://"));
    str authority = scheme < origin.n ? str_sub(origin, scheme + 3, origin.n) : (str){0};
    if (authority.n &&
        (str_eq_nocase(authority, host) || is_listed(settings, host_name(authority))))
        return OK;
    return fail(ctx, FORBIDDEN,
                "requests from pages of '" S_FMT
                "' are not served; their host name can be allowed with "
                "the hosts setting",
                S_ARG(origin));
}
