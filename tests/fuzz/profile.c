/* profile.c - any answer of a model, any source: facts are few, short, plain and no secret. */
#include <assert.h>

#include "base/utf8.h"
#include "engine/extract/secrets.h"
#include "ext/profile/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t characters(str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
    return n;
}

static bool is_visible(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 127)
            return false;
    return utf8_is_valid(s) && str_trim(s).n == s.n;
}

static void check_facts(struct ctx *ctx, const struct json *facts)
{
    assert(facts->type == JSON_OBJECT && facts->n <= PROFILE_MAX && !ctx->why[0]);
    for (const struct json *m = facts->first; m; m = m->next) {
        str words = profile_words(&ctx->arena, json_name(m));
        assert(m->type == JSON_STRING && is_visible(json_string(m)) && is_visible(json_name(m)));
        assert(json_name(m).n && characters(json_name(m)) <= PROFILE_NAME_MAX);
        assert(json_string(m).n && characters(json_string(m)) <= PROFILE_VALUE_MAX);
        assert(str_eq(profile_camel(&ctx->arena, json_name(m)), json_name(m)));
        assert(!str_eq_nocase(json_string(m), S("unknown")) &&
               !str_eq_nocase(json_string(m), S("n/a")));
        assert(!secrets_are_in(
            str_printf(&ctx->arena, S_FMT ": " S_FMT, S_ARG(words), S_ARG(json_string(m)))));
        assert(json_get(facts, str_c(&ctx->arena, json_name(m))) == m);
    }
}

static void check_answer(struct ctx *ctx, str text)
{
    struct reading r = {.ctx = ctx};
    struct json *facts;
    str how = S("");
    bool is_read = profile_answer(ctx, &r, text, &how);
    assert(is_read == (how.n > 0) && (is_read || !r.n));
    enum status s = reading_json(&r, &facts);
    assert(s == OK);
    check_facts(ctx, facts);
}

static void check_sources(struct ctx *ctx, struct engine *e, str text)
{
    static const struct pool_ref pool = {{"u", 1}, {"s", 1}};
    struct json *data = NULL, *facts;
    str how;
    if (json_parse(ctx, text, &data) != OK)
        ctx_clear_failure(ctx);
    struct profile_source all[] = {{.text = text}, {.raw = text}, {.data = data}};
    for (size_t i = 0; i < 3; i++) {
        enum status s = engine_read_profile(ctx, e, pool, &all[i], &facts, &how);
        assert(s == OK && str_is(how, "rules"));
        check_facts(ctx, facts);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct engine *e;
    static struct settings settings;
    struct ctx ctx = {0};
    if (!e) {
        settings_defaults(&settings);
        if (engine_open(&ctx, NULL, &settings, &e) != OK)
            return 1;
    }
    str text = str_dup(&ctx.arena, (str){(const char *)data, size});
    check_answer(&ctx, text);
    check_sources(&ctx, e, text);
    ctx_free(&ctx);
    return 0;
}
