/* answer.c - answers of the Responses API: read, and written by the built-in model. */
#include "surface/responses/answer.h"

#include <ctype.h>

#include "base/id.h"
#include "surface/common/said.h"

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

#define RESPONSE(STATUS, OUTPUT, USAGE)                                                            \
    "{'id':'%i','object':'response','created_at':%c,'status':'" STATUS "','error':null,"           \
    "'incomplete_details':null,'instructions':null,'model':'" DEMO_MODEL "','output':[" OUTPUT     \
    "],'parallel_tool_calls':true,'previous_response_id':%v,'temperature':null,"                   \
    "'text':{'format':{'type':'text'}},'tool_choice':'auto','tools':[],'top_p':null,"              \
    "'metadata':{},'usage':" USAGE "}"
#define ITEM(STATE, PARTS)                                                                         \
    "{'id':'%m','type':'message','status':'" STATE "','role':'assistant','content':[" PARTS "]}"
#define PART(TEXT) "{'type':'output_text','text':" TEXT ",'annotations':[]}"
#define BEGUN RESPONSE("in_progress", "", "null")
#define MADE ITEM("completed", PART("%a"))
#define COMPLETED                                                                                  \
    RESPONSE("completed", MADE,                                                                    \
             "{'input_tokens':%p,'input_tokens_details':{'cached_tokens':0},'output_tokens':%o,"   \
             "'output_tokens_details':{'reasoning_tokens':0},'total_tokens':%t}")

/* An event, one about the item, and one about its only part. */
#define EVENT(NAME, MEMBERS) NAME, "{'type':'" NAME "','sequence_number':%s," MEMBERS "}"
#define ITEM_EVENT(NAME, ITEM) EVENT(NAME, "'output_index':0,'item':" ITEM)
#define PART_EVENT(NAME, MEMBERS)                                                                  \
    EVENT(NAME, "'item_id':'%m','output_index':0,'content_index':0," MEMBERS)

static const struct demo_event events[] = {
    {EVENT("response.created", "'response':" BEGUN)},
    {EVENT("response.in_progress", "'response':" BEGUN)},
    {ITEM_EVENT("response.output_item.added", ITEM("in_progress", ""))},
    {PART_EVENT("response.content_part.added", "'part':" PART("''"))},
    {PART_EVENT("response.output_text.delta", "'logprobs':[],'delta':%w"), .repeats = true},
    {PART_EVENT("response.output_text.done", "'logprobs':[],'text':%a")},
    {PART_EVENT("response.content_part.done", "'part':" PART("%a"))},
    {ITEM_EVENT("response.output_item.done", MADE)},
    {EVENT("response.completed", "'response':" COMPLETED)},
    {0},
};
const struct demo_forms response_forms = {COMPLETED, events};
