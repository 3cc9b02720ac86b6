/* egress_guard.c - the sockets to other servers: an address that is barred gets none. */
#include "http/curl/egress_guard.h"

#include <sys/socket.h>

#include "http/curl/libcurl.h"
#include "http/http.h"

/* Set once, before the first thread. */
static str allowed;

void http_allow_addresses(str list)
{
    allowed = list;
}

int egress_socket(struct egress *r, const struct curl_sockaddr *address, int flags)
{
    char text[ADDRESS_TEXT_MAX];
    if (!address_is_barred(&address->addr, allowed, text))
        return socket(address->family, address->socktype | SOCK_CLOEXEC | flags, address->protocol);
    memcpy(r->barred, text, sizeof text);
    return -1;
}

const char *egress_why(struct arena *a, const struct egress *r, CURLcode code)
{
    if (code != CURLE_COULDNT_CONNECT || !r->barred[0])
        return libcurl.easy_strerror(code);
    return str_printf(a, ADDRESS_BARRED, r->barred).p;
}
