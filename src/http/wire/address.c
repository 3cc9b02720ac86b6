/* address.c - a client's address as text, for limits, logs and the last use of a token. */
#include "http/wire/address.h"

#include <arpa/inet.h>

/* IPv4 inside of IPv6 is that IPv4. */
static size_t write_v6(struct in6_addr v6, char *out)
{
    enum { NETWORK_BYTES = 8 };
    if (IN6_IS_ADDR_V4MAPPED(&v6)) {
        inet_ntop(AF_INET, v6.s6_addr + 12, out, ADDRESS_MAX);
        return strlen(out);
    }
    memset(v6.s6_addr + NETWORK_BYTES, 0, sizeof v6.s6_addr - NETWORK_BYTES);
    inet_ntop(AF_INET6, &v6, out, ADDRESS_MAX);
    size_t n = strlen(out);
    return n + (size_t)snprintf(out + n, ADDRESS_MAX - n, "/64");
}

size_t address_of_peer(const struct sockaddr_storage *peer, char out[ADDRESS_MAX])
{
    if (peer->ss_family == AF_INET6)
        return write_v6(((const struct sockaddr_in6 *)peer)->sin6_addr, out);
    inet_ntop(AF_INET, &((const struct sockaddr_in *)peer)->sin_addr, out, ADDRESS_MAX);
    return strlen(out);
}

str address_host(str text)
{
    if (text.n && text.p[0] == '[')
        return str_sub(text, 1, str_find(text, S("]")));
    str host = text;
    str_cut(&text, ':');
    return str_find(text, S(":")) == text.n ? str_cut(&host, ':') : host;
}

size_t address_of_text(str text, char out[ADDRESS_MAX])
{
    char plain[ADDRESS_MAX];
    struct in_addr v4;
    struct in6_addr v6;
    str host = address_host(str_trim(text));
    snprintf(plain, sizeof plain, "%.*s", (int)(host.n < sizeof plain ? host.n : 0), host.p);
    if (inet_pton(AF_INET6, plain, &v6) == 1)
        return write_v6(v6, out);
    bool is_v4 = inet_pton(AF_INET, plain, &v4) == 1;
    return (size_t)snprintf(out, ADDRESS_MAX, "%s", is_v4 ? plain : "unknown");
}
