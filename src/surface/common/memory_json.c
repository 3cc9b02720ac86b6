/* memory_json.c - the tables of what is shown, and filling them. */
#include "surface/common/memory_json.h"

/* A list is made in the arena before it becomes part of the answer, so it has a limit of its own,
 * well below that of an answer. */
enum { LIST_MAX = 16 << 20 };

FIELDS_OF(memory, memory_add,
          (STR, content, .required = true, .min = 1, .max = 65536,
           .help = "what to remember, as a sentence that is clear on its own"),
          (STR, key, .max = 512, .help = "a memory with the same key is replaced"),
          (ENUM, layer, .otherwise_str = "fact", .one_of = layer_names, .help = "layer"),
          (ENUM, type, .otherwise_str = "factual", .one_of = type_names,
           .help = "kind of knowledge"),
          (STR, category, .max = 128, .help = "preference, decision, …, or free"),
          (STR, session, .max = 256, .is_name = true, .help = "the conversation it belongs to"),
          (STRS, tags, .help = "free labels"), (RAW, metadata, .help = "an object"),
          (NUM, importance, .min = 0, .max = 1, .help = "0 to 1; default: by rule"),
          (TIME, expires, .help = "when it expires"),
          (TIME, valid_from, .help = "since when it is true"),
          (STR, space, .max = 200, .help = "name of one of your spaces"));

/* Everything about a memory but what only the store needs.
 * Times are written as ISO 8601, and a time of 0 as null. */
FIELDS(memory, (STR, id, .required = true, .help = "UUID"),
       (STR, content, .required = true, .help = "what is remembered"),
       (ENUM, layer, .one_of = layer_names, .help = "fact, episode, …"),
       (ENUM, type, .one_of = type_names, .help = "kind of knowledge"),
       (STR, category, .help = "preference, decision, …, or free"),
       (STR, key, .help = "a new memory with the same key replaces this one"),
       (STRS, tags, .help = "free labels"), (RAW, metadata, .help = "an object, or null"),
       (NUM, importance, .help = "0 to 1"), (INT, uses, .help = "how often it was recalled"),
       (TIME, last_used, .help = "last time it was recalled"),
       (ENUM, origin, .one_of = origin_names, .help = "where the text came from"),
       (STR, source, .help = "id of the message it came from"),
       (STR, session, .help = "id of the conversation it was learnt in"),
       (STR, space, .help = "the space that it is in"),
       (TIME, created, .required = true, .help = "when it was created"),
       (TIME, updated, .required = true, .help = "when it was last changed"),
       (TIME, expires, .help = "when it expires; null: never"),
       (TIME, valid_from, .help = "since when it is true"),
       (TIME, valid_to, .help = "when it stopped being true; null: still true"),
       (STR, superseded_by, .help = "id of the memory that replaced it"));

unsigned change_members(const struct json *change, bool with_null)
{
    static const struct {
        const char *name;
        unsigned what;
    } members[] = {
        {"content", CHANGE_CONTENT},
        {"key", CHANGE_KEY},
        {"type", CHANGE_TYPE},
        {"category", CHANGE_CATEGORY},
        {"session", CHANGE_SESSION},
        {"tags", CHANGE_TAGS},
        {"importance", CHANGE_IMPORTANCE},
        {"expires", CHANGE_EXPIRES},
        {"metadata", CHANGE_METADATA},
    };
    unsigned what = 0;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const struct json *v = json_get(change, members[i].name);
        if (v && (with_null || v->type != JSON_NULL))
            what |= members[i].what;
    }
    return what;
}

/* A memory and a message in one shape, so that one list can hold both in the order of recall; kind
 * tells which it is, and role is empty for memories. */
struct found_out {
    str kind, id, session, role, text, source, why;
    double score;
    int64_t tokens, created;
    const struct json *signals;
};
FIELDS(found_out, (STR, kind, .help = "memory or message"),
       (STR, id, .help = "of the memory or message"), (STR, text, .help = "what it says"),
       (NUM, score, .help = "0 to 1: how likely it helps"),
       (INT, tokens, .help = "what it would cost in a prompt"),
       (STR, role, .help = "user or assistant, of a message"),
       (STR, session, .help = "id of its conversation"),
       (STR, source, .help = "of a memory: id of the message it came from"),
       (TIME, created, .required = true, .help = "when it was said or created"),
       (STR, why, .help = "the reasons in words, with explain"),
       (JSON, signals, .help = "the ranking features, with explain"));

/* Every candidate of a chat, also those that were not injected: a receipt explains what was left
 * out as well. */
static FIELDS_OF(receipt_line, line, (STR, kind), (STR, id), (STR, source), (NUM, score),
                 (INT, tokens), (BOOL, injected), (STR, why));

FIELDS(receipt_out, (AS_STR, r.id, "id", .help = "as in the header X-Rememberd-Receipt"),
       (AS_STR, r.space, "space"), (AS_STR, r.session, "session", .help = "the conversation"),
       (AS_TIME, r.created, "created", .required = true, .help = "when the recall ran"),
       (AS_STR, r.question, "question", .help = "the query that was searched"),
       (AS_STR, r.decision, "decision", .help = "the decision of the relevance gate"),
       (AS_STR, r.reason, "reason", .help = "why"),
       (AS_STR, r.block, "block", .help = "text added to the request, byte for byte"),
       (AS_INT, r.tokens, "tokens", .help = "tokens of the block"),
       (AS_INT, r.took_us, "took_us", .help = "duration of the recall in microseconds"),
       (JSON, lines, .inside = line_fields,
        .help = "every candidate: kind, id, source, score, tokens, injected, why"));

/* fields_write copies the source of a value. */
const struct json *json_of(struct ctx *ctx, str source)
{
    struct json *v = NEW(&ctx->arena, struct json);
    *v = (struct json){.source = source};
    return v;
}

/* The buffer is full only after everything was written, and a full one drops what does not fit: so
 * one question at the end is enough. */
enum status json_list(struct ctx *ctx, const struct field *table, const void *v, size_t n,
                      size_t size, const struct json **out)
{
    struct json_out w = json_in(&ctx->arena, LIST_MAX);
    assert(size > 0 && (v || !n));
    json_open(&w, '[');
    for (size_t i = 0; i < n; i++)
        fields_write(&w, table, (const char *)v + i * size);
    json_close(&w, ']');
    *out = json_of(ctx, buf_str(w.b));
    return w.b->full ? fail(ctx, TOO_LARGE, "the list is too large for one answer; lower the limit")
                     : OK;
}

const struct json *json_object_of(struct ctx *ctx, const struct field *table, const void *in)
{
    struct json_out w = json_in(&ctx->arena, LIST_MAX);
    fields_write(&w, table, in);
    assert(!w.b->full);
    return json_of(ctx, buf_str(w.b));
}

const struct json *json_counts(struct ctx *ctx, const char *const *names, const int64_t *n,
                               bool with_zero)
{
    struct json_out w = json_in(&ctx->arena, LIST_MAX);
    json_open(&w, '{');
    for (size_t i = 0; names[i]; i++)
        if (n[i] || with_zero)
            json_member_int(&w, names[i], n[i]);
    json_close(&w, '}');
    return json_of(ctx, buf_str(w.b));
}

/* The numbers that ranking used, by name; for explain only, since they are many and change with the
 * ranking. */
static const struct json *signals_of(struct ctx *ctx, const struct recalled *r)
{
    struct json_out w = json_in(&ctx->arena, 64 << 10);
    json_open(&w, '{');
    for (size_t i = 0; i < SIGNALS_MAX && signal_names[i]; i++)
        json_member_num(&w, signal_names[i], r->measured.signals[i]);
    json_close(&w, '}');
    return json_of(ctx, buf_str(w.b));
}

/* A text over `most` bytes is shown by the passage that was found (r->text), a shorter one whole.
 */
static struct found_out found_shape(struct ctx *ctx, const struct recalled *r, size_t most,
                                    bool explain)
{
    const struct memory *m = &r->memory;
    const struct message *said = &r->message;
    str whole = r->is_memory ? m->content : said->text;
    struct found_out f = {.kind = r->is_memory ? S("memory") : S("message"),
                          .id = recalled_id(r),
                          .text = whole.n > most && r->text.n ? r->text : whole,
                          .score = r->score,
                          .tokens = r->tokens,
                          .role = r->is_memory ? S("") : said->role,
                          .session = r->is_memory ? m->session : said->session,
                          .source = r->is_memory ? m->source : S(""),
                          .created = r->is_memory ? m->created : said->created};
    if (explain) {
        f.why = r->why;
        f.signals = signals_of(ctx, r);
    }
    return f;
}

enum status found_list(struct ctx *ctx, const struct recalled *v, size_t n, size_t most,
                       bool explain, const struct json **out)
{
    struct found_out *items = NEW_N(&ctx->arena, struct found_out, n);
    for (size_t i = 0; i < n; i++)
        items[i] = found_shape(ctx, &v[i], most, explain);
    return json_list(ctx, found_out_fields, items, n, sizeof *items, out);
}

/* The block is shown byte for byte, so that anyone can check what a model was told. */
enum status receipt_shape(struct ctx *ctx, const struct receipt *r, struct receipt_out *out)
{
    out->r = *r;
    return json_list(ctx, line_fields, r->lines, r->n, sizeof *r->lines, &out->lines);
}
