/* demo_answer.c - the built-in model's answer, written whole or as a stream by an API's forms. */
#include "surface/proxy/demo_answer.h"

#include "base/clock.h"
#include "base/sse.h"
#include "base/time_text.h"
#include "base/utf8.h"
#include "core/tokens.h"
#include "surface/common/json_form.h"

/*
 * The built-in model answers when no upstream is set, so that a first request works and memory can
 * be seen without a key. A whole stream is written into the body at once: there is no model whose
 * pace it would show.
 */

enum { CHUNK_BYTES = 48 }; /* of the text in one event, about */

/* Cuts behind a space, so that no word is split. */
str demo_words(str *rest)
{
    str words = utf8_cut(*rest, CHUNK_BYTES);
    size_t behind_space = words.n < rest->n ? str_behind_last(words, ' ') : 0;
    words.n = behind_space ? behind_space : words.n;
    *rest = str_sub(*rest, words.n, rest->n);
    return words;
}

/* By its letter. */
struct values {
    str of['z' + 1];
};

static str filled(struct arena *a, const struct values *v, const char *form)
{
    struct buf b = buf_make(a, SIZE_MAX / 4);
    for (const char *c = form; *c; c++) {
        if (*c != '%') {
            buf_byte(&b, *c == '\'' ? '"' : *c);
            continue;
        }
        c++;
        assert(*c >= 'a' && *c <= 'z' && v->of[(size_t)*c].p);
        buf_add(&b, v->of[(size_t)*c]);
    }
    return buf_str(&b);
}

static struct values values_of(const struct demo *d)
{
    struct arena *a = d->arena;
    int64_t made = tokens_of(d->answer), now = clock_ms();
    return (struct values){{
        ['a'] = quote_json(a, d->answer),
        ['c'] = number_json(a, now / 1000),
        ['i'] = d->id,
        ['m'] = d->message,
        ['o'] = number_json(a, made),
        ['p'] = number_json(a, d->prompt_tokens),
        ['r'] = d->answer.n ? S("stop") : S("load"),
        ['t'] = number_json(a, d->prompt_tokens + made),
        ['u'] = d->with_usage ? S(",\"usage\":null") : S(""),
        ['v'] = d->previous.n ? quote_json(a, d->previous) : S("null"),
        ['z'] = time_utc(a, now, "%Y-%m-%dT%H:%M:%SZ"),
    }};
}

static void write_stream(const struct demo *d, const struct demo_forms *forms, struct values *v)
{
    struct buf *to = &d->out->body;
    str rest = d->answer;
    int64_t number = 0;
    d->out->type = forms->is_lines ? S("application/x-ndjson") : S("text/event-stream");
    if (!forms->is_lines)
        reply_header(d->out, "Cache-Control", S("no-cache"));
    for (const struct demo_event *e = forms->events; e->form; e++) {
        if (e->repeats ? !rest.n : e->is_usage && !d->with_usage)
            continue;
        do {
            if (e->repeats)
                v->of['w'] = quote_json(d->arena, demo_words(&rest));
            v->of['s'] = number_json(d->arena, number++);
            str data = filled(d->arena, v, e->form);
            if (forms->is_lines)
                buf_printf(to, S_FMT "\n", S_ARG(data));
            else
                sse_write(to, str_of(e->name), data);
        } while (e->repeats && rest.n);
    }
}

void demo_write(const struct demo *d, const struct demo_forms *forms)
{
    struct values v = values_of(d);
    if (d->stream)
        write_stream(d, forms, &v);
    else
        buf_add(&d->out->body, filled(d->arena, &v, forms->whole));
}

/* --- chat completions --- */

/* Its chunks: a first one with the role, those with text, one with finish_reason, if asked for one
 * with usage and no choices, and [DONE]. With include_usage every chunk has "usage": null but the
 * last one, as OpenAI documents it. */
#define HEAD(OBJECT)                                                                               \
    "{'id':'chatcmpl-%i','object':'" OBJECT "','created':%c,'model':'" DEMO_MODEL "',"
#define CHUNK(DELTA, FINISH)                                                                       \
    HEAD("chat.completion.chunk")                                                                  \
    "'choices':[{'index':0,'delta':{" DELTA "},'logprobs':null,'finish_reason':" FINISH "}]%u}"
#define USAGE "'usage':{'prompt_tokens':%p,'completion_tokens':%o,'total_tokens':%t}}"

static const struct demo_event chunks[] = {
    {"", CHUNK("'role':'assistant','content':''", "null")},
    {"", CHUNK("'content':%w", "null"), .repeats = true},
    {"", CHUNK("", "'stop'")},
    {"", HEAD("chat.completion.chunk") "'choices':[]," USAGE, .is_usage = true},
    {"", "[DONE]"},
    {0},
};
const struct demo_forms completion_forms = {
    HEAD("chat.completion") "'choices':[{'index':0,'message':{'role':'assistant','content':%a},"
                            "'logprobs':null,'finish_reason':'stop'}]," USAGE,
    chunks};
