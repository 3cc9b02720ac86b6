/* guard.c - checks of Host and Origin, so that no web page drives a local server. */
#include "http/wire/guard.h"

#include "core/url.h"
#include "http/wire/address.h"
#include "http/wire/reply.h"

/*
 * A page of a foreign site can reach a server on this machine in two ways: by sending requests to
 * it (then the Origin is foreign), or by letting its own name point here (DNS rebinding: then the
 * Host is foreign). Programs other than browsers send no Origin.
 */

/* --- pages of other origins --- */

/*
 * A browser lets a page of another origin send requests here, but read the answer only if the
 * answer names the page's origin. Some requests are asked for first (a preflight). Access is by
 * tokens, which a page holds like any program. Cookies and passwords that a browser would add by
 * itself are not used here, so Allow-Credentials is never sent.
 */

struct page_origin {
    str scheme, host;
    int64_t port; /* ANY_PORT in a pattern, 0: of a scheme without ports */
};
enum { ANY_PORT = -1, PORT_MOST = 65535 };

/* Strict: whatever is in doubt, such as a user name or a path, is no origin. */
static bool has_only(str text, const char *others)
{
    return !SOME(i, text.n,
                 !char_is_one_of(ascii_lower(text.p[i]), "0123456789abcdefghijklmnopqrstuvwxyz") &&
                     !char_is_one_of(text.p[i], others));
}

static bool is_web(const struct page_origin *o)
{
    return str_eq_nocase(o->scheme, S("http")) || str_eq_nocase(o->scheme, S("https"));
}

static bool read_host(str *rest, bool is_pattern, struct page_origin *out)
{
    bool is_v6 = rest->n && rest->p[0] == '[';
    size_t end = is_v6 ? str_find(*rest, S("]")) + 1 : str_find(*rest, S(":"));
    if (end > rest->n)
        return false;
    str host = str_sub(*rest, 0, end), name = host;
    *rest = str_sub(*rest, end, rest->n);
    out->host = host;
    if (is_v6)
        return host.n > 2 && has_only(str_sub(host, 1, host.n - 1), ":.");
    if (is_pattern && str_is(host, "*"))
        return true;
    if (is_pattern && str_starts(host, S("*.")))
        name = str_sub(host, 2, host.n);
    return has_only(name, "-._") && (name.n || !is_web(out));
}

static bool read_port(str rest, bool is_pattern, struct page_origin *out)
{
    out->port = !is_web(out) ? 0 : str_eq_nocase(out->scheme, S("http")) ? 80 : 443;
    if (!rest.n)
        return true;
    str port = str_sub(rest, 1, rest.n);
    if (is_pattern && str_is(rest, ":*")) {
        out->port = ANY_PORT;
        return true;
    }
    return rest.p[0] == ':' && port.n && port.p[0] != '0' && has_only(port, "") &&
           str_int(port, &out->port) && out->port <= PORT_MOST;
}

/* "null" is what browsers send for files and sandboxed frames: a scheme of its own here. */
static bool read_origin(str text, bool is_pattern, struct page_origin *out)
{
    size_t at = str_find(text, S("://"));
    *out = (struct page_origin){.scheme = str_sub(text, 0, at)};
    if (str_is(text, "null"))
        return true;
    if (at == text.n || !at || !has_only(out->scheme, "+-."))
        return false;
    str rest = str_sub(text, at + 3, text.n);
    return read_host(&rest, is_pattern, out) && read_port(rest, is_pattern, out);
}

static bool host_fits(str pattern, str host)
{
    if (str_is(pattern, "*"))
        return true;
    if (!str_starts(pattern, S("*.")))
        return str_eq_nocase(pattern, host);
    str below = str_sub(pattern, 1, pattern.n); /* with the dot: no other name ends so */
    return host.n > below.n && str_eq_nocase(str_sub(host, host.n - below.n, host.n), below);
}

static bool origin_fits(const char *pattern, const struct page_origin *origin)
{
    struct page_origin p;
    if (str_is(str_of(pattern), "*"))
        return true;
    return read_origin(str_of(pattern), true, &p) && str_eq_nocase(p.scheme, origin->scheme) &&
           (p.port == ANY_PORT || p.port == origin->port) && host_fits(p.host, origin->host);
}

bool guard_shares(const struct server_settings *settings, str origin)
{
    struct page_origin it;
    if (!origin.n || !read_origin(origin, false, &it))
        return false;
    for (const char *const *p = settings->origins; p && *p; p++)
        if (origin_fits(*p, &it))
            return true;
    return false;
}

enum status origin_check(struct ctx *ctx, str pattern, bool *is_wide)
{
    struct page_origin it;
    bool is_all = str_is(pattern, "*");
    if (!is_all && !read_origin(pattern, true, &it))
        return fail_field(ctx, "origins",
                          "'" S_FMT "' must be SCHEME://HOST[:PORT], where HOST may be * or "
                          "begin with *. and PORT may be *",
                          S_ARG(pattern));
    *is_wide = is_all || str_is(it.scheme, "null") || (is_web(&it) && str_is(it.host, "*"));
    return OK;
}

/* --- Host and Origin --- */

static bool is_listed(const struct server_settings *settings, str name)
{
    return settings->hosts && str_is_one_of(name, settings->hosts);
}

/* RFC 9112, section 3.2. Of two of them, also where the other one is in the target, we and a proxy
 * in front could each believe another one. */
enum status guard_host(struct ctx *ctx, const struct request *in, str authority, bool is_old)
{
    struct page_origin it = {.scheme = S("http")};
    str host = request_header(in, "Host"), rest = host;
    size_t n = 0;
    for (size_t i = 0; i < in->n_headers; i++)
        n += str_eq_nocase(in->headers[i].name, S("Host"));
    if (n == 0 && is_old && !authority.n)
        return OK;
    if (n != 1)
        return fail(ctx, BAD_INPUT, "a request needs one Host header, this one has %zu", n);
    if (!read_host(&rest, false, &it) || !read_port(rest, false, &it))
        return fail(ctx, BAD_INPUT, "Host must be a name or an address, and may have a port");
    if (authority.n && !str_eq_nocase(authority, host))
        return fail(ctx, BAD_INPUT, "the request's target names another host than its Host header");
    return OK;
}

/*
 * Says where a browser comes from also when it sends no Origin: for what a foreign page loads, or
 * sends without a script. Such a page cannot read the answer, but could have something done; so it
 * may only link to what anyone may have.
 */
static bool is_of_foreign_page(const struct request *in, bool is_open)
{
    str site = request_header(in, "Sec-Fetch-Site");
    bool is_link = str_is(request_header(in, "Sec-Fetch-Mode"), "navigate") &&
                   str_is(request_header(in, "Sec-Fetch-Dest"), "document");
    return (str_is(site, "cross-site") || str_is(site, "same-site")) && !(is_open && is_link);
}

/* Pages of other origins may be allowed by a setting. A page served by this server has the
 * same host and port in Origin and Host and may pass. "null", the Origin of a file or a sandboxed
 * frame, has no host and does not. */
enum status guard_check(struct ctx *ctx, const struct server_settings *settings,
                        const struct request *in, bool is_open)
{
    str host = request_header(in, "Host"), origin = request_header(in, "Origin");
    str name = address_host(host);
    if (host.n && !settings->any_host && !host_is_loopback(name) && !is_listed(settings, name))
        return fail(ctx, FORBIDDEN,
                    "the host name '" S_FMT
                    "' is not served; it can be allowed with the hosts setting",
                    S_ARG(name));
    if (!origin.n && is_of_foreign_page(in, is_open))
        return fail(ctx, FORBIDDEN, "requests from pages of other sites are not served");
    if (!origin.n || guard_shares(settings, origin))
        return OK;
    size_t scheme = str_find(origin, S("://"));
    str authority = scheme < origin.n ? str_sub(origin, scheme + 3, origin.n) : (str){0};
    if (authority.n &&
        (str_eq_nocase(authority, host) || is_listed(settings, address_host(authority))))
        return OK;
    return fail(ctx, FORBIDDEN,
                "requests from pages of '" S_FMT
                "' are not served; they can be allowed with the origins setting, or their "
                "host name with the hosts setting",
                S_ARG(origin));
}

/* --- this machine, or a proxy on it --- */

static bool is_forwarded(const struct request *in)
{
    static const char *const names[] = {"Forwarded",        "X-Real-IP",      "Via", "X-Client-IP",
                                        "CF-Connecting-IP", "True-Client-IP", NULL};
    for (size_t i = 0; i < in->n_headers; i++) {
        str name = in->headers[i].name;
        if (str_is_one_of(name, names) ||
            (name.n > 12 && str_eq_nocase(str_sub(name, 0, 12), S("X-Forwarded-"))))
            return true;
    }
    return false;
}

/* Proxies that add no header pass on the client's Host, or speak HTTP/1.0, as nginx does by
 * default. One that does neither cannot be told from a program here: docs/serving.md. */
bool guard_is_local(const struct request *in, bool is_old)
{
    return !is_old && host_is_loopback(address_host(request_header(in, "Host"))) &&
           !is_forwarded(in);
}

bool guard_shows_credential(const struct request *in)
{
    static const char *const names[] = {"Authorization", "x-api-key", "Cookie", NULL};
    return SOME(i, in->n_headers, str_is_one_of(in->headers[i].name, names));
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

/* --- what a browser is told --- */

bool guard_is_preflight(const struct request *in)
{
    return str_is(in->method, "OPTIONS") && request_header(in, "Origin").n &&
           request_header(in, "Access-Control-Request-Method").n;
}

/* No page loads an answer as a script, a picture or a type that it guesses, unless it may read it.
 * The same URL has other headers for other pages: that is for caches to know, also about an answer
 * to no page. */
void guard_head(const struct server_settings *settings, const struct request *in, bool is_shared,
                struct buf *b)
{
    buf_add(b, S("X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: "));
    buf_add(b, is_shared ? S("cross-origin\r\n") : S("same-origin\r\n"));
    if (!settings->origins || !settings->origins[0])
        return;
    buf_add(b, S("Vary: Origin\r\n"));
    if (!is_shared)
        return;
    reply_line(b, S("Access-Control-Allow-Origin"), request_header(in, "Origin"));
    reply_line(b, S("Access-Control-Expose-Headers"), settings->exposed);
}

/* Every method and each header that is asked for: what a path does not know is refused by the
 * request itself, in words that the page can read. */
void guard_preflight(const struct request *in, struct reply *out)
{
    str asked = request_header(in, "Access-Control-Request-Headers");
    reply_header(out, "Access-Control-Allow-Methods", S("GET, POST, PUT, PATCH, DELETE, OPTIONS"));
    if (asked.n)
        reply_header(out, "Access-Control-Allow-Headers", asked);
    reply_header(out, "Access-Control-Max-Age", S("7200"));
    if (str_eq_nocase(request_header(in, "Access-Control-Request-Private-Network"), S("true")))
        reply_header(out, "Access-Control-Allow-Private-Network", S("true"));
}
