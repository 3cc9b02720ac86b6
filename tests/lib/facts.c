/* facts.c - the facts that are found in a text, and tables of texts with the facts wanted. */
#include "lib/facts.h"

#include "base/utf8.h"
#include "lib/engine.h"
#include "t.h"

static str found_by(struct ctx *ctx, struct engine *e, enum extract_rules rules, str text)
{
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    size_t n;
    struct memory *v = engine_extract(ctx, e, rules, NULL, text, &n);
    for (size_t i = 0; i < n; i++) {
        CHECK(utf8_is_valid(v[i].content) && utf8_is_valid(v[i].key));
        buf_printf(&b, "%s" S_FMT " > " S_FMT, i ? " | " : "", S_ARG(v[i].key),
                   S_ARG(v[i].content));
    }
    return buf_str(&b);
}

static void check_row(struct ctx *ctx, struct engine *e, enum extract_rules rules, struct told row)
{
    str got = found_by(ctx, e, rules, str_of(row.text));
    if (!str_is(got, row.facts))
        fail_msg("\"%s\" gives \"" S_FMT "\", not \"%s\"", row.text, S_ARG(got), row.facts);
}

/* Extraction needs no store. */
static struct engine *engine_without_store(struct ctx *ctx)
{
    static const struct settings settings;
    struct engine *e;
    CHECK_OK(engine_open(ctx, NULL, &settings, &e));
    return e;
}

str facts_of(struct ctx *ctx, enum extract_rules rules, str text)
{
    CLEANUP(engine_closep) struct engine *e = engine_without_store(ctx);
    return found_by(ctx, e, rules, text);
}

void check_facts(struct ctx *ctx, enum extract_rules rules, const struct told *rows, size_t n)
{
    CLEANUP(engine_closep) struct engine *e = engine_without_store(ctx);
    for (size_t i = 0; i < n; i++)
        check_row(ctx, e, rules, rows[i]);
}

void check_no_facts(struct ctx *ctx, const char *const *texts, size_t n)
{
    CLEANUP(engine_closep) struct engine *e = engine_without_store(ctx);
    for (size_t i = 0; i < n; i++)
        check_row(ctx, e, EXTRACT_USER, (struct told){texts[i], ""});
}
