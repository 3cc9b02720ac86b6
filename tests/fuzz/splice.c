/* splice.c - any body: what is put in stands at one place, and without it the body is as it was. */
#include <assert.h>

#include "surface/proxy/splice.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The new body is the old one with some bytes more in one place, and is JSON still. */
static void check(struct ctx *ctx, str before, str after)
{
    struct json *root;
    size_t head = 0, more = after.n - before.n;
    assert(after.n > before.n);
    while (head < before.n && before.p[head] == after.p[head])
        head++;
    assert(memcmp(before.p + head, after.p + head + more, before.n - head) == 0);
    assert(json_parse(ctx, after, &root) == OK);
}

static void place_all(struct ctx *ctx, str body, const struct json *root, const struct json *at)
{
    static const str texts[] = {S("x"), S("\n\"\\\x01\xC3\xA9</remembered>")};
    const struct json *messages = json_get(root, "messages");
    for (int i = 0; i < 16; i++) {
        struct splice s = {.arena = &ctx->arena, .body = body};
        struct block block = {texts[i & 1], (enum placement)(i >> 2), (i & 2) != 0};
        splice_block(&s, root, messages, at, &block);
        check(ctx, body, splice_done(&s));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ctx ctx = {0};
    struct json *root, *again;
    str body = str_dup(&ctx.arena, (str){(const char *)data, size});
    if (json_parse(&ctx, body, &root) == OK) {
        const struct json *messages = json_get(root, "messages"), *model = json_get(root, "model");
        if (messages && messages->type == JSON_ARRAY)
            for (const struct json *at = messages->first; at; at = at->next)
                place_all(&ctx, body, root, at);
        if (model && model->type == JSON_STRING && json_string(model).n) {
            struct splice s = {.arena = &ctx.arena, .body = body};
            splice_model(&s, model, str_sub(json_string(model), 1, json_string(model).n));
            bool is_whole = ((unsigned char)json_string(model).p[0] & 0x80) == 0;
            if (is_whole)
                assert(json_parse(&ctx, splice_done(&s), &again) == OK);
        }
    }
    ctx_free(&ctx);
    return 0;
}
