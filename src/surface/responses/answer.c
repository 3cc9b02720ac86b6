/* answer.c - answers of the Responses API: read, and written by the built-in model. */
#include "surface/responses/answer.h"

#include <ctype.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/sse.h"
#include "core/tokens.h"
#include "surface/common/said.h"

/* --- reading --- */

/*
 * A stream brings each item of the output once more when it is done. Of servers that leave this out
 * the pieces of the text count, or else the last event, which has the whole response: too long an
 * event to count on, as it repeats the request's tools.
 */

static bool is_of_type(const struct json *v, const char *type)
{
    return str_is(json_string(json_get(v, "type")), type);
}

static void add_text(struct arena *a, const struct json *item, struct buf *to)
{
    str text = text_of_content(a, json_get(item, "content"));
    if (!text.n || !is_of_type(item, "message"))
        return;
    buf_add(to, to->n ? S("\n") : S(""));
    buf_add(to, text);
}

static const struct json *output_of(const struct json *response)
{
    const struct json *output = json_get(response, "output");
    return output && output->type == JSON_ARRAY ? output->first : NULL;
}

static str text_of_response(struct arena *a, const struct json *response)
{
    struct buf b = buf_make(a, response->source.n);
    for (const struct json *item = output_of(response); item; item = item->next)
        add_text(a, item, &b);
    return buf_str(&b);
}

static void add_item(struct arena *a, const struct json *event, struct buf *text)
{
    if (is_of_type(event, "response.output_item.done"))
        add_text(a, json_get(event, "item"), text);
}

static void add_early(struct arena *a, const struct json *event, struct buf *text)
{
    if (is_of_type(event, "response.output_text.delta"))
        buf_add(text, json_string(json_get(event, "delta")));
    else if (!text->n && json_get(event, "response"))
        buf_add(text, text_of_response(a, json_get(event, "response")));
}

static bool is_end(str event, UNUSED str data)
{
    return str_is(event, "response.completed") || str_is(event, "response.incomplete");
}

/* Some servers give their events no names, or the last one another. */
static bool is_finished(const struct json *event)
{
    static const char *const ends[] = {"completed", "incomplete", NULL};
    return name_index(ends, json_string(json_at(event, "response.status")), -1) >= 0;
}

/* A call as its name and what it is given. */
static void add_call(const struct json *item, struct buf *calls)
{
    str name = json_string(json_get(item, "name")), type = json_string(json_get(item, "type"));
    str given = json_string(json_get(item, "arguments"));
    if (!str_ends(type, S("_call")))
        return;
    given = given.n ? given : json_string(json_get(item, "input"));
    buf_printf(calls, "%s" S_FMT "(" S_FMT ")", calls->n ? "\n" : "", S_ARG(name.n ? name : type),
               S_ARG(given));
}

/* A response that is made in the background has no output yet. */
static void add_status(const struct json *response, struct buf *calls)
{
    str status = json_string(json_get(response, "status"));
    if (!calls->n && status.n)
        buf_printf(calls, "(" S_FMT ")", S_ARG(status));
}

/* Never cut off: of very many items the last ones are not noted. */
static void add_id(const struct json *item, const char *name, struct buf *items)
{
    str id = json_string(json_get(item, name));
    if (id.n && str_find(id, S("\n")) == id.n && items->n + id.n < items->max)
        buf_printf(items, "%s" S_FMT, items->n ? "\n" : "", S_ARG(id));
}

static void name_item(const struct json *item, struct answer_naming *out)
{
    add_call(item, &out->calls);
    add_id(item, "id", &out->items);
    add_id(item, "container_id", &out->items);
}

/* A whole answer, or an event that has an item or the response. The response of an event repeats
 * the items. */
static void name_items(const struct json *piece, struct answer_naming *out)
{
    if (is_of_type(piece, "response.output_item.done"))
        name_item(json_get(piece, "item"), out);
    for (const struct json *item = output_of(piece); item; item = item->next)
        name_item(item, out);
}

static void name_response(const struct json *piece, struct answer_naming *out)
{
    const struct json *inside = json_get(piece, "response");
    const struct json *response = inside ? inside : piece;
    name_items(piece, out);
    if (!str_is(json_string(json_get(response, "object")), "response"))
        return;
    if (!out->name.n)
        buf_add(&out->name, json_string(json_get(response, "id")));
    if (!inside)
        add_status(response, &out->calls);
}

const struct answer_reader response_reader = {text_of_response, add_item,    is_end,   NULL,
                                              name_response,    is_finished, add_early};
const struct answer_reader unkept_response_reader = {text_of_response, add_item,    is_end,   NULL,
                                                     name_items,       is_finished, add_early};

/* --- the built-in model --- */

/*
 * One message of text. The stream has the fewest events that the clients of this API accept:
 * created, in_progress, the item and its part, pieces of text, and each of these done.
 */

struct writer {
    struct ctx *ctx;
    const struct demo *demo;
    struct buf *to;
    str id, previous, item; /* item: the id of the message */
    int64_t created, sequence;
    const char *type; /* of the event that is written */
    struct buf event;
};

/* Ids of OpenAI's shape: clients tell by the beginning what an id names. */
static str plain_id(struct arena *a, const char *prefix)
{
    str id = id_random(a);
    struct buf b = buf_make(a, id.n + 16);
    buf_add(&b, str_of(prefix));
    for (size_t i = 0; i < id.n; i++)
        if (isxdigit((unsigned char)id.p[i]))
            buf_byte(&b, id.p[i]);
    return buf_str(&b);
}

str response_id(struct arena *a)
{
    return plain_id(a, "resp_");
}

static void write_part(struct json_out *j, str text)
{
    json_open(j, '{');
    json_member_str(j, "type", S("output_text"));
    json_member_str(j, "text", text);
    json_member_raw(j, "annotations", S("[]"));
    json_close(j, '}');
}

static void write_item(const struct writer *w, struct json_out *j, bool is_done)
{
    json_open(j, '{');
    json_member_str(j, "id", w->item);
    json_member_str(j, "type", S("message"));
    json_member_str(j, "status", is_done ? S("completed") : S("in_progress"));
    json_member_str(j, "role", S("assistant"));
    json_member_open(j, "content", '[');
    if (is_done)
        write_part(j, w->demo->answer);
    json_close(j, ']');
    json_close(j, '}');
}

static void write_usage(const struct writer *w, struct json_out *j)
{
    int64_t given = w->demo->prompt_tokens, made = tokens_of(w->demo->answer);
    json_member_open(j, "usage", '{');
    json_member_int(j, "input_tokens", given);
    json_member_raw(j, "input_tokens_details", S("{\"cached_tokens\":0}"));
    json_member_int(j, "output_tokens", made);
    json_member_raw(j, "output_tokens_details", S("{\"reasoning_tokens\":0}"));
    json_member_int(j, "total_tokens", given + made);
    json_close(j, '}');
}

static void write_response(const struct writer *w, struct json_out *j, bool is_done)
{
    json_open(j, '{');
    json_member_str(j, "id", w->id);
    json_member_str(j, "object", S("response"));
    json_member_int(j, "created_at", w->created);
    json_member_str(j, "status", is_done ? S("completed") : S("in_progress"));
    json_member_raw(j, "error", S("null"));
    json_member_raw(j, "incomplete_details", S("null"));
    json_member_raw(j, "instructions", S("null"));
    json_member_str(j, "model", S(DEMO_MODEL));
    json_member_open(j, "output", '[');
    if (is_done)
        write_item(w, j, true);
    json_close(j, ']');
    json_member_bool(j, "parallel_tool_calls", true);
    if (w->previous.n)
        json_member_str(j, "previous_response_id", w->previous);
    else
        json_member_raw(j, "previous_response_id", S("null"));
    json_member_raw(j, "temperature", S("null"));
    json_member_raw(j, "text", S("{\"format\":{\"type\":\"text\"}}"));
    json_member_str(j, "tool_choice", S("auto"));
    json_member_raw(j, "tools", S("[]"));
    json_member_raw(j, "top_p", S("null"));
    json_member_raw(j, "metadata", S("{}"));
    if (is_done)
        write_usage(w, j);
    else
        json_member_raw(j, "usage", S("null"));
    json_close(j, '}');
}

/* --- the stream --- */

/* Begins an event's data, whose members follow; end_event writes it. */
static struct json_out begin_event(struct writer *w, const char *type)
{
    w->type = type;
    w->event = buf_make(&w->ctx->arena, w->demo->answer.n * 6 + 4096);
    struct json_out j = json_to(&w->event);
    json_open(&j, '{');
    json_member_str(&j, "type", str_of(type));
    json_member_int(&j, "sequence_number", w->sequence++);
    return j;
}

static void end_event(struct writer *w, struct json_out *j)
{
    json_close(j, '}');
    sse_write(w->to, str_of(w->type), buf_str(&w->event));
}

static void whole_event(struct writer *w, const char *type, bool is_done)
{
    struct json_out j = begin_event(w, type);
    json_key(&j, "response");
    write_response(w, &j, is_done);
    end_event(w, &j);
}

static void item_event(struct writer *w, const char *type, bool is_done)
{
    struct json_out j = begin_event(w, type);
    json_member_int(&j, "output_index", 0);
    json_key(&j, "item");
    write_item(w, &j, is_done);
    end_event(w, &j);
}

/* An event about the one part: member holds the part itself, or its text or a piece of it. */
static void part_event(struct writer *w, const char *type, const char *member, str text)
{
    struct json_out j = begin_event(w, type);
    bool is_part = str_is(str_of(member), "part");
    json_member_str(&j, "item_id", w->item);
    json_member_int(&j, "output_index", 0);
    json_member_int(&j, "content_index", 0);
    if (!is_part)
        json_member_raw(&j, "logprobs", S("[]"));
    json_key(&j, member);
    (is_part ? write_part : json_str)(&j, text);
    end_event(w, &j);
}

static void write_stream(struct writer *w, struct reply *out)
{
    str answer = w->demo->answer, rest = answer;
    out->type = S("text/event-stream");
    reply_header(out, "Cache-Control", S("no-cache"));
    whole_event(w, "response.created", false);
    whole_event(w, "response.in_progress", false);
    item_event(w, "response.output_item.added", false);
    part_event(w, "response.content_part.added", "part", S(""));
    while (rest.n)
        part_event(w, "response.output_text.delta", "delta", demo_words(&rest));
    part_event(w, "response.output_text.done", "text", answer);
    part_event(w, "response.content_part.done", "part", answer);
    item_event(w, "response.output_item.done", true);
    whole_event(w, "response.completed", true);
}

void response_write(struct ctx *ctx, const struct demo *d, str id, str previous, struct reply *out)
{
    struct writer w = {.ctx = ctx,
                       .demo = d,
                       .to = &out->body,
                       .id = id,
                       .previous = previous,
                       .item = plain_id(&ctx->arena, "msg_"),
                       .created = clock_ms() / 1000};
    if (d->stream) {
        write_stream(&w, out);
        return;
    }
    struct json_out j = json_to(&out->body);
    write_response(&w, &j, true);
}
