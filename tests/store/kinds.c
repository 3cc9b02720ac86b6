/* kinds.c - memories by what they are about, how important and how lately used: SQL as in C. */
#include "lib/store.h"
#include "store/store.h"

static const char *const categories[] = {"",       "fact",         "preference", "context",
                                         "entity", "relationship", "procedure",  "decision"};
static const double importances[] = {0, 0.2, 0.399, 0.4, 0.5, 0.699, 0.7, 0.8, 0.899, 0.9, 1};
enum {
    CATEGORIES = sizeof categories / sizeof *categories,
    IMPORTANCES = sizeof importances / sizeof *importances,
    ALL = CATEGORIES * LAYER_COUNT * TYPE_COUNT
};

/* Every category, layer and type, each once, with the importances in turn. */
static struct memory *all_kinds(struct ctx *ctx)
{
    struct memory *v = NEW_N(&ctx->arena, struct memory, ALL);
    for (int i = 0; i < ALL; i++) {
        v[i] = fact(str_printf(&ctx->arena, "m%d", i).p, "", "sails to Ithaca");
        v[i].category = str_of(categories[i % CATEGORIES]);
        v[i].layer = (enum layer)(i / CATEGORIES % LAYER_COUNT);
        v[i].type = (enum memory_type)(i / CATEGORIES / LAYER_COUNT);
        v[i].importance = importances[i % IMPORTANCES];
        v[i].created = 1700000000000 + i;
        v[i].uses = i;
        v[i].last_used = i % 2 ? 1700000000000 + i * 7 % ALL * 1000 : 0;
    }
    return v;
}

static struct memory *plant(struct ctx *ctx, struct store *s, struct pool_ref pool)
{
    struct memory *v = all_kinds(ctx);
    struct bundle b = {.pool = pool, .memories = v, .n_memories = ALL, .rule = PUT_IMPORT};
    CHECK_OK(store_write(ctx, s, &b));
    return v;
}

static bool matches(const struct memory *m, str kind, str priority)
{
    return (!kind.n || str_is(kind, kind_names[kind_of(m)])) &&
           (!priority.n || str_is(priority, priority_names[priority_of(m->importance)]));
}

static void check_filter(struct ctx *ctx, struct store *s, const struct memory *all,
                         const struct memory_filter *f)
{
    struct memory *v;
    size_t n;
    int64_t total, want = 0;
    for (int i = 0; i < ALL; i++)
        want += matches(&all[i], f->kind, f->priority);
    CHECK_OK(store_list_memories(ctx, s, f, &v, &n, &total));
    CHECK_INT(n, want);
    CHECK_INT(total, want);
    for (size_t i = 0; i < n; i++)
        CHECK(matches(&v[i], f->kind, f->priority));
}

TEST(a_filter_says_the_same_as_kind_of_and_priority_of)
{
    PLACE(p);
    STORE(s, p);
    const struct memory *all = plant(ctx, s, mine);
    (void)plant(ctx, s, other_user);
    for (int kind = 0; kind <= KIND_COUNT; kind++)
        for (int priority = 0; priority <= PRIORITY_COUNT; priority++)
            for (int way = 0; way < 4; way++)
                check_filter(ctx, s, all,
                             &(struct memory_filter){.pool = {mine.user,
                                                              way % 2 ? mine.space : S("")},
                                                     .kind = str_of(kind_names[kind]),
                                                     .priority = str_of(priority_names[priority]),
                                                     .by_use = way > 1,
                                                     .limit = 1000});
}

TEST(totals_say_the_same_as_kind_of_and_priority_of)
{
    PLACE(p);
    STORE(s, p);
    const struct memory *all = plant(ctx, s, mine);
    struct memory_totals want = {0}, got;
    for (int i = 0; i < ALL; i++) {
        want.by_kind[kind_of(&all[i])]++;
        want.by_priority[priority_of(all[i].importance)]++;
        want.uses += all[i].uses;
    }
    const char *const spaces[] = {"default", ""};
    for (int way = 0; way < 2; way++) {
        struct memory_filter f = {.pool = {mine.user, str_of(spaces[way])}};
        CHECK_OK(store_memory_totals(ctx, s, &f, &got));
        CHECK_INT(got.total, ALL);
        for (int i = 0; i < KIND_COUNT; i++)
            CHECK_INT(got.by_kind[i], want.by_kind[i]);
        for (int i = 0; i < PRIORITY_COUNT; i++)
            CHECK_INT(got.by_priority[i], want.by_priority[i]);
        CHECK_INT(got.uses, want.uses);
        CHECK_INT(got.oldest, 1700000000000);
        CHECK_INT(got.newest, 1700000000000 + ALL - 1);
        CHECK(got.tokens > 0);
    }
    CHECK_OK(store_memory_totals(ctx, s, &(struct memory_filter){.pool = other_user}, &got));
    CHECK(!got.total && !got.uses && !got.oldest && !got.newest);
}

/* What was never used counts as used when it was made. */
TEST(a_list_by_use_has_what_was_used_last_first)
{
    PLACE(p);
    STORE(s, p);
    struct memory *v;
    size_t n;
    (void)plant(ctx, s, mine);
    struct memory_filter f = {.pool = mine, .by_use = true, .limit = 1000};
    CHECK_OK(store_list_memories(ctx, s, &f, &v, &n, NULL));
    CHECK_INT(n, ALL);
    for (size_t i = 1; i < n; i++) {
        int64_t a = v[i - 1].last_used > v[i - 1].created ? v[i - 1].last_used : v[i - 1].created;
        int64_t b = v[i].last_used > v[i].created ? v[i].last_used : v[i].created;
        CHECK(a > b || (a == b && v[i - 1].doc > v[i].doc));
    }
    str last = v[n - 1].id;
    CHECK_OK(store_touch(ctx, s, mine, &v[n - 1].doc, 1, 1800000000000));
    CHECK_OK(store_flush(ctx, s));
    f.limit = 1;
    CHECK_OK(store_list_memories(ctx, s, &f, &v, &n, NULL));
    CHECK_STR(v[0].id, last);
}

TEST(a_kind_or_priority_that_there_is_not_is_refused)
{
    PLACE(p);
    STORE(s, p);
    struct memory *v;
    size_t n;
    struct memory_filter kind = {.pool = mine, .kind = S("secret")};
    CHECK_STATUS(store_list_memories(ctx, s, &kind, &v, &n, NULL), BAD_INPUT);
    CHECK_STR(str_of(ctx->field), S("kind"));
    ctx_clear_failure(ctx);
    struct memory_totals totals;
    struct memory_filter priority = {.pool = mine, .priority = S("urgent")};
    CHECK_STATUS(store_memory_totals(ctx, s, &priority, &totals), BAD_INPUT);
    CHECK_STR(str_of(ctx->field), S("priority"));
}
