/* sse.c - any bytes: the events are the same in one piece and cut at any place. */
#include <assert.h>

#include "base/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void got(void *arg, str event, str data)
{
    struct buf *b = arg;
    buf_printf(b, "%zu:", event.n);
    buf_add(b, event);
    buf_printf(b, "%zu:", data.n);
    buf_add(b, data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct buf whole = buf_make(&a, 1 << 24), cut = buf_make(&a, 1 << 24);
    str bytes = {(const char *)data, size};
    struct sse s = sse_reader(512), t = sse_reader(512);
    sse_feed(&s, bytes, got, &whole);
    size_t step = size ? 1 + data[0] % 7 : 1;
    for (size_t i = 0; i < size; i += step)
        sse_feed(&t, str_sub(bytes, i, i + step < size ? i + step : size), got, &cut);
    assert(str_eq(buf_str(&whole), buf_str(&cut)));
    assert(s.dropped == t.dropped);
    sse_free(&s);
    sse_free(&t);
    arena_free(&a);
    return 0;
}
