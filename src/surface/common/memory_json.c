/* memory_json.c - the tables of what is shown, and filling them. */
#include "surface/common/memory_json.h"

#include <assert.h>

#include "core/index.h"

/* A list is made in the arena before it becomes part of the answer, so it has a limit of its own,
 * well below that of an answer. */
enum { LIST_MAX = 16 << 20 };

const struct field memory_add_fields[] = {
    {STR(struct memory, content), .required = true, .min = 1, .max = 65536,
     .help = "what to remember, as a sentence that is clear on its own"},
    {STR(struct memory, key), .max = 512, .help = "a memory with the same key is replaced"},
    {ENUM(struct memory, layer), .otherwise_str = "fact", .one_of = layer_names, .help = "layer"},
    {ENUM(struct memory, type), .otherwise_str = "factual", .one_of = type_names,
     .help = "kind of knowledge"},
    {STR(struct memory, category), .max = 128, .help = "preference, decision, …, or free"},
    {STR(struct memory, session), .max = 256, .help = "the conversation it belongs to"},
    {STRS(struct memory, tags), .help = "free labels"},
    {RAW(struct memory, metadata), .help = "an object"},
    {NUM(struct memory, importance), .min = 0, .max = 1, .help = "0 to 1; default: by rule"},
    {TIME(struct memory, expires), .help = "when it expires"},
    {TIME(struct memory, valid_from), .help = "since when it is true"},
    {STR(struct memory, space), .max = 200, .help = "name of one of your spaces"},
    {0},
};

/* Everything about a memory but what only the store needs.
 * Times are written as ISO 8601, and a time of 0 as null. */
const struct field memory_fields[] = {
    {STR(struct memory, id), .required = true, .help = "UUID"},
    {STR(struct memory, content), .required = true, .help = "what is remembered"},
    {ENUM(struct memory, layer), .one_of = layer_names, .help = "fact, episode, …"},
    {ENUM(struct memory, type), .one_of = type_names, .help = "kind of knowledge"},
    {STR(struct memory, category), .help = "preference, decision, …, or free"},
    {STR(struct memory, key), .help = "a new memory with the same key replaces this one"},
    {STRS(struct memory, tags), .help = "free labels"},
    {RAW(struct memory, metadata), .help = "an object, or null"},
    {NUM(struct memory, importance), .help = "0 to 1"},
    {INT(struct memory, uses), .help = "how often it was recalled"},
    {TIME(struct memory, last_used), .help = "last time it was recalled"},
    {ENUM(struct memory, origin), .one_of = origin_names, .help = "where the text came from"},
    {STR(struct memory, source), .help = "id of the message it came from"},
    {STR(struct memory, session), .help = "id of the conversation it was learnt in"},
    {STR(struct memory, space), .help = "the space that it is in"},
    {TIME(struct memory, created), .required = true, .help = "when it was created"},
    {TIME(struct memory, updated), .required = true, .help = "when it was last changed"},
    {TIME(struct memory, expires), .help = "when it expires; null: never"},
    {TIME(struct memory, valid_from), .help = "since when it is true"},
    {TIME(struct memory, valid_to), .help = "when it stopped being true; null: still true"},
    {STR(struct memory, superseded_by), .help = "id of the memory that replaced it"},
    {0},
};

/* A memory and a message in one shape, so that one list can hold both in the order of recall; kind
 * tells which it is, and role is empty for memories. */
const struct field found_out_fields[] = {
    {STR(struct found_out, kind), .help = "memory or message"},
    {STR(struct found_out, id), .help = "of the memory or message"},
    {STR(struct found_out, text), .help = "what it says"},
    {NUM(struct found_out, score), .help = "0 to 1: how likely it helps"},
    {INT(struct found_out, tokens), .help = "what it would cost in a prompt"},
    {STR(struct found_out, role), .help = "user or assistant, of a message"},
    {STR(struct found_out, session), .help = "id of its conversation"},
    {STR(struct found_out, source), .help = "of a memory: id of the message it came from"},
    {TIME(struct found_out, created), .required = true, .help = "when it was said or created"},
    {STR(struct found_out, why), .help = "the reasons in words, with explain"},
    {JSON(struct found_out, signals), .help = "the ranking features, with explain"},
    {0},
};

/* Every candidate of a chat, also those that were not injected: a receipt explains what was left
 * out as well. */
static const struct field line_fields[] = {
    {STR(struct receipt_line, kind)},   {STR(struct receipt_line, id)},
    {STR(struct receipt_line, source)}, {NUM(struct receipt_line, score)},
    {INT(struct receipt_line, tokens)}, {BOOL(struct receipt_line, injected)},
    {STR(struct receipt_line, why)},    {0},
};

const struct field receipt_out_fields[] = {
    {STR(struct receipt_out, id), .help = "as in the header X-Rememberd-Receipt"},
    {STR(struct receipt_out, session), .help = "the conversation"},
    {TIME(struct receipt_out, created), .required = true, .help = "when the recall ran"},
    {STR(struct receipt_out, question), .help = "the query that was searched"},
    {STR(struct receipt_out, decision), .help = "the decision of the relevance gate"},
    {STR(struct receipt_out, reason), .help = "why"},
    {STR(struct receipt_out, block), .help = "text added to the request, byte for byte"},
    {INT(struct receipt_out, tokens), .help = "tokens of the block"},
    {INT(struct receipt_out, took_us), .help = "duration of the recall in microseconds"},
    {JSON(struct receipt_out, lines), .inside = line_fields,
     .help = "every candidate: kind, id, source, score, tokens, injected, why"},
    {0},
};

/* A value that is written already: fields_write copies its source. */
static const struct json *json_of(struct ctx *ctx, enum json_type type, str source)
{
    struct json *v = NEW(&ctx->arena, struct json);
    *v = (struct json){.type = type, .source = source};
    return v;
}

static const struct json *list_in(struct buf *b, struct ctx *ctx, const struct field *table,
                                  const void *v, size_t n, size_t size)
{
    assert(size > 0 && (v || !n));
    struct json_out w = json_to(b);
    json_open(&w, '[');
    for (size_t i = 0; i < n; i++)
        fields_write(&w, table, (const char *)v + i * size);
    json_close(&w, ']');
    return json_of(ctx, JSON_ARRAY, buf_str(b));
}

/* The buffer is full only after everything was written, and a full one drops what does not fit: so
 * one question at the end is enough. */
enum status json_list(struct ctx *ctx, const struct field *table, const void *v, size_t n,
                      size_t size, const struct json **out)
{
    struct buf b = buf_make(&ctx->arena, LIST_MAX);
    *out = list_in(&b, ctx, table, v, n, size);
    return b.full ? fail(ctx, TOO_LARGE, "the list is too large for one answer; lower the limit")
                  : OK;
}

/* For lists whose length is ours to know, such as one detail of an error: that they fit is
 * asserted. */
const struct json *json_list_of(struct ctx *ctx, const struct field *table, const void *v, size_t n,
                                size_t size)
{
    struct buf b = buf_make(&ctx->arena, LIST_MAX);
    const struct json *list = list_in(&b, ctx, table, v, n, size);
    assert(!b.full);
    return list;
}

/* The numbers that ranking used, by name; for explain only, since they are many and change with the
 * ranking. */
static const struct json *signals_of(struct ctx *ctx, const struct recalled *r)
{
    struct buf b = buf_make(&ctx->arena, 64 << 10);
    struct json_out w = json_to(&b);
    json_open(&w, '{');
    for (size_t i = 0; i < SIGNALS_MAX && signal_names[i]; i++)
        json_member_num(&w, signal_names[i], r->measured.signals[i]);
    json_close(&w, '}');
    return json_of(ctx, JSON_OBJECT, buf_str(&b));
}

/* A long message is shown by the passage that was found (r->text), a short one whole. */
struct found_out found_shape(struct ctx *ctx, const struct recalled *r, bool explain)
{
    struct found_out f = {.score = r->score, .tokens = r->tokens};
    if (r->is_memory) {
        f.kind = S("memory");
        f.id = r->memory.id;
        f.text = r->memory.content;
        f.session = r->memory.session;
        f.source = r->memory.source;
        f.created = r->memory.created;
    } else {
        f.kind = S("message");
        f.id = r->message.id;
        f.text = r->message.text.n > LONG_TEXT_END ? r->text : r->message.text;
        f.session = r->message.session;
        f.role = r->message.role;
        f.created = r->message.created;
    }
    if (explain) {
        f.why = r->why;
        f.signals = signals_of(ctx, r);
    }
    return f;
}

/* The block is shown byte for byte, so that anyone can check what a model was told. */
enum status receipt_shape(struct ctx *ctx, const struct receipt *r, struct receipt_out *out)
{
    const struct json *lines;
    TRY(json_list(ctx, line_fields, r->lines, r->n, sizeof *r->lines, &lines));
    *out = (struct receipt_out){
        .id = r->id,
        .session = r->session,
        .question = r->question,
        .decision = r->decision,
        .reason = r->reason,
        .block = r->block,
        .created = r->created,
        .tokens = r->tokens,
        .took_us = r->took_us,
        .lines = lines,
    };
    return OK;
}
