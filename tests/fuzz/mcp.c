/* mcp.c - any bytes as a message, and as a tool's arguments: one line of JSON, or rightly nothing.
 */
#include <assert.h>
#include <sodium.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/store.h"
#include "surface/mcp/jsonrpc.h"
#include "surface/surface.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct app app;
static struct settings settings;
static const struct pool_ref mine = {{"fuzz", 4}, {"mine", 4}};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    static char folder[] = "/tmp/rememberd-fuzz-XXXXXX";
    static struct engine *engine;
    struct store *store;
    struct ctx ctx = {0};
    if (sodium_init() < 0 || !mkdtemp(folder))
        abort();
    log_setup(LOG_ERROR, false);
    settings_defaults(&settings);
    struct store_settings where = {.path = str_printf(&ctx.arena, "%s/fuzz.db", folder)};
    enum status s = store_open(&ctx, &where, &store);
    assert(s == OK);
    s = engine_open(&ctx, store, &settings, &engine);
    assert(s == OK);
    app = (struct app){.settings = &settings,
                       .engine = engine,
                       .surfaces = surfaces,
                       .started_us = clock_mono_us()};
    ctx_free(&ctx);
    return 0;
}

/* What is said back: an object on one line with a result or an error, and the id that was sent. */
static void check_answer(struct ctx *ctx, str line, const struct buf *out)
{
    struct rpc sent;
    struct json *v;
    enum status read = rpc_read(ctx, line, &sent);
    assert(read == OK || sent.error == RPC_PARSE || sent.error == RPC_INVALID ||
           sent.error == RPC_PARAMS);
    ctx_clear_failure(ctx);
    assert(!out->full && !memchr(out->p ? out->p : "", '\n', out->n));
    if (!out->n) {
        assert(sent.kind != RPC_REQUEST && (sent.method.n || sent.kind == RPC_RESPONSE));
        return;
    }
    enum status s = json_parse(ctx, buf_str(out), &v);
    assert(s == OK && str_is(json_string(json_get(v, "jsonrpc")), "2.0"));
    assert(!json_get(v, "result") != !json_get(v, "error"));
    assert(read == OK || json_int_or(json_at(v, "error.code"), 0) == sent.error);
    const struct json *id = json_get(v, "id");
    assert(sent.id.n ? id && str_eq(id->source, sent.id) : !id);
}

static void say(str line)
{
    struct ctx ctx = {0};
    struct buf out = buf_make(&ctx.arena, 64 << 20);
    surface_mcp_line(&ctx, &app, mine, S("all"), line, &out);
    check_answer(&ctx, line, &out);
    ctx_free(&ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Those that write wait for the disk and come by the input as a message only. */
    static const char *const names[] = {"memory_search", "memory_context", "memory_get",
                                        "memory_update", "omniroute_memory_search"};
    struct arena a = {0};
    str input = str_dup(&a, (str){(const char *)data, size});
    say(input);
    if (size) {
        const char *name = names[data[0] % (sizeof names / sizeof *names)];
        struct buf b = buf_make(&a, 1 << 20);
        buf_printf(&b, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{");
        buf_printf(&b, "\"name\":\"%s\",\"arguments\":", name);
        buf_add(&b, str_sub(input, 1, input.n));
        buf_add(&b, S("}}"));
        say(buf_str(&b));
    }
    arena_free(&a);
    return 0;
}
