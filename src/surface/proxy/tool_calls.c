/* tool_calls.c - tool calls, gathered from a message or from a stream's deltas. */
#include "surface/proxy/tool_calls.h"

#include "surface/proxy/memory_tool.h"
#include "surface/proxy/splice.h"

/*
 * In OpenAI's chat completions a whole message has its calls in the array tool_calls. In a stream
 * each delta has pieces of them: the first piece of a call has id and name, the later ones more
 * bytes of its arguments, and index tells to which call they belong. Both end up in the same list
 * here, so the loop above does not care which it was.
 *
 * The limits are there because the text is the model's, not ours; arguments beyond theirs make the
 * call fail and nothing else.
 */

enum {
    CALLS_MAX = 64,            /* of one answer; more are ignored */
    ARGUMENTS_MAX = 256 << 10, /* bytes of one call */
    SAID_MAX = 1 << 20,        /* bytes of the text beside the calls */
    LIST_MAX = 4 << 20         /* bytes of the client's list */
};

struct tool_calls tool_calls_none(struct arena *a)
{
    return (struct tool_calls){.arena = a,
                               .text = buf_make(a, SAID_MAX),
                               .thought = buf_make(a, SAID_MAX)};
}

/* --- reading --- */

/* The call of which a delta brings another piece: the one with the same index. Some servers send no
 * index, or the same index for each call, so that another id starts a new call. */
static struct model_call *call_of(const struct tool_calls *c, const struct json *piece)
{
    const struct json *index = json_get(piece, "index");
    str id = json_string(json_get(piece, "id"));
    for (size_t i = c->n; i-- > 0;) {
        struct model_call *call = &c->v[i];
        bool is_same_id = !id.n || !call->id.n || str_eq(id, call->id);
        if (is_same_id && (!index || json_int_or(index, -1) == call->index))
            return call;
    }
    return NULL;
}

/* Some model servers sign their calls in members of their own, and want them back unchanged. */
static str extra_of(struct arena *a, const struct json *piece)
{
    static const char *const known[] = {"index", "id", "type", "function", NULL};
    struct buf b = buf_make(a, ARGUMENTS_MAX);
    for (const struct json *m = piece->first; m; m = m->next) {
        if (name_index(known, json_name(m), -1) >= 0)
            continue;
        struct json_out w = json_to(&b);
        buf_byte(&b, ',');
        json_member_raw(&w, str_c(a, json_name(m)), m->source);
    }
    return b.full ? S("") : buf_str(&b);
}

static struct model_call *add_call(struct tool_calls *c, const struct json *piece)
{
    assert(c->n < CALLS_MAX && c->ours <= c->n);
    struct model_call *call = &ARENA_ADD(c->arena, c->v, c->n, c->cap);
    *call = (struct model_call){.id = str_dup(c->arena, json_string(json_get(piece, "id"))),
                                .index = json_int_or(json_get(piece, "index"), (int64_t)c->n - 1),
                                .is_ours = str_is(json_string(json_at(piece, "function.name")),
                                                  SEARCH_MEMORY),
                                .arguments = buf_make(c->arena, ARGUMENTS_MAX),
                                .extra = extra_of(c->arena, piece)};
    c->ours += call->is_ours;
    return call;
}

/* The arguments are JSON inside a string; some servers send the object itself. */
static void hear_calls(struct tool_calls *c, const struct json *list, bool is_whole)
{
    if (!list || list->type != JSON_ARRAY)
        return;
    for (const struct json *piece = list->first; piece; piece = piece->next) {
        struct model_call *call = is_whole ? NULL : call_of(c, piece);
        const struct json *arguments = json_at(piece, "function.arguments");
        if (!call && c->n == CALLS_MAX)
            return;
        if (!call)
            call = add_call(c, piece);
        if (arguments && arguments->type != JSON_NULL)
            buf_add(&call->arguments,
                    arguments->type == JSON_STRING ? json_string(arguments) : arguments->source);
    }
}

void tool_calls_add_delta(struct tool_calls *c, const struct json *delta)
{
    buf_add(&c->text, json_string(json_get(delta, "content")));
    buf_add(&c->thought, json_string(json_get(delta, "reasoning_content")));
    hear_calls(c, json_get(delta, "tool_calls"), false);
}

void tool_calls_set_message(struct tool_calls *c, const struct json *message)
{
    assert(!c->n && !c->message.n);
    c->message = message ? message->source : S("");
    hear_calls(c, json_get(message, "tool_calls"), true);
}

/* Only then may the answer be hidden: the client has to run its own calls, and expects to see all
 * of them. */
bool tool_calls_are_ours(const struct tool_calls *c)
{
    return c->n && c->ours == c->n;
}

/* --- the client's calls --- */

/* Clients use index as the position in their own list, so gaps where our calls were must not be
 * seen. */
static str renumber_call(struct arena *a, const struct json *piece, size_t index)
{
    const struct json *was = json_get(piece, "index");
    struct splice s = {.arena = a, .body = piece->source};
    if (was && json_int_or(was, -1) != (int64_t)index)
        splice_at(&s, was->source.p, was->source.n, str_printf(a, "%zu", index));
    return splice_done(&s);
}

str tool_calls_of_client(struct arena *a, const struct tool_calls *c, const struct json *list)
{
    struct json_out w = json_in(a, LIST_MAX);
    size_t i = 0;
    json_open(&w, '[');
    for (const struct json *piece = list->first; piece; piece = piece->next, i++) {
        const struct model_call *call =
            c->message.n ? (i < c->n ? &c->v[i] : NULL) : call_of(c, piece);
        size_t before = 0;
        if (!call || call->is_ours)
            continue;
        for (const struct model_call *other = c->v; other < call; other++)
            before += !other->is_ours;
        json_raw(&w, renumber_call(a, piece, before));
    }
    json_close(&w, ']');
    return w.b->full ? S("[]") : buf_str(w.b);
}

static str call_json(struct arena *a, const struct model_call *call)
{
    assert(call->is_ours);
    return JSON_FORM(a,
                     "{'id':%,'type':'function','function':{'name':'" SEARCH_MEMORY
                     "','arguments':%}%}",
                     quote_json(a, call->id), quote_json(a, buf_str(&call->arguments)),
                     call->extra);
}

void tool_calls_write_message(const struct tool_calls *c, struct json_out *w)
{
    assert(tool_calls_are_ours(c));
    if (c->message.n) {
        json_raw(w, c->message);
        return;
    }
    json_open(w, '{');
    json_member_str(w, "role", S("assistant"));
    /* null, not "", when a message has calls and no text: some servers refuse an empty content. */
    if (c->text.n)
        json_member_str(w, "content", buf_str(&c->text));
    else
        json_member_raw(w, "content", S("null"));
    if (c->thought.n)
        json_member_str(w, "reasoning_content", buf_str(&c->thought));
    json_member_open(w, "tool_calls", '[');
    for (size_t i = 0; i < c->n; i++)
        json_raw(w, call_json(c->arena, &c->v[i]));
    json_close(w, ']');
    json_close(w, '}');
}
