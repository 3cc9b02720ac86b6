/* shapes.c - the tables of what is shown, and filling them. */
#include "surface/shapes.h"

enum { LIST_MAX = 16 << 20 };

const struct field memory_out_fields[] = {
    {STR(struct memory_out, id), .help = "UUID"},
    {STR(struct memory_out, content), .help = "what is remembered"},
    {STR(struct memory_out, layer), .one_of = layer_names, .help = "fact, episode, …"},
    {STR(struct memory_out, type), .one_of = type_names, .help = "kind of knowledge"},
    {STR(struct memory_out, category), .help = "preference, decision, …, or free"},
    {STR(struct memory_out, key), .help = "the same key is the same thing, said again"},
    {STRS(struct memory_out, tags), .help = "free labels"},
    {JSON(struct memory_out, metadata), .help = "an object, or null"},
    {NUM(struct memory_out, importance), .help = "0 to 1"},
    {INT(struct memory_out, uses), .help = "how often it was recalled"},
    {TIME(struct memory_out, last_used), .help = "when it was recalled last"},
    {STR(struct memory_out, origin), .one_of = origin_names, .help = "where the text came from"},
    {STR(struct memory_out, source), .help = "id of the message it came from"},
    {STR(struct memory_out, session), .help = "where it was learnt"},
    {TIME(struct memory_out, created), .help = "when it was kept first"},
    {TIME(struct memory_out, updated), .help = "when it was changed last"},
    {TIME(struct memory_out, expires), .help = "when it goes; null: never"},
    {TIME(struct memory_out, valid_from), .help = "since when it is true"},
    {TIME(struct memory_out, valid_to), .help = "until when it was true; null: it still is"},
    {STR(struct memory_out, superseded_by), .help = "id of the memory that took its place"},
    {0},
};

const struct field found_out_fields[] = {
    {STR(struct found_out, kind), .help = "memory or message"},
    {STR(struct found_out, id), .help = "of the memory or message"},
    {STR(struct found_out, text), .help = "what it says"},
    {NUM(struct found_out, score), .help = "0 to 1: how likely it helps"},
    {INT(struct found_out, tokens), .help = "what it would cost in a prompt"},
    {STR(struct found_out, role), .help = "who said it, of a message"},
    {STR(struct found_out, session), .help = "where it was said or learnt"},
    {STR(struct found_out, source), .help = "of a memory: the message it came from"},
    {TIME(struct found_out, created), .help = "when it was said or learnt"},
    {STR(struct found_out, why), .help = "the reasons in words, when explained"},
    {JSON(struct found_out, signals), .help = "the reasons in numbers, when explained"},
    {0},
};

static const struct field line_fields[] = {
    {STR(struct receipt_line, kind)},   {STR(struct receipt_line, id)},
    {STR(struct receipt_line, source)}, {NUM(struct receipt_line, score)},
    {INT(struct receipt_line, tokens)}, {BOOL(struct receipt_line, injected)},
    {STR(struct receipt_line, why)},    {0},
};

const struct field receipt_out_fields[] = {
    {STR(struct receipt_out, id), .help = "as in the header X-Rememberd-Receipt"},
    {STR(struct receipt_out, session), .help = "the conversation"},
    {TIME(struct receipt_out, created), .help = "when it was asked"},
    {STR(struct receipt_out, question), .help = "what was searched"},
    {STR(struct receipt_out, decision), .help = "what the relevance gate said"},
    {STR(struct receipt_out, reason), .help = "why"},
    {STR(struct receipt_out, block), .help = "what was added to the request, byte for byte"},
    {INT(struct receipt_out, tokens), .help = "of the block"},
    {INT(struct receipt_out, took_us), .help = "time the recall took"},
    {JSON(struct receipt_out, lines),
     .help = "every candidate: kind, id, source, score, tokens, injected, why"},
    {0},
};

static const struct json *json_of(struct ctx *ctx, enum json_type type, str source)
{
    struct json *v = NEW(&ctx->arena, struct json);
    *v = (struct json){.type = type, .source = source};
    return v;
}

enum status json_list(struct ctx *ctx, const struct field *table, const void *v, size_t n,
                      size_t size, const struct json **out)
{
    struct buf b = buf_make(&ctx->arena, LIST_MAX);
    struct json_out w = json_to(&b);
    json_open(&w, '[');
    for (size_t i = 0; i < n; i++)
        fields_write(&w, table, (const char *)v + i * size);
    json_close(&w, ']');
    if (b.full)
        return fail(ctx, TOO_LARGE, "the list is too large to be shown; ask for fewer");
    *out = json_of(ctx, JSON_ARRAY, buf_str(&b));
    return OK;
}

struct memory_out memory_shape(struct ctx *ctx, const struct memory *m)
{
    return (struct memory_out){
        .id = m->id,
        .session = m->session,
        .layer = str_of(layer_names[m->layer]),
        .type = str_of(type_names[m->type]),
        .category = m->category,
        .key = m->key,
        .content = m->content,
        .origin = str_of(origin_names[m->origin]),
        .source = m->source,
        .superseded_by = m->superseded_by,
        .metadata = m->metadata.n ? json_of(ctx, JSON_OBJECT, m->metadata) : NULL,
        .tags = m->tags,
        .importance = m->importance,
        .uses = m->uses,
        .created = m->created,
        .updated = m->updated,
        .last_used = m->last_used,
        .expires = m->expires,
        .valid_from = m->valid_from,
        .valid_to = m->valid_to,
    };
}

static const struct json *signals_of(struct ctx *ctx, const struct recalled *r)
{
    struct buf b = buf_make(&ctx->arena, 64 << 10);
    struct json_out w = json_to(&b);
    json_open(&w, '{');
    for (size_t i = 0; i < SIGNALS_MAX && signal_names[i]; i++) {
        json_key(&w, signal_names[i]);
        json_num(&w, r->signals[i]);
    }
    json_close(&w, '}');
    return json_of(ctx, JSON_OBJECT, buf_str(&b));
}

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
        f.text = r->message.text;
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
