/* answer.c - answers of the Responses API: read, and written by the built-in model. */
#include "surface/responses/answer.h"

#include <ctype.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/sse.h"
#include "core/tokens.h"
#include "surface/common/said.h"
#include "surface/proxy/splice.h"

/* --- reading --- */

/*
 * A stream brings each item of the output once more when it is done. Of servers that leave this out
 * the pieces of the text count, or else the last event, which has the whole response: too long an
 * event to count on, as it repeats the request's tools.
 */

static void add_text(struct arena *a, const struct json *item, struct buf *to)
{
    str text = text_of_content(a, json_get(item, "content"));
    if (!text.n || !json_says(item, "type", "message"))
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
    if (json_says(event, "type", "response.output_item.done"))
        add_text(a, json_get(event, "item"), text);
}

static void add_early(struct arena *a, const struct json *event, struct buf *text)
{
    if (json_says(event, "type", "response.output_text.delta"))
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
    if (json_says(piece, "type", "response.output_item.done"))
        name_item(json_get(piece, "item"), out);
    for (const struct json *item = output_of(piece); item; item = item->next)
        name_item(item, out);
}

static void name_response(const struct json *piece, struct answer_naming *out)
{
    const struct json *inside = json_get(piece, "response");
    const struct json *response = inside ? inside : piece;
    name_items(piece, out);
    if (!json_says(response, "object", "response"))
        return;
    if (!out->name.n)
        buf_add(&out->name, json_string(json_get(response, "id")));
    /* A response that is made in the background has no output yet. */
    str status = json_string(json_get(response, "status"));
    if (!inside && !out->calls.n && status.n)
        buf_printf(&out->calls, "(" S_FMT ")", S_ARG(status));
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
    const struct demo *demo;
    str id, previous, item; /* item: the id of the message */
    str created;
    int64_t sequence;
};

/* Ids of OpenAI's shape: clients tell by the beginning what an id names. */
str response_id(struct arena *a, const char *prefix)
{
    str id = id_random(a);
    struct buf b = buf_make(a, id.n + 16);
    buf_add(&b, str_of(prefix));
    for (size_t i = 0; i < id.n; i++)
        if (isxdigit((unsigned char)id.p[i]))
            buf_byte(&b, id.p[i]);
    return buf_str(&b);
}

static str status_of(bool is_done)
{
    return is_done ? S("completed") : S("in_progress");
}

static str part_of(struct arena *a, str text)
{
    return JSON_FORM(a, "{'type':'output_text','text':%,'annotations':[]}", quote_json(a, text));
}

static str item_of(const struct writer *w, bool is_done)
{
    return JSON_FORM(w->demo->arena,
                     "{'id':'%','type':'message','status':'%','role':'assistant','content':[%]}",
                     w->item, status_of(is_done),
                     is_done ? part_of(w->demo->arena, w->demo->answer) : S(""));
}

static str usage_of(const struct writer *w)
{
    struct arena *a = w->demo->arena;
    int64_t given = w->demo->prompt_tokens, made = tokens_of(w->demo->answer);
    return JSON_FORM(a,
                     "{'input_tokens':%,'input_tokens_details':{'cached_tokens':0},"
                     "'output_tokens':%,'output_tokens_details':{'reasoning_tokens':0},"
                     "'total_tokens':%}",
                     number_json(a, given), number_json(a, made), number_json(a, given + made));
}

static str response_of(const struct writer *w, bool is_done)
{
    return JSON_FORM(
        w->demo->arena,
        "{'id':'%','object':'response','created_at':%,'status':'%','error':null,"
        "'incomplete_details':null,'instructions':null,'model':'" DEMO_MODEL "','output':[%],"
        "'parallel_tool_calls':true,'previous_response_id':%,'temperature':null,"
        "'text':{'format':{'type':'text'}},'tool_choice':'auto','tools':[],'top_p':null,"
        "'metadata':{},'usage':%}",
        w->id, w->created, status_of(is_done), is_done ? item_of(w, true) : S(""),
        w->previous.n ? quote_json(w->demo->arena, w->previous) : S("null"),
        is_done ? usage_of(w) : S("null"));
}

/* --- the stream --- */

static void write_event(struct writer *w, const char *type, const char *form, str value)
{
    struct arena *a = w->demo->arena;
    sse_write(&w->demo->out->body, str_of(type),
              JSON_FORM(a, "{'type':'%','sequence_number':%,%}", str_of(type),
                        number_json(a, w->sequence++), JSON_FORM(a, form, value)));
}

/* An event about the one part: form is of the part itself, or of its text or a piece of it. */
static void part_event(struct writer *w, const char *type, const char *form, str value)
{
    struct arena *a = w->demo->arena;
    str place = JSON_FORM(a, "'item_id':'%','output_index':0,'content_index':0,", w->item);
    write_event(w, type, "%", JSON_FORM(a, "%%", place, JSON_FORM(a, form, value)));
}

static void write_stream(struct writer *w)
{
    static const char response[] = "'response':%", item[] = "'output_index':0,'item':%",
                      part[] = "'part':%";
    struct arena *a = w->demo->arena;
    str answer = w->demo->answer, rest = answer;
    demo_begin_stream(w->demo);
    write_event(w, "response.created", response, response_of(w, false));
    write_event(w, "response.in_progress", response, response_of(w, false));
    write_event(w, "response.output_item.added", item, item_of(w, false));
    part_event(w, "response.content_part.added", part, part_of(a, S("")));
    while (rest.n)
        part_event(w, "response.output_text.delta", "'logprobs':[],'delta':%",
                   quote_json(a, demo_words(&rest)));
    part_event(w, "response.output_text.done", "'logprobs':[],'text':%", quote_json(a, answer));
    part_event(w, "response.content_part.done", part, part_of(a, answer));
    write_event(w, "response.output_item.done", item, item_of(w, true));
    write_event(w, "response.completed", response, response_of(w, true));
}

void response_write(const struct demo *d, str id, str previous)
{
    struct arena *a = d->arena;
    struct writer w = {.demo = d,
                       .id = id,
                       .previous = previous,
                       .item = response_id(a, "msg_"),
                       .created = number_json(a, clock_ms() / 1000)};
    if (d->stream)
        write_stream(&w);
    else
        buf_add(&d->out->body, response_of(&w, true));
}
