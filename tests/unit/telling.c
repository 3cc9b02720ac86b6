/* telling.c - how many questions and requests that tell something of their person are kept as
 * telling it, in the words of a writer who is not in the fit. */
#include "engine/text/utterance.h"
#include "lib/judged.h"

static int judge(void *own, str text)
{
    return utterance_statements(own, text, true).n > 0;
}

/* Floors. The others ask about the same topics and tell nothing, or ask for what was told: "What
 * is my dog called?" */
TEST(what_is_told_in_passing_is_kept)
{
    const struct json *list = judged_file(ctx, "tell-kept.json");
    struct judged tells = judged_count(list, "tells", ANY_WRITER, judge, &ctx->arena);
    struct judged asks = judged_count(list, "asks", ANY_WRITER, judge, &ctx->arena);
    CHECK(tells.of == 165 && tells.verdicts[true] >= 122);
    CHECK(asks.of == 165 && asks.verdicts[true] <= 21);
}
