/* toml.c - any bytes: refused, or read as what JSON can say, and changed without harm. */
#include <assert.h>

#include "core/toml.h"
#include "core/toml_edit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Counts are right, numbers are JSON, and names are given to members only. */
static void check_value(struct ctx *ctx, const struct json *v, int depth)
{
    uint32_t n = 0;
    struct json *number;
    assert(depth < 4 * TOML_DEPTH_MAX);
    if (v->type == JSON_NUMBER)
        assert(json_parse(ctx, v->source, &number) == OK && number->type == JSON_NUMBER);
    for (const struct json *item = v->first; item; item = item->next, n++) {
        assert((item->texts && json_name(item).p) || v->type == JSON_ARRAY);
        check_value(ctx, item, depth + 1);
    }
    assert(n == v->n);
    assert(!n || v->type == JSON_OBJECT || v->type == JSON_ARRAY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ctx ctx = {0};
    struct json *v, *again;
    str text = str_dup(&ctx.arena, (str){(const char *)data, size});
    struct buf b = buf_make(&ctx.arena, size + 64);
    if (toml_parse(&ctx, text, &v) == OK) {
        check_value(&ctx, v, 0);
        if (toml_set(&ctx, text, "port", S("7077"), &b) == OK) {
            assert(!b.full);
            assert(toml_parse(&ctx, buf_str(&b), &again) == OK);
            assert(json_int_or(json_get(again, "port"), 0) == 7077);
        }
    } else {
        assert(ctx.failed == BAD_INPUT && ctx.why[0]);
    }
    ctx_free(&ctx);
    return 0;
}
