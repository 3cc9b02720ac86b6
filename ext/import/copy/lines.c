/* lines.c - the tables of our own export's lines, written and read by the same rows. */
#include "ext/import/copy/lines.h"

#include "ext/import/items.h"

const char *const line_kinds[] = {"memory", "session", "message", "bar", NULL};
static const char *const bar_kinds[] = {"statement", "sentences", "all", NULL};
static const char *const bar_reasons[] = {"forgotten", "corrected",  "expired",
                                          "cleared",   "superseded", NULL};

static FIELDS_OF(memory, memory_line,
                 (STR, id, .required = true, .min = 1, .max = 256, .help = "of the memory"),
                 (STR, space, .max = 200, .help = "the space it is in"), (STR, session, .max = 256),
                 (ENUM, layer, .otherwise_str = "fact", .one_of = layer_names),
                 (ENUM, type, .otherwise_str = "factual", .one_of = type_names),
                 (STR, category, .max = 128), (STR, key, .max = 512),
                 (STR, content, .required = true, .min = 1, .max = 65536), (RAW, metadata),
                 (STRS, tags), (NUM, importance, .max = 1), (NUM, salience, .max = 1),
                 (INT, uses, .max = 1e15), (TIME, last_used),
                 (ENUM, origin, .otherwise_str = "import", .one_of = origin_names),
                 (STR, source, .max = 256), (TIME, created), (TIME, updated), (TIME, expires),
                 (TIME, valid_from), (TIME, valid_to), (STR, superseded_by, .max = 256));

static FIELDS_OF(session, session_line,
                 (STR, id, .required = true, .min = 1, .max = 256, .help = "of the session"),
                 (STR, space, .max = 200), (STR, title, .max = 4096), (RAW, metadata),
                 (TIME, created));

static FIELDS(message_line, (AS_STR, message.id, "id", .required = true, .min = 1, .max = 256),
              (STR, space, .max = 200),
              (AS_STR, message.session, "session", .required = true, .min = 1, .max = 256),
              (AS_STR, message.role, "role", .required = true, .min = 1, .max = 64),
              (AS_STR, message.speaker, "speaker", .max = 256), (AS_STR, message.text, "text"),
              (AS_STR, message.ref, "ref", .max = 256),
              (AS_ENUM, message.origin, "origin", .otherwise_str = "import",
               .one_of = origin_names),
              (AS_TIME, message.created, "created"), (STR, chain, .max = 16),
              (STR, tail, .max = 16), (AS_BOOL, message.is_echo, "is_echo"),
              (AS_STR, message.says, "says"));

static FIELDS(bar_line, (STR, space, .max = 200),
              (AS_ENUM, bar.kind, "bars", .otherwise_str = "statement", .one_of = bar_kinds),
              (AS_ENUM, bar.reason, "reason", .otherwise_str = "forgotten", .one_of = bar_reasons),
              (AS_TIME, bar.at, "at", .required = true), (STR, message, .max = 16), (STR, terms));

const struct field *const line_tables[LINE_KINDS] = {memory_line_fields, session_line_fields,
                                                     message_line_fields, bar_line_fields};

/* The kind comes first, so that a reader need not look at the rest of a line that it skips. */
void copy_write_line(struct buf *out, struct ctx *ctx, enum line_kind kind, const void *v)
{
    enum { LINE_MAX_BYTES = 64 << 20 };
    struct json_out w = json_in(&ctx->arena, LINE_MAX_BYTES);
    fields_write(&w, line_tables[kind], v);
    buf_printf(out, "{\"kind\":\"%s\",", line_kinds[kind]);
    buf_add(out, str_sub(buf_str(w.b), 1, w.b->n));
    buf_add(out, S("\n"));
}

str hashes_text(struct ctx *ctx, const uint64_t *v, size_t n)
{
    struct buf b = buf_make(&ctx->arena, n * 16);
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%016llx", (unsigned long long)v[i]);
    return buf_str(&b);
}

bool hashes_read(struct ctx *ctx, str text, uint64_t **out, size_t *n)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t *v = NEW_N(&ctx->arena, uint64_t, text.n / 16 + 1);
    for (size_t i = 0; i < text.n; i++) {
        const char *digit = text.p[i] ? strchr(digits, text.p[i]) : NULL;
        if (!digit)
            return false;
        v[i / 16] = v[i / 16] << 4 | (uint64_t)(digit - digits);
    }
    *out = v;
    *n = text.n / 16;
    return text.n % 16 == 0;
}

bool copy_next_line(UNUSED struct arena *a, str *rest, int64_t *line, struct copy_record *out)
{
    str text;
    bool is_there = take_line(rest, line, &text);
    *out = (struct copy_record){.json = text, .line = *line};
    return is_there;
}
