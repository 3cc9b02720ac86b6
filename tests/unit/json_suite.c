/* json_suite.c - the JSONTestSuite files, where they are beside the repository (../shared/data). */
#include <dirent.h>

#include "base/json.h"
#include "t.h"

static const char *missing(void)
{
    struct ctx ctx = {0};
    bool is_there = shared_file(&ctx, "data/JSONTestSuite/test_parsing") != NULL;
    ctx_free(&ctx);
    return is_there ? NULL : "JSONTestSuite is not beside the repository (../shared/data)";
}

static str read_file(struct ctx *ctx, const char *folder, const char *name)
{
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    char piece[4096];
    size_t n;
    FILE *f = fopen(str_printf(&ctx->arena, "%s/%s", folder, name).p, "re");
    CHECK(f != NULL);
    while ((n = fread(piece, 1, sizeof piece, f)) > 0)
        buf_add(&b, (str){piece, n});
    fclose(f);
    return buf_str(&b);
}

/* y_ must be read, n_ must be refused, i_ must not crash. */
TEST_NEEDS(what_must_be_read_is_read_and_the_rest_is_refused, missing)
{
    const char *folder = shared_file(ctx, "data/JSONTestSuite/test_parsing");
    size_t n = 0;
    DIR *d = opendir(folder);
    CHECK(d != NULL);
    for (struct dirent *e; (e = readdir(d));) {
        struct json *v;
        if (!str_ends(str_of(e->d_name), S(".json")))
            continue;
        ctx_clear_failure(ctx);
        enum status s = json_parse(ctx, read_file(ctx, folder, e->d_name), &v);
        if ((e->d_name[0] == 'y' && s != OK) || (e->d_name[0] == 'n' && s != BAD_INPUT))
            fail_msg("%s: %s %s", e->d_name, status_name(s), ctx->why);
        n++;
    }
    closedir(d);
    CHECK(n > 300);
}
