/* client.c - calling another server and waiting for its answer. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/settings.h"
#include "http/curl/libcurl.h"
#include "http/http.h"
#include "http/wire/reply.h"

/*
 * A call blocks the thread that makes it, so it belongs on a worker or in a command, never on a
 * loop. Each call sets every option anew on its thread's handle (easy_reset keeps only connections
 * and caches), so nothing of one call leaks into the next. Relays do not come through here: they
 * run on the loop with server/multi.c.
 *
 * An HTTP code is no failure here. The caller knows what 404 or 429 means to it; only no answer, a
 * late one and one that is too long are failures.
 */

/* Each thread keeps one handle, because curl keeps the open connections in it: the next call to the
 * same server saves a TLS handshake. */
static pthread_key_t handle_key;

static void make_key(void)
{
    pthread_key_create(&handle_key, libcurl.easy_cleanup);
}

static CURL *own_handle(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    assert(libcurl_is_open());
    pthread_once(&once, make_key);
    CURL *easy = pthread_getspecific(handle_key) ?: libcurl.easy_init();
    pthread_setspecific(handle_key, easy);
    if (easy)
        libcurl.easy_reset(easy);
    return easy;
}

/* Where the answer's bytes go. An error is gathered even with an intake: its text says why. */
struct body {
    CURL *easy;
    struct intake *intake;
    struct buf all;
    char barred[ADDRESS_TEXT_MAX];
    const struct upload *upload;
    curl_off_t sent; /* of the upload */
};

static size_t on_bytes(char *p, UNUSED size_t size, size_t n, void *arg)
{
    struct body *b = arg;
    long code = 0;
    if (b->intake)
        libcurl.easy_getinfo(b->easy, CURLINFO_RESPONSE_CODE, &code);
    if (code >= 200 && code < 300)
        return b->intake->take(b->intake, (str){p, n}) ? n : 0;
    buf_add(&b->all, (str){p, n});
    return b->all.full ? 0 : n;
}

static size_t on_upload(char *p, size_t size, size_t n, void *arg)
{
    struct body *b = arg;
    int64_t left = b->upload->bytes - b->sent;
    size_t room = size * n;
    ssize_t got = pread(b->upload->fd, p, (int64_t)room < left ? room : (size_t)left, b->sent);
    if (got < 0 || (got == 0 && left))
        return CURL_READFUNC_ABORT;
    b->sent += got;
    return (size_t)got;
}

/* curl begins again when the server has closed a connection that was kept. */
static int on_seek(void *arg, curl_off_t at, UNUSED int from)
{
    ((struct body *)arg)->sent = at;
    return CURL_SEEKFUNC_OK;
}

static curl_socket_t on_open(void *arg, UNUSED curlsocktype purpose, struct curl_sockaddr *address)
{
    int fd = egress_socket(arg, address, 0);
    return fd < 0 ? CURL_SOCKET_BAD : fd;
}

/* "Expect:" without a value keeps curl from asking before it sends a long body, which would cost a
 * round trip; an empty Content-Type keeps it from claiming a form. A signed call has neither, as
 * older versions of libcurl would sign them. */
static struct curl_slist *headers_of(struct ctx *ctx, const struct call *call)
{
    struct arena *a = &ctx->arena;
    const struct header *h = call->headers;
    bool has_type = SOME(i, call->n_headers, str_eq_nocase(h[i].name, S("Content-Type")));
    bool sends_none = call->key || has_type;
    struct curl_slist *list = sends_none ? NULL : libcurl_no_header(a, NULL, "Content-Type:");
    for (size_t i = call->n_headers; i-- > 0;)
        list = libcurl_header(a, list, h[i].name, h[i].value);
    return call->key ? list : libcurl_no_header(a, list, "Expect:");
}

/* The call's own limit, or the rest of the ctx's deadline. At least 1, since 0 means no limit to
 * curl. */
static long time_left_ms(const struct ctx *ctx, const struct call *call)
{
    int64_t left = ctx->deadline_us ? (ctx->deadline_us - clock_mono_us()) / 1000 : 0;
    if (ctx->deadline_us && (!call->timeout_ms || left < call->timeout_ms))
        return left > 0 ? (long)left : 1;
    return (long)call->timeout_ms;
}

/* A file may take long, but not stall: its limit is on silence. */
static void set_limits(CURL *easy, const struct ctx *ctx, const struct call *call)
{
    long left = time_left_ms(ctx, call);
    if (call->intake || call->upload) {
        libcurl_set(easy, CURLOPT_CONNECTTIMEOUT_MS, left);
        libcurl_set(easy, CURLOPT_LOW_SPEED_TIME, (left + 999) / 1000);
        libcurl_set(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    } else {
        libcurl_set(easy, CURLOPT_TIMEOUT_MS, left);
    }
    if (call->redirects) {
        libcurl_set(easy, CURLOPT_FOLLOWLOCATION, 1L);
        libcurl_set(easy, CURLOPT_MAXREDIRS, (long)call->redirects);
        libcurl_set(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    }
}

/* curl calls this about once a second, even when no bytes come in. */
static int is_cut(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)a, (void)b, (void)c, (void)d;
    return atomic_load((const atomic_bool *)arg);
}

static void set_cut(CURL *easy, const struct ctx *ctx)
{
    if (!ctx->is_cut)
        return;
    libcurl_set(easy, CURLOPT_XFERINFOFUNCTION, is_cut);
    libcurl_set(easy, CURLOPT_XFERINFODATA, (void *)ctx->is_cut);
    libcurl_set(easy, CURLOPT_NOPROGRESS, 0L);
}

static void set_upload(CURL *easy, struct body *body)
{
    libcurl_set(easy, CURLOPT_UPLOAD, 1L);
    libcurl_set(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)body->upload->bytes);
    libcurl_set(easy, CURLOPT_READFUNCTION, on_upload);
    libcurl_set(easy, CURLOPT_READDATA, body);
    libcurl_set(easy, CURLOPT_SEEKFUNCTION, on_seek);
    libcurl_set(easy, CURLOPT_SEEKDATA, body);
}

/* A libcurl that cannot sign would send the key itself, as a password. */
static enum status set_key(CURL *easy, struct ctx *ctx, const struct call_key *key)
{
    str how = str_printf(&ctx->arena, "aws:amz:" S_FMT ":s3", S_ARG(key->region));
    if (libcurl_set(easy, CURLOPT_AWS_SIGV4, how.p) != CURLE_OK)
        return fail(ctx, UNSUPPORTED, "this libcurl cannot sign calls of an S3-compatible storage");
    libcurl_set(easy, CURLOPT_USERNAME, str_c(&ctx->arena, key->id));
    libcurl_set(easy, CURLOPT_PASSWORD, str_c(&ctx->arena, key->secret));
    return OK;
}

/* GET without a body is curl's default, so only the others need an option. */
static void set_up(CURL *easy, struct ctx *ctx, const struct call *call, struct body *body)
{
    libcurl_set_route(easy);
    libcurl_set(easy, CURLOPT_URL, str_c(&ctx->arena, call->url));
    set_limits(easy, ctx, call);
    set_cut(easy, ctx);
    libcurl_set(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    libcurl_set(easy, CURLOPT_OPENSOCKETDATA, body->barred);
    libcurl_set(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    libcurl_set(easy, CURLOPT_WRITEDATA, body);
    if (call->upload) {
        set_upload(easy, body);
    } else if (call->body.n || str_is(call->method, "POST")) {
        libcurl_set(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.n);
        libcurl_set(easy, CURLOPT_POSTFIELDS, call->body.n ? call->body.p : "");
    }
    if (str_is(call->method, "HEAD"))
        libcurl_set(easy, CURLOPT_NOBODY, 1L);
    else if (call->method.n)
        libcurl_set(easy, CURLOPT_CUSTOMREQUEST, str_c(&ctx->arena, call->method));
}

static enum status call_outcome(struct ctx *ctx, CURLcode code, const struct body *body)
{
    if (body->all.full)
        return fail(ctx, TOO_LARGE, "the answer exceeds the limit of %zu bytes", body->all.max);
    if (code == CURLE_OPERATION_TIMEDOUT)
        return fail(ctx, TIMED_OUT, "no answer in time");
    if (code != CURLE_OK)
        return fail(ctx, UPSTREAM, "no answer: %s", egress_why(&ctx->arena, body->barred, code));
    return OK;
}

/* Everything in *out is in the ctx's arena, since the handle's own strings end with its next
 * use. */
enum status http_call(struct ctx *ctx, const struct call *call, struct answer *out)
{
    TRY(libcurl_open(ctx));
    TRY(reply_check(ctx, call->headers, call->n_headers));
    CURL *easy = own_handle();
    if (!easy)
        return fail(ctx, UPSTREAM, "curl cannot be used");
    struct body body = {.easy = easy,
                        .intake = call->intake,
                        .all = buf_make(&ctx->arena, call->answer_max),
                        .upload = call->upload};
    const char *type = NULL;
    long code = 0;
    curl_off_t retry = 0, bytes = -1;
    set_up(easy, ctx, call, &body);
    libcurl_set(easy, CURLOPT_HTTPHEADER, headers_of(ctx, call));
    if (call->key)
        TRY(set_key(easy, ctx, call->key));
    TRY(call_outcome(ctx, libcurl.easy_perform(easy), &body));
    libcurl.easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
    libcurl.easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
    libcurl.easy_getinfo(easy, CURLINFO_RETRY_AFTER, &retry);
    libcurl.easy_getinfo(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &bytes);
    struct curl_header *wanted;
    bool has_wanted = call->wants && libcurl.easy_header(easy, call->wants, 0, CURLH_HEADER, -1,
                                                         &wanted) == CURLHE_OK;
    *out = (struct answer){(int)code,
                           str_dup(&ctx->arena, str_of(type)),
                           buf_str(&body.all),
                           (int64_t)retry * 1000,
                           (int64_t)bytes,
                           has_wanted ? str_dup(&ctx->arena, str_of(wanted->value)) : S("")};
    return OK;
}

enum status http_client_check(struct ctx *ctx, str *with)
{
    TRY(libcurl_open(ctx));
    *with = str_of(libcurl.version());
    return OK;
}

struct header http_key_header(struct arena *a, const struct upstream *up, bool is_anthropic)
{
    int where = is_anthropic ? KEY_X_API_KEY : KEY_AUTHORIZATION;
    if (name_index(key_header_names, up->key_in, where) == KEY_X_API_KEY)
        return (struct header){S("x-api-key"), up->key};
    return (struct header){S("Authorization"), str_printf(a, "Bearer " S_FMT, S_ARG(up->key))};
}

/* The version is a date that Anthropic's API requires in each request; later versions of the format
 * have other dates. Without a key its header is left out, as servers on this machine need none. */
enum status http_call_upstream(struct ctx *ctx, const struct upstream *up, const char *path,
                               struct call call, struct answer *out)
{
    struct arena *a = &ctx->arena;
    struct header headers[3];
    size_t n = 0;
    bool is_anthropic = str_is(up->dialect, "anthropic");
    if (call.body.n)
        headers[n++] = (struct header){S("Content-Type"), S("application/json")};
    if (is_anthropic)
        headers[n++] = (struct header){S("anthropic-version"), S("2023-06-01")};
    if (up->key.n)
        headers[n++] = http_key_header(a, up, is_anthropic);
    call.url = upstream_url(a, up, str_of(path), S(""));
    call.method = call.body.n ? S("POST") : S("GET");
    call.headers = headers;
    call.n_headers = n;
    return http_call(ctx, &call, out);
}
