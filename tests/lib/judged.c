/* judged.c - texts of tests/judge, each with what it is, and how many a judge takes for what. */
#include "lib/judged.h"

#include <stdio.h>

const struct json *judged_file(struct ctx *ctx, const char *name)
{
    struct json *all;
    enum { FILE_MAX = 2 << 20 };
    FILE *f = fopen(str_printf(&ctx->arena, SOURCE_ROOT "/tests/judge/%s", name).p, "re");
    CHECK(f);
    char *bytes = arena_alloc(&ctx->arena, FILE_MAX);
    size_t n = fread(bytes, 1, FILE_MAX, f);
    fclose(f);
    CHECK(n < FILE_MAX);
    CHECK_OK(json_parse(ctx, (str){bytes, n}, &all));
    return all;
}

struct judged judged_count(const struct json *list, const char *is, int writer,
                           int (*judge)(void *own, str text), void *own)
{
    struct judged c = {0};
    for (const struct json *j = list->first; j; j = j->next) {
        if (!str_is(json_string(json_get(j, "is")), is) ||
            (writer != ANY_WRITER && json_int_or(json_get(j, "writer"), ANY_WRITER) != writer))
            continue;
        int verdict = judge(own, json_string(json_get(j, "ask")));
        CHECK(verdict >= 0 && verdict < VERDICTS);
        c.verdicts[verdict]++;
        c.of++;
    }
    printf("%s: of %d", is, c.of);
    for (int v = 0; v < VERDICTS; v++)
        printf(" %d", c.verdicts[v]);
    printf("\n");
    return c;
}
