/* skip.c - memories that are never replaced by a summary, with the reason. */
#include "engine/compact/compact.h"

#include "engine/text.h"
#include "engine/text/phrases.h"
#include "lang/skip_lists.h"

const char *const condense_skip_names[] = {"summary", "layer",  "pinned",  "explicit", "critical",
                                           "expires", "barred", "changed", "unsaved",  NULL};

/* Whether a metadata object has one of these members, and not false or null. */
static bool has_mark(const struct memory *m, const char *const *names)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    const struct json *metadata = json_of_text(&own, m->metadata);
    for (; metadata && *names; names++) {
        const struct json *mark = json_get(metadata, *names);
        if (mark && !str_eq(mark->source, S("false")) && !str_eq(mark->source, S("null")))
            return true;
    }
    return false;
}

/* As a tag or as the category. */
static bool has_tag(const struct memory *m, const char *const *names)
{
    return SOME(i, m->tags.n, str_is_one_of(m->tags.v[i], names)) ||
           str_is_one_of(m->category, names);
}

/* "Remember that I park on level 3": the user asked for this one by name. Looks at the message that
 * the memory came from, as that is not in the fact itself. */
static bool is_explicit(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                        const struct memory *m)
{
    static const char *const marks[] = {"explicit", "instruction", NULL};
    struct message said;
    if (has_tag(m, marks) || has_mark(m, marks))
        return true;
    if (!m->source.n || !soft(ctx, store_message(ctx, e->store, pool, m->source, &said)))
        return false;
    struct phrase_words w = phrase_words_of(&ctx->arena, phrase_fold(&ctx->arena, said.text));
    return phrase_find_any(&w, keeping_phrases);
}

/* Summaries stay, or each round would blur the one before; those that came by an import have a
 * mark. Identity does not age, and episodes have decisions and dates. In a summary what expires
 * would outlive its end, what is unconfirmed would read as certain, and a forgotten sentence would
 * go on under another id. Of health and safety, by what was stored or by the rule, the user's own
 * words are kept. */
enum condense_skip skip_of(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                           const struct tombstones *tombstones, const struct memory *m)
{
    static const char *const summary_marks[] = {"summarizedCount", NULL};
    static const char *const pins[] = {"pinned", "pin", NULL};
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    struct recalled r = {.is_memory = true, .memory = *m};
    if (m->layer == LAYER_SUMMARY || has_mark(m, summary_marks))
        return SKIP_SUMMARY;
    if (m->layer != LAYER_FACT || memory_is_unconfirmed(m))
        return SKIP_LAYER;
    if (m->expires)
        return SKIP_EXPIRES;
    if (has_tag(m, pins) || has_mark(m, pins))
        return SKIP_PINNED;
    if (priority_of(m->importance) == PRIORITY_CRITICAL ||
        priority_of(importance_by_rule(&own.arena, m)) == PRIORITY_CRITICAL)
        return SKIP_CRITICAL;
    if (!tombstones_keep(tombstones, &own.arena, &r) || r.part.is_cut)
        return SKIP_BARRED;
    return is_explicit(&own, e, pool, m) ? SKIP_EXPLICIT : SKIP_COUNT;
}
