/* without_memory.c - an answer without memory says so where the client may expect memory. */
#include "surface/common/without_memory.h"

/* "off" is the word of X-Memory-Mode and of receipts: nothing is recalled or remembered. */
static const struct {
    const char *path; /* of the endpoint, for the log; NULL: any chat */
    const char *says; /* the header's value */
} kinds[WITHOUT_KINDS] = {
    [WITHOUT_AT_COMPLETIONS] = {"/v1/completions", "off; reason=endpoint"},
    [WITHOUT_AT_GENERATE] = {"/api/generate", "off; reason=endpoint"},
    [WITHOUT_FOR_ENCODING] = {NULL, "off; reason=encoding"},
    [WITHOUT_FOR_MESSAGES] = {NULL, "off; reason=messages"},
    [WITHOUT_FOR_SETTING] = {NULL, "off; reason=setting"},
    [WITHOUT_FOR_HELPER] = {NULL, "off; reason=helper"},
};

/* Once for each kind. A plain read first: writing for each request would make all threads wait for
 * one another. */
static void note_kind(struct app *app, enum without_memory kind)
{
    unsigned bit = 1u << kind;
    if (atomic_load(&app->without_memory) & bit || atomic_fetch_or(&app->without_memory, bit) & bit)
        return;
    log_event(LOG_INFO, "chat.without_memory", "memory=\"%s\" path=%s", kinds[kind].says,
              kinds[kind].path ? kinds[kind].path : "any");
}

void without_memory_note(struct app *app, enum without_memory kind, struct reply *out)
{
    assert(kind < WITHOUT_KINDS);
    if (kind == WITH_MEMORY)
        return;
    reply_header(out, "X-Memory", str_of(kinds[kind].says));
    note_kind(app, kind);
}

void without_memory_helper(struct app *app, struct ctx *ctx, const char *mode, str call,
                           struct reply *out)
{
    assert(call.n && str_find(call, S("\"")) == call.n);
    reply_header(out, "X-Memory",
                 str_printf(&ctx->arena, "%s; reason=helper; call=\"" S_FMT "\"", mode,
                            S_ARG(call)));
    note_kind(app, WITHOUT_FOR_HELPER);
}
