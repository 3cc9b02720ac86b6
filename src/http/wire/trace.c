/* trace.c - traceparent and tracestate of a request, and the spans that follow from it. */
#include <sodium.h>

#include "base/clock.h"
#include "base/id.h"
#include "http/wire/request.h"

/*
 * W3C Trace Context: "00-TRACE-PARENT-FLAGS" in lower-case hex. A later version may have more
 * behind the flags. The request's id is its span, so that logs, X-Request-Id and traces have one id
 * in common.
 */
enum { VALUE_BYTES = 55, TRACE_AT = 3, PARENT_AT = 36, FLAGS_AT = 53, STATE_MEMBERS = 32 };

const char *const stage_names[] = {"recall", "upstream", "keep", NULL};

/* --- reading --- */

static bool is_hex(str s)
{
    return EVERY(i, s.n, char_is_one_of(s.p[i], "0123456789abcdef"));
}

static bool is_zero(str s)
{
    return !SOME(i, s.n, s.p[i] != '0');
}

static bool read_parent(str v, struct trace *out)
{
    if (v.n < VALUE_BYTES || v.p[2] != '-' || v.p[PARENT_AT - 1] != '-' || v.p[FLAGS_AT - 1] != '-')
        return false;
    const str version = str_sub(v, 0, 2), id = str_sub(v, TRACE_AT, PARENT_AT - 1),
              parent = str_sub(v, PARENT_AT, FLAGS_AT - 1), flags = str_sub(v, FLAGS_AT, 55);
    bool is_later = !str_is(version, "00");
    if (!is_hex(version) || !is_hex(id) || !is_hex(parent) || !is_hex(flags) ||
        str_is(version, "ff") || is_zero(id) || is_zero(parent) ||
        (v.n > VALUE_BYTES && (!is_later || v.p[VALUE_BYTES] != '-')))
        return false;
    memcpy(out->id, id.p, id.n);
    memcpy(out->parent, parent.p, parent.n);
    out->flags = (unsigned)(hex_digit(flags.p[0]) << 4 | hex_digit(flags.p[1]));
    return true;
}

static bool is_key(str key)
{
    size_t at = str_find(key, S("@"));
    if (!key.n || key.n > 256 || at == 0 || at + 1 == key.n)
        return false;
    return EVERY(i, key.n, char_is_one_of(key.p[i], "abcdefghijklmnopqrstuvwxyz0123456789_-*/@")) &&
           char_is_one_of(key.p[0], "abcdefghijklmnopqrstuvwxyz0123456789") &&
           (at == key.n || str_find(str_sub(key, at + 1, key.n), S("@")) == key.n - at - 1);
}

/* Members "key=value", of which empty ones may be left in. */
static bool is_state(str s)
{
    size_t n = 0;
    while (s.n) {
        str value = str_trim(str_cut(&s, ',')), name;
        if (!value.n)
            continue;
        name = str_cut(&value, '=');
        if (++n > STATE_MEMBERS || !is_key(name) || !value.n || value.n > 256 ||
            SOME(i, value.n, value.p[i] < 0x20 || value.p[i] > 0x7e || value.p[i] == '='))
            return false;
    }
    return n > 0;
}

/* --- of a request --- */

static void begin_trace(struct trace *t)
{
    unsigned char bytes[TRACE_ID_HEX / 2];
    do {
        randombytes_buf(bytes, sizeof bytes);
        sodium_bin2hex(t->id, sizeof t->id, bytes, sizeof bytes);
    } while (is_zero(str_of(t->id)));
    t->flags = TRACE_SAMPLED;
}

struct trace *trace_read(struct ctx *ctx, const struct request *in, bool begins)
{
    struct trace *out = NEW(&ctx->arena, struct trace);
    str parent = S(""), state = S("");
    size_t n_parents = 0;
    for (const struct header *h = in->headers; h < in->headers + in->n_headers; h++) {
        if (str_eq_nocase(h->name, S("traceparent"))) {
            parent = str_trim(h->value);
            n_parents++;
        } else if (str_eq_nocase(h->name, S("tracestate"))) {
            state = state.n
                        ? str_printf(&ctx->arena, S_FMT "," S_FMT, S_ARG(state), S_ARG(h->value))
                        : h->value;
        }
    }
    if (n_parents == 1 && read_parent(parent, out))
        out->state = is_state(state) ? state : S("");
    else if (begins)
        begin_trace(out);
    else
        return out;
    out->is_recorded = begins && (out->flags & TRACE_SAMPLED);
    /* The span is the id that the request has without a trace. */
    assert(strlen(ctx->id) == SPAN_ID_HEX);
    memcpy(out->span, ctx->id, sizeof out->span);
    snprintf(ctx->id, sizeof ctx->id, "%s-%s", out->id, out->span);
    return out;
}

/* --- stages --- */

void trace_begin(struct trace *t, enum stage stage)
{
    if (t && !t->stages[stage].began_us)
        t->stages[stage].began_us = clock_mono_us();
}

void trace_end(struct trace *t, enum stage stage)
{
    if (t && t->stages[stage].began_us)
        t->stages[stage].ended_us = clock_mono_us();
}

void trace_stage_span(const struct trace *t, enum stage stage, char out[SPAN_ID_HEX + 1])
{
    const str parts[] = {str_of(t->id), str_of(t->span), str_of(stage_names[stage])};
    snprintf(out, SPAN_ID_HEX + 1, "%016llx", (unsigned long long)hash64(parts, 3));
}

/* Of the flags, the two that are defined: sampled, and a random trace id. */
str trace_parent(struct arena *a, const struct trace *t, const char *span)
{
    return str_printf(a, "00-%s-%s-%02x", t->id, span, t->flags & 3);
}
