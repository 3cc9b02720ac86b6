/* url.h - addresses of servers: parsed strictly, and those that are never called unasked. */
#pragma once

#include <netinet/in.h>

#include "base/ctx.h"

struct url {
    str scheme, host, path; /* host without brackets; path "" or from its '/' on */
    int64_t port;           /* 0: none is named */
};

/*
 * Reads http://HOST[:PORT][/PATH] or https://…; with needs_scheme false also HOST[:PORT][/PATH].
 * BAD_INPUT names the field: a user or password, a query, a fragment, a "..", a space or a
 * backslash could make two programs see two hosts in one text.
 */
MUST_USE enum status url_read(struct ctx *ctx, const char *field, str text, bool needs_scheme,
                              struct url *out);
/* The same, and BAD_INPUT for an address that is barred and not in allowed. "" passes. */
MUST_USE enum status url_check(struct ctx *ctx, const char *field, str text, bool needs_scheme,
                               str allowed);

/* Names that mean this machine whatever a DNS server says: localhost, all names below it, and the
 * loopback addresses. */
bool host_is_loopback(str host);

enum { ADDRESS_TEXT_MAX = INET6_ADDRSTRLEN };

/*
 * Whether an address is link-local or that of a cloud's metadata service, and not one of allowed, a
 * list with commas. Such services give keys of the machine to anyone who asks from it. text is
 * filled with the address.
 */
bool address_is_barred(const struct sockaddr *a, str allowed, char text[ADDRESS_TEXT_MAX]);
/* The words for it, of its text. */
#define ADDRESS_BARRED                                                                             \
    "%s is a link-local address or a cloud's metadata service, which is not called unless the "    \
    "setting allow_addresses names it"
