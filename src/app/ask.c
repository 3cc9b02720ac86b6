/* ask.c - asks at a terminal before everything of a space or a user is erased. */
#include "app/ask.h"

#include <unistd.h>

#include "app/print.h"

/* The question is on standard error, since standard output is for results. */
enum status ask_is_possible(struct ctx *ctx, const struct options *o)
{
    if (o->yes || (isatty(STDIN_FILENO) && isatty(STDERR_FILENO)))
        return OK;
    return fail(ctx, BAD_INPUT,
                "would erase everything, and without a terminal nobody can be asked; nothing was "
                "erased. Add --yes to erase without a question");
}

enum status erasure_add(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                        struct erasure *sum)
{
    const struct memory_filter f = {.pool = pool, .with_closed = true, .limit = 1};
    struct pool_info *spaces;
    struct memory *one;
    size_t n, n_listed;
    int64_t memories;
    TRY(engine_spaces(ctx, e, pool.user, &spaces, &n));
    TRY(engine_list(ctx, e, &f, &one, &n_listed, &memories));
    sum->memories += memories;
    for (size_t i = 0; i < n; i++) {
        if (pool.space.n && !str_eq(pool.space, spaces[i].pool.space))
            continue;
        sum->messages += spaces[i].messages;
        sum->sessions += spaces[i].sessions;
    }
    return OK;
}

enum status ask_to_erase(struct ctx *ctx, str what, const struct erasure *sum)
{
    struct arena *a = &ctx->arena;
    char line[16];
    fprintf(stderr,
            "This erases " S_FMT ", for good: " S_FMT ", and " S_FMT " in " S_FMT ". Type yes: ",
            S_ARG(what), S_ARG(counted(a, sum->memories, "memory", "memories")),
            S_ARG(counted(a, sum->messages, "message", "messages")),
            S_ARG(counted(a, sum->sessions, "conversation", "conversations")));
    if (fgets(line, sizeof line, stdin) && str_is(str_trim(str_of(line)), "yes"))
        return OK;
    return fail(ctx, BAD_INPUT, "nothing was erased");
}
