/* repair.c - any bytes: the object found is JSON, and valid JSON stays what it is. */
#include <assert.h>

#include "base/json.h"
#include "llm/llm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_same(const struct json *a, const struct json *b)
{
    if (a->type != b->type || a->n != b->n || a->truth != b->truth ||
        !str_eq(json_name(a), json_name(b)) || !str_eq(json_string(a), json_string(b)))
        return false;
    if (a->type == JSON_NUMBER)
        return str_eq(a->source, b->source);
    const struct json *y = b->first;
    for (const struct json *x = a->first; x; x = x->next, y = y->next)
        if (!is_same(x, y))
            return false;
    return true;
}

/* Text around it changes nothing, and what is mended for one comma too many is otherwise as it
 * was. */
static void check_valid(struct ctx *ctx, const struct json *v)
{
    struct json *found = NULL;
    str body = str_sub(v->source, 0, v->source.n - 1);
    str around = str_printf(&ctx->arena, "As asked: " S_FMT " - done.", S_ARG(v->source));
    enum status s = llm_object(ctx, around, &found);
    assert(s == OK && str_eq(found->source, v->source));
    s = llm_object(ctx, str_printf(&ctx->arena, S_FMT " /**/ , }", S_ARG(body)), &found);
    assert(s == OK && is_same(found, v));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ctx ctx = {0};
    struct json *whole = NULL, *found, *again;
    str text = str_dup(&ctx.arena, (str){(const char *)data, size});
    bool is_json = json_parse(&ctx, text, &whole) == OK;
    ctx_clear_failure(&ctx);
    enum status s = llm_object(&ctx, text, &found);
    if (s == OK) {
        assert(found->type == JSON_OBJECT && !ctx.why[0]);
        s = json_parse(&ctx, found->source, &again);
        assert(s == OK && is_same(found, again));
    } else {
        assert(s == BAD_INPUT && ctx.why[0]);
        ctx_clear_failure(&ctx);
    }
    if (is_json && whole->type == JSON_OBJECT) {
        assert(s == OK && str_eq(found->source, whole->source));
        if (memchr(data, 0, size) == NULL)
            check_valid(&ctx, whole);
    }
    ctx_free(&ctx);
    return 0;
}
