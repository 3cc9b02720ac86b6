/* extract.c - any text: facts are whole and stand alone, and a block goes in and out of it. */
#include <assert.h>

#include "base/utf8.h"
#include "engine/recall/block.h"
#include "engine/state/state.h"
#include "engine/text.h"
#include "engine/text/block_strip.h"
#include "engine/text/memory_intent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_facts(struct ctx *ctx, struct engine *e, str text)
{
    static const enum extract_rules rules[] = {EXTRACT_USER, EXTRACT_TABLE, EXTRACT_OFF};
    bool valid = utf8_is_valid(text);
    size_t n;
    for (int r = 0; r < 3; r++) {
        struct memory *v = engine_extract(ctx, e, rules[r], NULL, text, &n);
        assert(rules[r] != EXTRACT_OFF || n == 0);
        for (size_t i = 0; i < n; i++) {
            assert(str_trim(v[i].content).n && v[i].key.n && v[i].category.n);
            assert(str_find(v[i].content, S("\n")) == v[i].content.n);
            assert(utf16_length(v[i].content) <= 500 || !valid);
            assert(!valid || (utf8_is_valid(v[i].content) && utf8_is_valid(v[i].key)));
            for (size_t k = 0; k < i; k++)
                assert(!str_eq(v[i].key, v[k].key));
        }
    }
}

static void check_block(struct ctx *ctx, str text)
{
    struct arena *a = &ctx->arena;
    struct recalled r = {
        .state = LINE_INJECTED,
        .message = {.id = S("1"), .role = S("user"), .text = text, .speaker = utf8_cut(text, 20)}};
    str block = block_render(a, &r, 1, -1, 0);
    bool is_readable = engine_line(a, text, 600).n > 0;
    assert(utf8_is_valid(block) && (!block.n || block_texts(a, block).n == is_readable));
    str around = engine_strip_block(a, text);
    if (!block.n || around.n != text.n)
        return;
    struct buf whole = buf_make(a, text.n + block.n + 2);
    buf_add(&whole, text);
    buf_add(&whole, S("\n\n"));
    buf_add(&whole, block);
    /* A text that opens a block of its own may run into ours. */
    if (str_find(text, S("[Memory]\n")) == text.n)
        assert(str_eq(engine_strip_block(a, buf_str(&whole)), text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct engine *e;
    static const struct settings settings;
    struct ctx ctx = {0};
    if (!e && engine_open(&ctx, NULL, &settings, &e) != OK)
        return 1;
    str text = str_dup(&ctx.arena, (str){(const char *)data, size});
    str names[] = {S("Alice"), utf8_cut(text, 8)};
    check_facts(&ctx, e, text);
    check_block(&ctx, text);
    struct gate g = gate_of(&ctx.arena, text, names, 2);
    assert((g.section == GATE_NONE) == (g.phrase.n == 0));
    ctx_free(&ctx);
    return 0;
}
