/* quarantine.c - Holds back what would instruct a model, as the last look at a line. */
#include "engine/recall/quarantine.h"

#include "base/clock.h"
#include "core/text_annotations.h"
#include "engine/text/sentences.h"
#include "engine/text/utterance.h"

/* Of a tool's memory and of answers more sentences count as instructions (sentence_instructs). */
bool quarantine_is_users(const struct recalled *r)
{
    return r->is_memory ? r->memory.origin != ORIGIN_TOOL : str_is(r->message.role, "user");
}

str quarantine_text(struct arena *a, str text, bool is_user)
{
    struct sentence s;
    struct buf b = buf_make(a, text.n + 64);
    for (str rest = text; sentence_cut(&rest, &s);) {
        if (!sentence_instructs(a, s.text, is_user))
            continue;
        if (b.n)
            buf_byte(&b, '\n');
        buf_add(&b, str_trim(s.text));
    }
    return buf_str(&b);
}

/* Each is a decision about one content: a memory that was changed since is held again. */
static bool is_allowed(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                       const struct held_item *line)
{
    struct held_item known;
    return soft(ctx, store_held(ctx, e->store, pool, line->id, &known)) && known.id.n &&
           known.state == REVIEW_ALLOWED && known.version == line->version;
}

/* What is cut is noted for review under its id (store_hold), without its text; a failure to note it
 * changes nothing. Allowed once, the same content is given from then on. */
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
    struct quotable given = quotable_line(&ctx->arena, e, r->text, quarantine_is_users(r), false);
    if (given.text.p == r->text.p && given.text.n == r->text.n)
        annotation_add(noted, NOTE_CLEAN, r->text, (str){(const char *)&clean, sizeof clean});
    if (r->is_memory && r->memory.space.n)
        pool.space = r->memory.space;
    if (!given.is_held || !pool.space.n)
        return given;
    if (is_allowed(ctx, e, pool, &line))
        return quotable_line(&ctx->arena, e, r->text, quarantine_is_users(r), true);
    if (notes)
        soft(ctx, store_hold(ctx, e->store, pool, &line, clock_ms()));
    return given;
}
