/* demo_answer.c - a completion or a stream of chunks, as an OpenAI client reads them. */
#include "surface/proxy/demo_answer.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/sse.h"
#include "base/utf8.h"
#include "core/tokens.h"
#include "surface/proxy/splice.h"

/*
 * The built-in model answers when no upstream is set, so that a first request works and memory can
 * be seen without a key. Its answers have the shapes of OpenAI's chat.completion and
 * chat.completion.chunk: a first chunk with the role, chunks with text, one with finish_reason, if
 * asked for one with usage and no choices, and [DONE].
 */

enum { CHUNK_BYTES = 48 }; /* of the text in one event, about */

#define HEAD "{'id':'chatcmpl-%','object':'chat.completion%','created':%,'model':'" DEMO_MODEL "',"

struct writer {
    const struct demo *demo;
    str id, created, usage;
};

/* Cuts behind a space, so that no word is split. */
str demo_words(str *rest)
{
    str words = utf8_cut(*rest, CHUNK_BYTES);
    size_t behind_space = words.n < rest->n ? str_behind_last(words, ' ') : 0;
    words.n = behind_space ? behind_space : words.n;
    *rest = str_sub(*rest, words.n, rest->n);
    return words;
}

void demo_begin_stream(const struct demo *d)
{
    d->out->type = S("text/event-stream");
    reply_header(d->out, "Cache-Control", S("no-cache"));
}

/* With include_usage every chunk has "usage": null but the last one, as OpenAI documents it. */
static void write_chunk(const struct writer *w, str delta, str finish)
{
    sse_write(&w->demo->out->body, S(""),
              JSON_FORM(w->demo->arena,
                        HEAD "'choices':[{'index':0,'delta':{%},'logprobs':null,"
                             "'finish_reason':%}]%}",
                        w->id, S(".chunk"), w->created, delta, finish,
                        w->demo->with_usage ? S(",\"usage\":null") : S("")));
}

/* The whole stream is written into the body at once: there is no model whose pace it would show. */
static void write_stream(const struct writer *w)
{
    struct arena *a = w->demo->arena;
    struct buf *to = &w->demo->out->body;
    str rest = w->demo->answer;
    demo_begin_stream(w->demo);
    write_chunk(w, S("\"role\":\"assistant\",\"content\":\"\""), S("null"));
    while (rest.n)
        write_chunk(w, JSON_FORM(a, "'content':%", quote_json(a, demo_words(&rest))), S("null"));
    write_chunk(w, S(""), S("\"stop\""));
    if (w->demo->with_usage)
        sse_write(to, S(""),
                  JSON_FORM(a, HEAD "'choices':[],'usage':%}", w->id, S(".chunk"), w->created,
                            w->usage));
    sse_write(to, S(""), S("[DONE]"));
}

void demo_write(const struct demo *d)
{
    struct arena *a = d->arena;
    int64_t given = d->prompt_tokens, made = tokens_of(d->answer);
    const struct writer w = {d, id_random(a), number_json(a, clock_ms() / 1000),
                             JSON_FORM(a,
                                       "{'prompt_tokens':%,'completion_tokens':%,'total_tokens':%}",
                                       number_json(a, given), number_json(a, made),
                                       number_json(a, given + made))};
    if (d->stream)
        write_stream(&w);
    else
        buf_add(&d->out->body,
                JSON_FORM(a,
                          HEAD "'choices':[{'index':0,'message':{'role':'assistant','content':%},"
                               "'logprobs':null,'finish_reason':'stop'}],'usage':%}",
                          w.id, S(""), w.created, quote_json(a, d->answer), w.usage));
}
