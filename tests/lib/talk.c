/* talk.c - a conversation over an engine, as a client leads it. */
#include "lib/talk.h"

struct talk talk_of(struct ctx *ctx, struct engine *e, struct store *s)
{
    return (struct talk){.ctx = ctx, .e = e, .s = s};
}

void talk_say(struct talk *t, const char *role, const char *text)
{
    CHECK(t->n < sizeof t->said / sizeof *t->said);
    t->said[t->n++] = (struct said){.role = str_of(role), .text = str_of(text)};
}

void talk_begin(struct talk *t)
{
    const struct turn_in in = {.pool = mine,
                               .session = str_of(t->session ? t->session : ""),
                               .said = t->said,
                               .n_said = t->n,
                               .mode = t->mode};
    t->turn = engine_begin_turn(t->ctx, t->e, &in);
}

void talk_end(struct talk *t, const char *answer)
{
    struct ctx *ctx = t->ctx;
    CHECK_OK(engine_end_turn(ctx, t->e, t->turn, str_of(answer)));
    CHECK_OK(store_flush(ctx, t->s));
}

str talk_ask(struct talk *t, const char *text, const char *answer)
{
    talk_say(t, "user", text);
    talk_begin(t);
    str block = turn_out_of(t->turn)->block;
    talk_end(t, answer);
    if (*answer)
        talk_say(t, "assistant", answer);
    return block;
}
