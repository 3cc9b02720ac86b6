/* engine.c - an engine over a fresh store. */
#include "lib/engine.h"

void engine_closep(struct engine **e)
{
    engine_close(*e);
}

struct settings settings_for_test(void)
{
    struct settings s = {0};
    settings_defaults(&s);
    s.recall_deadline_ms = 5000;
    return s;
}

void change_runtime_settings(struct ctx *ctx, struct engine *e, const char *members)
{
    struct json *object;
    CHECK_OK(json_parse(ctx, str_of(members), &object));
    CHECK_OK(engine_change_settings(ctx, e, object, NULL_EMPTIES));
}

struct recall_out recall_question(struct ctx *ctx, struct engine *e, const char *question,
                                  struct recall_in in)
{
    struct recall_out out;
    in.question = str_of(question);
    if (!in.pool.user.n)
        in.pool = mine;
    CHECK_OK(engine_recall(ctx, e, &in, &out));
    return out;
}
