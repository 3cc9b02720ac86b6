/* memories.c - how fast pages of a user's memories are listed: any filter, order and place; prints
 * figures. */

#include "bench.h"
#include "lib/store.h"
#include "store/store.h"

enum { MANY = 100000, ROUNDS = 200, SLOW_ROUNDS = 20, PAGE = 50 };

static const char *const categories[] = {"",       "preference", "decision", "home",
                                         "health", "work",       "travel",   "food"};

/* One in a thousand is of a rare category, one in ten thousand of a rare type; a tenth is closed.
 */
static struct memory some_memory(struct arena *a, size_t i)
{
    struct memory m = {.type = i % 10000 == 77 ? TYPE_PROCEDURAL : TYPE_FACTUAL};
    m.id = str_printf(a, "memory-%zu", i);
    m.content = str_printf(a, "Statement %zu about %llx and %llx, which someone made on a day.", i,
                           (unsigned long long)next_random(), (unsigned long long)next_random());
    m.category = i % 1000 == 13 ? S("rare") : str_of(categories[next_random() % 8]);
    m.layer = i % 50 == 3 ? LAYER_EPISODE : LAYER_FACT;
    m.origin = i % 5 ? ORIGIN_USER : ORIGIN_API;
    m.session = str_printf(a, "session-%zu", i / 20);
    m.importance = m.salience = (double)(next_random() % 101) / 100;
    m.uses = (int64_t)(next_random() % 100);
    m.created = 1600000000000 + (int64_t)i * 60000;
    m.updated = m.created + (int64_t)(next_random() % 1000000000);
    m.last_used = m.updated + (int64_t)(next_random() % 1000000000);
    m.valid_to = i % 10 == 9 ? m.updated + 1 : 0;
    return m;
}

static void fill(struct store *s)
{
    int64_t start = clock_mono_us();
    for (size_t i = 0; i < MANY; i += 500) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        struct memory *v = NEW_N(&ctx.arena, struct memory, 500);
        for (size_t k = 0; k < 500; k++)
            v[k] = some_memory(&ctx.arena, i + k);
        struct bundle b = {.pool = mine, .memories = v, .n_memories = 500, .rule = PUT_IMPORT};
        must(&ctx, store_write(&ctx, s, &b));
    }
    printf("%d memories, written in %.1f s\n", MANY, (double)(clock_mono_us() - start) / 1e6);
}

static void measure(struct store *s, const char *what, struct memory_page_in in, int rounds)
{
    int64_t took[ROUNDS], cpu[ROUNDS];
    size_t n = 0;
    int64_t total = 0;
    in.select.pools = &mine;
    in.select.n_pools = 1;
    in.limit = PAGE;
    for (int i = -2; i < rounds; i++) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        struct memory_page page;
        int64_t start = clock_mono_us(), cpu_start = cpu_us(CLOCK_THREAD_CPUTIME_ID);
        must(&ctx, store_memory_page(&ctx, s, &in, &page));
        if (i >= 0) {
            took[i] = clock_mono_us() - start;
            cpu[i] = cpu_us(CLOCK_THREAD_CPUTIME_ID) - cpu_start;
        }
        n = page.n;
        total = page.total;
    }
    sort_us(took, (size_t)rounds);
    sort_us(cpu, (size_t)rounds);
    printf("%-58s %3zu of %6lld  p50 %7.2f ms (cpu %6.2f)  p99 %7.2f ms\n", what, n,
           (long long)total, (double)took[rounds / 2] / 1000, (double)cpu[rounds / 2] / 1000,
           (double)took[rounds * 99 / 100] / 1000);
}

static struct memory_page_in all(void)
{
    return (struct memory_page_in){.select = SELECT_ALL, .counts = true};
}

static struct memory_page_in at(size_t i)
{
    struct memory_page_in in = all();
    in.has_place = true;
    in.place_value = 1600000000000.0 + (double)i * 60000;
    in.place_row = INT64_MAX;
    return in;
}

static void measure_orders(struct store *s)
{
    struct memory_page_in in = all();
    measure(s, "newest first: the first page, total and facets", in, ROUNDS);
    measure(s, "the same, a page in the middle, by cursor", at(MANY / 2), ROUNDS);
    measure(s, "the same, the last page, by cursor", at(PAGE), ROUNDS);
    in.offset = MANY / 2;
    measure(s, "the same, a page in the middle, by offset", in, SLOW_ROUNDS);
    in.offset = 0;
    for (int i = SORT_UPDATED; i < SORT_COUNT; i++) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        in.sort = (enum memory_sort)i;
        measure(s, str_printf(&ctx.arena, "by %s: the first page", sort_names[i]).p, in, ROUNDS);
    }
    in = at(MANY / 2);
    in.sort = SORT_IMPORTANCE;
    in.place_value = 0.5;
    measure(s, "by importance: a page in the middle", in, ROUNDS);
}

static void measure_filters(struct store *s)
{
    struct memory_page_in in = all();
    in.select.category = S("preference");
    measure(s, "category of an eighth", in, ROUNDS);
    in.sort = SORT_IMPORTANCE;
    measure(s, "the same, by importance", in, ROUNDS);
    in = all();
    in.select.category = S("rare");
    measure(s, "category of a thousandth", in, ROUNDS);
    in = all();
    in.select.layer = LAYER_EPISODE;
    measure(s, "layer of a fiftieth", in, ROUNDS);
    in = all();
    in.select.type = TYPE_PROCEDURAL;
    measure(s, "type of a ten-thousandth", in, ROUNDS);
    in = all();
    in.select.session = S("session-77");
    measure(s, "one session", in, ROUNDS);
    in = all();
    in.select.closed = CLOSED_ONLY;
    measure(s, "only closed ones, a tenth", in, ROUNDS);
    in = all();
    in.select.after = 1600000000000 + (int64_t)MANY / 2 * 60000;
    measure(s, "created in the second half", in, SLOW_ROUNDS);
    in = all();
    in.select.importance_min = 0.9;
    measure(s, "importance from 0.9", in, SLOW_ROUNDS);
    in.counts = false;
    measure(s, "the same, without total and facets", in, SLOW_ROUNDS);
    in = all();
    in.select.contains = S("statement 777 ");
    measure(s, "contains a text", in, SLOW_ROUNDS);
}

int main(void)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    PLACE(p);
    CLEANUP(store_closep) struct store *s = NULL;
    const struct store_settings settings = {.path = str_of(p.path)};
    must(&ctx, store_open(&ctx, &settings, &s));
    fill(s);
    printf("pages of %d\n", PAGE);
    measure_orders(s);
    measure_filters(s);
    return 0;
}
