/* hop_headers.c - headers that go on to the other side of a relay, and types that are active. */
#include "http/wire/hop_headers.h"

/* RFC 9110, section 7.6.1, and its predecessors: the fields of one connection. */
static const char *const of_one_connection[] = {
    "Connection",
    "Keep-Alive",
    "Proxy-Authenticate",
    "Proxy-Authorization",
    "Proxy-Connection",
    "TE",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
    NULL,
};
/* curl writes these itself, and unpacks what comes packed. A page asks us, not the upstream, which
 * would refuse pages that it does not know. */
static const char *const not_to_upstream[] = {
    "Accept-Encoding", "Content-Length", "Expect", "Host", "Origin", NULL,
};
/* These speak for the upstream's origin, and a browser would believe them of ours. Two of them are
 * written by guard.c for every answer. */
static const char *const not_to_client[] = {
    "Alt-Svc",    "Clear-Site-Data",           "Cross-Origin-Resource-Policy",
    "Set-Cookie", "Strict-Transport-Security", "X-Content-Type-Options",
    NULL,
};
/* All headers that begin so: which pages may read the answer is our decision. */
static const str cors = S("Access-Control-");

bool header_goes_on(str name, enum way way)
{
    if (str_is_one_of(name, of_one_connection))
        return false;
    if (way == TO_UPSTREAM)
        return !str_is_one_of(name, not_to_upstream);
    return !str_is_one_of(name, not_to_client) &&
           !(name.n > cors.n && str_eq_nocase(str_sub(name, 0, cors.n), cors));
}

static bool is_named_in(str list, str name)
{
    while (list.n)
        if (str_eq_nocase(str_trim(str_cut(&list, ',')), name))
            return true;
    return false;
}

bool header_is_of_connection(const struct header *headers, size_t n, str name)
{
    for (const struct header *h = headers; h < headers + n; h++)
        if (str_eq_nocase(h->name, S("Connection")) && is_named_in(h->value, name))
            return true;
    return false;
}

/* Of a list, which a standard value is not, browsers disagree about the element that counts. */
bool type_runs_scripts(str type)
{
    static const char *const active[] = {"text/html",
                                         "application/xhtml+xml",
                                         "text/xml",
                                         "application/xml",
                                         "multipart/x-mixed-replace",
                                         "image/svg+xml",
                                         NULL};
    while (type.n) {
        str one = str_cut(&type, ',');
        one = str_trim(str_cut(&one, ';'));
        bool is_xml = one.n > 4 && str_eq_nocase(str_sub(one, one.n - 4, one.n), S("+xml"));
        if (is_xml || str_is_one_of(one, active))
            return true;
    }
    return false;
}
