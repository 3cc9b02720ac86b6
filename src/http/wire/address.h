/* address.h - a client's address as text, for limits, logs and the last use of a token. */
#pragma once

#include <sys/socket.h>

#include "base/str.h"

enum { ADDRESS_MAX = 48 };

/*
 * "203.0.113.7" or "2001:db8:1:2::/64": one customer of a provider has a whole /64 of IPv6, which
 * therefore counts as one address. Both give the length of what stands in out then.
 */
size_t address_of_peer(const struct sockaddr_storage *peer, char out[ADDRESS_MAX]);
/* The host of "[2001:db8::1]:80", "203.0.113.7:80" and "name:80", without brackets; also of one
 * without a port. */
str address_host(str text);
/* Of an entry of X-Forwarded-For, which may have a port; "unknown" when it is not an address. */
size_t address_of_text(str text, char out[ADDRESS_MAX]);
