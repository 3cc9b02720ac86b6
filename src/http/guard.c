/* guard.c - which Host and Origin are served, so that no web page drives a local server. */
#include "http/guard.h"

#include "core/url.h"

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
    if (settings->any_host || host_is_loopback(host_name(*host)) ||
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

/* --- this machine, or a proxy on it --- */

static bool is_forwarded(const struct request *in)
{
    static const char *const names[] = {"Forwarded",        "X-Real-IP",      "Via", "X-Client-IP",
                                        "CF-Connecting-IP", "True-Client-IP", NULL};
    for (size_t i = 0; i < in->n_headers; i++) {
        str name = in->headers[i].name;
        if (name.n > 12 && str_eq_nocase(str_sub(name, 0, 12), S("X-Forwarded-")))
            return true;
        if (str_is_one_of(name, names))
            return true;
    }
    return false;
}

/* Proxies that add no header pass on the client's Host, or speak HTTP/1.0, as nginx does by
 * default. One that does neither cannot be told from a program here: docs/serving.md. */
bool guard_is_local(const struct request *in, bool is_old)
{
    return !is_old && host_is_loopback(host_name(request_header(in, "Host"))) && !is_forwarded(in);
}

/* The last one: what stands in front of it came with the request, and may be made up. */
str guard_client(const struct request *in)
{
    str last = S("");
    for (size_t i = 0; i < in->n_headers; i++)
        if (str_eq_nocase(in->headers[i].name, S("X-Forwarded-For")))
            for (str list = in->headers[i].value; list.n;)
                last = str_trim(str_cut(&list, ','));
    return last;
}
