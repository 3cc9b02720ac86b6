/* safetensors.c - any file: refused with words, or every tensor lies inside and has its numbers. */
#include <assert.h>

#include "embed/common/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ctx ctx = {0};
    struct safetensors s;
    str bytes = str_dup(&ctx.arena, (str){(const char *)data, size});
    if (safetensors_read(&ctx, bytes, &s) != OK) {
        assert(ctx.failed == BAD_INPUT && ctx.why[0]);
        ctx_free(&ctx);
        return 0;
    }
    size_t total = 0;
    for (size_t i = 0; i < s.n; i++) {
        const struct tensor *t = &s.v[i];
        assert((const char *)t->bytes >= bytes.p &&
               (const char *)t->bytes + t->size <= bytes.p + bytes.n);
        assert(safetensors_find(&s, t->name) == t);
        total += t->size;
        if (t->type != TENSOR_OTHER) {
            float *v = NEW_N(&ctx.arena, float, t->count + 1);
            tensor_floats(t, 0, t->count, v);
        }
    }
    assert(total <= size);
    safetensors_close(&s);
    ctx_free(&ctx);
    return 0;
}
