/* json.c - any bytes: refused or read; what is read is written and read again the same. */
#include <assert.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Values lie inside the text and inside their parents, in order. */
static void check_places(const struct json *v, str within)
{
    assert(v->source.n > 0);
    assert(v->source.p >= within.p && v->source.p + v->source.n <= within.p + within.n);
    uint32_t n = 0;
    for (const struct json *item = v->first; item; item = item->next, n++) {
        check_places(item, v->source);
        assert(!item->next || item->next->source.p >= item->source.p + item->source.n);
    }
    assert(n == v->n);
}

static void write(struct json_out *w, const struct json *v)
{
    static char name[65536]; /* done with before the next level */
    if (v->type == JSON_STRING) {
        json_str(w, json_string(v));
    } else if (v->type == JSON_OBJECT || v->type == JSON_ARRAY) {
        bool object = v->type == JSON_OBJECT;
        json_open(w, object ? '{' : '[');
        for (const struct json *item = v->first; item; item = item->next) {
            snprintf(name, sizeof name, S_FMT, S_ARG(json_name(item)));
            if (object)
                json_key(w, name);
            write(w, item);
        }
        json_close(w, object ? '}' : ']');
    } else {
        json_raw(w, v->source);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ctx ctx = {0};
    struct json *v, *again;
    str text = str_dup(&ctx.arena, (str){(const char *)data, size});
    if (json_parse(&ctx, text, &v) == OK) {
        check_places(v, text);
        struct buf b = buf_make(&ctx.arena, 1 << 24), c = buf_make(&ctx.arena, 1 << 24);
        struct json_out w = json_to(&b), x = json_to(&c);
        write(&w, v);
        assert(!b.full);
        assert(json_parse(&ctx, buf_str(&b), &again) == OK);
        write(&x, again);
        assert(str_eq(buf_str(&b), buf_str(&c)));
    } else {
        assert((ctx.failed == BAD_INPUT || ctx.failed == TOO_LARGE) && ctx.why[0]);
    }
    ctx_free(&ctx);
    return 0;
}
