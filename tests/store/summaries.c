/* summaries.c - what is forgotten goes from the summaries of it, and nothing else gets lost by it.
 */
#include "lib/store.h"
#include "store/store.h"

static struct memory *kept(struct ctx *ctx, struct store *s, const char *id, const char *key,
                           const char *content)
{
    struct memory *m = NEW(&ctx->arena, struct memory);
    *m = fact(id, key, content);
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, m));
    return m;
}

/* Condenses two memories; the id of the summary. */
static str condensed(struct ctx *ctx, struct store *s, const char *content, str one, str two)
{
    struct memory m = {.content = str_of(content), .importance = 0.5};
    const str ids[] = {one, two};
    CHECK_OK(condense_to(ctx, s, mine, &m, ids, 2));
    return m.id;
}

static int64_t forgotten(struct ctx *ctx, struct store *s, struct forget what)
{
    int64_t erased;
    what.pool = mine;
    CHECK_OK(store_forget(ctx, s, &what, &erased));
    return erased;
}

static bool is_there(struct ctx *ctx, struct store *s, str id)
{
    struct memory m;
    enum status status = store_memory(ctx, s, mine, id, &m);
    ctx_clear_failure(ctx);
    return status == OK;
}

static struct memory got(struct ctx *ctx, struct store *s, const char *id)
{
    struct memory m;
    CHECK_OK(store_memory(ctx, s, mine, str_of(id), &m));
    return m;
}

TEST(a_summary_goes_with_what_it_tells_and_its_others_are_true_again)
{
    PLACE(p);
    STORE(s, p);
    struct vector_set set = {.signature = S("static:x:4"), .dimensions = 4};
    struct vector_stats waiting;
    struct sync_item *queue;
    int64_t all;
    size_t n;
    CHECK_OK(store_begin_vectors(ctx, s, &set, false));
    kept(ctx, s, "f1", "", "owes a pineapple");
    kept(ctx, s, "f2", "fruit", "likes cherries");
    str sum = condensed(ctx, s, "pineapple and cherries", S("f1"), S("f2"));
    CHECK_INT(find(ctx, s, mine, "pineapple cherries").n, 1);
    CHECK_OK(store_sync(ctx, s, true));
    CHECK_INT(forgotten(ctx, s, (struct forget){.id = S("f1")}), 2);
    CHECK(!is_there(ctx, s, sum));
    CHECK_INT(find(ctx, s, mine, "pineapple").n, 0);
    CHECK_INT(find(ctx, s, mine, "cherries").n, 1);
    CHECK_INT(find(ctx, s, mine, "cherries").memories, 1);
    struct memory back = got(ctx, s, "f2");
    CHECK_INT(back.valid_to, 0);
    CHECK_STR(back.superseded_by, S(""));
    CHECK_OK(store_vector_stats(ctx, s, &mine, &waiting));
    CHECK_INT(waiting.waiting, 1);
    CHECK_OK(store_sync_waiting(ctx, s, 10, &queue, &n, &all));
    CHECK_INT(all, 2);
    CHECK_STR(queue[0].id, sum);
    CHECK(!queue[0].exists);
    CHECK_STR(queue[1].id, S("f2"));
    CHECK(queue[1].exists);
    check_healthy(ctx, s);
}

TEST(whoever_has_the_key_by_now_keeps_it)
{
    PLACE(p);
    STORE(s, p);
    kept(ctx, s, "f1", "", "owes a pineapple");
    kept(ctx, s, "f2", "fruit", "likes cherries");
    condensed(ctx, s, "pineapple and cherries", S("f1"), S("f2"));
    kept(ctx, s, "f3", "fruit", "likes plums");
    forgotten(ctx, s, (struct forget){.id = S("f1")});
    CHECK_STR(got(ctx, s, "f2").superseded_by, S("f3"));
    CHECK(got(ctx, s, "f2").valid_to != 0);
    CHECK_INT(find(ctx, s, mine, "cherries").n, 0);
    CHECK_INT(find(ctx, s, mine, "plums").n, 1);
    check_healthy(ctx, s);
}

TEST(a_summary_goes_with_the_message_that_it_came_from)
{
    PLACE(p);
    STORE(s, p);
    struct message m = said("m1", "user", "I owe Carla a pineapple", 1);
    struct memory from = fact("f1", "", "owes a pineapple");
    from.source = S("m1");
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &from));
    kept(ctx, s, "f2", "", "likes cherries");
    str sum = condensed(ctx, s, "pineapple and cherries", S("f1"), S("f2"));
    CHECK_INT(forgotten(ctx, s, (struct forget){.session = S("s1")}), 3);
    CHECK(!is_there(ctx, s, sum));
    CHECK_INT(find(ctx, s, mine, "pineapple").n, 0);
    CHECK_INT(find(ctx, s, mine, "cherries").n, 1);
    check_healthy(ctx, s);
}

TEST(summaries_of_summaries_go_as_well)
{
    PLACE(p);
    STORE(s, p);
    kept(ctx, s, "f1", "", "owes a pineapple");
    kept(ctx, s, "f2", "fruit", "likes cherries");
    str inner = condensed(ctx, s, "pineapple and cherries", S("f1"), S("f2"));
    kept(ctx, s, "f3", "fruit", "likes plums");
    str outer = condensed(ctx, s, "pineapple, cherries and plums", inner, S("f3"));
    CHECK_INT(forgotten(ctx, s, (struct forget){.id = S("f1")}), 3);
    CHECK(!is_there(ctx, s, inner));
    CHECK(!is_there(ctx, s, outer));
    CHECK_INT(find(ctx, s, mine, "pineapple").n, 0);
    /* The newer one has the key. */
    CHECK_INT(find(ctx, s, mine, "plums").n, 1);
    CHECK_STR(got(ctx, s, "f2").superseded_by, S("f3"));
    check_healthy(ctx, s);
}

TEST(what_another_memory_has_closed_stays_closed)
{
    PLACE(p);
    STORE(s, p);
    kept(ctx, s, "f1", "city", "lives in Paris");
    kept(ctx, s, "f2", "city", "lives in Rome");
    kept(ctx, s, "f3", "", "likes cherries");
    condensed(ctx, s, "Rome and cherries", S("f2"), S("f3"));
    forgotten(ctx, s, (struct forget){.id = S("f2")});
    CHECK(got(ctx, s, "f1").valid_to != 0);
    CHECK_INT(find(ctx, s, mine, "Paris Rome").n, 0);
    CHECK_INT(find(ctx, s, mine, "cherries").n, 1);
    check_healthy(ctx, s);
}

TEST(a_kind_that_is_forgotten_goes_from_summaries_however_many_they_tell)
{
    PLACE(p);
    STORE(s, p);
    enum { N = 600 };
    struct memory v[N], m = {.content = S("all of it"), .importance = 0.5};
    str ids[N];
    for (int i = 0; i < N; i++) {
        v[i] = (struct memory){.id = str_printf(&ctx->arena, "f%d", i),
                               .content = str_printf(&ctx->arena, "number x%d", i),
                               .type = i % 300 ? TYPE_FACTUAL : TYPE_PROCEDURAL,
                               .created = 1};
        ids[i] = v[i].id;
    }
    struct bundle b = {.pool = mine, .memories = v, .n_memories = N};
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_OK(condense_to(ctx, s, mine, &m, ids, N));
    CHECK_INT(forgotten(ctx, s, (struct forget){.memories = true, .type = S("procedural")}), 3);
    CHECK(!is_there(ctx, s, m.id));
    CHECK_INT(find(ctx, s, mine, "number").n, N - 2);
    CHECK_INT(find(ctx, s, mine, "number").memories, N - 2);
    check_healthy(ctx, s);
}

TEST(a_summary_that_is_forgotten_itself_goes_with_what_it_replaced)
{
    PLACE(p);
    STORE(s, p);
    kept(ctx, s, "f1", "", "owes a pineapple");
    kept(ctx, s, "f2", "", "likes cherries");
    str sum = condensed(ctx, s, "pineapple and cherries", S("f1"), S("f2"));
    CHECK_INT(forgotten(ctx, s, (struct forget){.id = sum}), 3);
    CHECK_INT(find(ctx, s, mine, "pineapple cherries").n, 0);
    struct memory m;
    CHECK_STATUS(store_memory(ctx, s, mine, S("f1"), &m), NOT_FOUND);
    ctx_clear_failure(ctx);
    check_healthy(ctx, s);
}

TEST(what_a_summary_replaced_is_open_again_where_its_type_alone_is_forgotten)
{
    PLACE(p);
    STORE(s, p);
    kept(ctx, s, "f1", "", "owes a pineapple");
    kept(ctx, s, "f2", "", "likes cherries");
    condensed(ctx, s, "pineapple and cherries", S("f1"), S("f2"));
    CHECK_INT(forgotten(ctx, s, (struct forget){.memories = true, .type = S("semantic")}), 1);
    CHECK_INT(find(ctx, s, mine, "pineapple cherries").n, 2);
    check_healthy(ctx, s);
}
