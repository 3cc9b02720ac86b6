/* detach.c - a session is forgotten, and what was learnt in it stays: without the session's words.
 */

#include "lib/store.h"
#include "store/store.h"

enum { FLOATS = 16 };
static const struct vector_set vectors = {.signature = {"test:a:16", 9}, .dimensions = FLOATS};

/*
 * A session whose messages say a word each that stands nowhere else, a fact from one of them, an
 * episode of the whole, and a receipt of another session that shows one. What waits gets a vector.
 */
static void talk(struct ctx *ctx, struct store *s, struct pool_ref pool, const char *name)
{
    struct message m[4];
    for (int i = 0; i < 4; i++) {
        str text = str_printf(&ctx->arena, "We %squetzal%d sail to Ithaca", name, i);
        m[i] = said(str_printf(&ctx->arena, "%s-%d", name, i).p, i % 2 ? "assistant" : "user",
                    text.p, 1683553000000 + i);
        m[i].chain = 100 + (uint64_t)i;
    }
    struct memory v[2] = {fact(str_printf(&ctx->arena, "%s-f", name).p, "k", "sails to Ithaca"),
                          fact(str_printf(&ctx->arena, "%s-e", name).p, "", "They talked of it")};
    v[0].source = m[0].id;
    v[0].expires = 1900000000000;
    v[1].layer = LAYER_EPISODE;
    v[1].origin = ORIGIN_DISTILLED;
    for (int i = 0; i < 2; i++)
        v[i].session = str_of(name);
    struct receipt_line line = {.kind = S("message"), .id = m[1].id};
    struct receipt r = {.id = str_printf(&ctx->arena, "%s-r", name),
                        .session = S("elsewhere"),
                        .block = m[1].text,
                        .lines = &line,
                        .n = 1};
    struct bundle b = {.pool = pool,
                       .session = {.id = str_of(name),
                                   .title = str_printf(&ctx->arena, "Title %sxylophone", name)},
                       .messages = m,
                       .n_messages = 4,
                       .memories = v,
                       .n_memories = 2,
                       .receipt = &r,
                       .distil_at = 1};
    CHECK_OK(store_write(ctx, s, &b));
}

/* Each gets its own, by its number. */
static void embed_all(struct ctx *ctx, struct store *s)
{
    struct unembedded *u;
    size_t n;
    CHECK_OK(store_unembedded(ctx, s, NULL, 100, &u, &n));
    struct vector_put *put = NEW_N(&ctx->arena, struct vector_put, n);
    for (size_t i = 0; i < n; i++)
        put[i] = (struct vector_put){.no = u[i].no,
                                     .doc = u[i].doc,
                                     .v = direction(ctx, (uint64_t)u[i].doc, FLOATS)};
    CHECK_OK(store_put_vectors(ctx, s, vectors.signature, put, n));
}

static int64_t forget(struct ctx *ctx, struct store *s, struct pool_ref pool, const char *session)
{
    int64_t erased;
    struct forget what = {.pool = pool, .session = str_of(session), .keeps_memories = true};
    CHECK_OK(store_forget(ctx, s, &what, &erased));
    return erased;
}

TEST(what_was_learnt_stays_as_it_is)
{
    PLACE(p);
    STORE(s, p);
    struct memory before, after;
    struct session session;
    struct vector_stats stats;
    CHECK_OK(store_begin_vectors(ctx, s, &vectors, false));
    talk(ctx, s, mine, "s1");
    talk(ctx, s, other_user, "s1");
    embed_all(ctx, s);
    CHECK_OK(store_memory(ctx, s, mine, S("s1-f"), &before));
    CHECK_STR(before.source, S("s1-0"));
    CHECK_INT(forget(ctx, s, mine, "s1"), 4);
    CHECK_OK(store_memory(ctx, s, mine, S("s1-f"), &after));
    CHECK_STR(after.source, S(""));
    CHECK_STR(after.session, S(""));
    CHECK_STR(after.content, before.content);
    CHECK(after.doc == before.doc && after.expires == before.expires);
    CHECK(after.updated == before.updated && !after.valid_to);
    CHECK_OK(store_memory(ctx, s, mine, S("s1-e"), &after));
    CHECK_STR(after.session, S(""));
    CHECK_OK(store_vector_stats(ctx, s, &mine, &stats));
    CHECK(stats.rows == 2 && stats.waiting == 0);
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 1);
    CHECK_STATUS(store_session(ctx, s, mine, S("s1"), &session), NOT_FOUND);
    struct pool_info *pools;
    size_t n;
    CHECK_OK(store_pools(ctx, s, mine.user, &pools, &n));
    CHECK(pools->sessions == 0 && pools->messages == 0 && pools->memories == 2);
    CHECK_INT(find(ctx, s, other_user, "ithaca").n, 5); /* untouched */
    check_healthy(ctx, s);
    /* A session that takes the id has nothing to do with it. */
    talk(ctx, s, mine, "s1");
    int64_t erased;
    struct forget all = {.pool = mine, .session = S("s1")};
    CHECK_OK(store_forget(ctx, s, &all, &erased));
    CHECK_OK(store_memory(ctx, s, mine, S("s1-f"), &after));
    check_healthy(ctx, s);
}

TEST(nothing_of_the_messages_is_left_in_the_files)
{
    PLACE(p);
    STORE(s, p);
    struct receipt r;
    struct signal_stats signals;
    CHECK_OK(store_begin_vectors(ctx, s, &vectors, false));
    talk(ctx, s, mine, "sa");
    talk(ctx, s, mine, "sb");
    /* Enough besides it for the index to merge its parts. */
    for (int i = 0; i < 100; i++) {
        struct message x = {.id = str_printf(&ctx->arena, "x%d", i),
                            .text = str_printf(&ctx->arena, "filling word%d", i)};
        CHECK_OK(say(ctx, s, mine, "s2", &x));
    }
    struct message *v;
    size_t n;
    CHECK_OK(store_session_messages(ctx, s, mine, S("sa"), 0, 9, &v, &n));
    CHECK_INT(n, 4);
    embed_all(ctx, s);
    CHECK(place_holds(ctx, &p, S("saquetzal0")) && place_holds(ctx, &p, S("saxylophone")));
    CHECK_INT(forget(ctx, s, mine, "sa"), 4);
    static const char *const traces[] = {"saquetzal", "saQuetzal", "aquetzal", "saxyloph"};
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++)
        CHECK(!place_holds(ctx, &p, str_of(traces[i])));
    for (size_t i = 0; i < n; i++) {
        const float *of = direction(ctx, (uint64_t)v[i].doc, FLOATS);
        CHECK(!place_holds(ctx, &p, (str){(const char *)of, 16}));
    }
    CHECK_STATUS(store_receipt(ctx, s, mine, S("sa-r"), &r), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_OK(store_receipt(ctx, s, mine, S("sb-r"), &r));
    CHECK_OK(store_signal_stats(ctx, s, &mine, &signals));
    CHECK_INT(signals.signals, 2); /* of the other one */
    CHECK(place_holds(ctx, &p, S("sbquetzal0")) && place_holds(ctx, &p, S("sbxylophone")));
    check_healthy(ctx, s);
}

TEST(only_a_session_is_forgotten_so)
{
    PLACE(p);
    STORE(s, p);
    int64_t erased;
    talk(ctx, s, mine, "s1");
    struct forget what = {.pool = mine, .id = S("s1"), .keeps_memories = true};
    CHECK_STATUS(store_forget(ctx, s, &what, &erased), BAD_INPUT);
    ctx_clear_failure(ctx);
    what = (struct forget){.pool = mine, .everything = true, .keeps_memories = true};
    CHECK_STATUS(store_forget(ctx, s, &what, &erased), BAD_INPUT);
    ctx_clear_failure(ctx);
    what = (struct forget){.pool = other_user, .session = S("s1"), .keeps_memories = true};
    CHECK_STATUS(store_forget(ctx, s, &what, &erased), NOT_FOUND);
    ctx_clear_failure(ctx);
    (void)forget(ctx, s, mine, "s1");
    what.pool = mine;
    CHECK_STATUS(store_forget(ctx, s, &what, &erased), NOT_FOUND);
}
