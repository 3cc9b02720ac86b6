/* events.c - who hears what, in which order, and what is said when too much has happened. */
#include "engine/events/feed.h"
#include "lib/engine.h"

static struct listener *listen_as(struct ctx *ctx, struct engine *e, const struct listen_in *in)
{
    struct listener *l;
    CHECK_OK(engine_listen(ctx, e, in, &l));
    return l;
}

static struct listen_in whole_user(const char *user)
{
    return (struct listen_in){.pool.user = str_of(user), .owner = str_of(user), .has_token = true};
}

static void tell(struct engine *e, enum event_kind kind, const char *user, const char *space,
                 str id)
{
    const struct event v = {.kind = kind, .pool = {str_of(user), str_of(space)}, .id = id};
    feed_tell(e->feed, &v);
}

/* The ids of what it hears, a reset as "!". */
static str heard(struct ctx *ctx, struct listener *l)
{
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    struct event_heard h;
    CHECK(engine_has_heard(l) == engine_has_heard(l)); /* asking takes nothing away */
    bool is_any = engine_has_heard(l);
    while (engine_hear(l, &ctx->arena, &h)) {
        CHECK(is_any);
        buf_add(&b, h.kind == EVENT_RESET ? S("!") : h.what);
    }
    CHECK(!engine_has_heard(l));
    return buf_str(&b);
}

TEST(a_listener_hears_its_user_in_order_and_nobody_else)
{
    ENGINE(e, s, p);
    struct listen_in ann = whole_user("ann"), red = whole_user("ann"), local = whole_user("local");
    str hidden = S("secret");
    ann.hidden = (struct strs){&hidden, 1};
    red.pool.space = S("red");
    local.is_operator = true;
    struct listener *a = listen_as(ctx, e, &ann), *r = listen_as(ctx, e, &red),
                    *o = listen_as(ctx, e, &local);
    tell(e, EVENT_MEMORY_ADDED, "ann", "red", S("1"));
    tell(e, EVENT_MEMORY_ADDED, "bob", "red", S("2"));
    tell(e, EVENT_MEMORY_ADDED, "ann", "secret", S("3"));
    tell(e, EVENT_MEMORY_ADDED, "ann", "blue", S("4"));
    tell(e, EVENT_MEMORY_ADDED, "ann/eve", "red", S("5"));
    tell(e, EVENT_SETTINGS_CHANGED, "", "", S("6"));
    tell(e, EVENT_JOB_CHANGED, "", "", S("7"));
    CHECK_STR(heard(ctx, a), S("14"));
    CHECK_STR(heard(ctx, r), S("1"));
    CHECK_STR(heard(ctx, o), S("67"));
    tell(e, EVENT_RESET, "", "", S(""));
    tell(e, EVENT_RESET, "ann", "", S(""));
    CHECK_STR(heard(ctx, a), S("!!"));
    CHECK_STR(heard(ctx, o), S("!"));
    engine_stop_listening(a);
    engine_stop_listening(r);
    engine_stop_listening(o);
}

TEST(one_that_is_too_far_behind_hears_a_reset_and_goes_on_from_there)
{
    ENGINE(e, s, p);
    struct listen_in ann = whole_user("ann");
    struct listener *l = listen_as(ctx, e, &ann), *again;
    for (int i = 0; i < EVENTS_KEPT; i++)
        tell(e, EVENT_MEMORY_ADDED, "ann", "red", S("x"));
    CHECK_INT(heard(ctx, l).n, EVENTS_KEPT); /* the ring holds just these */
    for (int i = 0; i < EVENTS_KEPT + 1; i++)
        tell(e, EVENT_MEMORY_ADDED, i ? "bob" : "ann", "red", S("x"));
    CHECK_STR(heard(ctx, l), S("!"));
    ann.after = engine_heard_so_far(l, &ctx->arena);
    tell(e, EVENT_MEMORY_ADDED, "ann", "red", S("y"));
    CHECK_STR(heard(ctx, l), S("y"));
    again = listen_as(ctx, e, &ann); /* comes again with the id of the reset */
    CHECK_STR(heard(ctx, again), S("y"));
    engine_stop_listening(again);
    ann.after = S("ffffffff-1");
    again = listen_as(ctx, e, &ann);
    CHECK_STR(heard(ctx, again), S("!"));
    engine_stop_listening(again);
    engine_stop_listening(l);
}

TEST(listeners_are_few_and_end_with_a_token)
{
    ENGINE(e, s, p);
    struct listen_in ann = whole_user("ann"), eve = whole_user("ann/eve"), open = whole_user("x");
    struct listener *v[LISTENERS_OF_USER], *other;
    eve.owner = S("ann");
    open.has_token = false;
    for (int i = 0; i < LISTENERS_OF_USER; i++)
        v[i] = listen_as(ctx, e, &ann);
    CHECK_INT(engine_listen(ctx, e, &ann, &other), TOO_BUSY);
    ctx_clear_failure(ctx);
    struct listener *behind = listen_as(ctx, e, &eve), *local = listen_as(ctx, e, &open);
    tell(e, EVENT_ACCESS, "bob", "", S(""));
    CHECK(engine_may_listen(v[0]) && engine_may_listen(behind) && !engine_may_listen(local));
    tell(e, EVENT_ACCESS, "ann", "", S(""));
    CHECK(!engine_may_listen(v[0]) && !engine_may_listen(behind));
    CHECK(engine_has_heard(v[0])); /* that it has ended */
    for (int i = 0; i < LISTENERS_OF_USER; i++)
        engine_stop_listening(v[i]);
    engine_stop_listening(behind);
    engine_stop_listening(local);
    ann.until = 1;
    v[0] = listen_as(ctx, e, &ann);
    CHECK(!engine_may_listen(v[0]));
    engine_stop_listening(v[0]);
}
