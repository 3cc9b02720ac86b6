/* sse.c - server-sent events, however the bytes are cut. */
#include "base/sse.h"

#include "t.h"

struct seen {
    struct arena *a;
    str text;
};

static void got(void *arg, str event, str data)
{
    struct seen *s = arg;
    s->text =
        str_printf(s->a, S_FMT "[" S_FMT "|" S_FMT "]", S_ARG(s->text), S_ARG(event), S_ARG(data));
}

TEST(events_are_the_same_however_the_bytes_are_cut)
{
    str bytes = S("\xEF\xBB\xBF: hi\ndata: a\r\n\r\nevent: x\rdata:b\rdata: c\r\rdata\n\nid: "
                  "1\n\ndata: [DONE]\n\n");
    for (size_t step = 1; step <= bytes.n; step++) {
        struct seen seen = {&ctx->arena, S("")};
        struct sse s = sse_reader(1000);
        for (size_t i = 0; i < bytes.n; i += step)
            sse_feed(&s, str_sub(bytes, i, i + step < bytes.n ? i + step : bytes.n), got, &seen);
        sse_free(&s);
        CHECK_STR(seen.text, S("[|a][x|b\nc][|][|[DONE]]"));
    }
}

TEST(an_event_over_the_limit_is_dropped_and_the_next_one_comes)
{
    struct seen seen = {&ctx->arena, S("")};
    struct sse s = sse_reader(16);
    sse_feed(&s, S("data: 0123456789012345678901234567890\n\ndata: ok\n\n"), got, &seen);
    CHECK_STR(seen.text, S("[|ok]"));
    CHECK_INT(s.dropped, 1);
    sse_free(&s);
}

TEST(what_is_written_reads_back)
{
    struct seen seen = {&ctx->arena, S("")};
    struct buf b = buf_make(&ctx->arena, 1000);
    sse_write(&b, S("e"), S("one\ntwo\n"));
    struct sse s = sse_reader(1000);
    sse_feed(&s, buf_str(&b), got, &seen);
    CHECK_STR(seen.text, S("[e|one\ntwo\n]"));
    sse_free(&s);
}
