/* url.c - addresses of servers: parsed strictly, and those that are never called unasked. */
#include "core/url.h"

#include <arpa/inet.h>
#include <strings.h>

#include "core/account.h"

/* --- parsing --- */

/* "..", also as "%2e%2E", which some servers decode before they look. */
static bool is_dots(str segment)
{
    size_t dots = 0;
    for (size_t i = 0; i < segment.n; dots++) {
        bool is_escaped = i + 3 <= segment.n && !strncasecmp(segment.p + i, "%2e", 3);
        if (segment.p[i] != '.' && !is_escaped)
            return false;
        i += is_escaped ? 3 : 1;
    }
    return dots == 1 || dots == 2;
}

/* AF_UNSPEC for a name. */
static struct sockaddr_storage address_of(str host)
{
    struct sockaddr_storage a = {0};
    char text[ADDRESS_TEXT_MAX];
    if (!host.n || host.n >= sizeof text)
        return a;
    memcpy(text, host.p, host.n);
    text[host.n] = 0;
    if (inet_pton(AF_INET, text, &((struct sockaddr_in *)&a)->sin_addr) == 1)
        a.ss_family = AF_INET;
    else if (inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)&a)->sin6_addr) == 1)
        a.ss_family = AF_INET6;
    return a;
}

/* An address of version 6 stands in brackets, or alone where a scheme may be missing. */
static bool is_bare_v6(str authority)
{
    return address_of(authority).ss_family == AF_INET6;
}

static enum status read_authority(struct ctx *ctx, const char *field, str authority,
                                  struct url *out)
{
    bool is_bracketed = authority.n && authority.p[0] == '[', is_bare = is_bare_v6(authority);
    size_t end = is_bare ? authority.n : str_find(authority, is_bracketed ? S("]") : S(":"));
    out->host = str_sub(authority, is_bracketed, end);
    if (is_bracketed && (end == authority.n || !is_bare_v6(out->host)))
        return fail_field(ctx, field, "must have an IPv6 address between '[' and ']'");
    str port = str_sub(authority, end + is_bracketed, authority.n);
    if (!out->host.n || SOME(i, out->host.n, char_is_one_of(out->host.p[i], "%,")))
        return fail_field(ctx, field, "must name a host");
    if (port.n && (port.p[0] != ':' || !str_int(str_sub(port, 1, port.n), &out->port) ||
                   out->port < 1 || out->port > 65535))
        return fail_field(ctx, field, "must have a port from 1 to 65535 behind the host");
    return OK;
}

enum status url_read(struct ctx *ctx, const char *field, str text, bool needs_scheme,
                     struct url *out)
{
    size_t scheme = str_find(text, S("://"));
    *out = (struct url){.scheme = S("http")};
    if (SOME(i, text.n, (unsigned char)text.p[i] <= ' ' || strchr("?#\\\"<>^`{|}\x7f", text.p[i])))
        return fail_field(ctx, field,
                          "must be a URL without a query, a fragment, spaces or backslashes");
    if (scheme < text.n)
        out->scheme = str_sub(text, 0, scheme);
    if ((needs_scheme && scheme == text.n) ||
        !(str_is(out->scheme, "http") || str_is(out->scheme, "https")))
        return fail_field(ctx, field, "must start with http:// or https://");
    str rest = scheme < text.n ? str_sub(text, scheme + 3, text.n) : text;
    size_t slash = str_find(rest, S("/"));
    str authority = str_sub(rest, 0, slash);
    out->path = str_sub(rest, slash, rest.n);
    if (str_find(authority, S("@")) < authority.n)
        return fail_field(ctx, field,
                          "must not hold a user or password, which would show in lists and logs; "
                          "a key has a setting of its own");
    TRY(read_authority(ctx, field, authority, out));
    for (str path = out->path; path.n;)
        if (is_dots(str_cut(&path, '/')))
            return fail_field(ctx, field, "must have a path without '.' and '..'");
    return OK;
}

/* --- hosts --- */

/* RFC 6761, section 6.3, for names. */
bool host_is_loopback(str host)
{
    if (str_eq_nocase(host, S("localhost")) ||
        (host.n > 10 && str_eq_nocase(str_sub(host, host.n - 10, host.n), S(".localhost"))))
        return true;
    struct sockaddr_storage a = address_of(host);
    if (a.ss_family == AF_INET)
        return ntohl(((struct sockaddr_in *)&a)->sin_addr.s_addr) >> 24 == 127;
    return a.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&((struct sockaddr_in6 *)&a)->sin6_addr);
}

/* --- barred addresses --- */

/* Link-local networks, in which the clouds' metadata services are, and the addresses that some of
 * them have elsewhere. */
static const struct {
    const char *network;
    int family, bits;
} barred[] = {
    {"169.254.0.0", AF_INET, 16},     /* link-local; AWS, Google, Azure and others */
    {"100.100.100.200", AF_INET, 32}, /* Alibaba */
    {"168.63.129.16", AF_INET, 32},   /* Azure */
    {"192.0.0.192", AF_INET, 32},     /* Oracle */
    {"fe80::", AF_INET6, 10},         /* link-local */
    {"fd00:ec2::254", AF_INET6, 128}, /* AWS */
    {"fd20:ce::254", AF_INET6, 128},  /* Google */
};

static bool is_in_network(const uint8_t *address, const uint8_t *network, int bits)
{
    int whole = bits / 8, rest = bits % 8;
    if (memcmp(address, network, (size_t)whole) != 0)
        return false;
    return !rest || (address[whole] ^ network[whole]) >> (8 - rest) == 0;
}

/* An address of version 4 may be inside one of version 6: mapped (::ffff:), or for a translator
 * (64:ff9b::, RFC 6052). */
static const uint8_t *inner_v4(const uint8_t *v6)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff},
                         translated[12] = {0x00, 0x64, 0xff, 0x9b};
    bool is_inside = !memcmp(v6, mapped, 12) || !memcmp(v6, translated, 12);
    return is_inside ? v6 + 12 : NULL;
}

bool address_is_barred(const struct sockaddr *a, str allowed, char text[ADDRESS_TEXT_MAX])
{
    int family = a->sa_family;
    const uint8_t *bytes = (const uint8_t *)&((const struct sockaddr_in *)a)->sin_addr;
    *text = 0;
    if (family == AF_INET6) {
        const uint8_t *v6 = ((const struct sockaddr_in6 *)a)->sin6_addr.s6_addr, *v4 = inner_v4(v6);
        family = v4 ? AF_INET : AF_INET6;
        bytes = v4 ? v4 : v6;
    } else if (family != AF_INET) {
        return false;
    }
    inet_ntop(family, bytes, text, ADDRESS_TEXT_MAX);
    for (size_t i = 0; i < sizeof barred / sizeof *barred; i++) {
        uint8_t network[16];
        if (barred[i].family == family && inet_pton(family, barred[i].network, network) == 1 &&
            is_in_network(bytes, network, barred[i].bits))
            return !names_have(allowed, str_of(text));
    }
    return false;
}

enum status url_check(struct ctx *ctx, const char *field, str text, bool needs_scheme, str allowed)
{
    char shown[ADDRESS_TEXT_MAX];
    struct url url;
    if (!text.n)
        return OK;
    TRY(url_read(ctx, field, text, needs_scheme, &url));
    struct sockaddr_storage a = address_of(url.host);
    if (!address_is_barred((const struct sockaddr *)&a, allowed, shown))
        return OK;
    return fail_field(ctx, field, ADDRESS_BARRED, shown);
}
