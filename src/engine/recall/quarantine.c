/* quarantine.c - Holds back what would instruct a model, as the last look at a line. */
#include "engine/recall/quarantine.h"

#include "base/clock.h"
#include "core/text_annotations.h"
#include "engine/extract/secrets.h"
#include "engine/judge/directive.h"
#include "engine/questions/standing.h"

/* Whose words each door brings. Own: a person said it to his own assistant, or stored it with his
 * own client, and may wish what he wants. What anybody else may have written tells no model what to
 * do, whatever its wording claims to be. */
static const bool is_own[ORIGIN_COUNT] = {
    [ORIGIN_USER] = true,       /* the user's messages in a chat, and the facts found in them */
    [ORIGIN_API] = true,        /* a call of the memory API or the command line, with his token */
    [ORIGIN_ASSISTANT] = false, /* answers: they quote pages, files and tools */
    [ORIGIN_TOOL] = false,
    [ORIGIN_IMPORT] = false,    /* a file, of which nobody knows who wrote it */
    [ORIGIN_DISTILLED] = false, /* a model's summary of all of these */
    [ORIGIN_MCP] = false,       /* a model stored it: MCP and the memory tool */
};

/* Whether it is what the user said himself, so that it may be his wish (decisions/017). */
static bool is_users_own(const struct recalled *r)
{
    enum origin origin = r->is_memory ? r->memory.origin : r->message.origin;
    return (r->is_memory || str_is(r->message.role, "user")) && origin < ORIGIN_COUNT &&
           is_own[origin];
}

static enum whose whose_of(const struct recalled *r)
{
    if (is_users_own(r))
        return WHOSE_OWN;
    return !r->is_memory && str_is(r->message.role, "assistant") ? WHOSE_ANSWER : WHOSE_OTHERS;
}

/* What somebody else stored as a standing instruction is one, however it is worded. */
static bool is_foreign_wish(const struct recalled *r)
{
    return r->is_memory && str_is(r->memory.category, STANDING_CATEGORY) && !is_users_own(r);
}

/* Names and strings, one a line. */
static void write_strings(struct buf *b, const struct json *v)
{
    buf_printf(b, S_FMT "\n" S_FMT "\n", S_ARG(json_name(v)), S_ARG(json_string(v)));
    for (const struct json *one = v->first; one; one = one->next)
        write_strings(b, one);
}

/* What a memory says beside its content, such as an episode's decisions. Labels are no sentences:
 * they are judged as the user's own words are, whoever wrote them. */
static str metadata_text(struct arena *a, str metadata)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    struct json *root = NULL;
    struct buf b = buf_make(a, 2 * metadata.n + 2);
    if (metadata.n && soft(&own, json_parse(&own, metadata, &root)))
        write_strings(&b, root);
    return buf_str(&b);
}

str quarantine_text(struct arena *a, const struct recalled *r, str text)
{
    str taken = is_foreign_wish(r) ? text : text_directed(a, text, whose_of(r)).taken;
    str beside = metadata_text(a, r->is_memory ? r->memory.metadata : S(""));
    beside = text_directed(a, beside, WHOSE_OWN).taken;
    return !beside.n
               ? taken
               : str_printf(a, S_FMT "%s" S_FMT, S_ARG(taken), taken.n ? "\n" : "", S_ARG(beside));
}

/* allows: what tells a model what to do stays. */
static struct quotable line_of(struct arena *a, const struct recalled *r, bool allows)
{
    struct directed d = {.kept = r->text};
    if (is_foreign_wish(r) && !allows)
        return (struct quotable){S(""), "it is somebody else's instruction to the model", true};
    if (!allows)
        d = text_directed(a, r->text, whose_of(r));
    if (!d.kept.n)
        return (struct quotable){S(""), "it reads as an instruction to the model", true};
    str masked = secrets_masked(a, d.kept, NULL);
    bool is_whole = masked.n == r->text.n && !d.is_any;
    return (struct quotable){masked, is_whole ? NULL : "secrets are masked", d.is_any};
}

/* Each is a decision about one content: a memory that was changed since is held again. */
static bool is_allowed(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                       const struct held_item *line)
{
    struct held_item known;
    return soft(ctx, store_held(ctx, e->store, pool, line->id, &known)) && known.id.n &&
           known.state == REVIEW_ALLOWED && known.version == line->version;
}

/* What is cut is noted for review under its id, without its text; a failure changes nothing. */
struct quotable quarantine_line(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                const struct recalled *r, bool notes)
{
    struct held_item line = {.id = recalled_id(r),
                             .is_memory = r->is_memory,
                             .version = r->is_memory ? r->memory.updated : 0};
    static const bool clean = true;
    struct text_annotations *noted = r->is_memory ? NULL : r->message.notes;
    if (annotation_find(noted, NOTE_CLEAN, r->text))
        return (struct quotable){r->text, NULL};
    struct quotable given = line_of(&ctx->arena, r, false);
    if (given.text.p == r->text.p && given.text.n == r->text.n)
        annotation_add(noted, NOTE_CLEAN, r->text, (str){(const char *)&clean, sizeof clean});
    if (r->is_memory && r->memory.space.n)
        pool.space = r->memory.space;
    if (!given.is_held || !pool.space.n)
        return given;
    if (is_allowed(ctx, e, pool, &line))
        return line_of(&ctx->arena, r, true);
    if (notes)
        soft(ctx, store_hold(ctx, e->store, pool, &line, clock_ms()));
    return given;
}

void quarantine_metadata(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                         struct recalled *r, bool notes)
{
    struct recalled line = *r;
    line.memory.origin = ORIGIN_USER;
    line.text = metadata_text(&ctx->arena, r->is_memory ? r->memory.metadata : S(""));
    if (line.text.n && quarantine_line(ctx, e, pool, &line, notes).is_held)
        r->memory.metadata = S("");
}

/* Names that are shown beside a text: clients and files choose them. They are labels, too. */
static void names_leave(struct arena *a, struct recalled *r)
{
    str *const names[] = {&r->message.session, &r->message.role, &r->memory.session, &r->memory.key,
                          &r->memory.category};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i]->n && text_directed(a, *names[i], WHOSE_OWN).is_any)
            *names[i] = S("");
}

bool quarantine_leaves(struct ctx *ctx, struct engine *e, struct pool_ref pool, struct recalled *r)
{
    str *whole = r->is_memory ? &r->memory.content : &r->message.text;
    struct recalled line = *r;
    line.text = *whole;
    quarantine_metadata(ctx, e, pool, r, true);
    names_leave(&ctx->arena, r);
    if (!whole->n)
        return true;
    struct quotable given = quarantine_line(ctx, e, pool, &line, true);
    if (!given.is_held)
        return true;
    line.text = r->text.n < whole->n ? r->text : S("");
    *whole = given.text;
    r->text = line.text.n ? quarantine_line(ctx, e, pool, &line, true).text : given.text;
    return whole->n && r->text.n;
}

bool engine_memory_for_model(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                             struct memory *m)
{
    struct recalled r = {.is_memory = true, .memory = *m};
    bool is_any = quarantine_leaves(ctx, e, pool, &r);
    *m = r.memory;
    return is_any;
}
