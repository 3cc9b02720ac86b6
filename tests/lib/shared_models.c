/* shared_models.c - the models of ../shared, and the vectors that they should give. */
#include "lib/tiny_models.h"

const char *missing_models(void)
{
    struct ctx ctx = {0};
    bool is_there = shared_file(&ctx, "models/reference/potion-base-8M.json") != NULL;
    ctx_free(&ctx);
    return is_there ? NULL : "the models are not beside the repository (../shared/models)";
}

const struct json *reference(struct ctx *ctx, const char *model)
{
    struct json *root;
    str name = str_printf(&ctx->arena, "%s.json", model);
    CHECK_OK(json_parse(ctx, file_bytes(ctx, str_of(shared_file(ctx, "models/reference")), name.p),
                        &root));
    const struct json *cases = json_get(root, "cases");
    CHECK(cases && cases->n == 73);
    return cases;
}

str model_path(struct ctx *ctx, const char *model)
{
    return str_of(shared_file(ctx, str_printf(&ctx->arena, "models/%s", model).p));
}
