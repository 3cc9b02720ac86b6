/* shapes.c - memories as JSON: a list that is too large is an error, never a list without them. */
#include "ext/dialects/omniroute/common.h"
#include "surface/common/memory_json.h"

#include "t.h"

enum { MANY = 300, LONG = 60000 };

static struct memory *many(struct ctx *ctx)
{
    struct memory *v = NEW_N(&ctx->arena, struct memory, MANY);
    char *text = arena_alloc(&ctx->arena, LONG);
    memset(text, 'x', LONG);
    for (int i = 0; i < MANY; i++)
        v[i] = (struct memory){.id = S("f"), .content = {text, LONG}};
    return v;
}

TEST(a_list_over_the_limit_is_an_error)
{
    const struct json *list = NULL;
    struct memory *v = many(ctx);
    struct buf out = buf_make(&ctx->arena, 64 << 20);
    CHECK_STATUS(surface_memories_json(ctx, v, MANY, MANY, &out), TOO_LARGE);
    ctx_clear_failure(ctx);
    CHECK_INT(out.n, 0);
    CHECK_STATUS(json_list(ctx, memory_shown_fields, v, MANY, sizeof *v, &list), TOO_LARGE);
    ctx_clear_failure(ctx);
    CHECK_OK(surface_memories_json(ctx, v, MANY / 2, MANY, &out));
    struct json *root;
    CHECK_OK(json_parse(ctx, buf_str(&out), &root));
    CHECK_INT(json_get(root, "memories")->n, MANY / 2);
    CHECK_INT(json_int_or(json_get(root, "total"), 0), MANY);
}

TEST(findings_over_the_limit_are_an_error)
{
    struct recalled found[MANY];
    struct memory *v = many(ctx);
    struct buf out = buf_make(&ctx->arena, 64 << 20);
    for (int i = 0; i < MANY; i++)
        found[i] = (struct recalled){.is_memory = true, .memory = v[i], .text = v[i].content};
    struct recall_out all = {.v = found, .n = MANY};
    CHECK_STATUS(surface_found_json(ctx, &all, false, &out), TOO_LARGE);
    ctx_clear_failure(ctx);
    all.n = 1;
    CHECK_OK(surface_found_json(ctx, &all, false, &out));
}
