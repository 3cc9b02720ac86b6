/* egress_guard.h - the sockets to other servers: an address that is barred gets none. */
#pragma once

#include <curl/curl.h>

#include "core/url.h"

/* What a call was kept from. */
struct egress {
    char barred[ADDRESS_TEXT_MAX]; /* the last address, or "" */
};

/* A socket for an address that curl is about to connect to, or -1. After the name was resolved, so
 * that no name leads to a barred address. */
int egress_socket(struct egress *r, const struct curl_sockaddr *address, int flags);
/* Why there is no answer: the barred address, or curl's words. */
const char *egress_why(struct arena *a, const struct egress *r, CURLcode code);
