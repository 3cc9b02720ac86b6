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
    struct json *metadata;
    if (!m->metadata.n || json_parse(&own, m->metadata, &metadata) != OK)
        return false;
    for (; *names; names++) {
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

/* Summaries that came by an import have the mark in their metadata. */
static bool is_summary(const struct memory *m)
{
    static const char *const marks[] = {"summarizedCount", NULL};
    return m->layer == LAYER_SUMMARY || has_mark(m, marks);
}

/* Clients mark what must stay word by word in one of these ways. */
static bool is_pinned(const struct memory *m)
{
    static const char *const marks[] = {"pinned", "pin", NULL};
    return has_tag(m, marks) || has_mark(m, marks);
}

/* "Remember that I park on level 3": the user asked for this one by name. */
static bool is_asked_for(struct arena *a, str text)
{
    struct phrase_words w = phrase_words_of(a, phrase_fold(a, text));
    return phrase_find_any(&w, keeping_phrases);
}

/* Looks at the message that the memory came from: "Remember that …" is not in the fact itself. */
static bool is_explicit(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                        const struct memory *m)
{
    static const char *const marks[] = {"explicit", "instruction", NULL};
    struct message said;
    if (has_tag(m, marks) || has_mark(m, marks))
        return true;
    return m->source.n && soft(ctx, store_message(ctx, e->store, pool, m->source, &said)) &&
           is_asked_for(&ctx->arena, said.text);
}

/* Health and safety by what was stored or by the rule: either keeps the user's own words. */
static bool is_critical(struct ctx *ctx, const struct memory *m)
{
    return priority_of(m->importance) == PRIORITY_CRITICAL ||
           priority_of(importance_by_rule(&ctx->arena, m)) == PRIORITY_CRITICAL;
}

/* A summary would carry a forgotten sentence on under another id. */
static bool is_barred(struct ctx *ctx, const struct tombstones *tombstones, const struct memory *m)
{
    struct recalled r = {.is_memory = true, .memory = *m};
    return !tombstones_keep(tombstones, &ctx->arena, &r) || r.part.is_cut;
}

/* Summaries stay, or each round would blur the one before. Identity does not age, and episodes have
 * decisions and dates. In a summary what expires would outlive its end, and what is unconfirmed
 * would read as certain. */
enum condense_skip skip_of(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                           const struct tombstones *tombstones, const struct memory *m)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    if (is_summary(m))
        return SKIP_SUMMARY;
    if (m->layer != LAYER_FACT || memory_is_unconfirmed(m))
        return SKIP_LAYER;
    if (m->expires)
        return SKIP_EXPIRES;
    if (is_pinned(m))
        return SKIP_PINNED;
    if (is_critical(&own, m))
        return SKIP_CRITICAL;
    if (is_barred(&own, tombstones, m))
        return SKIP_BARRED;
    return is_explicit(&own, e, pool, m) ? SKIP_EXPLICIT : SKIP_COUNT;
}
