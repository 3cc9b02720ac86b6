/* libcurl.h - libcurl's functions, found when a first call is due, and the sockets of its calls. */
#pragma once

#include <curl/curl.h>

#include "core/url.h"

/*
 * libcurl and the 25 libraries below it take 5 ms of processor time and 8 MB, which a server that
 * calls nobody does without. So it is not linked but loaded: by a worker or by whoever may wait,
 * never on a loop, where all other clients of that loop would wait as well.
 */
#define LIBCURL_FUNCTIONS(F)                                                                       \
    F(easy_cleanup)                                                                                \
    F(easy_getinfo)                                                                                \
    F(easy_header)                                                                                 \
    F(easy_init)                                                                                   \
    F(easy_pause)                                                                                  \
    F(easy_perform)                                                                                \
    F(easy_reset)                                                                                  \
    F(easy_setopt)                                                                                 \
    F(easy_strerror)                                                                               \
    F(global_init)                                                                                 \
    F(multi_add_handle)                                                                            \
    F(multi_cleanup)                                                                               \
    F(multi_info_read)                                                                             \
    F(multi_init)                                                                                  \
    F(multi_remove_handle)                                                                         \
    F(multi_setopt)                                                                                \
    F(multi_socket_action)                                                                         \
    F(version)

struct libcurl {
#define F(NAME) __typeof__(curl_##NAME) *NAME;
    LIBCURL_FUNCTIONS(F)
#undef F
};

/* Filled by libcurl_open, and constant from then on. */
extern struct libcurl libcurl;

/* Loads it once per process. A failure (UNSUPPORTED) is tried again by the next call, since the
 * package may have been installed meanwhile. From any thread. */
MUST_USE enum status libcurl_open(struct ctx *ctx);
/* Cheap: whether libcurl may be used. */
bool libcurl_is_open(void);
/* Another header in front of a list, and one of which curl is to send none. The list lives in the
 * arena, as curl only reads it. */
struct curl_slist *libcurl_header(struct arena *a, struct curl_slist *rest, str name, str value);
struct curl_slist *libcurl_no_header(struct arena *a, struct curl_slist *rest, const char *line);
/* How this handle finds its way: through the environment's proxy, but not to this machine. */
void libcurl_set_route(CURL *easy);

/* A socket for an address that curl is about to connect to, or -1 for one that is barred, whose
 * text is noted. After the name was resolved, so that no name leads to a barred address. */
int egress_socket(char barred[ADDRESS_TEXT_MAX], const struct curl_sockaddr *address, int flags);
/* Why there is no answer: the barred address that was noted last, or curl's words. */
const char *egress_why(struct arena *a, const char *barred, CURLcode code);

/* curl's own check of an option's type works on linked functions only. The one mistake that a
 * compiler does not see otherwise: an int where libcurl reads a long. */
#define libcurl_set(EASY, OPTION, VALUE)                                                           \
    __extension__({                                                                                \
        static_assert((OPTION) >= CURLOPTTYPE_OBJECTPOINT || sizeof(VALUE) == sizeof(long),        \
                      "libcurl reads a long");                                                     \
        libcurl.easy_setopt(EASY, OPTION, VALUE);                                                  \
    })
