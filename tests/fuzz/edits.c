/* edits.c - settings of another program, any bytes: an entry goes in, stays once, and comes out. */
#include <assert.h>

#include "ext/connect/edit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_ours(const struct json *element, str program)
{
    return str_eq(json_string(json_get(element, "own")), program);
}

static const struct place places[] = {
    {"servers.ours", NULL},
    {"hooks.stop", is_ours, S("yes")},
};

static const char table[] = "servers.ours";

static enum status put(struct ctx *ctx, str text, int kind, str *out)
{
    return kind < 2
               ? edit_json_put(ctx, text, &places[kind], S("{\"own\":\"yes\",\"v\":[1,{}]}"), out)
               : edit_toml_put(ctx, text, table, S("url = \"x\"\n"), out);
}

static enum status take(struct ctx *ctx, str text, int kind, str *out)
{
    return kind < 2 ? edit_json_take(ctx, text, &places[kind], out)
                    : edit_toml_take(ctx, text, table, out);
}

/* What is left of the bytes but commas and white space, in their order. */
static bool is_within(str part, str whole)
{
    size_t at = 0;
    for (size_t i = 0; i < part.n; i++) {
        if (char_is_one_of(part.p[i], " \t\r\n\f\v,{}[]"))
            continue;
        while (at < whole.n && whole.p[at] != part.p[i])
            at++;
        if (at++ >= whole.n)
            return false;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    str with, again, without, last;
    if (!size)
        return 0;
    int kind = data[0] % 3;
    const str text = {(const char *)data + 1, size - 1};
    if (soft(&ctx, put(&ctx, text, kind, &with)))
        assert(put(&ctx, with, kind, &again) == OK && str_eq(with, again));
    if (!soft(&ctx, take(&ctx, text, kind, &without)))
        return 0;
    if (!soft(&ctx, put(&ctx, without, kind, &with)))
        return 0;
    assert(put(&ctx, with, kind, &again) == OK && str_eq(with, again));
    assert(is_within(without, with));
    assert(take(&ctx, with, kind, &last) == OK && is_within(last, without));
    /* An object that was empty before goes with the entry; else all is there again. */
    bool had_place =
        str_find(without, S("servers")) < without.n || str_find(without, S("hooks")) < without.n;
    assert(had_place || is_within(without, last));
    diff_lines(&ctx.arena, without, with);
    return 0;
}
