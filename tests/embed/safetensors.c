/* safetensors.c - a good file gives its numbers, a hostile one is refused with words. */
#include "embed/common/safetensors.h"

#include <math.h>

#include "lib/tiny_models.h"

TEST(every_form_of_float_is_read)
{
    struct safetensors s;
    str file = safetensors_with(ctx,
                                "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
                                "\"b\":{\"dtype\":\"F16\",\"shape\":[6],\"data_offsets\":[4,16]},"
                                "\"c\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[16,20]}"
                                "}",
                                20);
    unsigned char *data = (unsigned char *)file.p + file.n - 20;
    const float a = -2.5f;
    const uint16_t rest[] = {0x3c00, 0xc000, 0x0001, 0x8400, 0x7c00, 0x7e00, 0x3f80, 0xc040};
    memcpy(data, &a, 4);
    memcpy(data + 4, rest, sizeof rest);
    CHECK_OK(safetensors_read(ctx, file, &s));
    float v[6];
    tensor_floats(safetensors_find(&s, S("a")), 0, 1, v);
    CHECK(v[0] == -2.5f);
    tensor_floats(safetensors_find(&s, S("b")), 0, 6, v);
    CHECK(v[0] == 1 && v[1] == -2 && v[2] == 0x1p-24f && v[3] == -0x1p-14f && isinf(v[4]) &&
          isnan(v[5]));
    tensor_floats(safetensors_find(&s, S("b")), 1, 1, v);
    CHECK(v[0] == -2);
    tensor_floats(safetensors_find(&s, S("c")), 0, 2, v);
    CHECK(v[0] == 1 && v[1] == -3);
    CHECK(safetensors_find(&s, S("d")) == NULL);
    safetensors_close(&s);
}

static const struct {
    const char *header;
    size_t data;
    const char *says;
} hostile[] = {
    {"[]", 0, "not a JSON object"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]", 4, ""},
    {"{\"a\":1}", 0, "unknown type"},
    {"{\"a\":{\"dtype\":\"F33\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "'F33'"},
    {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, "must have a shape"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", 4,
     "must have a shape"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4, "invalid shape"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1.5],\"data_offsets\":[0,4]}}", 4, "invalid shape"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[\"1\"],\"data_offsets\":[0,4]}}", 4, "invalid shape"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[281474976710655,281474976710655],"
     "\"data_offsets\":[0,4]}}",
     4, "invalid shape"},
    {"{\"a\":{\"dtype\":\"F64\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}", 0,
     "invalid shape"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 4, "outside the file"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,4]}}", 16, "outside the file"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[-4,0]}}", 4, "outside the file"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, "outside the file"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,99999999999999999999]}}", 4,
     "outside the file"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, "not match its shape"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}",
     12, "overlaps"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8, "a gap"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 8, "belong to no tensor"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
     "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
     8, "is listed twice"},
};

TEST(a_hostile_header_is_refused)
{
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct safetensors s;
        ctx_clear_failure(ctx);
        str file = safetensors_with(ctx, hostile[i].header, hostile[i].data);
        CHECK_STATUS(safetensors_read(ctx, file, &s), BAD_INPUT);
        if (!holds(str_of(ctx->why), hostile[i].says))
            fail_msg("%s: %s", hostile[i].header, ctx->why);
    }
}

TEST(a_length_that_cannot_be_is_refused)
{
    struct safetensors s;
    char file[16] = {0};
    CHECK_STATUS(safetensors_read(ctx, (str){file, 7}, &s), BAD_INPUT);
    ctx_clear_failure(ctx);
    file[0] = 9;
    CHECK_STATUS(safetensors_read(ctx, (str){file, 16}, &s), BAD_INPUT);
    CHECK(holds(str_of(ctx->why), "ends inside its header"));
    ctx_clear_failure(ctx);
    memset(file, 0xff, 8);
    CHECK_STATUS(safetensors_read(ctx, (str){file, 16}, &s), BAD_INPUT);
    CHECK(holds(str_of(ctx->why), "the limit is"));
}

TEST(what_becomes_of_an_opened_file_changes_nothing)
{
    enum { MANY = 100000 };
    struct safetensors s;
    static float v[MANY];
    float first, last;
    for (size_t i = 0; i < MANY; i++)
        v[i] = (float)i;
    struct floats parts[] = {{"a", MANY, 1, v}, {"b", MANY, 1, v}, {"c", MANY, 1, v}};
    str folder = folder_new(ctx);
    file_write(ctx, folder, "model", safetensors_of(ctx, parts, 3));
    CHECK_OK(safetensors_open(ctx, str_printf(&ctx->arena, S_FMT "/model", S_ARG(folder)).p, &s));
    file_write(ctx, folder, "model", S("short"));
    const struct tensor *b = safetensors_find(&s, S("b"));
    safetensors_keep(&s, b);
    tensor_floats(b, 0, 1, &first);
    tensor_floats(b, MANY - 1, 1, &last);
    CHECK(first == 0 && last == MANY - 1);
    safetensors_close(&s);
}

TEST(a_file_is_opened_or_said_why_not)
{
    struct safetensors s;
    str folder = folder_new(ctx);
    const float v[] = {1, 2, 3, 4};
    file_write(ctx, folder, "good", safetensors_of(ctx, &(struct floats){"x", 2, 2, v}, 1));
    file_write(ctx, folder, "empty", S(""));
    CHECK_OK(safetensors_open(ctx, str_printf(&ctx->arena, S_FMT "/good", S_ARG(folder)).p, &s));
    CHECK_INT(safetensors_find(&s, S("x"))->dims[1], 2);
    safetensors_close(&s);
    CHECK_STATUS(safetensors_open(ctx, str_printf(&ctx->arena, S_FMT "/none", S_ARG(folder)).p, &s),
                 NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_STATUS(safetensors_open(ctx, str_printf(&ctx->arena, S_FMT "/empty", S_ARG(folder)).p,
                                  &s),
                 STORAGE);
    ctx_clear_failure(ctx);
    CHECK_STATUS(safetensors_open(ctx, folder.p, &s), STORAGE);
}
