/* relay.c - an upstream's answer passed on as it comes. */
#include "base/clock.h"
#include "http/curl/libcurl.h"
#include "http/server/conn.h"
#include "http/server/exchange.h"
#include "http/server/filter.h"
#include "http/server/transfer.h"
#include "http/wire/hop_headers.h"
#include "http/wire/reply.h"

/*
 * The life of a relay: relay_start asks; on_header and on_body pass the answer on; end_transfer,
 * when curl has finished, ends the filters. A filter that wants a worker sends the exchange there
 * (work_filters) and back (take_work), which asks again or finishes the answer.
 */
enum {
    UNSENT_MAX = 64 << 10,        /* bytes a client has not taken before its upstream is paused */
    UPSTREAM_HEAD_MAX = 64 << 10, /* bytes of the upstream's header lines */
    LATE_MAX = 256 << 20          /* bytes that filters give on a worker */
};

/* --- the upstream's head --- */

/* "HTTP/1.1 200 OK" */
static int code_of(str line)
{
    int64_t code = 0;
    str_cut(&line, ' ');
    return str_int(str_cut(&line, ' '), &code) && code >= 100 && code <= 999 ? (int)code : 502;
}

/*
 * A line that is not a header, or could end one early for some client, is dropped. The length is
 * written again from the number: one that is not a number, or comes with chunks as well, would let
 * our client see another end of the answer than curl does (response splitting).
 */
static void take_header(struct exchange *x, str line)
{
    struct transfer *t = x->transfer;
    str value = line, name = str_cut(&value, ':');
    const struct header h = {name, str_trim(value)};
    if (!soft(&x->ctx, reply_check(&x->ctx, &h, 1)))
        return;
    t->is_coded |= str_eq_nocase(name, S("Transfer-Encoding"));
    if (str_eq_nocase(name, S("Connection")))
        t->hops = str_printf(&x->ctx.arena, S_FMT "," S_FMT, S_ARG(t->hops), S_ARG(h.value));
    if (x->relay->secret.n >= SECRET_MIN && str_find(h.value, x->relay->secret) < h.value.n)
        return;
    if (!header_goes_on(name, TO_CLIENT) || reply_has(&x->out, name))
        return;
    if (str_eq_nocase(name, S("Content-Length"))) {
        t->has_length = str_int(h.value, &t->length) && t->length >= 0;
        return;
    }
    if (str_eq_nocase(name, S("Content-Type")))
        x->relay->type = str_dup(&x->ctx.arena, h.value);
    if (x->out.type.n)
        return;
    if (str_eq_nocase(name, S("Content-Disposition"))) {
        t->disposition = str_dup(&x->ctx.arena, h.value);
        return;
    }
    t->is_active |= str_eq_nocase(name, S("Content-Type")) && type_runs_scripts(h.value);
    t->has.date |= str_eq_nocase(name, S("Date"));
    t->has.id |= str_eq_nocase(name, S("X-Request-Id"));
    t->has.caching |= str_eq_nocase(name, S("Cache-Control"));
    t->has.buffering |= str_eq_nocase(name, S("X-Accel-Buffering"));
    reply_line(&t->head, name, h.value);
}

static bool has_body(const struct exchange *x)
{
    int code = x->out.code;
    return !x->is_head && code != 204 && code != 304;
}

/* A filter may change the answer, and with it the length. */
static bool has_length(const struct exchange *x)
{
    return x->transfer->has_length && !x->relay->some.changes;
}

/* HTTP/1.0 has no chunks (RFC 9112, section 7.1): there the end of the connection ends the body. */
static bool is_chunked(const struct exchange *x)
{
    return has_body(x) && !has_length(x) && !x->raw.is_old;
}

/* What the upstream sends may be anyone's file, and here it would have the origin of our pages: a
 * browser must not run it. */
static void send_safety(const struct transfer *t, struct buf *b)
{
    str rest = t->disposition, how = str_trim(str_cut(&rest, ';'));
    bool is_to_save = t->is_active && !str_eq_nocase(how, S("attachment"));
    if (is_to_save || t->disposition.n)
        reply_line(b, S("Content-Disposition"), is_to_save ? S("attachment") : t->disposition);
}

/* Order matters: first what we say (date, id, connection), then the upstream's lines, the framing,
 * and last the headers of the reply. An HTTP/1.0 client gets no chunks, so without a length its
 * connection is closed at the end. */
static void send_head(struct exchange *x)
{
    struct transfer *t = x->transfer;
    x->keep_alive &= !x->raw.is_old || !has_body(x) || has_length(x);
    struct buf *b = exchange_begin_reply(x, t->has);
    if (x->out.type.n)
        reply_line(b, S("Content-Type"), x->out.type);
    buf_add(b, buf_str(&t->head));
    send_safety(t, b);
    if (has_length(x))
        buf_printf(b, "Content-Length: %lld\r\n", (long long)t->length);
    else if (!t->has.buffering)
        reply_line(b, S("X-Accel-Buffering"), S("no")); /* nginx passes each piece on */
    if (is_chunked(x))
        buf_add(b, S("Transfer-Encoding: chunked\r\n"));
    reply_end_head(b, &x->out);
    t->head_sent = true;
    conn_touch(x->conn);
}

/* Connection may come behind a header that it names. */
static void drop_hops(struct exchange *x)
{
    struct transfer *t = x->transfer;
    const struct header connection = {S("Connection"), t->hops};
    struct buf kept = buf_make(&x->ctx.arena, UPSTREAM_HEAD_MAX);
    for (str rest = buf_str(&t->head); rest.n;) {
        str line = str_sub(rest, 0, str_find(rest, S("\r\n")) + 2), value = line;
        rest = str_sub(rest, line.n, rest.n);
        if (!header_is_of_connection(&connection, 1, str_cut(&value, ':')))
            buf_add(&kept, line);
    }
    t->head = kept;
}

/* When the client has a head from an earlier answer, the head of a later one is dropped. */
static void end_head(struct exchange *x)
{
    struct transfer *t = x->transfer;
    t->head_came = true;
    t->has_length &= !t->is_coded;
    if (t->head_sent)
        return;
    if (t->hops.n)
        drop_hops(x);
    if (!x->out.type.n)
        x->out.code = x->relay->code;
    if (!x->relay->some.holds_head)
        send_head(x);
}

/* One line of a head, also of interim answers (100, 103): only the last head counts. */
static size_t on_header(char *p, UNUSED size_t size, size_t n, void *arg)
{
    struct exchange *x = arg;
    struct transfer *t = x->transfer;
    str line = str_trim((str){p, n});
    t->last_us = clock_mono_us();
    if (t->head_came || *p == ' ' || *p == '\t')
        return n; /* a trailer, or the rest of a folded header */
    if (str_starts(line, S("HTTP/"))) {
        x->relay->code = code_of(line);
        x->relay->type = (str){0};
        t->has_length = t->is_coded = t->is_active = false;
        t->has = (struct has_lines){0};
        t->disposition = t->hops = (str){0};
        buf_clear(&t->head);
    } else if (line.n) {
        take_header(x, line);
    } else if (x->relay->code >= 200) {
        end_head(x);
    }
    return t->head.full ? 0 : n;
}

/* --- its body --- */

/* Bytes of the answer for the client, in the framing that send_head announced. They leave when curl
 * has returned, or with the end of the answer. */
static void put_bytes(struct exchange *x, str bytes)
{
    assert(loop_is_here(x->loop) && x->phase != ANSWERED);
    if (!bytes.n)
        return;
    if (!x->transfer->head_sent)
        send_head(x);
    if (!has_body(x))
        return;
    x->sent += bytes.n;
    reply_piece(&x->conn->out, bytes, is_chunked(x));
    conn_touch(x->conn);
}

/* Only errors: they are where a server says which key it refuses, and a long answer is not
 * searched. */
static str without_secret(struct exchange *x, str bytes, bool is_last)
{
    return x->relay->code < 400 ? bytes
                                : mask_pass(&x->ctx.arena, &x->transfer->mask, bytes, is_last);
}

/* A client that does not read makes curl pause the upstream; relay_resume goes on when the client
 * has taken its bytes. curl gives the same bytes again then. No bytes are passed on before a head
 * (after 101 curl takes all as body), or beyond the announced length. */
static size_t on_body(char *p, UNUSED size_t size, size_t n, void *arg)
{
    struct exchange *x = arg;
    struct relay *r = x->relay;
    struct transfer *t = x->transfer;
    if (conn_unsent(x->conn) > UNSENT_MAX) {
        t->is_paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    if (!t->head_came || (t->has_length && has_body(x) && t->came + n > (uint64_t)t->length))
        return 0;
    t->last_us = clock_mono_us();
    if (!t->came && !x->in.trace->first_us)
        x->in.trace->first_us = t->last_us;
    t->came += n;
    bool is_last = t->has_length && t->came == (uint64_t)t->length;
    str rest = filters_pass(r->filters, r, without_secret(x, (str){p, n}, is_last));
    if (is_last && has_length(x))
        filters_last(r);
    put_bytes(x, rest);
    return r->is_enough ? 0 : n;
}

/* The time of a pause is the client's, so the upstream's silence is counted from here. */
void relay_resume(struct exchange *x)
{
    assert(x->phase == RELAYING && x->transfer->is_paused);
    x->transfer->is_paused = false;
    x->transfer->last_us = clock_mono_us();
    libcurl.easy_pause(x->transfer->easy, CURLPAUSE_CONT);
}

/* --- asking --- */

static void end_transfer(struct transfer *t, CURLcode code);

/* A header without a value after its colon tells curl to leave its own out: Accept and Content-Type
 * are the client's or absent, and Expect is never sent, since it would cost a round trip. */
static struct curl_slist *header_list(struct ctx *ctx, const struct relay *r)
{
    struct arena *a = &ctx->arena;
    struct curl_slist *list = NULL;
    bool has_accept = false, has_type = false;
    for (const struct header *h = r->headers; h < r->headers + r->n_headers; h++) {
        if (!header_goes_on(h->name, TO_UPSTREAM) ||
            header_is_of_connection(r->headers, r->n_headers, h->name))
            continue;
        has_accept |= str_eq_nocase(h->name, S("Accept"));
        has_type |= str_eq_nocase(h->name, S("Content-Type"));
        list = libcurl_header(a, list, h->name, h->value);
    }
    if (!has_accept)
        list = libcurl_no_header(a, list, "Accept:");
    if (!has_type)
        list = libcurl_no_header(a, list, "Content-Type:");
    return libcurl_no_header(a, list, "Expect:");
}

/* CUSTOMREQUEST alone would change the word only: curl must also know whether a body goes out
 * (POSTFIELDS) and whether one comes back (NOBODY). The body is not copied: whoever made it keeps
 * it until the transfer is over. */
static void set_method(CURL *easy, struct ctx *ctx, const struct relay *r)
{
    bool is_head = str_is(r->method, "HEAD"), is_get = str_is(r->method, "GET");
    libcurl_set(easy, CURLOPT_NOBODY, (long)is_head);
    if (r->body.n || !(is_head || is_get)) {
        libcurl_set(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.n);
        libcurl_set(easy, CURLOPT_POSTFIELDS, r->body.n ? r->body.p : "");
    } else if (is_get) {
        libcurl_set(easy, CURLOPT_HTTPGET, 1L);
    }
    libcurl_set(easy, CURLOPT_CUSTOMREQUEST, is_head ? NULL : str_c(&ctx->arena, r->method));
}

/* Also for a filter that asks again, in the same transfer. */
static void ask_upstream(struct exchange *x)
{
    struct relay *r = x->relay;
    struct loop *l = x->loop;
    struct transfer *t = x->transfer;
    assert(!t->easy && x->conn);
    x->phase = RELAYING;
    t->head_came = t->is_paused = false;
    t->came = 0;
    t->mask = (struct mask){.secret = r->secret};
    t->last_us = clock_mono_us();
    t->easy = multi_handle(l);
    libcurl_set(t->easy, CURLOPT_URL, str_c(&x->ctx.arena, r->url));
    set_method(t->easy, &x->ctx, r);
    libcurl_set(t->easy, CURLOPT_HTTPHEADER, header_list(&x->ctx, r));
    libcurl_set(t->easy, CURLOPT_HEADERFUNCTION, on_header);
    libcurl_set(t->easy, CURLOPT_HEADERDATA, x);
    libcurl_set(t->easy, CURLOPT_WRITEFUNCTION, on_body);
    libcurl_set(t->easy, CURLOPT_WRITEDATA, x);
    libcurl_set(t->easy, CURLOPT_OPENSOCKETDATA, t);
    libcurl_set(t->easy, CURLOPT_PRIVATE, t);
    trace_begin(x->in.trace, STAGE_UPSTREAM);
    count_up(&l->count.relays, 1);
    libcurl.multi_add_handle(l->multi, t->easy);
    multi_kick(l);
}

/* On the loop, with the handler's exchange given back. The timeout is on silence, not on the whole
 * answer: a model may write for minutes. */
void relay_start(struct exchange *x)
{
    struct transfer *t = NEW(&x->ctx.arena, struct transfer);
    *t = (struct transfer){.x = x, .loop = x->loop, .over = end_transfer};
    x->transfer = t;
    t->head = buf_make(&x->ctx.arena, UPSTREAM_HEAD_MAX);
    t->late = buf_make(&x->ctx.arena, LATE_MAX);
    ask_upstream(x);
}

/* --- the end --- */

/* Back to the loop's stock of handles. A connection whose answer was read whole stays open. */
static void let_go(struct exchange *x)
{
    struct transfer *t = x->transfer;
    if (!t->easy)
        return;
    trace_end(x->in.trace, STAGE_UPSTREAM);
    x->in.trace->upstream_code = x->relay->code;
    libcurl.multi_remove_handle(x->loop->multi, t->easy);
    multi_handle_back(x->loop, t->easy);
    t->easy = NULL;
}

/* The client has, or is about to have, the whole answer. */
static void finish_answer(struct exchange *x)
{
    if (!x->transfer->head_sent)
        send_head(x);
    exchange_end_answer(x, is_chunked(x));
}

/* Before the first byte a failure is an answer of its own; after it, a filter words the failure, or
 * the answer breaks off. */
static void end_failed(struct exchange *x, enum status s)
{
    str last;
    x->how = s;
    if (!x->transfer->head_sent) {
        exchange_refuse(x, s, 0);
        return;
    }
    if (filters_failed(x->relay, s, str_of(x->ctx.why), &last)) {
        put_bytes(x, last);
        finish_answer(x);
        return;
    }
    x->conn->close_after = true;
    exchange_end_answer(x, false);
}

/* The client learns the upstream's host: user, path and query may hold a key. */
static void fail_upstream(struct exchange *x, enum status s, const char *why)
{
    str url = x->relay->url;
    size_t scheme = str_find(url, S("://"));
    str host = scheme < url.n ? str_sub(url, scheme + 3, url.n) : url;
    host = str_cut(&host, '/');
    size_t at = str_find(host, S("@"));
    if (at < host.n)
        host = str_sub(host, at + 1, host.n);
    ctx_clear_failure(&x->ctx);
    fail(&x->ctx, s, "the upstream at %.100s did not answer%s: %s", str_c(&x->ctx.arena, host),
         x->transfer->head_came ? " to the end" : "", why);
    end_failed(x, s);
}

/* The end for one filter after the other; true when one of them wants a worker. What an end gives
 * goes out at once. */
static bool end_filters(struct exchange *x)
{
    struct transfer *t = x->transfer;
    for (t->at = x->relay->filters; t->at; t->at = t->at->next) {
        str rest;
        bool wants_work = filter_end(t->at, x->relay, &rest);
        put_bytes(x, rest);
        if (wants_work)
            return true;
    }
    return false;
}

/* The loop must not touch the filters meanwhile. is_cut lets long work end when the client
 * leaves. */
static void work_filters(struct exchange *x)
{
    struct transfer *t = x->transfer;
    assert(x->phase == WORKING && t->at);
    x->ctx.is_cut = &x->gone;
    t->worked =
        filters_work(&x->ctx, x->loop->server->app, x->relay, t->at, &t->late, &t->asks_again);
    x->ctx.is_cut = NULL;
}

static void take_work(struct exchange *x)
{
    struct transfer *t = x->transfer;
    if (t->worked != OK) {
        end_failed(x, t->worked);
        return;
    }
    put_bytes(x, buf_str(&t->late));
    buf_clear(&t->late);
    if (t->asks_again)
        ask_upstream(x);
    else
        finish_answer(x);
}

static const struct work filters_at_work = {work_filters, take_work, .has_begun = true};

/* Called after curl has returned from its own callbacks (end_transfers), so that the handle may be
 * taken out and used again. Timeouts of curl are those of connecting; silence is relay_sweep's. */
static void end_transfer(struct transfer *t, CURLcode code)
{
    struct exchange *x = t->x;
    assert(x->phase == RELAYING);
    let_go(x);
    if (code == CURLE_OPERATION_TIMEDOUT) {
        fail_upstream(x, TIMED_OUT, libcurl.easy_strerror(code));
        return;
    }
    if (code != CURLE_OK || !t->head_came) {
        fail_upstream(x, UPSTREAM,
                      x->relay->is_enough ? "its answer is too long"
                      : code              ? egress_why(&x->ctx.arena, t->barred, code)
                                          : "it sent no head");
        return;
    }
    if (t->has_length && has_body(x) && t->came != (uint64_t)t->length) {
        fail_upstream(x, UPSTREAM, "it ended early");
        return;
    }
    put_bytes(x, filters_pass(x->relay->filters, x->relay, without_secret(x, S(""), true)));
    if (!end_filters(x))
        finish_answer(x);
    else if (!exchange_queue(x, &filters_at_work))
        end_failed(x, TOO_BUSY);
}

/* While the client is the slow one (is_paused), the upstream's silence is not its fault. */
void relay_sweep(struct exchange *x, int64_t now)
{
    int64_t most_ms = x->loop->server->settings.upstream_ms;
    if (x->transfer->is_paused || now - x->transfer->last_us <= most_ms * 1000)
        return;
    let_go(x);
    fail_upstream(x, TIMED_OUT,
                  str_printf(&x->ctx.arena, "it was silent for %lld ms", (long long)most_ms).p);
}

void relay_cancel(struct exchange *x)
{
    let_go(x);
    count_up(&x->loop->count.relays_cancelled, 1);
    ctx_clear_failure(&x->ctx);
    x->how = fail(&x->ctx, UPSTREAM, "the client disconnected");
}
