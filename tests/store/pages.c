/* pages.c - the list of memories: its totals by ranges are those of the rows, whatever changes. */
#include "lib/clock.h"
#include "lib/store.h"
#include "store/store.h"

enum { MANY = 400, RANGES = 300, DAYS = 9 };

/* Times on both sides of 1970, also at the first and last millisecond of a day. */
static int64_t some_time(unsigned *random)
{
    int64_t day = rand_r(random) % DAYS - DAYS / 2, within = rand_r(random) % 5;
    int64_t at = within == 0 ? 0 : within == 1 ? DAY_MS - 1 : rand_r(random) % DAY_MS;
    return day * DAY_MS + at;
}

static struct memory some_memory(struct arena *a, unsigned *random, int i)
{
    static const char *const categories[] = {"", "home", "work"};
    struct memory m = fact(str_printf(a, "m%d", i).p, "", str_printf(a, "statement %d", i).p);
    m.category = str_of(categories[rand_r(random) % 3]);
    m.layer = rand_r(random) % 4 ? LAYER_FACT : LAYER_EPISODE;
    m.importance = m.salience = (double)(rand_r(random) % 101) / 100;
    m.created = some_time(random);
    m.valid_to = rand_r(random) % 5 ? 0 : 1;
    m.expires = rand_r(random) % 5 ? 0 : 1; /* has expired, and is not yet pruned */
    return m;
}

static bool is_in(const struct memory_select *f, const struct memory *m)
{
    bool is_closed = m->valid_to || m->expires;
    return (!f->after || m->created >= f->after) && (!f->before || m->created < f->before) &&
           m->importance >= f->importance_min && m->importance <= f->importance_max &&
           (f->layer < 0 || (int)m->layer == f->layer) &&
           (!f->category.n || str_eq(f->category, m->category)) &&
           (f->closed == CLOSED_TOO || is_closed == (f->closed == CLOSED_ONLY));
}

/* Of all memories, kept beside the store, as many as the page says, and as its kinds add up to. */
static void check_ranges(struct ctx *ctx, struct store *s, const struct memory *v, size_t n,
                         unsigned *random)
{
    for (int i = 0; i < RANGES; i++) {
        CLEANUP(ctx_free) struct ctx own = {0};
        struct memory_page_in in = {.select = SELECT_ALL, .counts = true, .limit = 1000};
        struct memory_page page;
        int64_t want = 0, sum = 0;
        in.select.pools = &mine;
        in.select.n_pools = 1;
        in.select.after = rand_r(random) % 3 ? some_time(random) : 0;
        in.select.before = rand_r(random) % 3 ? some_time(random) : 0;
        in.select.closed = rand_r(random) % 3;
        if (rand_r(random) % 4 == 0)
            in.select.importance_min = (double)(rand_r(random) % 101) / 100;
        if (rand_r(random) % 4 == 0)
            in.select.category = S("home");
        if (rand_r(random) % 4 == 0)
            in.select.layer = LAYER_EPISODE;
        CHECK_OK(store_memory_page(&own, s, &in, &page));
        for (size_t k = 0; k < n; k++)
            want += v[k].id.n && is_in(&in.select, &v[k]);
        for (size_t k = 0; k < page.n_tallies; k++)
            sum += page.tallies[k].n;
        CHECK_INT(page.total, want);
        CHECK_INT(sum, want);
        CHECK_INT(page.n, want);
    }
    check_healthy(ctx, s);
}

TEST(totals_of_any_range_are_those_of_the_rows)
{
    PLACE(p);
    STORE(s, p);
    unsigned random = 7;
    struct memory *v = NEW_N(&ctx->arena, struct memory, MANY);
    for (int i = 0; i < MANY; i++)
        v[i] = some_memory(&ctx->arena, &random, i);
    struct bundle b = {.pool = mine, .memories = v, .n_memories = MANY, .rule = PUT_IMPORT};
    CHECK_OK(store_write(ctx, s, &b));
    check_ranges(ctx, s, v, MANY, &random);
    for (int i = 0; i < MANY; i += 3) {
        int64_t erased;
        CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .id = v[i].id}, &erased));
        CHECK_INT(erased, 1);
        v[i].id = S("");
    }
    check_ranges(ctx, s, v, MANY, &random);
}
