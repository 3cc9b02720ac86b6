/* resolve_local.c - sources of vectors on this machine, chosen only where they are enabled. */
#include "embed/embed.h"

#include "lib/tiny_models.h"

static struct embed_plan plan(struct ctx *ctx, const struct settings *s, enum embed_source which,
                              bool table, bool transformers)
{
    struct embed_choice c = {which, S(""), table, transformers};
    return embed_resolve(ctx, s, &c);
}

TEST(local_sources_need_to_be_enabled)
{
    struct settings s = {0};
    settings_defaults(&s);
    struct embed_plan p = plan(ctx, &s, EMBED_STATIC, true, false);
    CHECK_INT(p.source, EMBED_STATIC);
    CHECK_STR(p.model, S("potion-base-8M"));
    CHECK_INT(p.dimensions, 256);
    p = plan(ctx, &s, EMBED_TRANSFORMERS, false, true);
    CHECK_INT(p.source, EMBED_TRANSFORMERS);
    CHECK_STR(p.model, S("all-MiniLM-L6-v2"));
    CHECK_INT(p.dimensions, 384);
    CHECK_INT(plan(ctx, &s, EMBED_STATIC, false, true).source, EMBED_NONE);
    p = plan(ctx, &s, EMBED_TRANSFORMERS, true, false);
    CHECK_INT(p.source, EMBED_NONE);
    CHECK(holds(p.reason, "not enabled"));
}
