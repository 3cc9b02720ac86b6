/* spans.c - a chat as spans of OpenTelemetry, in the JSON of OTLP. */
#include "ext/otlp/spans.h"

#include "core/url.h"

/*
 * The span of the chat is the server's, with what the conventions for generative AI say of it; its
 * stages are its children. The call of the model's server is a client span with the conventions for
 * HTTP alone, so that tokens are not counted twice. No text of a message is in any of them, nor the
 * words of an error, which may repeat one.
 */
enum span_kind { KIND_INTERNAL = 1, KIND_SERVER = 2, KIND_CLIENT = 3 };
enum { STATUS_ERROR = 2 };

#define COPY(TO, FROM) snprintf(TO, sizeof(TO), S_FMT, S_ARG(FROM))

void row_of(const struct request *in, int code, enum status how, struct chat_row *out)
{
    const struct chat_facts *c = &in->trace->chat;
    *out =
        (struct chat_row){.trace = *in->trace, .began_us = in->began_us, .code = code, .how = how};
    COPY(out->method, in->method);
    COPY(out->path, in->path);
    if (in->trace->state.n < STATE_TEXT) /* a part of it would be another state */
        COPY(out->state, in->trace->state);
    COPY(out->provider, c->provider);
    COPY(out->upstream, c->upstream);
    COPY(out->model, c->model);
    COPY(out->answered_by, c->answered_by);
    COPY(out->answer_id, c->answer_id);
    COPY(out->session, c->session);
    COPY(out->receipt, c->receipt);
}

size_t row_spans(const struct chat_row *row)
{
    size_t n = 1;
    for (int i = 0; i < STAGE_COUNT; i++)
        n += row->trace.stages[i].ended_us != 0;
    return n;
}

/* --- attributes --- */

static void write_typed(struct json_out *w, const char *key, const char *type, const char *value)
{
    json_open(w, '{');
    json_member_str(w, "key", str_of(key));
    json_member_open(w, "value", '{');
    json_member_str(w, type, str_of(value));
    json_close(w, '}');
    json_close(w, '}');
}

static void write_text(struct json_out *w, const char *key, const char *value)
{
    if (*value)
        write_typed(w, key, "stringValue", value);
}

/* 64-bit numbers are strings in the JSON of OTLP. 0 is left out. */
static void write_number(struct json_out *w, const char *key, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    if (value)
        write_typed(w, key, "intValue", text);
}

/* --- spans --- */

static void write_time(struct json_out *w, const char *name, int64_t us)
{
    char text[32];
    snprintf(text, sizeof text, "%lld000", (long long)us);
    json_member_str(w, name, str_of(text));
}

struct span {
    const char *id, *parent, *name;
    enum span_kind kind;
    int64_t began_us, ended_us; /* unix time */
};

static void open_span(struct json_out *w, const struct chat_row *row, const struct span *s)
{
    json_open(w, '{');
    json_member_str(w, "traceId", str_of(row->trace.id));
    json_member_str(w, "spanId", str_of(s->id));
    if (*s->parent)
        json_member_str(w, "parentSpanId", str_of(s->parent));
    if (*row->state)
        json_member_str(w, "traceState", str_of(row->state));
    json_member_int(w, "flags", row->trace.flags & 0xff);
    json_member_str(w, "name", str_of(s->name));
    json_member_int(w, "kind", s->kind);
    write_time(w, "startTimeUnixNano", s->began_us);
    write_time(w, "endTimeUnixNano", s->ended_us);
    json_member_open(w, "attributes", '[');
}

/* With the kind of its error: a code of HTTP, or what happened. */
static void close_span(struct json_out *w, bool is_error, int code, enum status how)
{
    char text[16];
    snprintf(text, sizeof text, "%d", code);
    if (is_error)
        write_text(w, "error.type", how != OK ? status_name(how) : text);
    json_close(w, ']');
    json_member_open(w, "status", '{');
    if (is_error)
        json_member_int(w, "code", STATUS_ERROR);
    json_close(w, '}');
    json_close(w, '}');
}

static void write_chat(struct json_out *w, const struct chat_row *row, int64_t epoch_us)
{
    const struct trace *t = &row->trace;
    char name[SPAN_TEXT + 8];
    snprintf(name, sizeof name, "%s%s%s", t->chat.operation, *row->model ? " " : "", row->model);
    const struct span span = {
        t->span, t->parent, name, KIND_SERVER, epoch_us + row->began_us, epoch_us + t->ended_us};
    open_span(w, row, &span);
    write_text(w, "gen_ai.operation.name", t->chat.operation);
    write_text(w, "gen_ai.provider.name", *row->provider ? row->provider : "rememberd");
    write_text(w, "gen_ai.request.model", row->model);
    write_text(w, "gen_ai.response.model", row->answered_by);
    write_text(w, "gen_ai.response.id", row->answer_id);
    write_text(w, "gen_ai.conversation.id", row->session);
    write_number(w, "gen_ai.usage.input_tokens", t->chat.tokens_in);
    write_number(w, "gen_ai.usage.output_tokens", t->chat.tokens_out);
    write_text(w, "http.request.method", row->method);
    write_text(w, "http.route", row->path);
    write_number(w, "http.response.status_code", row->code);
    write_text(w, "rememberd.receipt.id", row->receipt);
    close_span(w, row->code >= 500 || row->how != OK, row->code, row->how);
}

/* An address that cannot be read is left out. */
static void write_upstream(struct json_out *w, const struct chat_row *row)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    struct url url;
    write_text(w, "http.request.method", row->method);
    write_number(w, "http.response.status_code", row->trace.upstream_code);
    if (url_read(&ctx, "upstream", str_of(row->upstream), true, &url) == OK) {
        write_text(w, "server.address", str_c(&ctx.arena, url.host));
        write_number(w, "server.port",
                     url.port                      ? url.port
                     : str_is(url.scheme, "https") ? 443
                                                   : 80);
    }
}

static void write_stage(struct json_out *w, const struct chat_row *row, enum stage stage,
                        int64_t epoch_us)
{
    const struct trace *t = &row->trace;
    char id[SPAN_ID_HEX + 1];
    bool is_call = stage == STAGE_UPSTREAM;
    trace_stage_span(t, stage, id);
    const struct span span = {id,
                              t->span,
                              is_call ? row->method : stage_names[stage],
                              is_call ? KIND_CLIENT : KIND_INTERNAL,
                              epoch_us + t->stages[stage].began_us,
                              epoch_us + t->stages[stage].ended_us};
    open_span(w, row, &span);
    if (is_call)
        write_upstream(w, row);
    close_span(w, is_call && (row->how != OK || t->upstream_code >= 400), t->upstream_code,
               row->how);
}

void spans_write(struct buf *b, str service, const struct chat_row *rows, size_t n,
                 int64_t epoch_us)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    struct json_out w = json_to(b);
    buf_add(b, S("{\"resourceSpans\":[{\"resource\":{\"attributes\":["));
    write_text(&w, "service.name", str_c(&ctx.arena, service));
    write_text(&w, "service.version", REMEMBERD_VERSION);
    buf_add(b, S("]},\"scopeSpans\":[{\"scope\":{\"name\":\"rememberd\","
                 "\"version\":\"" REMEMBERD_VERSION "\"},\"spans\":["));
    w = json_to(b);
    for (const struct chat_row *row = rows; row < rows + n; row++) {
        write_chat(&w, row, epoch_us);
        for (enum stage s = 0; s < STAGE_COUNT; s++)
            if (row->trace.stages[s].ended_us)
                write_stage(&w, row, s, epoch_us);
    }
    buf_add(b, S("]}]}]}"));
}
