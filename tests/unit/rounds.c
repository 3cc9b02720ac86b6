/* rounds.c - what a client sees of a stream does not depend on how it was cut. */
#include "http/server/filter.h"
#include "surface/proxy/tool_loop.h"

#include "t.h"

#define CHUNK(ID, DELTA, END)                                                                      \
    "data: {\"id\":\"" ID "\",\"choices\":[{\"index\":0,\"delta\":{" DELTA                         \
    "},\"finish_reason\":" END "}]}\n\n"
#define CALL(INDEX, NAME)                                                                          \
    "{\"index\":" INDEX ",\"id\":\"c" INDEX                                                        \
    "\",\"type\":\"function\",\"function\":{\"name\":\"" NAME "\",\"arguments\":\"\"}}"
#define MORE(INDEX) "\"tool_calls\":[{\"index\":" INDEX ",\"function\":{\"arguments\":\"{}\"}}]"
#define DONE "data: [DONE]\n\n"

/* What is shown of the bytes, given in pieces that end at these places. */
static str shown(struct ctx *ctx, str bytes, size_t first, size_t second, bool *again)
{
    struct json *root;
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    str body = S("{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}"), rest = S("");
    CHECK_OK(json_parse(ctx, body, &root));
    struct model_request ask = {.root = root,
                                .messages = json_get(root, "messages"),
                                .in.mode = MODE_OFF,
                                .body = {.arena = &ctx->arena, .body = body}};
    CHECK(tool_loop_offer(ctx, &ask.body, root));
    ask.turn = engine_begin_turn(ctx, NULL, &ask.in);
    struct relay r = {.code = 200, .type = S("text/event-stream")};
    tool_loop_add(ctx, &r, &ask, 1);
    const size_t ends[] = {first, second, bytes.n};
    for (size_t i = 0, at = 0; i < 3; at = ends[i++])
        if (ends[i] > at)
            buf_add(&b, filters_pass(r.filters, &r, str_sub(bytes, at, ends[i])));
    *again = filter_end(r.filters, &r, &rest);
    buf_add(&b, rest);
    filters_done(ctx, NULL, &r, OK);
    return buf_str(&b);
}

static void check(struct ctx *ctx, str bytes, str wanted, bool wants_again)
{
    bool again;
    CHECK_STR(shown(ctx, bytes, 0, 0, &again), wanted);
    for (size_t i = 1; i <= bytes.n; i++) {
        CHECK_STR(shown(ctx, bytes, i, i + 1 < bytes.n ? i + 1 : i, &again), wanted);
        CHECK(again == wants_again);
    }
}

TEST(a_stream_without_calls_passes_as_it_came)
{
    const char *const streams[] = {
        CHUNK("a", "\"role\":\"assistant\",\"content\":\"\"", "null")
            CHUNK("a", "\"content\":\"hi\"", "null") CHUNK("a", "", "\"stop\"") DONE,
        ": ping\r\n\r\ndata: {broken\r\rdata: [1]\r\n\r\n\n\ndata: left over",
        "data: {\"choices\":[{\"delta\":null}]}\n\ndata: {\"choices\":[]}\n\ndata: 7\n\n",
        "data: {\"error\":{\"message\":\"x\"}}\n\n",
    };
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
        check(ctx, str_of(streams[i]), str_of(streams[i]), false);
}

TEST(calls_of_ours_are_never_shown)
{
    check(ctx,
          S(CHUNK("a",
                  "\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" CALL(
                      "0", "search_memory") "]",
                  "null") CHUNK("a", MORE("0"), "null")
                CHUNK("a", "",
                      "\"tool_calls\"") "data: "
                                        "{\"choices\":[],\"usage\":{\"total_tokens\":1}}\n\n" DONE),
          S(""), true);
    check(ctx,
          S(CHUNK("a", "\"role\":\"assistant\",\"content\":\"hm\"", "null")
                CHUNK("a", "\"tool_calls\":[" CALL("0", "search_memory") "]", "null")
                    CHUNK("a", "\"content\":\" so\"", "\"stop\"") DONE),
          S(CHUNK("a", "\"role\":\"assistant\",\"content\":\"hm\"", "null")
                CHUNK("a", "\"content\":\" so\"", "null")),
          true);
    check(ctx, S(CHUNK("a", "\"tool_calls\":[" CALL("0", "search_memory") "]", "null")), S(""),
          true);
}

TEST(calls_of_the_client_are_counted_without_ours)
{
    check(ctx,
          S(CHUNK("a", "\"role\":\"assistant\",\"tool_calls\":[" CALL("0", "search_memory") "]",
                  "null") CHUNK("a", MORE("0"), "null")
                CHUNK("a", "\"tool_calls\":[" CALL("1", "look") "]", "null")
                    CHUNK("a", MORE("1"), "null") CHUNK("a", "", "\"tool_calls\"") DONE),
          S(CHUNK("a",
                  "\"role\":\"assistant\",\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":"
                  "\"function\","
                  "\"function\":{\"name\":\"look\",\"arguments\":\"\"}}]",
                  "null") CHUNK("a", MORE("0"), "null") CHUNK("a", "", "\"tool_calls\"") DONE),
          false);
    check(ctx,
          S(CHUNK("a", "\"tool_calls\":[" CALL("0", "look") "," CALL("1", "search_memory") "]",
                  "null") CHUNK("a", "", "\"tool_calls\"")),
          S(CHUNK("a", "\"tool_calls\":[" CALL("0", "look") "]", "null")
                CHUNK("a", "", "\"tool_calls\"")),
          false);
}

TEST(what_was_cut_short_is_not_run)
{
    check(ctx,
          S(CHUNK("a", "\"tool_calls\":[" CALL("0", "search_memory") "]", "null")
                CHUNK("a", "", "\"length\"") DONE),
          S(CHUNK("a", "", "\"length\"") DONE), false);
}

TEST(the_tool_is_put_where_tools_are)
{
    static const char *const bodies[][2] = {
        {"{\"messages\":[1]}", "{\"tools\":[T],\"messages\":[1]}"},
        {"{ \"tools\" : [ {\"a\":1.0} ] }", "{ \"tools\" : [ {\"a\":1.0} ,T] }"},
        {"{\"tools\":[]}", "{\"tools\":[T]}"},
        {"{\"tools\":null}", "{\"tools\":[T]}"},
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct json *root;
        str body = str_of(bodies[i][0]), want = str_of(bodies[i][1]);
        CHECK_OK(json_parse(ctx, body, &root));
        struct splice s = {.arena = &ctx->arena, .body = body};
        CHECK(tool_loop_offer(ctx, &s, root));
        str got = splice_done(&s), tail = want;
        str before = str_cut(&tail, 'T');
        CHECK(str_starts(got, before) && str_ends(got, tail));
        CHECK_OK(json_parse(ctx, got, &root));
        CHECK(str_find(got, S("\"name\":\"search_memory\"")) < got.n);
    }
}

TEST(where_it_does_not_fit_nothing_is_changed)
{
    static const char *const bodies[] = {
        "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"search_memory\"}}]}",
        "{\"n\":2}",
        "{\"functions\":[]}",
        "{\"tools\":{}}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct json *root;
        CHECK_OK(json_parse(ctx, str_of(bodies[i]), &root));
        struct splice s = {.arena = &ctx->arena, .body = str_of(bodies[i])};
        CHECK(!tool_loop_offer(ctx, &s, root) && !s.n);
    }
}
