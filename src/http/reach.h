/* reach.h - the sockets to other servers: an address that is barred gets none. */
#pragma once

#include <curl/curl.h>

#include "core/url.h"

/* What a call was kept from. */
struct reach {
    char barred[ADDRESS_TEXT_MAX]; /* the last address, or "" */
};

/* A socket for an address that curl is about to connect to, or -1. After the name was resolved, so
 * that no name leads to a barred address. */
int reach_socket(struct reach *r, const struct curl_sockaddr *address, int flags);
/* Why there is no answer: the barred address, or curl's words. */
const char *reach_why(struct arena *a, const struct reach *r, CURLcode code);
