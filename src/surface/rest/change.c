/* change.c - one memory corrected: only what the request names, and the old text as a revision. */
#include "surface/rest/change.h"

#include "base/time_text.h"
#include "surface/common/auth.h"
#include "surface/common/memory_json.h"

/*
 * PATCH (RFC 5789) by RFC 7396's rule: a member that is named is set, null takes its value away,
 * and what is not named stays. Which members were named is read from the JSON, since a table cannot
 * tell null from absent.
 */

FIELDS_OF(memory, change_in, (STR, content, .min = 1, .max = 65536, .help = "what is remembered"),
          (STR, key, .max = 512, .help = "the subject; null: none"),
          (ENUM, type, .otherwise_str = "factual", .one_of = type_names,
           .help = "kind of knowledge"),
          (STR, category, .max = 128, .help = "preference, decision, …; null: none"),
          (STR, session, .max = 256, .help = "the session it belongs to; null: none"),
          (STRS, tags, .help = "free labels; null: none"),
          (RAW, metadata, .help = "an object; null: none"),
          (NUM, importance, .min = 0, .max = 1, .help = "0 to 1"),
          (TIME, expires, .help = "when it expires; null: never"));

static const struct {
    const char *name;
    unsigned what;
    bool needs_value;
} members[] = {
    {"content", CHANGE_CONTENT, true}, {"key", CHANGE_KEY},
    {"type", CHANGE_TYPE, true},       {"category", CHANGE_CATEGORY},
    {"session", CHANGE_SESSION},       {"tags", CHANGE_TAGS},
    {"metadata", CHANGE_METADATA},     {"importance", CHANGE_IMPORTANCE, true},
    {"expires", CHANGE_EXPIRES},
};

enum status change_named(struct ctx *ctx, const struct json *body, unsigned *what)
{
    *what = 0;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const struct json *v = json_get(body, members[i].name);
        if (!v)
            continue;
        if (v->type == JSON_NULL && members[i].needs_value)
            return fail_field(ctx, members[i].name, "must have a value");
        *what |= members[i].what;
    }
    return *what ? OK : fail(ctx, BAD_INPUT, "name at least one member to change");
}

/* The version of a memory: when it was changed last. */
void memory_tag(struct ctx *ctx, const struct memory *m, struct reply *out)
{
    reply_header(out, "ETag", str_printf(&ctx->arena, "\"%lld\"", (long long)m->updated));
}

static enum status read_if_match(struct ctx *ctx, const struct request *in, int64_t *out)
{
    str tag = str_trim(request_header(in, "If-Match"));
    *out = 0;
    if (!tag.n || str_is(tag, "*"))
        return OK;
    bool is_quoted = tag.n > 2 && tag.p[0] == '"' && tag.p[tag.n - 1] == '"';
    if (!is_quoted || !str_int(str_sub(tag, 1, tag.n - 1), out) || *out <= 0)
        return fail_field(ctx, "If-Match", "must be the ETag of an answer, in quotes");
    return OK;
}

enum status undo_asked(struct ctx *ctx, const struct request *in, struct undo_mark *mark,
                       const struct undo_mark **out)
{
    bool is_asked = false;
    str text = request_query(ctx, in, "undo");
    if (text.n && !truth_read(text, &is_asked))
        return fail_field(ctx, "undo", "must be true or false");
    *mark = engine_undo_mark(ctx);
    *out = is_asked ? mark : NULL;
    return OK;
}

/* In the first space in reach that has the id. */
HANDLER(memory_change)
{
    struct change c = {.id = in->params[0],
                       .to = *(const struct memory *)in->in,
                       .keeps_old = true};
    struct undo_mark mark;
    struct memory m;
    TRY(change_named(ctx, in->json, &c.what));
    TRY(read_if_match(ctx, in, &c.if_updated));
    TRY(undo_asked(ctx, in, &mark, &c.undo));
    TRY(auth_find_memory(ctx, app, &in->who, c.id, &m));
    c.pool = (struct pool_ref){in->who.pool.user, m.space};
    TRY(engine_change(ctx, app->engine, &c, &m));
    if (c.undo) {
        reply_header(out, UNDO_HEADER, mark.id);
        reply_header(out, UNDO_UNTIL_HEADER,
                     time_write(&ctx->arena, mark.until, "%Y-%m-%dT%H:%M:%SZ"));
    }
    memory_tag(ctx, &m, out);
    surface_memory_json(ctx, &m, &out->body);
    return OK;
}
