/* libcurl.c - loads libcurl, once per process; an address that is barred gets no socket. */
#include "http/curl/libcurl.h"

#include <dlfcn.h>
#include <sys/socket.h>

#include "base/workers.h"
#include "http/http.h"

struct libcurl libcurl;

static atomic_bool is_open;

/* RTLD_NODELETE: its threads and its TLS library's exit handlers must find their code. */
static enum status find_functions(struct ctx *ctx, struct libcurl *out)
{
#ifdef STATIC_PROGRAM
    (void)ctx;
#define F(NAME) out->NAME = curl_##NAME;
#else
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        return fail(ctx, UNSUPPORTED,
                    "calling another server needs libcurl (%s): install the package libcurl4t64 "
                    "(Debian 13) or libcurl4 (Debian 12)",
                    dlerror());
#define F(NAME)                                                                                    \
    if (!(*(void **)&out->NAME = dlsym(library, "curl_" #NAME)))                                   \
        return fail(ctx, UNSUPPORTED, "libcurl is too old (%s): install a newer one", dlerror());
#endif
    LIBCURL_FUNCTIONS(F)
#undef F
    return OK;
}

/* curl_global_init must run once, and its OpenSSL part must not run twice. */
enum status libcurl_open(struct ctx *ctx)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (libcurl_is_open())
        return OK;
    HOLD(&lock);
    if (libcurl_is_open()) /* by another thread, for which this one has waited */
        return OK;
    TRY(find_functions(ctx, &libcurl));
    if (libcurl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return fail(ctx, UNSUPPORTED, "libcurl cannot be initialised");
    atomic_store(&is_open, true);
    return OK;
}

bool libcurl_is_open(void)
{
    return atomic_load(&is_open);
}

struct curl_slist *libcurl_no_header(struct arena *a, struct curl_slist *rest, const char *line)
{
    struct curl_slist *node = NEW(a, struct curl_slist);
    *node = (struct curl_slist){(char *)line, rest};
    return node;
}

/* To curl an empty value is "name;". */
struct curl_slist *libcurl_header(struct arena *a, struct curl_slist *rest, str name, str value)
{
    str line = str_printf(a, S_FMT "%s" S_FMT, S_ARG(name), value.n ? ": " : ";", S_ARG(value));
    return libcurl_no_header(a, rest, line.p);
}

/* curl looks for a proxy in the environment at each call; an empty setting spares that. A proxy
 * must not get the calls to servers on this machine, such as a local model. */
void libcurl_set_route(CURL *easy)
{
    static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
                                        "ALL_PROXY"};
    bool is_any = SOME(i, sizeof names / sizeof *names, getenv(names[i]) != NULL);
    if (!is_any)
        libcurl_set(easy, CURLOPT_PROXY, "");
    else if (!getenv("no_proxy") && !getenv("NO_PROXY"))
        libcurl_set(easy, CURLOPT_NOPROXY, "localhost,127.0.0.1,::1");
    /* The variable that other programs read, too, for the certificates of a private authority. */
    const char *certificates = getenv("SSL_CERT_FILE");
    if (certificates && *certificates)
        libcurl_set(easy, CURLOPT_CAINFO, certificates);
    libcurl_set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    libcurl_set(easy, CURLOPT_NOSIGNAL, 1L);
}

/* Set once, before the first thread. */
static str allowed;

void http_allow_addresses(str list)
{
    allowed = list;
}

int egress_socket(char barred[ADDRESS_TEXT_MAX], const struct curl_sockaddr *address, int flags)
{
    char text[ADDRESS_TEXT_MAX];
    if (!address_is_barred(&address->addr, allowed, text))
        return socket(address->family, address->socktype | SOCK_CLOEXEC | flags, address->protocol);
    memcpy(barred, text, sizeof text);
    return -1;
}

const char *egress_why(struct arena *a, const char *barred, CURLcode code)
{
    if (code != CURLE_COULDNT_CONNECT || !barred[0])
        return libcurl.easy_strerror(code);
    return str_printf(a, ADDRESS_BARRED, barred).p;
}
